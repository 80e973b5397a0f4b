// The client's side of one exchange: a request line out, a validation line and perhaps a final line in. Everything else on
// the way is a failure with a kind.
import type { Socket } from "node:net";
import { LineBuffer } from "./line-buffer.ts";
import { type Final, type Validation, parseFinal, parseValidation } from "./responses.ts";

export type ExchangeFailure = "connection_lost" | "too_long" | "not_a_validation" | "not_a_final";

export type Exchanged = { readonly ok: true } | { readonly ok: false; readonly failure: ExchangeFailure };

/** Hands over each response as it comes and waits until it was taken. Without a timeout: a person may take their time. */
export async function exchange(
  socket: Socket,
  request: string,
  take: { readonly validation: (line: Validation) => Promise<void>; readonly final: (line: Final) => Promise<void> },
): Promise<Exchanged> {
  const lines = new Lines(socket);
  socket.write(`${request}\n`);
  const first = await lines.next();
  if (!first.ok) return first;
  const validation = parseValidation(first.line);
  if (validation === undefined) return { ok: false, failure: "not_a_validation" };
  await take.validation(validation);
  if (validation.status !== "accepted") return { ok: true };
  const second = await lines.next();
  if (!second.ok) return second;
  const final = parseFinal(second.line);
  if (final?.proposalId !== validation.proposalId) return { ok: false, failure: "not_a_final" };
  await take.final(final);
  return { ok: true };
}

type NextLine =
  { readonly ok: true; readonly line: Buffer } | { readonly ok: false; readonly failure: ExchangeFailure };

/** At most two lines ever count, so more than that is not kept. */
class Lines {
  readonly #ready: NextLine[] = [];
  #waiting: ((line: NextLine) => void) | undefined;

  constructor(socket: Socket) {
    const buffer = new LineBuffer();
    socket.on("data", (chunk: Buffer) => {
      for (const each of buffer.push(chunk)) {
        this.#put(each.event === "line" ? { ok: true, line: each.line } : { ok: false, failure: "too_long" });
      }
    });
    const lost = () => this.#put({ ok: false, failure: "connection_lost" });
    socket.once("end", lost).once("error", lost).once("close", lost);
  }

  async next(): Promise<NextLine> {
    const ready = this.#ready.shift();
    return ready ?? (await new Promise((resolve) => (this.#waiting = resolve)));
  }

  #put(line: NextLine): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting !== undefined) waiting(line);
    else if (this.#ready.length < 2) this.#ready.push(line);
  }
}
