// The plan that a test puts into a prompt, and which part of it the model plays next. The model keeps no state: the
// plan stands in the last user message that has one, and the turns made since then say how far it is.

export type Step =
  /** n text chunks "chunk i of n. ", with a pause before each but the first. */
  | readonly ["say", number, number?]
  | readonly ["text", string]
  | readonly ["think", number]
  /** One text chunk of so many bytes. */
  | readonly ["big", number]
  /** Calls of the agent's own tools; each ends the model's turn, unless the next step is `also`. */
  | readonly ["run", string]
  | readonly ["write", string, string]
  | readonly ["also", ToolStep]
  /** Runs the command of the newest proposal block in the prompts, with this payload. */
  | readonly ["propose", object]
  /** The answer stays open until the agent hangs up. */
  | readonly ["hang"]
  /** The HTTP status of the answer; only as the first step of a turn. */
  | readonly ["fail", number]
  /** Cuts the connection in the middle of the answer. */
  | readonly ["drop"];

export type ToolStep = readonly ["run", string] | readonly ["write", string, string];

const mark = "PLAN:";

/** The prompt text for these steps. */
export const plan = (...steps: readonly Step[]): string => `${mark}${JSON.stringify(steps)}`;

export function planIn(text: string): Step[] | undefined {
  const at = text.lastIndexOf(mark);
  if (at === -1) return undefined;
  const [line = ""] = text.slice(at + mark.length).split("\n", 1);
  try {
    // What an agent writes behind the text on the same line is cut off.
    return JSON.parse(line.slice(0, line.lastIndexOf("]") + 1));
  } catch {
    return undefined; // the mark without a plan, as in a quotation that was cut
  }
}

export const isTool = (step: Step): boolean => ["run", "write", "also", "propose"].includes(step[0]);

/** The steps of the model's turn with this number (from 0); undefined when the plan is over. */
export function turnOf(steps: readonly Step[], number: number): readonly Step[] | undefined {
  const turns: Step[][] = [[]];
  steps.forEach((step, index) => {
    turns.at(-1)?.push(step);
    const next = steps[index + 1];
    if (isTool(step) && next !== undefined && next[0] !== "also") turns.push([]);
  });
  return turns[number];
}
