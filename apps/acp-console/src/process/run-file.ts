// run/console.json: which console runs, for people and for `doctor`. It holds no secret.
import { randomBytes } from "node:crypto";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";

export interface RunFacts {
  readonly pid: number;
  /** Without a token: who opens it has to log in. */
  readonly address: string;
  readonly version: string;
  readonly startedAt: string;
}

/** Gives back what removes it, if it is still this very one. */
export function writeRunFile(path: string, facts: RunFacts): () => void {
  const text = `${JSON.stringify(facts)}\n`;
  const beside = `${path}.${randomBytes(6).toString("hex")}`;
  writeFileSync(beside, text, { flag: "wx", mode: 0o600 });
  renameSync(beside, path);
  return () => {
    try {
      if (readFileSync(path, "utf8") === text) rmSync(path);
    } catch {
      // Somebody has removed it: that was all.
    }
  };
}
