// What a tool call is given, by name. Nothing is left out without a mark.
// The compiler checks that the switch is exhaustive, which the lint rule does not see.
// oxlint-disable typescript/consistent-return
import { argumentLimits, inputOf } from "../model/call-arguments.ts";
import { LongText } from "./long-text.tsx";
import { Visible } from "./visible.tsx";

export function CallInput({ rawInput, hasDiff }: { rawInput: unknown; hasDiff: boolean }) {
  const input = inputOf(rawInput);
  const limits = argumentLimits(input, hasDiff);
  switch (input.type) {
    case "unknown":
      return <p class="warning">The request does not say what the call would be given.</p>;
    case "value":
      return <LongText text={input.text} limits={limits} />;
    case "arguments":
      return (
        <dl class="arguments">
          {input.arguments.map(({ name, text }, at) => (
            <div key={at}>
              <dt>
                <Visible text={name} />
              </dt>
              <dd>
                <LongText text={text} limits={limits} />
              </dd>
            </div>
          ))}
        </dl>
      );
  }
}
