// The frames of one session that wait for a Helper's verdict, and all that came after them. An empty lane is the fast
// path: nothing enters it.

const MAX_FRAMES = 1000;
const MAX_BYTES = 8 * 1024 * 1024;

export type Verdict = "pass" | "hide" | "reduced";

interface Place {
  readonly frame: Buffer;
  verdict: Verdict | "none" | "pending";
}

export class Lane {
  readonly #places: Place[] = [];
  readonly #deliver: (frame: Buffer, verdict: Verdict | undefined) => void;
  readonly #full: (full: boolean) => void;
  readonly #whenEmpty: (() => void)[] = [];
  #bytes = 0;
  #delivering = false;
  #wasFull = false;

  /** `full` is told when the bound is reached and again when there is room. */
  constructor(deliver: (frame: Buffer, verdict: Verdict | undefined) => void, full: (full: boolean) => void) {
    this.#deliver = deliver;
    this.#full = full;
  }

  /** Whether frames have to queue here. False while the lane itself hands one out. */
  get busy(): boolean {
    return this.#places.length > 0 && !this.#delivering;
  }

  /** Waits behind what is there. */
  follow(frame: Buffer): void {
    this.#add({ frame, verdict: "none" });
  }

  /** Waits, and holds up what follows, until the returned function is called; then it comes again. */
  pause(frame: Buffer): () => void {
    const place: Place = { frame, verdict: "pending" };
    this.#add(place);
    return () => this.#decide(place, "none");
  }

  /** Waits for a verdict; the returned function gives it. */
  await(frame: Buffer): (verdict: Verdict) => void {
    const place: Place = { frame, verdict: "pending" };
    this.#add(place);
    return (verdict) => this.#decide(place, verdict);
  }

  /** Resolves when nothing waits here. */
  emptied(): Promise<void> {
    if (this.#places.length === 0) return Promise.resolve();
    return new Promise((resolve) => this.#whenEmpty.push(resolve));
  }

  /** Nothing waits any more: the session or its process is gone. Gives what waited. */
  clear(): Buffer[] {
    const frames = this.#places.splice(0).map((place) => place.frame);
    this.#bytes = 0;
    this.#tell();
    return frames;
  }

  #decide(place: Place, verdict: Verdict | "none"): void {
    if (place.verdict !== "pending") return;
    place.verdict = verdict;
    this.#drain();
  }

  #add(place: Place): void {
    // What is just being handed out and has to wait again keeps its place ahead of the others.
    if (this.#delivering) this.#places.unshift(place);
    else this.#places.push(place);
    this.#bytes += place.frame.length;
    this.#tell();
  }

  #drain(): void {
    if (this.#delivering) return;
    this.#delivering = true;
    try {
      for (let place = this.#places[0]; place && place.verdict !== "pending"; place = this.#places[0]) {
        this.#places.shift();
        this.#bytes -= place.frame.length;
        this.#deliver(place.frame, place.verdict === "none" ? undefined : place.verdict);
      }
    } finally {
      this.#delivering = false;
    }
    this.#tell();
  }

  #tell(): void {
    if (this.#places.length === 0) for (const empty of this.#whenEmpty.splice(0)) empty();
    const isFull = this.#places.length >= MAX_FRAMES || this.#bytes >= MAX_BYTES;
    if (isFull === this.#wasFull) return;
    this.#wasFull = isFull;
    this.#full(isFull);
  }
}
