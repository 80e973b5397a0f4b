// The entry of the program. An editor waits for `connect`, so that way loads the shim and nothing else; all other ways load what they need.
import { VERSION } from "./version.ts";

const argv = process.argv.slice(2);

if (argv[0] === "connect") {
  const { connect } = await import("./commands/connect.ts");
  process.exit(await connect(argv.slice(1)));
}

// A reader that has seen enough (`| head`) ends this program quietly. A daemon goes on without readers.
if (argv[0] !== "serve") {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));
}

if (argv.length === 1 && (argv[0] === "--version" || argv[0] === "-V")) {
  process.stdout.write(`${VERSION}\n`);
} else {
  const { runProgram } = await import("./commands/program.ts");
  await runProgram(argv);
}
