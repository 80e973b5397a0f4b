// `acp-master serve`: the daemon in the foreground. The daemon itself is elsewhere; this is its place on the command line.
import type { Command } from "commander";
import { examples, finish, type JsonOption } from "./finish.ts";

export function registerServe(program: Command): void {
  program
    .command("serve")
    .description("run the daemon in the foreground; prints one line when it is ready")
    .option("--json", "print the ready line as JSON")
    .addHelpText("after", examples("acp-master serve", "ACP_MASTER_HOME=~/acp acp-master serve --json"))
    .action(finish(serve));
}

async function serve(options: JsonOption): Promise<number> {
  const daemon = await import("../daemon/serve.ts");
  return daemon.serve({ json: options.json === true });
}
