// Everything that leaves towards one client, in one order. What is in a session's log leaves by moving a cursor; what is
// not (answers, questions) stands here with the position before which it must not leave. A client that reads slowly
// costs this list and, once, what its socket may keep.

import type { FrameWriter } from "@acp-master/wire";
import type { Attachment } from "./attachment.ts";
import { notSoon, soon } from "../soon.ts";

const MAX_ENTRIES = 1000;
const MAX_ENTRY_BYTES = 8 * 1024 * 1024;
const READ_BYTES = 256 * 1024;

interface Entry {
  readonly attachment: Attachment | undefined;
  readonly position: number;
  readonly bytes: Buffer;
  readonly sent: (() => void) | undefined;
}

export class Outbox {
  readonly attachments = new Set<Attachment>();
  readonly #writer: FrameWriter;
  readonly #overflow: (what: string) => void;
  #entries: Entry[] = [];
  #entryBytes = 0;

  /** `overflow` is told once the list is over its bound; the owner then drops the client. */
  constructor(writer: FrameWriter, overflow: (what: string) => void) {
    this.#writer = writer;
    this.#overflow = overflow;
  }

  /** An answer, question or notice. With an attachment it leaves after everything before `position` of that session. */
  send(bytes: Buffer, attachment?: Attachment, position = 0, sent?: () => void): void {
    if (this.#entries.length === 0 && !this.#writer.congested && (!attachment || attachment.cursor >= position)) {
      this.#writer.write(bytes);
      sent?.();
      return;
    }
    this.#entries.push({ attachment, position, bytes, sent });
    this.#entryBytes += bytes.length;
    if (this.#entries.length > MAX_ENTRIES || (this.#entries.length > 1 && this.#entryBytes > MAX_ENTRY_BYTES)) {
      this.#overflow(`${this.#entries.length} unread answers and questions`);
      return;
    }
    this.pump();
  }

  /** A notice about the session that is not in its log: behind what is there now, and behind the answer that attaches. */
  follow(bytes: Buffer, attachment: Attachment): void {
    const position = attachment.session.log.end;
    if (!attachment.gated) {
      this.send(bytes, attachment, position);
      return;
    }
    attachment.held.push({ bytes, position });
    if (attachment.held.length > MAX_ENTRIES) this.#overflow(`${attachment.held.length} notices of a new session`);
  }

  /** Ahead of the answer that attaches: where in the log the client then is, if it asked to be told. */
  begin(attachment: Attachment, position: number): void {
    const begins = attachment.beginsAt(position);
    if (begins) this.send(begins.mark, attachment, position, begins.left);
  }

  /** The answer that attaches is on its way: the session's frames follow. */
  open(attachment: Attachment): void {
    attachment.gated = false;
    for (const { bytes, position } of attachment.held.splice(0)) this.send(bytes, attachment, position);
    this.pump();
  }

  /** `frames` was appended at `position` of the attachment's log. */
  appended(attachment: Attachment, frames: Buffer, position: number): void {
    if (attachment.cursor !== position || attachment.gated || this.#entries.length > 0 || this.#writer.congested)
      return;
    const visible = attachment.render(frames, position);
    attachment.cursor = position + frames.length;
    if (visible.length > 0) this.#writer.write(visible);
    else soon(this.#tellLater);
  }

  /** Tells the client where in its sessions' logs it is. */
  tell(): void {
    for (const attachment of this.attachments) {
      const mark = attachment.tell();
      if (mark.length > 0) this.#writer.write(mark);
    }
  }

  /** Of frames that it does not get the client knows a little later, or with what comes next. */
  readonly #tellLater = (): void => {
    // One that does not read has no use for it yet.
    if (this.#writer.congested) soon(this.#tellLater);
    else this.tell();
  };

  /** Writes what may leave. Called when the client reads again and when a gate opens. */
  pump(): void {
    while (!this.#writer.congested && !this.#writer.ended) {
      const entry = this.#entries[0];
      if (!entry) {
        if (!this.#advanceAny()) return;
        continue;
      }
      const { attachment } = entry;
      if (attachment && this.attachments.has(attachment) && attachment.cursor < entry.position) {
        this.#advance(attachment, entry.position);
        continue;
      }
      this.#entries.shift();
      this.#entryBytes -= entry.bytes.length;
      this.#writer.write(entry.bytes);
      entry.sent?.();
    }
  }

  /** Forgets what still waits for a client that is gone. */
  clear(): void {
    notSoon(this.#tellLater);
    this.#entries = [];
    this.#entryBytes = 0;
    this.attachments.clear();
  }

  get waiting(): number {
    return this.#entries.length;
  }

  #advanceAny(): boolean {
    let moved = false;
    for (const attachment of this.attachments) {
      if (attachment.gated || attachment.lag === 0) continue;
      this.#advance(attachment, attachment.session.log.end);
      moved = true;
      if (this.#writer.congested) return false;
    }
    return moved;
  }

  #advance(attachment: Attachment, to: number): void {
    const { log } = attachment.session;
    if (attachment.cursor < log.start) {
      // It was forgotten before this client read it: no client is left with a hole.
      this.#overflow("what it had not read is no longer kept");
      return;
    }
    const before = attachment.cursor;
    for (const frames of log.read(before, to, READ_BYTES)) {
      const visible = attachment.render(frames, attachment.cursor);
      attachment.cursor += frames.length;
      if (visible.length > 0) this.#writer.write(visible);
      else soon(this.#tellLater);
    }
    if (attachment.cursor === before) this.#overflow("what it had not read cannot be read any more");
  }
}
