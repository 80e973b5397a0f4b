// The generator of all rows: an agent that writes bytes which it has built before it begins. What a prompt says is what it
// does: `one`, `stream BYTES COUNT plain|escaped`, `ask COUNT`, `nothing`. Times are its own
// clock's, in microseconds; in the session `alone` a stream's time goes to stderr.
import { randomUUID } from "node:crypto";
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";

const BLOCK_BYTES = 256 * 1024;
const options = [
  { optionId: "allow", name: "Allow", kind: "allow_once" },
  { optionId: "deny", name: "Deny", kind: "reject_once" },
];

const waiting = new Map();
const blocks = new Map();
let lastId = 0;

const say = (message) => writeAll(Buffer.from(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`));
const now = () => Number(process.hrtime.bigint() / 1000n);

// Blocking writes: a generator has nothing else to do, and it must not be what is measured.
function writeAll(bytes) {
  for (let at = 0; at < bytes.length;) {
    try {
      at += writeSync(1, bytes, at);
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
    }
  }
}

/** One update of exactly `bytes` bytes with its line end, whose text begins with a number. */
function update(sessionId, bytes, kind, number = 0) {
  const [head, tail] = JSON.stringify({
    jsonrpc: "2.0",
    method: "session/update",
    params: { sessionId, update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "§" } } },
  }).split("§");
  const room = bytes - head.length - tail.length - 1;
  if (room < 0) throw new Error(`an update has at least ${bytes - room} bytes`);
  const pattern = kind === "escaped" ? String.raw`\"x\n\\\u00e9` : "The quick brown fox. ";
  const words = String(number).slice(0, room);
  const whole = words + pattern.repeat(Math.floor((room - words.length) / pattern.length));
  return Buffer.from(`${head}${whole}${"x".repeat(room - whole.length)}${tail}\n`);
}

function stream(sessionId, bytes, count, kind) {
  const key = `${sessionId} ${bytes} ${kind}`;
  const perBlock = Math.max(1, Math.floor(BLOCK_BYTES / bytes));
  if (!blocks.has(key)) {
    const updates = Array.from({ length: perBlock }, (_, number) => update(sessionId, bytes, kind, number));
    blocks.set(key, Buffer.concat(updates));
  }
  const block = blocks.get(key);
  const from = now();
  for (let left = count; left > 0; left -= perBlock)
    writeAll(left >= perBlock ? block : block.subarray(0, left * bytes));
  return now() - from;
}

async function ask(sessionId, count) {
  const times = [];
  for (let n = 0; n < count; n++) {
    const id = ++lastId;
    const toolCall = { toolCallId: `call-${id}`, title: "Run", kind: "execute", rawInput: { command: `echo ${id}` } };
    const answered = new Promise((resolve) => waiting.set(id, resolve));
    const from = now();
    say({ id, method: "session/request_permission", params: { sessionId, toolCall, options } });
    await answered;
    times.push(now() - from);
  }
  return { times };
}

async function prompt({ sessionId, prompt: [{ text }] }) {
  const [what, a, b, kind] = text.split(" ");
  let bench = {};
  if (what === "one") writeAll(update(sessionId, 200, "plain"));
  else if (what === "stream") {
    const microseconds = stream(sessionId, Number(a), Number(b), kind);
    if (sessionId === "alone") writeSync(2, String(microseconds));
  } else if (what === "ask") bench = await ask(sessionId, Number(a));
  return { stopReason: "end_turn", _meta: { bench } };
}

const answers = {
  initialize: () => ({ protocolVersion: 1, agentCapabilities: { loadSession: true }, authMethods: [] }),
  "session/new": () => ({ sessionId: randomUUID() }),
  "session/load": () => ({}),
  "session/prompt": prompt,
};

async function answer({ id, method, params }) {
  say({ id, result: (await answers[method]?.(params)) ?? {} });
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line);
  if (message.method === undefined) {
    waiting.get(message.id)?.();
    waiting.delete(message.id);
  } else if (message.id !== undefined) {
    void answer(message);
  }
});
process.stdin.on("end", () => process.exit(0));
