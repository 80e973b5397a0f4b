// What entries of the closed list are made of: who talks with whom, and tests on one difference that are as narrow as they can be.
import type { Loose, Message } from "../harness/lines.ts";
import type { Difference } from "./compare.ts";

/** Pairs: the age of the client's SDK, then of the agent's. */
export const every = ["new-new", "old-old", "old-new", "new-old"];
export const newClient = ["new-new", "new-old"];
export const oldClient = ["old-old", "old-new"];
export const oldAgent = ["old-old", "new-old"];

export const hasKeys = (value: Loose, ...keys: readonly string[]): boolean =>
  typeof value === "object" && value !== null && Object.keys(value).toSorted().join() === keys.toSorted().join();

export const hasOnly = (value: Loose, ...keys: readonly string[]): boolean =>
  typeof value === "object" && value !== null && Object.keys(value).every((key) => keys.includes(key));

/** An error of the master's own, with nothing more in it. */
export const masterSays = (message: Message | undefined, reason: string): boolean =>
  message?.error?.data?.reason === reason && hasOnly(message.error, "code", "message", "data");

/** The difference lies in what an error has, or in there being one. */
export const inError = (one: Difference): boolean =>
  /^\/(error(\/(code|message|data(\/\w+)?))?|result)$/.test(one.path);

export const isUpdate = (message: Message | undefined, ...kinds: readonly string[]): boolean =>
  message?.method === "session/update" &&
  hasKeys(message.params, "sessionId", "update") &&
  (kinds.length === 0 || kinds.includes(message.params.update.sessionUpdate));

/** What the master answers or serves itself: a message of the client that the agent does not get. */
export const notForwarded = (one: Difference, method: string, covers: (params: Loose) => boolean): boolean =>
  one.kind === "missing" && one.direction === "to agent" && one.message === method && covers(one.direct.params);
