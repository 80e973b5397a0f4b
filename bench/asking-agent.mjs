// The agent of the permission benchmark: asks as often as it is told and notes when each answer arrives. Nothing else.
import { createInterface } from "node:readline";

let sessions = 0;
let questions = 0;
let arrivals = [];
const waiting = new Set();

const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const options = [
  { optionId: "allow", name: "Allow", kind: "allow_once" },
  { optionId: "deny", name: "Deny", kind: "reject_once" },
];

const answers = {
  initialize: () => ({ protocolVersion: 1, agentCapabilities: { loadSession: true }, authMethods: [] }),
  "session/new": () => ({ sessionId: `s-${++sessions}` }),
  "_bench/arrivals": () => ({ arrivals: arrivals.splice(0) }),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const now = process.hrtime.bigint();
  const message = JSON.parse(line);
  if (message.method === undefined) {
    if (waiting.delete(message.id)) arrivals.push([message.id, String(now), message.result.outcome.optionId]);
    return;
  }
  if (message.method === "_bench/ask") {
    const { sessionId, count } = message.params;
    for (let n = 0; n < count; n++) {
      const id = `q-${++questions}`;
      waiting.add(id);
      const toolCall = { toolCallId: id, title: "Run", kind: "execute", rawInput: { command: `echo ${id}` } };
      say({ id, method: "session/request_permission", params: { sessionId, toolCall, options } });
    }
  } else if (message.id !== undefined) {
    say({ id: message.id, result: answers[message.method]?.() ?? {} });
  }
});
process.stdin.on("end", () => process.exit(0));
