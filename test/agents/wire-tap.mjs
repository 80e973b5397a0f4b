// Stands between the master and a real agent: passes every byte on unchanged and notes each line of both directions in the
// file that its first argument names. The rest is the agent's command. It ends with the agent, and the agent with it.
import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";

const [file, command, ...args] = process.argv.slice(2);
const agent = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const note = (direction) => {
  const copy = new PassThrough();
  createInterface({ input: copy }).on("line", (line) => appendFileSync(file, `${direction} ${line}\n`));
  return copy;
};
process.stdin.pipe(note("in"));
process.stdin.pipe(agent.stdin);
agent.stdout.pipe(note("out"));
agent.stdout.pipe(process.stdout);
agent.stdin.on("error", () => {}); // its end is told by "close"
agent.on("close", (code) => process.exit(code ?? 1));
