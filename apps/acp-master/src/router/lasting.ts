// Bytes that live as long as a session.

/** A copy in memory of its own: one from the shared pool keeps eight kilobytes alive, with what others had in them. */
export function lasting(bytes: Buffer): Buffer {
  const own = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(own);
  return own;
}
