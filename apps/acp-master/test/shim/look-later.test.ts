// Lines leave the shim before it has looked at them: the same ones, in the same order, however they arrive; and what it knows when it
// is asked is what it would know had it looked at once.
import { once } from "node:events";
import { PassThrough } from "node:stream";
import { array, assert, asyncProperty, constantFrom, integer } from "fast-check";
import { expect, test } from "vitest";
import { FrameWriter } from "@acp-master/wire";
import { LocalLink } from "../../../../packages/wire/test/local-link.ts";
import { othersBegin } from "../../src/shim/own-notification.ts";
import { LookLater } from "../../src/shim/look-later.ts";
import { relay } from "../../src/shim/relay.ts";

const line = (message: object): string => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`;
const position = (at: number): string =>
  line({ method: "_acp-master/position", params: { sessionId: "a", run: "r", at } });
const update = (text: string): string =>
  line({
    method: "session/update",
    params: { sessionId: "a", update: { sessionUpdate: "agent_message_chunk", text } },
  });

/** What the daemon may write, and whether the editor gets it. */
const lines = {
  position: { text: position(7), isOwn: true },
  event: { text: line({ method: "_acp-master/event", params: { type: "closing" } }), isOwn: true },
  update: { text: update("ü"), isOwn: false },
  "names a notification": { text: update('"_acp-master/position'), isOwn: false },
  "asks by such a name": {
    text: line({ method: "_acp-master/position", id: 7, params: { sessionId: "a" } }),
    isOwn: false,
  },
  tick: { text: line({ method: "_a/tick" }), isOwn: false },
  "own tick": { text: line({ method: "_acp-master/x" }), isOwn: true },
  "asks behind its params": {
    text: `${JSON.stringify({ jsonrpc: "2.0", method: "_acp-master/position", params: { sessionId: "a" } }).slice(0, -1)},"id":7}\n`,
    isOwn: false,
  },
  "asks behind its params, with more behind": {
    text: `${JSON.stringify({ jsonrpc: "2.0", method: "_acp-master/position", params: { sessionId: "a" } }).slice(0, -1)},"id":7,"x":{}}\n`,
    isOwn: false,
  },
  "asks with such an id": { text: line({ id: "_acp-master/1", method: "x", params: {} }), isOwn: false },
  answer: { text: line({ id: 4, result: { stopReason: "end_turn" } }), isOwn: false },
  long: { text: update("x".repeat(3000)), isOwn: false },
  broken: { text: "no JSON\n", isOwn: false },
} as const;
type Kind = keyof typeof lines;
const kinds = array(constantFrom<Kind>(...Object.keys(lines).filter((key): key is Kind => key in lines)), {
  minLength: 1,
  maxLength: 12,
});
const cuts = array(integer({ min: 0, max: 20_000 }), { maxLength: 6 });

/** A shim that has been introduced, with a daemon of which a test plays the part. */
async function open(next?: LocalLink) {
  const link = await LocalLink.open();
  const input = new PassThrough();
  const output = new PassThrough();
  const got = { editor: "", daemon: "" };
  const said: string[] = [];
  output.on("data", (chunk: Buffer) => (got.editor += chunk.toString()));
  link.far.on("data", (chunk: Buffer) => (got.daemon += chunk.toString()));
  const over = relay({ input, output, say: (text) => said.push(text) }, link.near, {
    introduction: { agent: "demo", role: "controller", version: "1" },
    nextDaemon: () =>
      Promise.resolve(next ? { ok: true, connection: next.near } : { ok: false, reason: "failed", message: "none" }),
  });
  const until = async (who: "editor" | "daemon", text: string): Promise<void> => {
    while (!got[who].endsWith(text)) await once(who === "editor" ? output : link.far, "data");
  };
  input.write(line({ id: 1, method: "initialize", params: { protocolVersion: 1 } }));
  await until("daemon", "\n");
  link.far.write(line({ id: 1, result: { protocolVersion: 1 } }));
  await until("editor", "\n");
  got.editor = "";
  got.daemon = "";
  return {
    link,
    input,
    got,
    said,
    until,
    async [Symbol.asyncDispose]() {
      input.end();
      const far = link.far.destroyed ? next!.far : link.far;
      if (!far.readableEnded) await once(far, "end");
      far.end();
      await over;
      await link[Symbol.asyncDispose]();
    },
  };
}

const pieces = (text: string, at: readonly number[]): Buffer[] => {
  const bytes = Buffer.from(text);
  const places = [...new Set([0, ...at.map((place) => place % bytes.length), bytes.length])].toSorted((a, b) => a - b);
  return places.slice(1).map((end, index) => bytes.subarray(places[index], end));
};

test("an editor gets all lines but the daemon's own, wherever chunks begin and end", async () => {
  await using shim = await open();
  await assert(
    asyncProperty(kinds, cuts, async (list, at) => {
      shim.got.editor = "";
      // The last one tells that all have come.
      const text = [...list, "answer" as const].map((kind) => lines[kind].text).join("");
      for (const piece of pieces(text, at)) {
        const { bytesRead } = shim.link.near;
        shim.link.far.write(piece);
        while (shim.link.near.bytesRead < bytesRead + piece.length)
          await new Promise((resolve) => setImmediate(resolve));
      }
      const visible = list.filter((kind) => !lines[kind].isOwn).map((kind) => lines[kind].text);
      const wanted = [...visible, lines.answer.text].join("");
      while (shim.got.editor.length < wanted.length) await new Promise((resolve) => setImmediate(resolve));
      expect(shim.got.editor).toBe(wanted);
    }),
    { numRuns: 300 },
  );
});

test("a daemon gets all lines of the editor, wherever chunks begin and end", async () => {
  await using shim = await open();
  await assert(
    asyncProperty(kinds, cuts, async (list, at) => {
      shim.got.daemon = "";
      const text = [...list, "update" as const].map((kind) => lines[kind].text).join("");
      for (const piece of pieces(text, at)) {
        shim.input.write(piece);
        await new Promise((resolve) => setImmediate(resolve));
      }
      while (shim.got.daemon.length < text.length) await new Promise((resolve) => setImmediate(resolve));
      expect(shim.got.daemon).toBe(text);
    }),
    { numRuns: 300 },
  );
});

test("an answer leaves before the next chunk comes, behind a position that the editor does not see", async () => {
  await using shim = await open();
  shim.link.far.write(position(12) + update("one") + lines.answer.text.slice(0, 10));
  await shim.until("editor", update("one"));
  expect(shim.got.editor).toBe(update("one"));
  shim.link.far.write(lines.answer.text.slice(10));
  await shim.until("editor", lines.answer.text);
  expect(shim.got.editor).toBe(update("one") + lines.answer.text);
});

const begin = (...parts: string[]): number | undefined => othersBegin(Buffer.from(parts.join("")));

test("only a position at the beginning can be skipped without a closer look", () => {
  const { event, answer } = lines;
  expect(begin(update("a"), answer.text)).toBe(0);
  expect(begin(position(1), update("a"))).toBe(position(1).length);
  expect(begin(position(1))).toBe(position(1).length);
  expect(begin(event.text, update("a"))).toBe(undefined);
  expect(begin(update("a"), position(1))).toBe(undefined);
  expect(begin(position(1), update("a"), position(2))).toBe(undefined);
  expect(begin(position(1), lines["names a notification"].text)).toBe(undefined);
  expect(begin(position(1).trimEnd())).toBe(undefined);
});

const steps = array(constantFrom("ask", "answer", "update", "mark", "question", "reply"), { maxLength: 100 });

test("a lost daemon leaves behind what was open, and the next one is told where the editor is", async () => {
  await assert(
    asyncProperty(steps, async (list) => {
      await using next = await LocalLink.open();
      const toNext: string[] = [];
      next.far.on("data", (chunk: Buffer) => toNext.push(chunk.toString()));
      await using shim = await open(next);
      const { link, input, got } = shim;
      const passes = async (who: "editor" | "daemon", text: string): Promise<void> => {
        got[who] = "";
        if (who === "editor") link.far.write(text);
        else input.write(text);
        const visible = text.startsWith(position(0).slice(0, 50)) ? text.slice(text.indexOf("\n") + 1) : text;
        if (visible !== "") await shim.until(who, visible);
      };
      await passes("daemon", line({ id: "new", method: "session/new", params: { cwd: "/" } }));
      await passes("editor", position(0) + line({ id: "new", result: { sessionId: "a" } }));

      let [at, lastId] = [0, 0];
      const [asked, questions]: [string[], string[]] = [[], []];
      for (const step of list) {
        if (step === "ask") {
          asked.push(`r${++lastId}`);
          await passes("daemon", line({ id: asked.at(-1), method: "x", params: {} }));
        } else if (step === "answer" && asked.length > 0) {
          await passes("editor", line({ id: asked.shift(), result: {} }));
        } else if (step === "update") {
          at += update("ü").length + 1;
          await passes("editor", update("ü"));
        } else if (step === "mark") {
          at += 100;
          await passes("editor", position(at) + update("x"));
          at += update("x").length;
        } else if (step === "question") {
          questions.push(`q${++lastId}`);
          await passes("editor", line({ id: questions.at(-1), method: "ask", params: {} }));
        } else if (step === "reply" && questions.length > 0) {
          await passes("daemon", line({ id: questions.shift(), result: {} }));
        }
      }
      got.editor = "";
      link.far.destroy();
      while (!toNext.join("").endsWith("\n")) await once(next.far, "data");
      next.far.write(line({ id: idIn(toNext[0]!), result: { protocolVersion: 1 } }));
      while (toNext.join("").split("\n").length < 3) await once(next.far, "data");
      const [, resume] = toNext.join("").split("\n");
      expect(resume).toContain(`"after":{"run":"r","position":${at}}`);
      const told = got.editor.split("\n").slice(0, -1);
      expect(told.map(idIn)).toEqual([...asked, ...questions]);
      next.far.write(line({ id: idIn(resume!), result: {} }));
      while (shim.said.length < 2) await new Promise((resolve) => setImmediate(resolve));
      expect(shim.said[1]).toBe("The next daemon runs, and the sessions go on.");
    }),
    { numRuns: 40 },
  );
});

const idIn = (text: string): string | number => {
  const [, id] = /"(?:id|requestId)":("[^"]*"|\d+)/.exec(text) ?? [];
  return JSON.parse(id ?? "null");
};

test("whole lines leave within the call and are looked at in their order, when they are many or somebody asks", () => {
  const output = new PassThrough();
  const writer = new FrameWriter(output, {});
  const looks: string[] = [];
  using later = new LookLater(() => looks.push("."));
  const look = (bytes: Buffer, start: number, end: number, hasLeft: boolean): void =>
    void looks.push(`${bytes.toString("utf8", start, end)}${hasLeft ? "" : "!"}`);
  expect(LookLater.suits(Buffer.from("one\ntwo\nthr"))).toBe(false);
  expect(LookLater.suits(Buffer.from(`${"x".repeat(4096)}\n`))).toBe(false);
  expect(LookLater.suits(Buffer.from("one\n"))).toBe(true);
  later.pass(Buffer.from("one\ntwo\n"), 0, writer, look);
  expect(String(output.read())).toBe("one\ntwo\n");
  later.pass(Buffer.from("own\nthree\n"), 4, writer, look);
  expect(String(output.read())).toBe("three\n");
  later.pass(Buffer.from("own\n"), 4, writer, look);
  expect(output.read()).toBe(null);
  expect(looks).toEqual([]);
  later.now();
  expect(looks).toEqual(["one", "two", "own!", "three", "own!", "."]);
  later.now();
  expect(looks.length).toBe(6);
  for (let n = 0; n < 64; n++) later.pass(Buffer.from(`${n}\n`), 0, writer, look);
  expect(looks.slice(6)).toEqual([...Array.from({ length: 64 }, (_, n) => String(n)), "."]);
});
