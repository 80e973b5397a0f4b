// Which pages show which session. A connection on which an agent still waits for an answer outlives its page while another
// page, which shows the same question, can give it.
import type { Role, ServerMessage } from "../protocol.ts";
import type { Attachment } from "./attachment.ts";

export interface Viewer {
  readonly role: Role;
  send(message: ServerMessage): void;
}

export class Viewers {
  readonly #bySession = new Map<string, Set<Viewer>>();
  readonly #kept = new Map<string, Set<Attachment>>();

  add(sessionId: string, viewer: Viewer): void {
    const viewers = this.#bySession.get(sessionId) ?? new Set();
    this.#bySession.set(sessionId, viewers.add(viewer));
  }

  /** The page shows the session no more; its connection is closed when nobody needs it. */
  remove(viewer: Viewer, attachment: Attachment): void {
    const { sessionId } = attachment;
    const viewers = this.#bySession.get(sessionId);
    viewers?.delete(viewer);
    if (viewers?.size === 0) this.#bySession.delete(sessionId);
    const couldAnswer = [...(viewers ?? [])].some((each) => each.role === "controller");
    const { questions } = attachment;
    if (couldAnswer && questions !== undefined) this.#keep(attachment, questions);
    else attachment.close();
    if (couldAnswer) return;
    for (const kept of this.#kept.get(sessionId) ?? []) kept.close();
    this.#kept.delete(sessionId);
  }

  tell(sessionId: string, message: ServerMessage): void {
    for (const viewer of this.#bySession.get(sessionId) ?? []) viewer.send(message);
  }

  #keep(attachment: Attachment, questions: Promise<unknown>): void {
    const { sessionId } = attachment;
    const kept = this.#kept.get(sessionId) ?? new Set();
    this.#kept.set(sessionId, kept.add(attachment));
    void Promise.race([questions, attachment.closed]).then(() => {
      // Another question may have come on it; then it waits for that one.
      const { questions: more } = attachment;
      if (more !== undefined && kept.has(attachment) && this.#kept.get(sessionId) === kept) {
        return this.#keep(attachment, more);
      }
      kept.delete(attachment);
      attachment.close();
    });
  }
}
