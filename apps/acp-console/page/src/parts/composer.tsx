// Where a person writes to the agent. A prompt behind a running turn waits, is listed, and can be taken back.
import { useEffect, useId, useRef } from "preact/hooks";
import { visibleLine } from "../model/visible-text.ts";
import type { OpenSession, OwnPrompt } from "../session/open-session.ts";
import { usePage } from "./page-context.ts";
import { Visible } from "./visible.tsx";

export function Composer({ session }: { session: OpenSession }) {
  const page = usePage();
  const id = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  const draft = session.draft.value;
  const isReady = page.isController.value && session.attachment.value.state === "attached";
  const command = commandIn(draft, session);

  // The composer comes back when the last question is over: whoever answered can write on.
  useEffect(() => {
    const { activeElement } = document;
    if (page.wantsComposer || activeElement === null || activeElement === document.body) field.current?.focus();
    page.wantsComposer = false;
  }, []);

  const send = (): void => {
    const text = draft.trim();
    if (!isReady || text === "") return;
    session.draft.value = "";
    void session.prompt(text);
  };
  const keyDown = (event: KeyboardEvent): void => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    send();
  };
  if (page.view.value.role === "observer") return <p class="composer muted">This page may only read.</p>;
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <Queue session={session} />
      {session.problem.value !== "" && (
        <p class="warning" role="alert">
          <Visible text={session.problem.value} use="lines" />
        </p>
      )}
      <label for={id} class="spoken">
        Message to the agent
      </label>
      <textarea
        id={id}
        ref={field}
        rows={2}
        value={draft}
        placeholder={isReady ? "Write to the agent. Enter sends, Shift+Enter begins a new line." : ""}
        onInput={(event) => (session.draft.value = event.currentTarget.value)}
        onKeyDown={keyDown}
      />
      {command !== undefined && (
        <p class="muted">
          <Visible text={`/${command.name} ${command.hint}`} />: <Visible text={command.description} />
        </p>
      )}
      <div class="actions">
        <Commands session={session} chosen={() => field.current?.focus()} />
        <button type="submit" class="primary" aria-disabled={!isReady || draft.trim() === ""}>
          Send
        </button>
      </div>
    </form>
  );
}

function commandIn(draft: string, session: OpenSession) {
  const [, name] = /^\/(\S+)/.exec(draft) ?? [];
  return session.commands.value.find((command) => command.name === name);
}

/** Puts a command's name in front; what it takes is written behind. */
function Commands({ session, chosen }: { session: OpenSession; chosen: () => void }) {
  const commands = session.commands.value;
  if (commands.length === 0) return null;
  return (
    <select
      aria-label="Commands of the agent"
      value=""
      onChange={(event) => {
        session.draft.value = `/${event.currentTarget.value} ${session.draft.value.replace(/^\/\S*\s?/, "")}`;
        event.currentTarget.value = "";
        chosen();
      }}
    >
      <option value="">/ Commands</option>
      {commands.map(({ name, description }) => (
        <option value={name} key={name}>
          {visibleLine(`/${name}: ${description}`)}
        </option>
      ))}
    </select>
  );
}

function Queue({ session }: { session: OpenSession }) {
  const waiting = session.prompts.value.filter((prompt) => !prompt.isHandedOn);
  if (waiting.length === 0) return null;
  return (
    <ul class="queue" aria-label="Prompts that wait">
      {waiting.map((prompt) => (
        <Waiting session={session} prompt={prompt} key={prompt.id} />
      ))}
    </ul>
  );
}

function Waiting({ session, prompt }: { session: OpenSession; prompt: OwnPrompt }) {
  const page = usePage();
  const { sessionId } = session;
  const takeBack = (): void => {
    page.link?.request("prompt.cancel", { sessionId, prompt: prompt.id }).catch((error: unknown) => {
      session.problem.value = error instanceof Error ? error.message : String(error);
    });
  };
  return (
    <li>
      <span class="muted">waits:</span> <Visible text={prompt.text} />{" "}
      <button type="button" class="quiet" onClick={takeBack}>
        Take back
      </button>
    </li>
  );
}
