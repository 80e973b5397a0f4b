// Who may speak to the console at all: the name it is called by, the page that calls, and where the connection comes from.
// Decided before anything else of a request is looked at. Pure.
import { isLoopback, type Settings } from "../settings.ts";

export interface Caller {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly fetchSite: string | undefined;
  readonly fetchMode: string | undefined;
  readonly fetchDest: string | undefined;
  /** The other end of the connection. */
  readonly peer: string | undefined;
}

export type Refusal = "peer" | "host" | "origin" | "site";

/** The addresses under which it is reached; `port` is the one it listens on. */
export type FenceSettings = Pick<Settings, "host" | "port" | "origins" | "proxies"> & { readonly hasTls: boolean };

/** Why this request goes no further; undefined: it may. */
export function refusalOf(caller: Caller, settings: FenceSettings): Refusal | undefined {
  const peer = caller.peer?.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/, "");
  if (peer === undefined || !mayConnect(peer, settings)) return "peer";
  const own = originOf(caller.host, peer, settings);
  // A target with a name of its own is for proxies, and would be another word on who is called.
  if (own === undefined || !caller.path.startsWith("/")) return "host";
  if (caller.origin !== undefined && caller.origin !== own) return "origin";
  if (!isOurs(caller)) return "site";
  return undefined;
}

function mayConnect(peer: string, { host, proxies }: FenceSettings): boolean {
  if (isLoopback(peer)) return true;
  return !isLoopback(host) && (proxies.length === 0 || proxies.includes(peer));
}

/** The origin of pages under this name; undefined when the name is none of ours. */
function originOf(host: string | undefined, peer: string, settings: FenceSettings): string | undefined {
  if (host === undefined || host === "") return undefined;
  const configured = settings.origins.find((origin) => new URL(origin).host === host);
  if (configured !== undefined) return configured;
  const scheme = settings.hasTls ? "https" : "http";
  const isDefaultPort = settings.port === (settings.hasTls ? 443 : 80);
  const suffix = `:${settings.port}`;
  const name = host.endsWith(suffix) ? host.slice(0, -suffix.length) : isDefaultPort ? host : undefined;
  if (name === undefined) return undefined;
  const isOwnName = isLoopback(peer) && isLoopbackName(name);
  if (!isOwnName && !(settings.hasTls && name === bracketed(settings.host))) return undefined;
  // As browsers spell it: without the default port.
  return `${scheme}://${isDefaultPort ? name : `${name}${suffix}`}`;
}

/**
 * Browsers say where a request comes from. Only the address bar and our own page may ask; anybody may link to the page,
 * which is the same for all and holds nothing.
 */
function isOurs({ method, path, fetchSite, fetchMode, fetchDest }: Caller): boolean {
  if (fetchSite === undefined || fetchSite === "same-origin" || fetchSite === "none") return true;
  return method === "GET" && path === "/" && fetchMode === "navigate" && fetchDest === "document";
}

const bracketed = (host: string): string => (host.includes(":") ? `[${host}]` : host);
const isLoopbackName = (name: string): boolean => name === "[::1]" || (isLoopback(name) && name !== "::1");
