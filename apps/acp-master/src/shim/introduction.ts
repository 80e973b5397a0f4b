// Puts into an editor's `initialize` what the master wants to know of it. Every other byte of the frame stays as it is.
import { type Envelope, parseFrame, setMember, splice } from "@acp-master/wire";

export interface Introduction {
  /** From the command line; an agent that the editor itself names counts only without it. */
  readonly agent: string | undefined;
  readonly role: "controller" | "observer";
  readonly version: string;
}

export const ourMeta = "acp-master";

/**
 * The frame with `params._meta["acp-master"]`, its line feed included; `undefined` where there is nothing to put it into
 * (the master then refuses the frame). Members that the editor put under that key stay, but for those that we set.
 */
export function introduced(envelope: Envelope, introduction: Introduction): Buffer | undefined {
  const { bytes, start, end, params, paramsMeta } = envelope;
  if (!isObjectAt(bytes, params.start)) return undefined;
  const asked = askedOf(bytes, start, end);
  const value = {
    ...asked,
    ...(introduction.agent === undefined ? {} : { agent: introduction.agent }),
    // An observer's shim stays one, whatever the editor says; a controller's shim may be used as an observer.
    role: introduction.role === "observer" ? "observer" : (asked.role ?? introduction.role),
    version: introduction.version,
    positions: true,
  };
  const ours = Buffer.from(JSON.stringify(value));
  if (!isObjectAt(bytes, paramsMeta.start)) {
    const meta = Buffer.concat([Buffer.from(`{${JSON.stringify(ourMeta)}:`), ours, Buffer.from("}")]);
    return splice(bytes, start, end, [setMember(bytes, params, "_meta", meta)]);
  }
  return splice(bytes, start, end, [setMember(bytes, paramsMeta, ourMeta, ours)]);
}

/** Whether the editor subscribed to the master's own events. */
export function asksForEvents(envelope: Envelope): boolean {
  return askedOf(envelope.bytes, envelope.start, envelope.end).events === true;
}

function isObjectAt(bytes: Buffer, at: number): boolean {
  return at !== -1 && bytes[at] === 0x7b;
}

/** `initialize` is the master's own business, so it may be parsed whole. One that cannot be is the master's to refuse. */
function askedOf(bytes: Buffer, start: number, end: number): Readonly<Record<string, unknown>> {
  let at: unknown;
  try {
    at = parseFrame(bytes, start, end);
  } catch {
    return {}; // nested too deep
  }
  for (const key of ["params", "_meta", ourMeta]) {
    if (typeof at !== "object" || at === null || Array.isArray(at) || !Object.hasOwn(at, key)) return {};
    at = Reflect.get(at, key);
  }
  return typeof at === "object" && at !== null && !Array.isArray(at) ? { ...at } : {};
}
