// Message chunks that carry their number.
import { countIn, type Command } from "./command.ts";

export const streamCommand: Command = {
  name: "stream",
  hint: "N [BYTES]",
  description: "Stream N numbered chunks, each filled up to BYTES bytes",
  async run(turn, rest) {
    const [n, size] = rest.trim().split(/\s+/);
    const count = countIn(n, 10, 1_000_000);
    const bytes = countIn(size, 0, 16 << 20);
    for (let i = 1; i <= count && !turn.signal.aborted; i += 1) await turn.say(`${i} `.padEnd(bytes, "."));
  },
};
