// Who may answer in a dialog: the controllers attached to each session. It knows no tickets and no observers.
export class SessionPeople {
  readonly #sessions = new Map<string, Map<string, string>>();

  add(session: string, clientId: string, name: string): void {
    let people = this.#sessions.get(session);
    if (people === undefined) this.#sessions.set(session, (people = new Map<string, string>()));
    people.set(clientId, name);
  }

  remove(session: string, clientId: string): void {
    const people = this.#sessions.get(session);
    people?.delete(clientId);
    if (people?.size === 0) this.#sessions.delete(session);
  }

  /** In the order in which they attached. */
  ids(session: string): readonly string[] {
    return [...(this.#sessions.get(session)?.keys() ?? [])];
  }

  /** The name of an attached controller, else its id. */
  nameOf(session: string, clientId: string): string {
    return this.#sessions.get(session)?.get(clientId) ?? clientId;
  }
}
