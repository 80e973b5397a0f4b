import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type Socket, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { connectToHelper } from "../src/connect.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "connect-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function failing(code: string, succeedAt = Infinity) {
  const happened: (string | number)[] = [];
  const attempts = {
    connect: (): Promise<Socket> => {
      happened.push("attempt");
      const count = happened.filter((each) => each === "attempt").length;
      if (count >= succeedAt) return Promise.reject(Object.assign(new Error("done"), { code: "EACCES" }));
      return Promise.reject(Object.assign(new Error(code), { code }));
    },
    sleep: (ms: number): Promise<void> => {
      happened.push(ms);
      return Promise.resolve();
    },
  };
  return { happened, attempts };
}

const never = new AbortController().signal;

test.each(["ENOENT", "ECONNREFUSED", "EAGAIN", "EBUSY"])(
  "%s is tried seven times with six sleeps and none at the end",
  async (code) => {
    const { happened, attempts } = failing(code);
    expect(await connectToHelper("/none", never, attempts)).toEqual({ ok: false, reason: "unavailable", code });
    expect(happened).toEqual([...[20, 50, 100, 200, 500, 1000].flatMap((ms) => ["attempt", ms]), "attempt"]);
  },
);

test("any other error ends it at once", async () => {
  const { happened, attempts } = failing("EACCES");
  expect(await connectToHelper("/none", never, attempts)).toEqual({ ok: false, reason: "failed", code: "EACCES" });
  expect(happened).toEqual(["attempt"]);
  const later = failing("ENOENT", 3);
  expect(await connectToHelper("/none", never, later.attempts)).toMatchObject({ ok: false, reason: "failed" });
  expect(later.happened).toEqual(["attempt", 20, "attempt", 50, "attempt"]);
});

test("a socket that appears while it waits is found", async () => {
  const path = join(folder, "s.sock");
  const server = createServer((socket) => socket.end());
  const connected = await connectToHelper(path, never, {
    sleep: async () => await new Promise<void>((resolve) => server.listen(path, resolve)),
  });
  expect(connected.ok).toBe(true);
  if (connected.ok) connected.socket.destroy();
  await new Promise((resolve) => server.close(resolve));
});

test("a missing socket and one that cannot be there fail as the system says", async () => {
  const connected = await connectToHelper(join(folder, "none"), never, { sleep: () => Promise.resolve() });
  expect(connected).toEqual({ ok: false, reason: "unavailable", code: "ENOENT" });
  writeFileSync(join(folder, "file"), "");
  expect(await connectToHelper(join(folder, "file", "s"), never)).toEqual({
    ok: false,
    reason: "failed",
    code: "ENOTDIR",
  });
});

test("a stop ends the real sleep and no attempt follows", async () => {
  const stop = new AbortController();
  let attempts = 0;
  const connecting = connectToHelper("/none", stop.signal, {
    connect: () => {
      attempts += 1;
      if (attempts === 3) stop.abort();
      return Promise.reject(Object.assign(new Error("no"), { code: "ENOENT" }));
    },
  });
  expect(await connecting).toMatchObject({ ok: false, reason: "stopped" });
  expect(attempts).toBe(3);
});
