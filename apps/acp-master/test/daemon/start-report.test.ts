import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import { expect, it } from "vitest";
import { readStartReport, reportVariable, takeStartReport } from "../../src/daemon/start-report.ts";

it("reaches the starter once, through the pipe that the starter named", async () => {
  const folder = mkdtempSync(join(tmpdir(), "acpm-"));
  try {
    const outfile = join(folder, "report.mjs");
    const source = fileURLToPath(new URL("../../src/daemon/start-report.ts", import.meta.url));
    buildSync({
      stdin: {
        contents: `import { takeStartReport } from ${JSON.stringify(source)};
          const report = takeStartReport(process.env);
          report({ ready: false, reason: "config", error: "x".repeat(100_000) });
          report({ ready: true, pid: 1, socket: "s", version: "v" });
          process.stdout.write(String(process.env.${reportVariable}));`,
        resolveDir: folder,
      },
      outfile,
      bundle: true,
      platform: "node",
      format: "esm",
    });
    const child = spawn(process.execPath, [outfile], {
      env: { ...process.env, [reportVariable]: "3" },
      stdio: ["ignore", "pipe", "inherit", "pipe"],
    });
    let said = "";
    let reported = "";
    child.stdout!.on("data", (part) => (said += String(part)));
    child.stdio[3]!.on("data", (part) => (reported += String(part)));
    await once(child, "close");
    expect(said).toBe("undefined");
    expect(reported.length).toBeLessThan(8192);
    expect(readStartReport(reported)).toMatchObject({ ready: false, reason: "config" });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it("goes nowhere when nobody waits or the number names something else", () => {
  const folder = mkdtempSync(join(tmpdir(), "acpm-"));
  const file = join(folder, "precious");
  const descriptor = openSync(file, "w");
  try {
    for (const value of [undefined, "", "1", "x", "99999", "987", String(descriptor)]) {
      takeStartReport(value === undefined ? {} : { [reportVariable]: value })({
        ready: false,
        reason: "r",
        error: "e",
      });
    }
    expect(readFileSync(file, "utf8")).toBe("");
  } finally {
    closeSync(descriptor);
    rmSync(folder, { recursive: true });
  }
});

it.each(["", "{", "null", "7", '{"ready":true}', '{"ready":false,"error":7}', '{"ready":"yes"}'])(
  "is not what %j says",
  (line) => {
    expect(readStartReport(line)).toBeUndefined();
  },
);
