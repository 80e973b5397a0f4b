// What is served over HTTP: the page, the log-in, and nothing of the daemon. All else goes over the WebSocket.
import { serveStatic } from "@hono/node-server/serve-static";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { deleteCookie, setCookie } from "hono/cookie";
import { secureHeaders } from "hono/secure-headers";
import { bearer, cookiesOf } from "./credentials.ts";
import type { Login, Logins } from "./logins.ts";

export interface RouteOptions {
  readonly version: string;
  readonly pageFolder: string;
  readonly logins: Logins;
  readonly cookieName: string;
  /** The browser reaches the console over TLS, as far as this request shows. */
  readonly isSecure: (host: string | undefined) => boolean;
  readonly loggedOut: (login: Login) => void;
}

const longestBody = 4 * 1024;
const loginPath = "/api/login";

export function routes(options: RouteOptions): Hono {
  const { logins, cookieName, pageFolder } = options;
  const loginOf = (cookie: string | undefined, authorization: string | undefined): Login | undefined =>
    logins.find(cookiesOf(cookie, cookieName), bearer(authorization));
  const app = new Hono();
  app.use(
    secureHeaders({
      contentSecurityPolicy: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'"],
        imgSrc: ["'self'", "data:", "blob:"],
        fontSrc: ["'self'"],
        connectSrc: ["'self'"],
        manifestSrc: ["'self'"],
        formAction: ["'none'"],
        frameAncestors: ["'none'"],
        baseUri: ["'none'"],
        requireTrustedTypesFor: ["'script'"],
        trustedTypes: ["'none'"],
      },
      xFrameOptions: "DENY",
      referrerPolicy: "no-referrer",
      // Whether a proxy in front of it speaks TLS only is for the proxy to say.
      strictTransportSecurity: false,
    }),
  );

  app.use("/api/*", async (c, next) => {
    c.header("Cache-Control", "no-store");
    await next();
  });
  app.use("/api/*", bodyLimit({ maxSize: longestBody, onError: (c) => c.text("The body is too long.", 413) }));
  app.use("/api/*", async (c, next) => {
    const isJson = /^application\/json(?:;|$)/.test(c.req.header("content-type") ?? "");
    if (c.req.method !== "GET" && !isJson) return c.text("Send application/json.", 415);
    return await next();
  });

  app.post(loginPath, async (c) => {
    // A body that is longer than it says is found out by reading it.
    await c.req.text();
    const redeemed = logins.redeem(bearer(c.req.header("authorization")) ?? "");
    if (redeemed === "too_many") return c.text("Too many wrong tokens. Wait a minute.", 429, { "Retry-After": "60" });
    if (redeemed === "refused") {
      return c.text("This address was used already or is too old. Run `acp-master console` for a new one.", 401);
    }
    setCookie(c, cookieName, redeemed.cookie, {
      httpOnly: true,
      sameSite: "Strict",
      secure: options.isSecure(c.req.header("host")),
      path: "/",
      // How long it is good for is known here and counts from its last use.
      maxAge: 365 * 86_400,
    });
    return c.json({ key: redeemed.key, role: redeemed.login.role });
  });

  app.get("/api/session", (c) => {
    const login = loginOf(c.req.header("cookie"), c.req.header("authorization"));
    return login === undefined ? c.text(noLogin, 401) : c.json({ role: login.role, version: options.version });
  });

  app.post("/api/logout", async (c) => {
    await c.req.text();
    const login = loginOf(c.req.header("cookie"), c.req.header("authorization"));
    if (login === undefined) return c.text(noLogin, 401);
    logins.forget(login);
    deleteCookie(c, cookieName, { path: "/" });
    options.loggedOut(login);
    return c.body(null, 204);
  });

  app.all("/api/*", (c) => c.text("There is no such thing here.", 404));

  const page = serveStatic({ root: pageFolder, precompressed: true });
  app.get("/assets/*", async (c, next) => {
    const response = await page(c, next);
    if (response?.ok) response.headers.set("Cache-Control", "public, max-age=31536000, immutable");
    return response;
  });
  app.get("*", async (c, next) => {
    const response = await page(c, next);
    if (response?.ok) response.headers.set("Cache-Control", "no-cache");
    return response;
  });
  app.notFound((c) => c.text("There is no such thing here.", 404));
  app.onError((_error, c) => c.text("The console failed on this request.", 500));
  return app;
}

const noLogin = "Not logged in. Run `acp-master console` for an address.";
