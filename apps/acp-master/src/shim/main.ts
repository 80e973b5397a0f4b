// The shim as one file: what `acp-master connect` needs while nothing is wrong with its line.
export { connectLine } from "./connect-line.ts";
export { runShim } from "./shim.ts";
