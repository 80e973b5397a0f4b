// One session: its head with the settings, its transcript, and below either the composer or what waits for a person.
import { useState } from "preact/hooks";
import type { SessionRow } from "../../../src/protocol.ts";
import { asRecord } from "../model/json-value.ts";
import { dotOf, queueOf } from "../model/queue.ts";
import type { OpenSession } from "../session/open-session.ts";
import { Composer } from "./composer.tsx";
import { Confirm } from "./dialog.tsx";
import { Dot } from "./dot.tsx";
import { useFailing } from "./failing.ts";
import { usePage } from "./page-context.ts";
import { PresetChip } from "./preset-chip.tsx";
import { SettingsBar } from "./settings-bar.tsx";
import { TranscriptView } from "./transcript-view.tsx";
import { Visible } from "./visible.tsx";
import { WaitingPanel } from "./waiting-panel.tsx";

export function SessionView({ session }: { session: OpenSession }) {
  const page = usePage();
  const view = page.view.value;
  const row = view.sessions.get(session.sessionId);
  const queue = queueOf(view, session.sessionId);
  const isWorking = row?.state === "running" || row?.state === "waiting";
  const notice = view.notices.get(session.sessionId);
  if (row === undefined)
    return (
      <main class="empty">
        <p>{view.isStale ? "The sessions are not known yet." : "This session is not there (any more)."}</p>
      </main>
    );
  return (
    <main class="session">
      <Head session={session} row={row} isWorking={isWorking} />
      <AttachmentNote session={session} />
      <TranscriptView session={session} isWorking={isWorking} key={session.sessionId} />
      {notice !== undefined && (
        <p class="muted" role="status">
          <Visible text={notice.text} use="lines" />
        </p>
      )}
      {queue.length > 0 ? (
        <WaitingPanel queue={queue} />
      ) : row.state === "closed" ? (
        <Closed session={session} />
      ) : (
        <Composer session={session} />
      )}
    </main>
  );
}

function Head({ session, row, isWorking }: { session: OpenSession; row: SessionRow; isWorking: boolean }) {
  const page = usePage();
  const [isClosing, setClosing] = useState(false);
  const { isUnderWay, problem, run } = useFailing();
  const { sessionId } = session;
  const isOff = isUnderWay || !page.isController.value;
  const { used, size } = asRecord(session.usage.value);
  return (
    <header class="head">
      <h1>
        <Visible text={row.title ?? "Untitled"} />
      </h1>
      <p class="muted">
        <Visible text={row.agent} /> · <Visible text={row.cwd} /> · <Dot state={dotOf(page.view.value, sessionId)} />
        {row.clients.length > 1 && ` · ${row.clients.length} clients`}
        {typeof used === "number" &&
          typeof size === "number" &&
          size > 0 &&
          ` · context ${Math.round((100 * used) / size)} %`}
      </p>
      <div class="settings">
        <PresetChip session={session} row={row} key={sessionId} />
        <SettingsBar session={session} />
        {isWorking && (
          <button
            type="button"
            aria-disabled={isOff}
            onClick={() => !isOff && void run(async () => await page.link?.request("cancel", { sessionId }))}
          >
            Cancel the turn
          </button>
        )}
        <button type="button" class="quiet" aria-disabled={isOff} onClick={() => !isOff && setClosing(true)}>
          Close
        </button>
      </div>
      {problem !== "" && (
        <p class="warning" role="alert">
          <Visible text={problem} use="lines" />
        </p>
      )}
      {isClosing && (
        <Confirm
          title="Close this session?"
          action="Close it"
          onConfirm={() => void run(async () => await page.link?.request("close", { sessionId }))}
          onClose={() => setClosing(false)}
        >
          <p>It closes for everybody: what runs is cancelled, and its open permissions are refused.</p>
        </Confirm>
      )}
    </header>
  );
}

function Closed({ session }: { session: OpenSession }) {
  const page = usePage();
  const isOff = !page.isController.value || session.attachment.value.state === "attaching";
  return (
    <div class="composer">
      This session is closed.{" "}
      <button type="button" aria-disabled={isOff} onClick={() => !isOff && void session.attach(true)}>
        Go on with it
      </button>
    </div>
  );
}

function AttachmentNote({ session }: { session: OpenSession }) {
  const page = usePage();
  const attachment = session.attachment.value;
  if (attachment.state === "attached" || page.view.value.isStale) return null;
  if (attachment.state === "attaching")
    return (
      <p class="muted" role="status">
        Loading the session…
      </p>
    );
  return (
    <p class="warning" role="alert">
      The session cannot be shown: <Visible text={attachment.problem} use="lines" />{" "}
      <button type="button" onClick={() => void session.attach()}>
        Try again
      </button>
    </p>
  );
}
