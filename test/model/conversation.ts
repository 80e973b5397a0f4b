// What every kind of request comes down to: the tools on offer and who said what. And what is played to it.
import { planIn, turnOf, type Step } from "./plan.ts";

export interface Tool {
  readonly name: string;
  /** JSON Schema of the arguments. */
  readonly schema: Schema;
  /** Takes plain text in place of arguments. */
  readonly freeForm?: boolean;
  readonly namespace?: string;
}

export interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
}

export interface Said {
  readonly by: "user" | "model" | "tool" | "system";
  readonly text: string;
}

export interface Conversation {
  readonly model: string;
  readonly stream: boolean;
  readonly tools: readonly Tool[];
  readonly said: readonly Said[];
}

/** The steps for the next turn of the model. */
export function nextSteps(conversation: Conversation): readonly Step[] {
  const { said, tools } = conversation;
  const plans = said.map((one) => (one.by === "user" ? planIn(one.text) : undefined));
  const at = plans.findLastIndex((steps) => steps !== undefined);
  const steps = plans[at];
  // Requests without tools are the agent's own: a title, a summary.
  if (steps === undefined || tools.length === 0) return [["text", "Hello from the scripted model."]];
  const since = said.slice(at + 1);
  const turns = since.filter((one, index) => one.by === "model" && since[index - 1]?.by !== "model").length;
  return turnOf(steps, turns) ?? [["text", "The plan is over."]];
}

/** The text of contents in any of the shapes in use: a string, a block, a list of blocks. */
export function textIn(content: unknown): string {
  if (typeof content === "string") return content;
  if (Array.isArray(content)) return content.map(textIn).join("\n");
  if (typeof content !== "object" || content === null) return "";
  if ("text" in content) return textIn(content.text);
  if ("content" in content) return textIn(content.content);
  if ("output" in content) return textIn(content.output);
  return "";
}
