// A Helper without a will of its own, as scripted-agent.mjs is for agents: it tells its test, over the socket named by its
// first argument, every message that it gets, and writes what the test says. It ends itself when the test's socket goes.
import { connect } from "node:net";

const control = connect(process.argv[2]);
const tell = (event) => control.write(`${JSON.stringify(event)}\n`);
control.on("error", () => process.kill(process.pid, "SIGKILL"));
control.on("close", () => process.kill(process.pid, "SIGKILL"));
tell({ event: "hello", pid: process.pid });

let input = Buffer.alloc(0);
process.stdin.on("data", (chunk) => {
  input = Buffer.concat([input, chunk]);
  for (;;) {
    const end = input.indexOf("\r\n\r\n");
    if (end === -1) return;
    const length = Number(/content-length: *(\d+)/i.exec(input.toString("latin1", 0, end))?.[1]);
    if (input.length < end + 4 + length) return;
    tell({ event: "message", body: input.toString("utf8", end + 4, end + 4 + length) });
    input = input.subarray(end + 4 + length);
  }
});
process.stdin.on("end", () => {
  tell({ event: "end" });
  control.end(() => process.exit(0));
});

const actions = {
  write: ({ bytes }) => void process.stdout.write(Buffer.from(bytes, "base64")),
  print: ({ text }) => void process.stderr.write(text),
  exit: ({ code }) => process.exit(code),
  pauseInput: () => void process.stdin.pause(),
  resumeInput: () => void process.stdin.resume(),
};

let commands = "";
control.setEncoding("utf8");
control.on("data", (text) => {
  commands += text;
  for (;;) {
    const end = commands.indexOf("\n");
    if (end === -1) return;
    const command = JSON.parse(commands.slice(0, end));
    commands = commands.slice(end + 1);
    actions[command.do](command);
  }
});
