// An agent without a will of its own: it tells its test, over the socket named in FAKE_CONTROL, every line that comes
// on stdin, and does what the test says. FAKE_OPTIONS (JSON) holds what must be so before the test can speak:
//   ignoreTerm, ignoreEof: live on · print, printError: text written at once · exitAtStart: end at once with this code
// It ends itself when the test's socket goes, so that a broken test run leaves nothing.
import { spawn } from "node:child_process";
import { closeSync, write } from "node:fs";
import { connect } from "node:net";
import { promisify } from "node:util";

const options = JSON.parse(process.env.FAKE_OPTIONS ?? "{}");
if (options.ignoreTerm) process.on("SIGTERM", () => {});

// fs.write keeps the event loop free when nobody reads the pipe; process.stdout would block it.
const writeSome = promisify(write);
async function putNow(fd, bytes) {
  for (let offset = 0; offset < bytes.length;) {
    try {
      offset += (await writeSome(fd, bytes, offset, bytes.length - offset, null)).bytesWritten;
    } catch (error) {
      if (error.code !== "EAGAIN") return error.code;
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }
  return undefined;
}

let writing = Promise.resolve(undefined);
function put(fd, bytes) {
  writing = writing.then(() => putNow(fd, bytes));
  return writing;
}

if (options.print) await put(1, Buffer.from(options.print));
if (options.printError) await put(2, Buffer.from(options.printError));
if (options.exitAtStart !== undefined) process.exit(options.exitAtStart);

const control = connect(process.env.FAKE_CONTROL);
const tell = (event) => control.write(`${JSON.stringify(event)}\n`);
control.on("error", () => process.kill(process.pid, "SIGKILL"));
control.on("close", () => process.kill(process.pid, "SIGKILL"));

tell({
  event: "hello",
  pid: process.pid,
  ppid: process.ppid,
  argv: process.argv.slice(2),
  cwd: process.cwd(),
  env: process.env,
});

let partial = [];
process.stdin.on("data", (chunk) => {
  let start = 0;
  for (;;) {
    const end = chunk.indexOf(0x0a, start);
    if (end === -1) break;
    partial.push(chunk.subarray(start, end));
    tell({ event: "line", bytes: Buffer.concat(partial).toString("base64") });
    partial = [];
    start = end + 1;
  }
  if (start < chunk.length) partial.push(chunk.subarray(start));
});
process.stdin.on("error", () => {}); // reported as the end
process.stdin.on("close", () => {
  tell({ event: "end", rest: Buffer.concat(partial).toString("base64") });
  if (!options.ignoreEof) control.end(() => process.exit(0));
});

const grandchild = `
  process.on("SIGTERM", () => {});
  setInterval(() => {}, 1 << 30);
`;

const actions = {
  async write({ to, bytes }) {
    return { fault: await put(to === "stderr" ? 2 : 1, Buffer.from(bytes, "base64")) };
  },
  /** A line of any length without its bytes having to come from the test. */
  async fill({ head, bytes, tail }) {
    return { fault: await put(1, Buffer.concat([Buffer.from(head), Buffer.alloc(bytes, "x"), Buffer.from(tail)])) };
  },
  closeStdout() {
    closeSync(1);
  },
  closeStdin() {
    options.ignoreEof = true;
    return new Promise((resolve) => {
      process.stdin.once("close", () => {
        closeSync(0); // Node leaves the descriptor open
        resolve();
      });
      process.stdin.destroy();
    });
  },
  pauseInput() {
    process.stdin.pause();
  },
  resumeInput() {
    process.stdin.resume();
  },
  set({ name, value }) {
    options[name] = value;
    if (name === "ignoreTerm" && value) process.on("SIGTERM", () => {});
  },
  /** A child that ignores TERM; `detached`: in a session of its own; `clearEnv`: without any environment. */
  spawn({ detached, clearEnv }) {
    const child = spawn(process.execPath, ["-e", grandchild], {
      detached,
      env: clearEnv ? {} : process.env,
      stdio: detached ? "ignore" : "inherit",
    });
    return { pid: child.pid };
  },
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
    void run(command);
  }
});

async function run(command) {
  if (command.do === "exit") {
    await writing;
    process.exit(command.code);
  }
  if (command.do === "signal") {
    await writing;
    process.kill(process.pid, command.signal);
    return;
  }
  const answer = await actions[command.do](command);
  tell({ event: "done", id: command.id, ...answer });
}
