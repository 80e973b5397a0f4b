// Loaded into a daemon that is measured: at SIGUSR2 it collects and writes what its memory is. Nothing of the daemon's own.
import { renameSync, writeFileSync } from "node:fs";

const file = process.env.BENCH_MEMORY_FILE;
process.on("SIGUSR2", () => {
  globalThis.gc();
  globalThis.gc();
  writeFileSync(`${file}.new`, JSON.stringify(process.memoryUsage()));
  renameSync(`${file}.new`, file);
});
