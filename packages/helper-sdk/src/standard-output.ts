// Keeps a Helper's standard output for the protocol: whatever else a program prints there goes to standard error.
import { Writable } from "node:stream";

/** From this call on `console.log` and `process.stdout` write to standard error. Returns the way to the master. */
export function takeStandardOutput(): Writable {
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr);
  const protocol = new Writable({
    write: (chunk: Buffer, _encoding, done) => void write(chunk, (error) => done(error)),
  });
  stdout.on("error", (error) => protocol.destroy(error)); // the master is gone
  return protocol;
}
