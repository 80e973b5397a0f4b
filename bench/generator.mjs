// The generator without anybody between: its output goes to a program that only reads. What a row measures must be far from it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const agent = fileURLToPath(new URL("agent.mjs", import.meta.url));

/** Updates per second. */
export async function generatorAlone(bytes, count, kind) {
  const reader = spawn("cat", [], { stdio: ["pipe", "ignore", "inherit"] });
  const writer = spawn(process.execPath, [agent], { stdio: ["pipe", reader.stdin, "pipe"] });
  const params = { sessionId: "alone", prompt: [{ type: "text", text: `stream ${bytes} ${count} ${kind}` }] };
  const told = once(writer.stderr, "data");
  writer.stdin.end(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "session/prompt", params })}\n`);
  reader.stdin.destroy();
  const [line] = await told;
  await Promise.all([once(writer, "exit"), once(reader, "exit")]);
  return count / (Number(line) / 1e6);
}
