// The Helper for terminals: five presets, and proposals that are carried out in tmux. Also the programs that show its cards.
import { presetsHelper, runHelper, withProposals } from "@acp-master/helper-sdk";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { reviewAll, reviewCard } from "./review/commands.ts";
import { Popups } from "./tmux/popups.ts";
import { Tmux } from "./tmux/tmux.ts";
import { TmuxExecutor } from "./tmux/tmux-executor.ts";

const { values, positionals } = parseArgs({
  options: { tmux: { type: "string", default: "default" }, json: { type: "boolean", default: false } },
  allowPositionals: true,
});
const [command, review = "", proposalId = ""] = positionals;

switch (command) {
  case undefined:
    await runTerminalHelper(values.tmux);
    break;
  case "card":
    process.exitCode = await reviewCard(review, proposalId);
    break;
  case "review":
    process.exitCode = await reviewAll({ json: values.json });
    break;
  default:
    process.stderr.write("usage: helper-terminal.js [--tmux SERVER] | card REVIEW PROPOSAL | review [--json]\n");
    process.exitCode = 2;
}

async function runTerminalHelper(server: string): Promise<void> {
  const tmux = new Tmux(server);
  using popups = new Popups(tmux, fileURLToPath(import.meta.url));
  const executor = new TmuxExecutor(tmux);
  const present = (card: { readonly proposalId: string }, path: string) => popups.show(card.proposalId, path);
  await runHelper(withProposals({ ...presetsHelper, name: "terminal" }, { executor, present }));
}
