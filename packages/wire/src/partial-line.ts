// The pieces of a line whose end has not come yet. Joins them once; memory stays below twice the line, however small the pieces are.

/** A piece from this size on is kept as it is; a smaller one is copied into a growing block, so that a byte is never an object. */
const OWN_PIECE_BYTES = 4096;

export class PartialLine {
  private pieces: Buffer[] = [];
  private block: Buffer | undefined;
  private blockUsed = 0;
  private total = 0;

  get length(): number {
    return this.total;
  }

  add(piece: Buffer): void {
    this.total += piece.length;
    if (piece.length >= OWN_PIECE_BYTES) {
      this.closeBlock();
      this.pieces.push(piece);
      return;
    }
    const block = this.blockWithRoomFor(piece.length);
    piece.copy(block, this.blockUsed);
    this.blockUsed += piece.length;
  }

  /** The byte at an offset of the line. Meant for a few bytes at its ends. */
  byteAt(offset: number): number | undefined {
    let rest = offset;
    for (const piece of this.pieces) {
      if (rest < piece.length) return piece[rest];
      rest -= piece.length;
    }
    return rest < this.blockUsed ? this.block?.[rest] : undefined;
  }

  /** One new buffer with all pieces, the given last one and a line feed; this line is empty afterwards. */
  join(last: Buffer): Buffer {
    const line = Buffer.allocUnsafeSlow(this.total + last.length + 1);
    let at = 0;
    for (const piece of this.pieces) at += piece.copy(line, at);
    if (this.block !== undefined) at += this.block.copy(line, at, 0, this.blockUsed);
    at += last.copy(line, at);
    line[at] = 0x0a;
    this.clear();
    return line;
  }

  clear(): void {
    this.pieces = [];
    this.block = undefined;
    this.blockUsed = 0;
    this.total = 0;
  }

  private blockWithRoomFor(bytes: number): Buffer {
    const needed = this.blockUsed + bytes;
    if (this.block !== undefined && needed <= this.block.length) return this.block;
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.blockUsed * 2, 256));
    this.block?.copy(grown, 0, 0, this.blockUsed);
    this.block = grown;
    return grown;
  }

  private closeBlock(): void {
    if (this.block === undefined) return;
    this.pieces.push(this.block.subarray(0, this.blockUsed));
    this.block = undefined;
    this.blockUsed = 0;
  }
}
