// The program of the Helper `ask`.
import { askHelper } from "../reference/ask.ts";
import { runHelper } from "../run-helper.ts";

await runHelper(askHelper);
