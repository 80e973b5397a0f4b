import { appendFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dryRun, presetsHelper, withProposals } from "@acp-master/helper-sdk";

// Presets as ever; a proposal that a person confirms is written down and nothing else happens.
const file = join(tmpdir(), "acp-proposals.log");
export default withProposals(presetsHelper, { executor: dryRun((line) => appendFileSync(file, `${line}\n`)) });
