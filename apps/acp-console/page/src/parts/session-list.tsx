// The sidebar: every session that the daemon knows.
import type { SessionRow } from "../../../src/protocol.ts";
import { hashOf } from "../model/place.ts";
import { dotOf, sessionGroups } from "../model/queue.ts";
import { Dot } from "./dot.tsx";
import { usePage } from "./page-context.ts";
import { Visible } from "./visible.tsx";

export function SessionList({ onNew }: { onNew: () => void }) {
  const page = usePage();
  const view = page.view.value;
  const { open, past } = sessionGroups(view);
  const waiting = page.waiting.value;
  // An aria-disabled button can still be pressed with a key.
  const isOff = !page.isController.value || view.isStale;
  return (
    <nav aria-label="Sessions">
      <a
        href={hashOf({ at: "inbox" })}
        aria-current={page.place.value.at === "inbox" ? "page" : undefined}
        class="inbox-link"
      >
        Inbox <span class={waiting > 0 ? "count" : "count none"}>{waiting}</span>
      </a>
      <button type="button" onClick={() => !isOff && onNew()} aria-disabled={isOff}>
        New session
      </button>
      <ul>
        {open.map((row) => (
          <Entry row={row} key={row.sessionId} />
        ))}
      </ul>
      {open.length + past.length === 0 && <p class="muted">No sessions yet.</p>}
      {past.length > 0 && (
        <details>
          <summary>Earlier ({past.length})</summary>
          <ul>
            {past.map((row) => (
              <Entry row={row} key={row.sessionId} />
            ))}
          </ul>
        </details>
      )}
    </nav>
  );
}

function Entry({ row }: { row: SessionRow }) {
  const page = usePage();
  const { sessionId, agent, cwd, title } = row;
  const place = page.place.value;
  const isShown = place.at === "session" && place.sessionId === sessionId;
  return (
    <li>
      <a href={hashOf({ at: "session", sessionId })} aria-current={isShown ? "page" : undefined}>
        <span class="title">
          <Visible text={title ?? "Untitled"} />
        </span>
        <span class="muted">
          <Visible text={agent} /> · <Visible text={cwd} />
        </span>
        <Dot state={dotOf(page.view.value, sessionId)} />
      </a>
    </li>
  );
}
