// Who may use the console: addresses that work once, and the log-ins that came of them. It keeps digests only, in memory:
// a console that ends has forgotten them.
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { Role } from "../protocol.ts";

export interface Login {
  readonly role: Role;
  /** Digest of the key that the page keeps. */
  readonly key: Buffer;
  usedAt: number;
}

/** What the browser keeps: the cookie, which other ports of this host see too, and the key, which they do not. */
export interface NewLogin {
  readonly login: Login;
  readonly cookie: string;
  readonly key: string;
}

export const tokenMinutes = 15;
const tokenMs = tokenMinutes * 60_000;
const loginMs = 7 * 86_400_000;
const mostTokens = 32;
const mostLogins = 128;
/** Wrong tokens in a minute; above it every token is refused until the minute is over. */
const mostFailures = 10;
const failureMs = 60_000;

export class Logins {
  readonly #now: () => number;
  readonly #tokens = new Map<string, { readonly role: Role; readonly until: number }>();
  readonly #logins = new Map<string, Login>();
  #failures: number[] = [];

  /** `now`: milliseconds, of whichever beginning. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** A token that works once. */
  token(role: Role): string {
    const token = secret();
    this.#tokens.set(digest(token).toString("hex"), { role, until: this.#now() + tokenMs });
    drop(this.#tokens, mostTokens);
    return token;
  }

  redeem(token: string): NewLogin | "refused" | "too_many" {
    const now = this.#now();
    this.#failures = this.#failures.filter((at) => now - at < failureMs);
    if (this.#failures.length >= mostFailures) return "too_many";
    const name = digest(token).toString("hex");
    const found = token === "" ? undefined : this.#tokens.get(name);
    this.#tokens.delete(name);
    if (found === undefined || now >= found.until) {
      this.#failures.push(now);
      return "refused";
    }
    const [cookie, key] = [secret(), secret()];
    const login: Login = { role: found.role, key: digest(key), usedAt: now };
    this.#logins.set(digest(cookie).toString("hex"), login);
    drop(this.#logins, mostLogins);
    return { login, cookie, key };
  }

  /** The log-in of a cookie and a key; both must be right. Others on this host may have set cookies of the same name. */
  find(cookies: readonly string[], key: string | undefined): Login | undefined {
    if (key === undefined || key === "") return undefined;
    for (const cookie of cookies) {
      const name = digest(cookie).toString("hex");
      const login = this.#logins.get(name);
      if (login === undefined || !timingSafeEqual(login.key, digest(key))) continue;
      this.#logins.delete(name);
      if (this.#now() - login.usedAt >= loginMs) return undefined;
      login.usedAt = this.#now();
      // Last in line: the one that was used longest ago goes first.
      this.#logins.set(name, login);
      return login;
    }
    return undefined;
  }

  forget(login: Login): void {
    for (const [name, each] of this.#logins) if (each === login) this.#logins.delete(name);
  }
}

const secret = (): string => randomBytes(32).toString("base64url");
const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

function drop(map: Map<string, unknown>, most: number): void {
  for (const name of map.keys()) {
    if (map.size <= most) return;
    map.delete(name);
  }
}
