// The program of the Helper `deny-all`.
import { denyAllHelper } from "../reference/deny-all.ts";
import { runHelper } from "../run-helper.ts";

await runHelper(denyAllHelper);
