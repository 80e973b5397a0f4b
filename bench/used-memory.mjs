// Memory that this machine has in hand. A host may take back what its virtual machine does not use; the first write to a page of
// it then costs ten times a copy. What is measured here is not that.
import { spawnSync } from "node:child_process";

/** Uses so many bytes and gives them back: whoever takes memory next, such as for a file that is written, gets these. */
export function useMemory(bytes) {
  spawnSync(process.execPath, ["-e", `Buffer.alloc(${Math.ceil(bytes)}, 1)`], { stdio: "inherit" });
}
