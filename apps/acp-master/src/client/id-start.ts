// Which id a person means who types its beginning. Whole ids always win; what could be two is refused.
import { CommandError, exitCodes } from "../display/errors.ts";

/** Shorter beginnings are too easily somebody else's. */
const leastLength = 4;
const mostShown = 5;

export interface IdSearch {
  readonly given: string;
  readonly ids: readonly string[];
  /** For the message: "session". */
  readonly what: string;
  /** Says that there is none, with what to do next. */
  readonly none: () => CommandError;
}

/** The id that `given` is, or that alone begins with it. Fails with exit code 4 when there is none, 2 when there are several. */
export function idFromStart({ given, ids, what, none }: IdSearch): string {
  if (ids.includes(given)) return given;
  const found = given.length < leastLength ? [] : ids.filter((id) => id.startsWith(given));
  const [only] = found;
  if (only === undefined) throw none();
  if (found.length === 1) return only;
  const shown = found.slice(0, mostShown).join(", ") + (found.length > mostShown ? ", …" : "");
  throw new CommandError(exitCodes.usage, `${given} begins more than one ${what}`, `Say more of it: ${shown}`);
}
