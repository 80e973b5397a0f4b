// A sound Helper without any library, made of parts that the broken ones replace. Run by itself it is the counter-proof:
// it passes every case.
import { fileURLToPath } from "node:url";

export const send = (message) => {
  const body = JSON.stringify({ jsonrpc: "2.0", ...message });
  process.stdout.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
};

export const sessions = new Set();

export const select = (optionId) => ({ outcome: { outcome: "selected", optionId } });
export const ask = { outcome: { outcome: "ask" } };

/** Throws for what is no request, as the real ones do. */
export function judge({ sessionId, toolCall, options }) {
  if (!sessions.has(sessionId)) throw new Error("unknown session");
  const known =
    typeof toolCall.rawInput === "object" && toolCall.rawInput !== null && !Array.isArray(toolCall.rawInput);
  const allows = options.filter((option) => option.kind === "allow_once");
  return known && allows.length === 1 ? select(allows[0].optionId) : ask;
}

export const methods = {
  "helper/initialize": () => ({
    protocolVersion: 1,
    helper: { name: "sound", version: "1" },
    hooks: ["turn", "tool_call"],
  }),
  "helper/session_start"({ sessionId }) {
    sessions.add(sessionId);
    return { presets: [{ value: "one", name: "One", width: 1 }] };
  },
  "session/request_permission": judge,
  "helper/turn_start": () => ({ append: [{ type: "text", text: "hello" }] }),
  "helper/tool_call": () => ({ verdict: "pass", final: true }),
  "helper/session_end"({ sessionId }) {
    sessions.delete(sessionId);
    return {};
  },
  "helper/shutdown": () => ({}),
};

export const notifications = {};

export const parts = {
  /** One whole body. */
  body(text) {
    let message;
    try {
      message = JSON.parse(text);
    } catch {
      return send({ id: null, error: { code: -32700, message: "not JSON" } });
    }
    return parts.message(message);
  },
  message({ id, method, params }) {
    if (id === undefined) return notifications[method]?.(params);
    if (!Object.hasOwn(methods, method)) return parts.unknown(id);
    try {
      return send({ id, result: methods[method](params, id) });
    } catch {
      return send({ id, error: { code: -32602, message: "no" } });
    }
  },
  unknown: (id) => send({ id, error: { code: -32601, message: "unknown" } }),
  end: () => process.exit(0),
  /** The bytes as they come. */
  read(chunk, rest) {
    let bytes = Buffer.concat([rest, chunk]);
    for (;;) {
      const end = bytes.indexOf("\r\n\r\n");
      const length = Number(/\d+/.exec(bytes.toString("latin1", 0, Math.max(end, 0)))?.[0]);
      if (end < 0 || bytes.length < end + 4 + length) return bytes;
      parts.body(bytes.toString("utf8", end + 4, end + 4 + length));
      bytes = bytes.subarray(end + 4 + length);
    }
  },
};

export function run() {
  let rest = Buffer.alloc(0);
  process.stdin.on("data", (chunk) => {
    rest = parts.read(chunk, rest);
  });
  process.stdin.on("end", () => parts.end());
}

if (process.argv[1] === fileURLToPath(import.meta.url)) run();
