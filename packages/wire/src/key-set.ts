// The keys of one object, as positions in the frame. It says whether a raw key was there before, in linear time also for a hostile
// object, and does not resolve escapes: where this is asked, an escaped key is refused anyway.
import { randomBytes } from "node:crypto";

/** Up to here every key is compared with every other one, which is faster than hashing them. */
const FEW_KEYS = 24;
/** Unknown to peers, so that nobody can prepare keys that all fall into one slot. */
const SEED = randomBytes(4).readInt32LE();

export class KeySet {
  private starts = new Int32Array(FEW_KEYS);
  private ends = new Int32Array(FEW_KEYS);
  private count = 0;
  /** Open addressing, key number + 1 per slot; only for many keys. */
  private slots: Int32Array | undefined;

  clear(): void {
    this.count = 0;
    if (this.slots === undefined) return;
    this.slots = undefined;
    this.starts = new Int32Array(FEW_KEYS);
    this.ends = new Int32Array(FEW_KEYS);
  }

  /** False if the same bytes were added before. */
  add(bytes: Buffer, start: number, end: number): boolean {
    if (this.slots === undefined) {
      for (let key = 0; key < this.count; key += 1) {
        if (this.isKey(bytes, key, start, end)) return false;
      }
      if (this.count < FEW_KEYS) {
        this.push(start, end);
        return true;
      }
    }
    if (this.count === this.starts.length) this.grow(bytes);
    if (!this.place(bytes, start, end, this.count)) return false;
    this.push(start, end);
    return true;
  }

  private push(start: number, end: number): void {
    this.starts[this.count] = start;
    this.ends[this.count] = end;
    this.count += 1;
  }

  /** Puts the key with this number into the table unless an equal one is there. */
  private place(bytes: Buffer, start: number, end: number, key: number): boolean {
    const slots = this.slots!;
    const mask = slots.length - 1;
    let slot = hash(bytes, start, end) & mask;
    for (let found = slots[slot]!; found !== 0; found = slots[slot]!) {
      if (this.isKey(bytes, found - 1, start, end)) return false;
      slot = (slot + 1) & mask;
    }
    slots[slot] = key + 1;
    return true;
  }

  private grow(bytes: Buffer): void {
    const capacity = this.starts.length * 4;
    const { starts, ends } = this;
    this.starts = new Int32Array(capacity);
    this.ends = new Int32Array(capacity);
    this.starts.set(starts);
    this.ends.set(ends);
    this.slots = new Int32Array(1 << (33 - Math.clz32(capacity)));
    for (let key = 0; key < this.count; key += 1) this.place(bytes, this.starts[key]!, this.ends[key]!, key);
  }

  private isKey(bytes: Buffer, key: number, start: number, end: number): boolean {
    const other = this.starts[key]!;
    if (this.ends[key]! - other !== end - start) return false;
    for (let at = start, from = other; at < end; at += 1, from += 1) {
      if (bytes[at] !== bytes[from]) return false;
    }
    return true;
  }
}

function hash(bytes: Buffer, start: number, end: number): number {
  let value = SEED ^ (end - start);
  for (let at = start; at < end; at += 1) {
    value = Math.imul(value ^ bytes[at]!, 0x9e3779b1);
    value ^= value >>> 15;
  }
  return value >>> 1;
}
