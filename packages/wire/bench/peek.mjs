// Prints how fast peek walks frames of typical shapes. Build the package first: tsc -b packages/wire; then node packages/wire/bench/peek.mjs
import { Envelope, FrameSplitter, peek } from "../dist/index.js";

const SECONDS_PER_CASE = 0.5;
const KIB = 1024;

const update = (text) =>
  `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"sess_0123456789abcdef","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":${JSON.stringify(text)}}}}}`;
const repeated = (text, bytes) => text.repeat(Math.ceil(bytes / text.length)).slice(0, bytes);
const frames = {
  "200 B update": update("hello there, all is well"),
  "600 B permission request": `{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{"sessionId":"sess_0123456789abcdef","toolCall":{"toolCallId":"call_1","title":"Run a program","kind":"execute","status":"pending","rawInput":{"command":"make -j2 all","cwd":"/home/user/project"},"content":[]},"options":[{"optionId":"allow","name":"Allow","kind":"allow_once"},{"optionId":"always","name":"Always allow","kind":"allow_always"},{"optionId":"no","name":"Reject","kind":"reject_once"}]}}`,
  "64 KiB plain text": update(repeated("The quick brown fox jumps over the lazy dog. ", 64 * KIB)),
  "64 KiB source text, escaped": update(repeated('\tif (a["b"] === "c") {\n\t\treturn "x\\\\n";\n\t}\n', 48 * KIB)),
  "64 KiB of quotes only": update(repeated('"', 32 * KIB)),
  "64 KiB of \\u escapes": update(repeated("\u0001", 11 * KIB)),
  "64 KiB CJK": update(repeated("\u4e2d\u6587\u5b57", 21 * KIB)),
  "64 KiB of small numbers": `{"jsonrpc":"2.0","method":"x","params":{"v":[${repeated("1,23,456,", 64 * KIB)}0]}}`,
  "64 KiB of objects": `{"jsonrpc":"2.0","method":"x","params":{"v":[${repeated('{"a":1,"bc":"d"},', 17 * 3855)}{}]}}`,
  "64 KiB of brackets": `{"jsonrpc":"2.0","method":"x","params":{"v":${"[".repeat(32 * KIB)}${"]".repeat(32 * KIB)}}}`,
};

function measure(bytes, step) {
  for (let warm = 0; warm < 2000; warm += 1) step();
  const started = performance.now();
  let rounds = 0;
  let seconds = 0;
  while (seconds < SECONDS_PER_CASE) {
    for (let inner = 0; inner < 100; inner += 1) step();
    rounds += 100;
    seconds = (performance.now() - started) / 1000;
  }
  return { perFrameUs: (seconds / rounds) * 1e6, megabytesPerSecond: (bytes * rounds) / seconds / 1e6 };
}

const envelope = new Envelope();
for (const [name, text] of Object.entries(frames)) {
  const line = Buffer.from(`${text}\n`);
  peek(line, 0, line.length - 1, envelope);
  if (envelope.kind === "invalid") throw new Error(`${name} is not a valid frame`);
  const { perFrameUs, megabytesPerSecond } = measure(line.length, () => peek(line, 0, line.length - 1, envelope));
  console.log(
    `${name.padEnd(30)} ${String(line.length).padStart(6)} B ${perFrameUs.toFixed(2).padStart(9)} us ${megabytesPerSecond.toFixed(0).padStart(7)} MB/s`,
  );
}

const line = Buffer.from(`${frames["200 B update"]}\n`);
const chunk = Buffer.concat(Array.from({ length: 300 }, () => line));
const splitter = new FrameSplitter(KIB * KIB, {
  frame: (bytes, start, end) => peek(bytes, start, end, envelope),
  tooLong: () => process.exit(1),
});
const { perFrameUs, megabytesPerSecond } = measure(chunk.length, () => splitter.push(chunk));
console.log(
  `splitter and peek, 300 updates ${chunk.length} B ${perFrameUs.toFixed(2).padStart(9)} us ${megabytesPerSecond.toFixed(0).padStart(7)} MB/s`,
);
