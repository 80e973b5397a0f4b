// When a client is told where it is in a log of which it did not get the last frames.
import { Writable } from "node:stream";
import { FrameWriter } from "@acp-master/wire";
import { describe, expect, it } from "vitest";
import { Attachment, type AttachedSession } from "../../src/router/attachment.ts";
import { clientCapabilities } from "../../src/router/client-capabilities.ts";
import { Outbox } from "../../src/router/outbox.ts";

const echo = Buffer.from('{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"a","update":{}}}\n');

/** A client that takes what is written when it is told to, with one session of which it knows all. */
function client() {
  const taken: string[] = [];
  const taking: (() => void)[] = [];
  const stream = new Writable({
    highWaterMark: 1000,
    write: (chunk, _encoding, done) => {
      taken.push(String(chunk));
      taking.push(done);
    },
  });
  const writer = new FrameWriter(stream, { onDrain: () => outbox.pump() });
  const outbox = new Outbox(writer, (what) => expect.fail(what));
  const log = {
    start: 0,
    end: 0,
    run: "r",
    resumable: () => true,
    append: () => 0,
    read: () => [],
    trim: () => {},
    turnBoundary: () => {},
  };
  const session: AttachedSession = {
    sessionId: "a",
    log,
    hasOptionalKinds: false,
    hasChildren: false,
    formerUntil: 0,
    outward: () => undefined,
    rewritesOutward: () => false,
    isOfChild: () => false,
  };
  const identity = { role: "controller", positions: true, capabilities: clientCapabilities({}) } as const;
  const attachment = new Attachment(session, identity, 0);
  outbox.attachments.add(attachment);
  attachment.beginsAt(0)!.left();
  attachment.gated = false;
  return {
    outbox,
    taken,
    /** A frame that this client wrote itself is appended. */
    ownFrame: () => {
      attachment.skip(log.end, log.end + echo.length);
      log.end += echo.length;
      outbox.appended(attachment, echo, log.end - echo.length);
    },
    takeAll: () => {
      for (const done of taking.splice(0)) done();
    },
  };
}

const moment = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await moment(1);
}

describe("a client that does not get a frame", () => {
  it("is told where it is a moment later, once", async () => {
    const { outbox, taken, ownFrame, takeAll } = client();
    ownFrame();
    expect(taken).toEqual([]);
    await until(() => taken.length > 0);
    takeAll();
    expect(taken.join("")).toContain(`"at":${echo.length}`);
    outbox.tell();
    await moment(0);
    expect(taken).toHaveLength(1);
  });

  it("is told when it reads again, if it did not read at that time", async () => {
    const { outbox, taken, ownFrame, takeAll } = client();
    outbox.send(Buffer.alloc(2000, "x"));
    await until(() => taken.length === 1);
    // It was not congested yet when the frame came.
    takeAll();
    ownFrame();
    outbox.send(Buffer.alloc(2000, "y"));
    await moment(60);
    expect(taken.join("")).not.toContain('"at"');
    takeAll();
    await until(() => taken.join("").includes(`"at":${echo.length}`));
  });

  it("is told before it is let go, whether it reads or not", async () => {
    const { outbox, taken, ownFrame, takeAll } = client();
    ownFrame();
    outbox.send(Buffer.alloc(2000, "x"));
    outbox.tell();
    outbox.clear();
    await until(() => taken.length > 0);
    takeAll();
    await until(() => taken.join("").includes(`"at":${echo.length}`));
  });
});
