// Compares two transcripts of one side: every message of each direction, in order, by content and by its very bytes. Only
// ids are taken as equal when they name the same request. It knows no difference that is allowed.
import type { Loose, Message } from "../harness/lines.ts";
import { align } from "./alignment.ts";
import type { Direction, Recorded } from "./recording.ts";

export interface Difference {
  readonly direction: Direction;
  /** The method; of an answer "answer to METHOD"; of an update with its kind behind it. */
  readonly message: string;
  /** `moved`: there on both sides, at another place. `spelled`: equal JSON, but for what was put in, in other bytes. */
  readonly kind: "changed" | "missing" | "extra" | "moved" | "spelled";
  /** Where in the message; empty for the whole of it. */
  readonly path: string;
  readonly direct: Loose;
  readonly through: Loose;
  /** The whole messages, to look at. */
  readonly of: { readonly direct: Message | undefined; readonly through: Message | undefined };
}

/** A message whose ids say which request is meant, alike on both sides. */
interface Named {
  readonly name: string;
  /** Of a request or an answer which request; of a notification its name and session. */
  readonly kind: string;
  readonly isUnique: boolean;
  readonly message: Message;
  readonly content: string;
  readonly text: string;
}

type Labels = Readonly<Record<Direction, ReadonlyMap<string, string>>>;

const directions = ["to agent", "to client"] as const;
const opposite = (direction: Direction): Direction => (direction === "to agent" ? "to client" : "to agent");

export function compare(direct: readonly Recorded[], through: readonly Recorded[]): Difference[] {
  const labels = labelRequests(direct, through);
  return directions.flatMap((direction) => {
    const a = named(direct, direction, labels.direct);
    const b = named(through, direction, labels.through);
    const pairs = align(a, b, {
      kind: (one) => one.kind,
      content: (one) => one.content,
      isUnique: (one) => one.isUnique,
    });
    return withMoves(pairs.flatMap((pair) => differencesOf(direction, pair.direct, pair.through)));
  });
}

/** Requests of both sides that are the same one get the same label, whatever their ids are. */
function labelRequests(direct: readonly Recorded[], through: readonly Recorded[]): { direct: Labels; through: Labels } {
  const made = {
    direct: { "to agent": new Map<string, string>(), "to client": new Map<string, string>() },
    through: { "to agent": new Map<string, string>(), "to client": new Map<string, string>() },
  };
  for (const direction of directions) {
    const requests = (all: readonly Recorded[]): Message[] =>
      all
        .filter((one) => one.direction === direction)
        .map(parsed)
        .filter((one) => one.id !== undefined && one.method !== undefined);
    const pairs = align(requests(direct), requests(through), {
      kind: (one) => String(one.method),
      // What is said about a request does not make it another one.
      content: ({ params }) => JSON.stringify({ ...params, _meta: undefined }),
      isUnique: () => false,
    });
    for (const [number, pair] of pairs.entries()) {
      for (const side of ["direct", "through"] as const) {
        const message = pair[side];
        if (message) made[side][direction].set(JSON.stringify(message.id), `${message.method} ${number}`);
      }
    }
  }
  return made;
}

const parsed = (recorded: Recorded): Message => JSON.parse(recorded.text);

function named(all: readonly Recorded[], direction: Direction, labels: Labels): Named[] {
  return all
    .filter((one) => one.direction === direction)
    .map((recorded) => {
      let { text } = recorded;
      const message: Loose = parsed(recorded);
      const relabel = (holder: Loose, key: string, asked: Direction): string => {
        const id = JSON.stringify(holder[key]);
        const label = labels[asked].get(id) ?? `no request has the id ${id}`;
        holder[key] = label;
        text = text.replace(`"${key}":${id}`, () => `"${key}":${JSON.stringify(label)}`);
        return label;
      };
      if (message.method === undefined) {
        const label = relabel(message, "id", opposite(direction));
        const name = `answer to ${label.replace(/ \d+$/, "")}`;
        return { name, kind: `answer to ${label}`, isUnique: true, message, content: JSON.stringify(message), text };
      }
      const request = message.id === undefined ? undefined : relabel(message, "id", direction);
      if (message.method === "$/cancel_request") relabel(message.params, "requestId", direction);
      if (message.method === "elicitation/create" && message.params.requestId !== undefined) {
        relabel(message.params, "requestId", opposite(direction));
      }
      const kind: string | undefined = message.params?.update?.sessionUpdate;
      const name = kind === undefined ? message.method : `${message.method} ${kind}`;
      const { id: _, ...rest } = message;
      const which = request ?? `${name} of ${message.params?.sessionId}`;
      return { name, kind: which, isUnique: request !== undefined, message, content: JSON.stringify(rest), text };
    });
}

function differencesOf(direction: Direction, direct: Named | undefined, through: Named | undefined): Difference[] {
  const of = { direct: direct?.message, through: through?.message };
  const { name } = (direct ?? through)!;
  const about = { direction, message: name, of };
  if (!direct || !through) {
    const kind = direct ? "missing" : "extra";
    return [{ ...about, kind, path: "", direct: direct?.message, through: through?.message }];
  }
  const changed = changesOf(direct.message, through.message, "").map((change) => ({
    ...about,
    kind: "changed" as const,
    ...change,
  }));
  const onlyMore = changed.every((change) => change.direct === undefined);
  if (!onlyMore || hasInside(through.text, direct.text)) return changed;
  return [...changed, { ...about, kind: "spelled", path: "", direct: direct.text, through: through.text }];
}

/** Every character of `text` stands in `longer`, in order: things were put in, nothing was taken out. */
function hasInside(longer: string, text: string): boolean {
  let at = 0;
  for (const character of longer) if (text.startsWith(character, at)) at += character.length;
  return at === text.length;
}

function changesOf(direct: Loose, through: Loose, path: string): Pick<Difference, "path" | "direct" | "through">[] {
  if (Object.is(direct, through)) return [];
  const bothObjects = isObject(direct) && isObject(through);
  if (!bothObjects || Array.isArray(direct) !== Array.isArray(through)) return [{ path, direct, through }];
  const keys = new Set([...Object.keys(direct), ...Object.keys(through)]);
  return [...keys].flatMap((key) => changesOf(direct[key], through[key], `${path}/${key}`));
}

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null;

/** A message that is missing here and extra there, the same to the byte, has moved. */
function withMoves(differences: readonly Difference[]): Difference[] {
  const left = [...differences];
  const found: Difference[] = [];
  for (const missing of differences.filter((one) => one.kind === "missing")) {
    const text = JSON.stringify(missing.direct);
    const extra = left.find((one) => one.kind === "extra" && JSON.stringify(one.through) === text);
    if (!extra) continue;
    left.splice(left.indexOf(extra), 1);
    left.splice(left.indexOf(missing), 1);
    found.push({
      ...missing,
      kind: "moved",
      through: extra.through,
      of: { direct: missing.direct, through: extra.through },
    });
  }
  return [...left, ...found];
}

const short = (value: unknown): string => (JSON.stringify(value) ?? "absent").slice(0, 600);

export function show(difference: Difference): string {
  const { direction, message, kind, path, direct, through } = difference;
  const where = path === "" ? "" : ` at ${path}`;
  if (kind === "missing") return `${direction}: ${message} is missing: ${short(direct)}`;
  if (kind === "extra") return `${direction}: ${message} is extra: ${short(through)}`;
  return `${direction}: ${message} ${kind}${where}\n    direct:  ${short(direct)}\n    through: ${short(through)}`;
}
