// Who may speak to the console: every decision of the fence that a loopback test with real sockets cannot bring about.
import { describe, expect, it } from "vitest";
import { type Caller, type FenceSettings, refusalOf } from "../src/http/fence.ts";

const alone: FenceSettings = { host: "127.0.0.1", port: 4711, origins: [], proxies: [], hasTls: false };
const caller = (over: Partial<Caller> = {}): Caller => ({
  method: "GET",
  path: "/api/session",
  host: "127.0.0.1:4711",
  origin: undefined,
  fetchSite: undefined,
  fetchMode: undefined,
  fetchDest: undefined,
  peer: "127.0.0.1",
  ...over,
});

describe("on loopback", () => {
  it("takes connections of this machine alone, in both families", () => {
    for (const peer of ["127.0.0.1", "127.3.2.1", "::1", "::ffff:127.0.0.1"]) {
      expect(refusalOf(caller({ peer }), alone), peer).toBeUndefined();
    }
    for (const peer of ["192.0.2.1", "::ffff:192.0.2.1", "fe80::1", "", undefined, "127.0.0.256"]) {
      expect(refusalOf(caller({ peer }), alone), peer).toBe("peer");
    }
  });

  it("takes no target that names a host of its own", () => {
    for (const path of ["http://evil.test/", "http://127.0.0.1:4711/", "*", "", "evil.test:443"]) {
      expect(refusalOf(caller({ path }), alone), path).toBe("host");
    }
  });

  it("knows the default port, which browsers leave out", () => {
    const http = { ...alone, port: 80 };
    expect(refusalOf(caller({ host: "localhost", origin: "http://localhost" }), http)).toBeUndefined();
    expect(refusalOf(caller({ host: "localhost:80", origin: "http://localhost" }), http)).toBeUndefined();
    expect(refusalOf(caller({ host: "localhost", origin: "http://localhost:80" }), http)).toBe("origin");
    expect(refusalOf(caller({ host: "localhost" }), alone)).toBe("host");
    const https = { ...alone, port: 443, hasTls: true };
    expect(refusalOf(caller({ host: "localhost", origin: "https://localhost" }), https)).toBeUndefined();
    expect(refusalOf(caller({ host: "localhost", origin: "http://localhost" }), https)).toBe("origin");
  });
});

describe("on an address of the network", () => {
  const tls: FenceSettings = { ...alone, host: "192.0.2.5", hasTls: true };

  it("with TLS takes anybody under its own address, and loopback names from this machine alone", () => {
    const peer = "198.51.100.9";
    const own = { peer, host: "192.0.2.5:4711" };
    expect(refusalOf(caller({ ...own, origin: "https://192.0.2.5:4711" }), tls)).toBeUndefined();
    expect(refusalOf(caller({ ...own, origin: "http://192.0.2.5:4711" }), tls)).toBe("origin");
    expect(refusalOf(caller({ peer, host: "127.0.0.1:4711" }), tls)).toBe("host");
    expect(refusalOf(caller({ peer, host: "localhost:4711" }), tls)).toBe("host");
    expect(refusalOf(caller({ host: "localhost:4711", origin: "https://localhost:4711" }), tls)).toBeUndefined();
    const v6 = { ...tls, host: "2001:db8::1" };
    expect(refusalOf(caller({ peer, host: "[2001:db8::1]:4711" }), v6)).toBeUndefined();
    expect(refusalOf(caller({ peer, host: "2001:db8::1:4711" }), v6)).toBe("host");
  });

  it("behind proxies takes them alone, under the configured names alone", () => {
    const origins = ["https://console.example", "http://box.lan:8080"];
    const proxied: FenceSettings = { ...alone, host: "0.0.0.0", origins, proxies: ["192.0.2.7"] };
    const peer = "192.0.2.7";
    expect(refusalOf(caller({ peer, host: "console.example", origin: origins[0] }), proxied)).toBeUndefined();
    expect(refusalOf(caller({ peer, host: "box.lan:8080", origin: origins[1] }), proxied)).toBeUndefined();
    expect(refusalOf(caller({ peer, host: "box.lan:8080", origin: origins[0] }), proxied)).toBe("origin");
    expect(refusalOf(caller({ peer, host: "0.0.0.0:4711" }), proxied)).toBe("host");
    expect(refusalOf(caller({ peer, host: "box.lan" }), proxied)).toBe("host");
    expect(refusalOf(caller({ peer: "192.0.2.8", host: "console.example" }), proxied)).toBe("peer");
    expect(refusalOf(caller({ host: "console.example" }), proxied)).toBeUndefined();
  });
});
