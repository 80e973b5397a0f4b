// Tokens and log-ins over time: what ends by itself, and how many there can be.
import { describe, expect, it } from "vitest";
import { Logins, type NewLogin } from "../src/http/logins.ts";

const minute = 60_000;
const day = 86_400_000;

function clocked(): { logins: Logins; pass: (ms: number) => void } {
  let now = 0;
  return { logins: new Logins(() => now), pass: (ms) => void (now += ms) };
}

function loggedIn(logins: Logins, token = logins.token("controller")): NewLogin {
  const redeemed = logins.redeem(token);
  if (typeof redeemed === "string") throw new Error(`the token was ${redeemed}`);
  return redeemed;
}

describe("a token", () => {
  it("works once and for fifteen minutes, with the role it was given for", () => {
    const { logins, pass } = clocked();
    const [used, late] = [logins.token("observer"), logins.token("controller")];
    expect(loggedIn(logins, used).login.role).toBe("observer");
    expect(logins.redeem(used)).toBe("refused");
    pass(15 * minute);
    expect(logins.redeem(late)).toBe("refused");
    expect(loggedIn(logins).login.role).toBe("controller");
  });

  it("is one of the last 32", () => {
    const { logins } = clocked();
    const [first, second] = Array.from({ length: 33 }, () => logins.token("controller"));
    expect(logins.redeem(first ?? "")).toBe("refused");
    loggedIn(logins, second);
  });

  it("is not even looked at for a minute after ten wrong ones", () => {
    const { logins, pass } = clocked();
    const right = logins.token("controller");
    for (let n = 0; n < 10; n++) expect(logins.redeem(n === 0 ? "" : `wrong-${n}`)).toBe("refused");
    expect(logins.redeem(right)).toBe("too_many");
    pass(minute);
    loggedIn(logins, right);
  });
});

describe("a log-in", () => {
  it("lasts seven days from its last use", () => {
    const { logins, pass } = clocked();
    const { cookie, key, login } = loggedIn(logins);
    for (let n = 0; n < 3; n++) {
      pass(6 * day);
      expect(logins.find([cookie], key)).toBe(login);
    }
    pass(7 * day);
    expect(logins.find([cookie], key)).toBeUndefined();
  });

  it("is one of 128; the one that was used longest ago goes", () => {
    const { logins } = clocked();
    const first = loggedIn(logins);
    const second = loggedIn(logins);
    for (let n = 0; n < 126; n++) loggedIn(logins);
    expect(logins.find([first.cookie], first.key)).toBe(first.login);
    loggedIn(logins);
    expect(logins.find([second.cookie], second.key)).toBeUndefined();
    expect(logins.find([first.cookie], first.key)).toBe(first.login);
  });

  it("is not found by one secret in place of the other, or by none", () => {
    const { logins } = clocked();
    const [one, two] = [loggedIn(logins), loggedIn(logins)];
    expect(logins.find([one.cookie], two.key)).toBeUndefined();
    expect(logins.find([one.key], one.cookie)).toBeUndefined();
    expect(logins.find([], one.key)).toBeUndefined();
    expect(logins.find([""], "")).toBeUndefined();
    expect(logins.find([one.cookie], undefined)).toBeUndefined();
    expect(logins.find(["x", two.cookie, one.cookie], one.key)).toBe(one.login);
  });
});
