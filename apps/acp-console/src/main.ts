// The entry of the console's process. `acp-master console` starts it with its settings as the only argument and waits for one
// line on its standard output.
import { Console } from "./console.ts";
import { readSettings } from "./settings.ts";

process.umask(0o077);
// Whoever started it reads one line and goes.
process.stdout.on("error", () => {});
// An error's message may quote what somebody wrote; its place does not.
process.on("uncaughtException", (error: Error) => {
  const place = (error.stack ?? "").split("\n").find((line) => line.startsWith("    at "));
  process.stderr.write(`${error.name}${place ?? ""}\n`);
  process.exit(1);
});

const read = readSettings(process.argv[2]);
if (!read.ok) fail(read.message);
else {
  try {
    const console = await Console.start(read.settings);
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => void console.end());
    process.stdout.write(`${JSON.stringify({ ready: true, pid: process.pid, address: console.origin })}\n`);
    await console.ended;
    process.exit(0);
  } catch (error) {
    fail(error instanceof Error ? error.message : "it could not start");
  }
}

function fail(message: string): void {
  process.stdout.write(`${JSON.stringify({ ready: false, error: message })}\n`);
  process.exitCode = 1;
}
