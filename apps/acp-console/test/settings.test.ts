// Which settings the console does not start with.
import { expect, it } from "vitest";
import { isLoopback, readSettings } from "../src/settings.ts";

const good = {
  version: "1",
  socketPath: "/s",
  controlPath: "/c",
  runFile: "/r",
  pageFolder: "/p",
  host: "127.0.0.1",
  port: 0,
  origins: [],
  proxies: [],
  tls: null,
  readOnly: false,
};
const tls = { cert: "/cert", key: "/key" };
const read = (over: object): string => {
  const settings = readSettings(JSON.stringify({ ...good, ...over }));
  return settings.ok ? "" : settings.message;
};

it.each([
  {},
  { host: "localhost" },
  { host: "::1" },
  { origins: ["https://console.example", "http://box.lan:8080"] },
  { host: "192.0.2.1", tls },
  { host: "0.0.0.0", tls, origins: ["https://console.example"] },
  { host: "192.0.2.1", proxies: ["192.0.2.7"], origins: ["https://console.example"] },
])("starts with %j", (over) => {
  expect(read(over)).toBe("");
});

it.each([
  [{ host: "0.0.0.0" }, /console\.tls/],
  [{ host: "::" }, /console\.tls/],
  [{ host: "192.0.2.1" }, /console\.tls/],
  [{ host: "127.0.0.1.evil.test" }, /console\.tls/],
  [{ host: "192.0.2.1", origins: ["https://console.example"] }, /console\.tls/],
  [{ host: "0.0.0.0", tls }, /console\.origins/],
  [{ host: "192.0.2.1", proxies: ["192.0.2.7"] }, /console\.origins/],
  [{ origins: ["https://console.example/"] }, /^console\.origins\.0: must be an origin/],
  [{ origins: ["HTTPS://console.example"] }, /origins/],
  [{ origins: ["https://console.example:443"] }, /origins/],
  [{ origins: ["console.example"] }, /origins/],
  [{ origins: ["*"] }, /origins/],
  [{ proxies: ["proxy.example"] }, /proxies/],
  [{ more: 1 }, /./],
])("does not start with %j", (over, why) => {
  expect(read(over)).toMatch(why);
});

it("does not start without settings", () => {
  for (const text of [undefined, "", "{", "null"]) expect(readSettings(text)).toMatchObject({ ok: false });
});

it("takes for loopback what cannot be reached from outside, and nothing else", () => {
  for (const host of ["localhost", "::1", "127.0.0.1", "127.255.255.254", "127.0.0.10"])
    expect(isLoopback(host)).toBe(true);
  for (const host of [
    "",
    "127.1",
    "127.0.0.01",
    "127.0.0.256",
    "127.0.0.1 ",
    "0.0.0.0",
    "localhost.",
    "1127.0.0.1",
    "::",
  ]) {
    expect(isLoopback(host), host).toBe(false);
  }
});
