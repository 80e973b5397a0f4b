// What a Helper's author gets of a session. It answers questions about a request; it decides nothing.
import {
  readRequest,
  type ReadRequest,
  type SessionStartParams,
  type ToolCallParams,
} from "@acp-master/permission-core";
import { AnnouncedCalls } from "./announced-calls.ts";
import { isInside, realPath } from "./real-paths.ts";
import type { PermissionRequest } from "./verdict.ts";

export interface SessionVoice {
  log(level: "debug" | "info" | "warn" | "error", message: string, fields?: Readonly<Record<string, unknown>>): void;
  busy(busy: boolean): void;
  unavailable(reason: string): void;
  /** A part of this Helper does not work as long as it runs. For people who ask the daemon how it is: say what to do. */
  impaired(reason: string): void;
}

export class HelperSession {
  readonly sessionId: string;
  readonly agent: SessionStartParams["agent"];
  readonly cwd: string;
  readonly arming: SessionStartParams["arming"];
  /** The folders of the session as they are named; `inside` compares their real paths. */
  readonly roots: readonly string[];
  readonly voice: SessionVoice;
  #preset: string;
  readonly #announced = new AnnouncedCalls();

  constructor(start: SessionStartParams, voice: SessionVoice) {
    this.sessionId = start.sessionId;
    this.agent = start.agent;
    this.cwd = start.cwd;
    this.arming = start.arming;
    this.roots = start.roots;
    this.voice = voice;
    this.#preset = start.preset;
  }

  get preset(): string {
    return this.#preset;
  }

  /** The request as a policy may use it, completed by what was announced of its call (see `announced`). */
  read(request: PermissionRequest): ReadRequest {
    return readRequest(request, this.#announced.get(request.toolCall.toolCallId));
  }

  /** Every place the request names: its locations and the files of its diffs. One that is no text is `undefined`. */
  paths(request: PermissionRequest): readonly (string | undefined)[] {
    const { locations, content } = this.read(request);
    const diffs = entries(content).filter((block) => block?.["type"] === "diff");
    return [...entries(locations), ...diffs].map((entry) => {
      const path = entry?.["path"];
      return typeof path === "string" ? path : undefined;
    });
  }

  /**
   * Whether the request names at least one place and every one of them really is inside the given folders, by default
   * the session's. Relative paths start at the session's cwd; links are followed.
   */
  inside(request: PermissionRequest, folders: readonly string[] = [this.cwd, ...this.roots]): boolean {
    const real = folders.flatMap((folder) => realPath(folder, this.cwd) ?? []);
    const paths = this.paths(request);
    return paths.length > 0 && paths.every((path) => this.#isInAny(path, real));
  }

  /** Whether any place of the request is inside the folders, or cannot be told to be outside of them. */
  touches(request: PermissionRequest, folders: readonly string[]): boolean {
    const real = folders.map((folder) => realPath(folder, this.cwd));
    const known = real.filter((folder) => folder !== undefined);
    if (known.length < real.length) return true;
    return this.paths(request).some((path) => this.#real(path) === undefined || this.#isInAny(path, known));
  }

  /** For the SDK: the master's news about this session. */
  setPreset(preset: string): void {
    this.#preset = preset;
  }

  see(update: ToolCallParams["update"]): void {
    this.#announced.see(update);
  }

  endTurn(): void {
    this.#announced.clear();
  }

  #real(path: string | undefined): string | undefined {
    return path === undefined ? undefined : realPath(path, this.cwd);
  }

  #isInAny(path: string | undefined, folders: readonly string[]): boolean {
    const real = this.#real(path);
    return real !== undefined && folders.some((folder) => isInside(real, folder));
  }
}

/** An agent's list, which may be no list and hold anything. What is no record becomes `undefined`, never nothing. */
function entries(list: unknown): (Readonly<Record<string, unknown>> | undefined)[] {
  if (!Array.isArray(list)) return [undefined];
  return list.map((entry: unknown) => (isRecord(entry) ? entry : undefined));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
