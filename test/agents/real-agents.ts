// Agents that other people wrote, with the settings that let them run without a key against the scripted model, and
// how each ends a turn. Facts about agents stand here and nowhere else.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentEntry } from "../harness/home.ts";
import { plan } from "../model/plan.ts";
import { installed } from "./installed.ts";

export interface RealAgent {
  readonly name: string;
  /** Its entry in the configuration. Writes its settings into the folder, which is its HOME. */
  define(folder: string, modelUrl: string): AgentEntry;
  /** The prompt that makes it say n numbered chunks, pausing between them. */
  talk(chunks: number, pauseMs?: number): string;
  /** What its text must hold after `talk(chunks)`. */
  said(chunks: number): string;
  /** The prompt that makes it ask permission to touch the file. */
  touch(file: string): string;
  /** The prompt that makes it say n numbered chunks slowly, touch the file, and say m more. */
  work(before: number, file: string, after: number): string;
  /** Whether an allowed `touch` shows on the disk. */
  readonly really: boolean;
  /** It loses a session that is loaded in the minute of the clock in which it was made: its file is named by that. */
  readonly forgetsWithinMinute: boolean;
  /** The stop reasons after a refusal and after a cancel in the middle of a question. */
  readonly refused: string;
  readonly cancelled: string;
}

const chunks = (count: number): string =>
  Array.from({ length: count }, (_, index) => `chunk ${index + 1} of ${count}. `).join("");

const scripted = {
  talk: (count: number, pauseMs = 0) => plan(["say", count, pauseMs]),
  said: chunks,
  work: (before: number, file: string, after: number) =>
    plan(["say", before, 150], ["run", `touch ${file}`], ["say", after]),
  touch: (file: string) => plan(["text", "I begin. "], ["run", `touch ${file}`], ["text", "I am done. "]),
  really: true,
  forgetsWithinMinute: false,
} as const;

/** The SDK's example: one canned turn of five seconds with one question, whatever it is asked. */
export const example: RealAgent = {
  name: "example",
  define: () => ({
    command: process.execPath,
    args: [installed("@agentclientprotocol/sdk", "dist/examples/agent.js")],
  }),
  talk: () => "anything",
  said: () => "I'll help you with that.",
  touch: () => "anything",
  work: () => "anything",
  really: false,
  forgetsWithinMinute: false,
  refused: "end_turn",
  cancelled: "end_turn",
};

export const gemini: RealAgent = {
  ...scripted,
  name: "gemini",
  forgetsWithinMinute: true,
  define(folder, modelUrl) {
    mkdirSync(join(folder, ".gemini"), { recursive: true });
    const settings = {
      security: { auth: { selectedType: "gemini-api-key" } },
      general: { enableAutoUpdate: false, enableAutoUpdateNotification: false, disableAutoUpdate: true },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
    };
    writeFileSync(join(folder, ".gemini", "settings.json"), JSON.stringify(settings));
    return {
      command: process.execPath,
      args: [installed("@google/gemini-cli", "bundle/gemini.js"), "--acp"],
      env: {
        HOME: folder,
        GEMINI_API_KEY: "dummy",
        GOOGLE_GEMINI_BASE_URL: modelUrl,
        GEMINI_CLI_TRUST_WORKSPACE: "true",
      },
    };
  },
  refused: "end_turn",
  cancelled: "cancelled",
};

/** The Rust adapter under its old name: one native program. */
export const codex: RealAgent = {
  ...scripted,
  name: "codex",
  define(folder, modelUrl) {
    const config = [
      'model = "scripted"',
      'model_provider = "scripted"',
      'approval_policy = "on-request"',
      'sandbox_mode = "read-only"',
      "[model_providers.scripted]",
      'name = "scripted"',
      `base_url = "${modelUrl}/v1"`,
      'wire_api = "responses"',
      'env_key = "SCRIPTED_KEY"',
      "supports_websockets = false",
    ];
    writeFileSync(join(folder, "config.toml"), `${config.join("\n")}\n`);
    const platform = `@zed-industries/codex-acp-${process.platform}-${process.arch}`;
    const program = process.platform === "win32" ? "bin/codex-acp.exe" : "bin/codex-acp";
    return {
      command: installed("@zed-industries/codex-acp", program, platform),
      env: { HOME: folder, CODEX_HOME: folder, SCRIPTED_KEY: "dummy", NO_BROWSER: "1" },
    };
  },
  refused: "cancelled",
  cancelled: "cancelled",
};

/** It asks in mode `default` only, which a session must be set to. It announces a call before it knows its input. */
export const claude: RealAgent = {
  ...scripted,
  name: "claude",
  define: (folder, modelUrl) => ({
    command: process.execPath,
    args: [installed("@agentclientprotocol/claude-agent-acp", "dist/index.js")],
    env: {
      HOME: folder,
      CLAUDE_CONFIG_DIR: folder,
      ANTHROPIC_BASE_URL: modelUrl,
      ANTHROPIC_API_KEY: "dummy",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
      DISABLE_TELEMETRY: "1",
      DISABLE_ERROR_REPORTING: "1",
    },
  }),
  refused: "end_turn",
  cancelled: "end_turn",
};

/** Those that the same script is run with; `claude` (400 MB) is installed for what only it does. */
export const realAgents: readonly RealAgent[] = [example, gemini, codex];
