// What the console is started with. A setting that would open it to others without protection is no setting.
import { isIP } from "node:net";
import * as z from "zod";

const path = z.string().min(1).max(4096);

/** An origin in the spelling that browsers send: `https://console.example`, without a path or a default port. */
const origin = z.string().refine((text) => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return (url?.protocol === "http:" || url?.protocol === "https:") && url.origin === text;
}, "must be an origin as browsers spell it, such as https://console.example or http://box.lan:8080");

const schema = z.strictObject({
  version: z.string(),
  /** The daemon's socket. */
  socketPath: path,
  /** Where the command line asks this process for addresses. */
  controlPath: path,
  runFile: path,
  /** The built page. */
  pageFolder: path,
  host: z.string().min(1).max(255),
  port: z.int().min(0).max(65_535),
  /** Origins under which browsers reach it, besides loopback and its own address. */
  origins: z.array(origin).max(32),
  /** Addresses of proxies that may connect; with any, nobody else may but from loopback. */
  proxies: z.array(z.string().refine((text) => isIP(text) !== 0, "must be an IP address")).max(32),
  tls: z.strictObject({ cert: path, key: path }).nullable(),
  /** Every page only reads. */
  readOnly: z.boolean(),
});

export type Settings = z.infer<typeof schema>;

export type ReadSettings =
  { readonly ok: true; readonly settings: Settings } | { readonly ok: false; readonly message: string };

export function readSettings(text: string | undefined): ReadSettings {
  let value: unknown;
  try {
    value = JSON.parse(text ?? "");
  } catch {
    return { ok: false, message: "This program is started by `acp-master console`." };
  }
  const read = schema.safeParse(value);
  if (!read.success) {
    const [issue] = read.error.issues;
    return {
      ok: false,
      message: `console.${issue?.path.map(String).join(".") ?? ""}: ${issue?.message ?? "not valid"}`,
    };
  }
  const problem = exposure(read.data);
  return problem === undefined ? { ok: true, settings: read.data } : { ok: false, message: problem };
}

/** Why these settings would let others in, or let them read along. */
function exposure({ host, tls, origins, proxies }: Settings): string | undefined {
  if (isLoopback(host)) return undefined;
  if (tls === null && proxies.length === 0) {
    return `console.host ${host} can be reached by others. Give console.tls (cert and key), or console.proxies with the addresses of the proxy in front of it; or leave the host at 127.0.0.1.`;
  }
  if (origins.length === 0 && (isAny(host) || tls === null)) {
    return `console.host ${host} does not say under which address browsers come. Name it in console.origins.`;
  }
  return undefined;
}

/** `localhost`, or an address of this machine alone. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(?:\.(?:0|[1-9]\d?|1\d\d|2[0-4]\d|25[0-5])){3}$/.test(host);
}

const isAny = (host: string): boolean => host === "0.0.0.0" || host === "::";
