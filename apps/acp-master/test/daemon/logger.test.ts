import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { resolvePlaces } from "../../src/config/places.ts";
import { createLogger, logFile, loggerInto } from "../../src/daemon/logger.ts";
import { RotatingFile } from "../../src/daemon/rotating-file.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "acpm-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function recorded() {
  const lines: Record<string, unknown>[] = [];
  return { lines, write: (line: string) => void lines.push(JSON.parse(line)) };
}

describe("a log line", () => {
  it("holds known fields with plain values, and only the number of those that were left out", () => {
    const file = recorded();
    const log = loggerInto(file, "info");
    log.info(
      { agent: "demo", pid: 7, bytes: 12, prompt: "sk-1", env: { KEY: "sk-2" }, session: { text: "sk-3" } },
      "started",
    );
    log.child({ sessionId: "s-1", token: "sk-4" }).warn("attached");
    expect(file.lines[0]).toMatchObject({
      level: "info",
      daemon: process.pid,
      agent: "demo",
      pid: 7,
      bytes: 12,
      droppedFields: 3,
      msg: "started",
    });
    expect(file.lines[1]).toMatchObject({ level: "warn", sessionId: "s-1", msg: "attached" });
    expect(JSON.stringify(file.lines)).not.toContain("sk-");
  });

  it("holds of an error its code and places, not its message", () => {
    const file = recorded();
    const log = loggerInto(file, "debug");
    log.error(Object.assign(new Error("cannot read sk-1"), { code: "EACCES", syscall: "open" }), "failed");
    log.debug({ err: new TypeError("sk-2"), error: "sk-3" });
    expect(file.lines[0]).toMatchObject({ err: { name: "Error", code: "EACCES", syscall: "open" }, msg: "failed" });
    expect(file.lines[1]).toMatchObject({ err: { name: "TypeError" }, droppedFields: 1 });
    expect(JSON.stringify(file.lines)).not.toContain("sk-");
  });

  it("shows what a terminal would obey, and cuts what is long", () => {
    const file = recorded();
    loggerInto(file, "info").info({ method: "\u001B[2Jx", path: "a".repeat(10_000) });
    expect(file.lines[0]?.method).toBe("\\u{1B}[2Jx");
    expect(String(file.lines[0]?.path).length).toBeLessThan(300);
  });

  it("is written from the chosen level on, which may change", () => {
    const file = recorded();
    const log = loggerInto(file, "warn");
    log.info("no");
    log.level = "info";
    log.info("yes");
    expect(file.lines.map(({ msg }) => msg)).toEqual(["yes"]);
  });
});

describe("the log file", () => {
  it("is private, and its folder too", () => {
    const places = resolvePlaces({ ACP_MASTER_HOME: join(root, "home") });
    createLogger(places, "info").info("hello");
    expect(lstatSync(logFile(places)).mode & 0o777).toBe(0o600);
    expect(lstatSync(places.logDir).mode & 0o777).toBe(0o700);
  });

  it("never grows past its bound: the oldest of a fixed number of files goes", () => {
    using file = new RotatingFile(join(root, "master.ndjson"), { fileBytes: 1000, files: 3 });
    for (let n = 0; n < 500; n++) file.write(`${JSON.stringify({ n, text: "x".repeat(40) })}\n`);
    expect(readdirSync(root).sort()).toEqual(["master.1.ndjson", "master.2.ndjson", "master.ndjson"]);
    for (const name of readdirSync(root)) {
      const stat = lstatSync(join(root, name));
      expect(stat.size).toBeLessThanOrEqual(1000);
      expect(stat.mode & 0o777).toBe(0o600);
    }
    const last = readFileSync(join(root, "master.ndjson"), "utf8").trim().split("\n").at(-1) ?? "";
    expect(JSON.parse(last)).toMatchObject({ n: 499 });
  });

  it("goes on in the file that an earlier daemon left", () => {
    const path = join(root, "master.ndjson");
    writeFileSync(path, "earlier\n", { mode: 0o600 });
    using file = new RotatingFile(path, { fileBytes: 1000, files: 3 });
    file.write("later\n");
    expect(readFileSync(path, "utf8")).toBe("earlier\nlater\n");
  });

  it("that cannot be written loses lines and counts them, and nothing else fails", () => {
    mkdirSync(join(root, "master.ndjson"));
    chmodSync(root, 0o700);
    using file = new RotatingFile(join(root, "master.ndjson"), { fileBytes: 1000, files: 3 });
    loggerInto(file, "info").info("hello");
    expect([file.lostLines, file.problem]).toEqual([1, "EISDIR"]);
  });
});
