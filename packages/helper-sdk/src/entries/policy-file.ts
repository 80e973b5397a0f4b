// The program of the Helper `policy-file`: its argument is the file of rules.
import { resolve } from "node:path";
import { policyFileHelper } from "../reference/policy-file.ts";
import { runHelper } from "../run-helper.ts";

await runHelper(policyFileHelper(resolve(process.argv[2] ?? "policy.json")));
