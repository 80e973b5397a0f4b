// The program acp-propose. Standard output holds response lines and nothing else; what goes wrong is said on standard error.
import { propose } from "./propose.ts";
import { readArguments, usage } from "./read-arguments.ts";
import { VERSION } from "./version.ts";

const signalCodes = { SIGINT: 130, SIGTERM: 143 } as const;

/** Resolves when the text is with the system; the exit code is set and never forced, so nothing that was written is lost. */
async function write(stream: NodeJS.WriteStream, text: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    stream.write(text, (error) => (error === undefined || error === null ? resolve() : reject(error)));
  });
}

async function main(): Promise<number> {
  const asked = readArguments(process.argv.slice(2));
  switch (asked.wanted) {
    case "help":
      await write(process.stdout, usage);
      return 0;
    case "version":
      await write(process.stdout, `${VERSION}\n`);
      return 0;
    case "usage":
      await write(process.stderr, `acp-propose: ${asked.problem}\n\n${usage}`);
      return 2;
    case "propose":
  }
  const stop = new AbortController();
  let stoppedBy: keyof typeof signalCodes | undefined;
  for (const name of ["SIGINT", "SIGTERM"] as const) {
    process.once(name, () => {
      stoppedBy ??= name;
      stop.abort();
    });
  }
  const { channel, payload } = asked;
  const print = async (line: string) => await write(process.stdout, `${line}\n`);
  const folder = process.env["ACP_PROPOSE_DIR"];
  const problem = await propose({ channel, payload, folder, print, signal: stop.signal });
  if (stoppedBy !== undefined) return signalCodes[stoppedBy];
  if (problem === undefined) return 0;
  await write(process.stderr, `acp-propose: ${problem}\n`);
  return 1;
}

// A reader that has gone away is told by the write that fails; without a listener it would be told by a stack trace.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});

try {
  process.exitCode = await main();
} catch {
  process.exitCode = 1; // only writing throws: nobody reads any more
}
