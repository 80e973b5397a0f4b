// Says whether a text is JSON with exactly one reading. It walks without recursion and never compares with a re-encoded copy.

export type JsonProblem = "not_json" | "white_space" | "duplicate_key" | "lone_surrogate";

/** `compact` refuses white space outside of strings, `spaced` takes it. */
export type JsonForm = "compact" | "spaced";

const space = /[ \t\n\r]*/y;
const escape = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const scalar = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null/y;

/** What may come next: a value, a key, a key or `}`, a value or `]`, or what follows a value. */
type Expected = "value" | "key" | "key_or_end" | "value_or_end" | "after_value";

/**
 * `undefined` when the text is one JSON value with no duplicate keys at any level and no half of a surrogate pair.
 *
 *     jsonProblem('{"a":1,"\\u0061":2}', "compact") === "duplicate_key"
 *     jsonProblem('{"a": 1}', "compact") === "white_space"
 */
export function jsonProblem(text: string, form: JsonForm): JsonProblem | undefined {
  // The keys so far of each open object; undefined for an array.
  const open: (Set<string> | undefined)[] = [];
  let expected: Expected = "value";
  let at = 0;
  for (;;) {
    const afterSpace = endOf(space, text, at) ?? at;
    if (form === "compact" && afterSpace > at) return "white_space";
    at = afterSpace;
    if (expected === "after_value" && open.length === 0) return at === text.length ? undefined : "not_json";
    const next = text[at];
    switch (expected) {
      case "after_value": {
        const keys = open.at(-1);
        if (next === ",") expected = keys === undefined ? "value" : "key";
        else if (next === (keys === undefined ? "]" : "}")) open.pop();
        else return "not_json";
        at += 1;
        break;
      }
      case "key":
      case "key_or_end": {
        if (next === "}" && expected === "key_or_end") {
          open.pop();
          expected = "after_value";
          at += 1;
          break;
        }
        const end = endOfString(text, at);
        if (end === undefined) return "not_json";
        const key = text.slice(at, end);
        const name = decodeString(key);
        if (hasUnpairedSurrogate(name)) return "lone_surrogate";
        const keys = open.at(-1);
        if (keys?.has(name)) return "duplicate_key";
        keys?.add(name);
        const colon = endOf(space, text, end) ?? end;
        if (form === "compact" && colon > end) return "white_space";
        if (text[colon] !== ":") return "not_json";
        at = colon + 1;
        expected = "value";
        break;
      }
      case "value":
      case "value_or_end": {
        if (next === "]" && expected === "value_or_end") {
          open.pop();
          expected = "after_value";
          at += 1;
        } else if (next === "{" || next === "[") {
          open.push(next === "{" ? new Set() : undefined);
          expected = next === "{" ? "key_or_end" : "value_or_end";
          at += 1;
        } else {
          const end = next === '"' ? endOfString(text, at) : endOf(scalar, text, at);
          if (end === undefined) return "not_json";
          if (next === '"' && hasUnpairedSurrogate(decodeString(text.slice(at, end)))) return "lone_surrogate";
          at = end;
          expected = "after_value";
        }
      }
    }
  }
}

/** Decodes UTF-8 that is valid to the last byte; a byte order mark stays and is no JSON. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined; // the only error of a fatal decoder: the bytes are not UTF-8
  }
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function hasUnpairedSurrogate(text: string): boolean {
  return /\p{Surrogate}/u.test(text);
}

/** Halves made by escapes, or by an escape beside a plain half, show only in the decoded string. */
function decodeString(spelled: string): string {
  const value: unknown = JSON.parse(spelled);
  return typeof value === "string" ? value : "";
}

function endOfString(text: string, from: number): number | undefined {
  if (text[from] !== '"') return undefined;
  let at = from + 1;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code < 0x20) return undefined;
    if (code === 0x22) return at + 1;
    const next = code === 0x5c ? endOf(escape, text, at) : at + 1;
    if (next === undefined) return undefined;
    at = next;
  }
  return undefined;
}

function endOf(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}
