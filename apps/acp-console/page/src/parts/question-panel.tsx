// A question of the agent to the person: a form, or an address to open. What it says and wants is the agent's.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { ElicitationMessage } from "../../../src/protocol.ts";
import { fieldsOf, unfillable, type FormField, type FormValue } from "../model/form-fields.ts";
import { asText } from "../model/json-value.ts";
import { FormInput, valuesOf } from "./form-input.tsx";
import { usePage } from "./page-context.ts";
import { PanelFrame } from "./panel-frame.tsx";
import { Visible } from "./visible.tsx";

type Action = { action: "accept"; content?: Readonly<Record<string, FormValue>> } | { action: "decline" | "cancel" };

interface Props {
  readonly elicitation: ElicitationMessage;
  readonly position: ComponentChildren;
}

export function QuestionPanel({ elicitation, position }: Props) {
  const page = usePage();
  const [isSent, setSent] = useState(false);
  const [problem, setProblem] = useState("");
  const { params } = elicitation;
  const fields = params.mode === "form" ? fieldsOf(params.requestedSchema) : [];
  const agent = page.view.value.sessions.get(elicitation.sessionId)?.agent ?? "The agent";

  const send = async (action: Action): Promise<void> => {
    setSent(true);
    setProblem("");
    try {
      await page.link?.request("elicitation", { elicitation: elicitation.elicitation, ...action });
    } catch (error) {
      setSent(false);
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };

  return (
    <PanelFrame
      heading={
        <>
          <Visible text={agent} /> has a question
        </>
      }
      position={position}
      className="question"
      choices={0}
      choose={() => {}}
      refuse={undefined}
    >
      {({ isGuarded }) => {
        const rests = isGuarded || isSent || !page.isController.value;
        const answer = (action: Action): void => {
          if (!rests) void send(action);
        };
        return (
          <>
            <p class="said">
              <Visible text={asText(params.message)} use="prose" />
            </p>
            {params.mode === "form" ? (
              <Form fields={fields} rests={rests} answer={answer} />
            ) : (
              <Address url={asText(params.url)} rests={rests} answer={answer} />
            )}
            <p class="receipt" role="status">
              {isSent && "The answer is on its way…"}
            </p>
            {problem !== "" && (
              <p class="warning" role="alert">
                The answer did not arrive: <Visible text={problem} use="lines" />
              </p>
            )}
          </>
        );
      }}
    </PanelFrame>
  );
}

interface AnswerProps {
  readonly rests: boolean;
  readonly answer: (action: Action) => void;
}

function Form({ fields, rests, answer }: AnswerProps & { readonly fields: readonly FormField[] }) {
  const lack = unfillable(fields);
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const form = event.currentTarget;
    if (form instanceof HTMLFormElement && lack === undefined)
      answer({ action: "accept", content: valuesOf(fields, new FormData(form)) });
  };
  return (
    <form onSubmit={submit}>
      <div class="asked fields">
        {fields.map((field) => (
          <FormInput field={field} key={field.name} />
        ))}
        {lack !== undefined && <p class="warning">{lack}</p>}
      </div>
      <div class="options">
        <button type="submit" class="allow" aria-disabled={rests || lack !== undefined}>
          Send
        </button>
        <OtherAnswers rests={rests} answer={answer} />
      </div>
    </form>
  );
}

/** Shown whole before it is opened: where it leads is the question. */
function Address({ url, rests, answer }: AnswerProps & { readonly url: string }) {
  const target = URL.canParse(url) ? new URL(url) : undefined;
  const isWeb = target?.protocol === "https:" || target?.protocol === "http:";
  return (
    <>
      <div class="asked">
        <code>
          <Visible text={url} />
        </code>
        {isWeb ? (
          <p>
            It leads to <strong>{target.host}</strong>.
          </p>
        ) : (
          <p class="warning">This is no web address, so this page does not open it.</p>
        )}
      </div>
      <div class="options">
        {isWeb && !rests && (
          <a
            class="button allow"
            href={target.href}
            target="_blank"
            rel="noopener noreferrer"
            onClick={() => answer({ action: "accept" })}
          >
            Open it in a new tab
          </a>
        )}
        <OtherAnswers rests={rests} answer={answer} />
      </div>
    </>
  );
}

function OtherAnswers({ rests, answer }: AnswerProps) {
  return (
    <>
      <button type="button" class="reject" aria-disabled={rests} onClick={() => answer({ action: "decline" })}>
        Decline
      </button>
      <button type="button" class="quiet" aria-disabled={rests} onClick={() => answer({ action: "cancel" })}>
        Close without an answer
      </button>
    </>
  );
}
