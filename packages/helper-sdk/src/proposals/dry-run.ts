// The executor that only prints. It shows what another would be given, and is the shortest one to begin from.
import { type Action, terminalActions } from "@acp-master/proposal-channel";
import { typeOf } from "./card.ts";
import type { Executor, Order } from "./executor.ts";
import { visibleLine } from "./visible-text.ts";

/**
 * `print` gets one line for each action. By default it is standard error, which a daemon does not keep.
 *
 *     dryRun((line) => appendFileSync("orders.log", `${line}\n`))
 */
export function dryRun(print: (line: string) => void = (line) => process.stderr.write(`${line}\n`)): Executor {
  return {
    name: "dry-run",
    actionTypes: terminalActions,
    bind: () => "dry-run",
    isThere: () => true,
    dispatch: (order) => {
      for (const action of order.actions) print(lineOf(action, order));
      return Promise.resolve(true);
    },
  };
}

function lineOf(action: Action, { mode, target }: Order): string {
  return `${mode} ${action.type} in ${target ?? "no place"}: ${visibleLine(typeOf(action, terminalActions)?.cardText(action) ?? "")}`;
}
