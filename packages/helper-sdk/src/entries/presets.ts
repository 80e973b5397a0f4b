// The program of the Helper `presets`.
import { presetsHelper } from "../reference/presets.ts";
import { runHelper } from "../run-helper.ts";

await runHelper(presetsHelper);
