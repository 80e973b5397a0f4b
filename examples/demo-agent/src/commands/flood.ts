// The load generator: lines that were built once, with a number written into them, straight to stdout in large blocks.
// It does not use the SDK's writer; whole lines and awaited writes keep the two from mixing within a line.
import { countIn, type Command } from "./command.ts";

const blockBytes = 64 << 10;
const digits = 10;

/** One line for this session; the number stands at `numberAt`. */
function lineFor(sessionId: string, bytes: number): { line: Buffer; numberAt: number } {
  const number = "0".repeat(digits);
  const text = `${number} `.padEnd(bytes, "x");
  const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text } };
  const params = { sessionId, update };
  const line = Buffer.from(`${JSON.stringify({ jsonrpc: "2.0", method: "session/update", params })}\n`);
  return { line, numberAt: line.lastIndexOf(`"${number}`) + 1 };
}

const write = (bytes: Buffer): Promise<void> =>
  new Promise((resolve, reject) => {
    process.stdout.write(bytes, (error) => (error ? reject(error) : resolve()));
  });

export const floodCommand: Command = {
  name: "flood",
  hint: "N [BYTES]",
  description: "Write N numbered updates of BYTES text bytes as fast as the other side reads",
  async run(turn, rest) {
    const [n, size] = rest.trim().split(/\s+/);
    const count = countIn(n, 1_000, 100_000_000);
    const { line, numberAt } = lineFor(turn.sessionId, countIn(size, 100, 16 << 20));
    const perBlock = Math.max(1, Math.floor(blockBytes / line.length));
    // Two blocks: one is filled while the other is written.
    const blocks = [0, 1].map(() => Buffer.concat(Array.from({ length: perBlock }, () => line)));
    const written: Promise<void>[] = [Promise.resolve(), Promise.resolve()];
    for (let next = 1, turnOf = 0; next <= count && !turn.signal.aborted; turnOf ^= 1) {
      await written[turnOf];
      const block = blocks[turnOf] ?? line;
      const lines = Math.min(perBlock, count - next + 1);
      for (let i = 0; i < lines; i += 1, next += 1) {
        block.write(String(next).padStart(digits, "0"), i * line.length + numberAt, "latin1");
      }
      written[turnOf] = write(block.subarray(0, lines * line.length));
    }
    await Promise.all(written);
  },
};
