// One page over a real WebSocket: how much is kept for one that does not read.
import { once } from "node:events";
import { afterEach, expect, it } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { Page } from "../src/browsers/page.ts";
import type { ServerMessage } from "../src/protocol.ts";
import { Viewers } from "../src/sessions/viewers.ts";

const open: { close: () => void }[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each.close();
});

/** A page and the browser's end of it. */
async function connected(autoPong = true): Promise<{ page: Page; socket: WebSocket; browser: WebSocket }> {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  const accepted = new Promise<WebSocket>((resolve) => server.once("connection", resolve));
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const browser = new WebSocket(`ws://127.0.0.1:${port}`, { autoPong });
  const socket = await accepted;
  await once(browser, "open");
  open.push(server, { close: () => browser.terminate() }, { close: () => socket.terminate() });
  const page = new Page(socket, "controller", { viewers: new Viewers(), perform: () => Promise.resolve({}) });
  return { page, socket, browser };
}

const megabyte = "x".repeat(1024 * 1024);
const large: ServerMessage = { type: "session_removed", sessionId: megabyte };

it("lets a page go that does not read, at a bound", async () => {
  const { page, socket, browser } = await connected();
  const closed = once(socket, "close");
  browser.pause();
  let most = 0;
  for (let n = 0; n < 80 && socket.readyState === WebSocket.OPEN; n++) {
    page.send(large);
    most = Math.max(most, socket.bufferedAmount);
  }
  await closed;
  expect(most).toBeLessThan(40 * 1024 * 1024);
});

it("feeds one that reads, however much", async () => {
  const { page, socket, browser } = await connected();
  for (let n = 0; n < 80; n++) {
    const received = once(browser, "message");
    page.send(large);
    await received;
  }
  expect(socket.readyState).toBe(WebSocket.OPEN);
});

it("lets a page go that answers no ping, and not one that does", async () => {
  const silent = await connected(false);
  const closed = once(silent.socket, "close");
  silent.page.checkAlive();
  silent.page.checkAlive();
  await closed;
  const { page, socket } = await connected();
  for (let n = 0; n < 3; n++) {
    page.checkAlive();
    await once(socket, "pong");
  }
  expect(socket.readyState).toBe(WebSocket.OPEN);
});
