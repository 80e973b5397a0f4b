// The whole page.
import { useState } from "preact/hooks";
import { Announcer } from "./announcer.tsx";
import { Inbox } from "./inbox.tsx";
import { LogInPage } from "./log-in-page.tsx";
import { NewSession } from "./new-session.tsx";
import { usePage } from "./page-context.ts";
import { SessionList } from "./session-list.tsx";
import { SessionView } from "./session-view.tsx";
import { TopBar } from "./top-bar.tsx";

export function App() {
  const page = usePage();
  const [isMaking, setMaking] = useState(false);
  const loggedOut = page.loggedOut.value;
  if (loggedOut !== undefined) return <LogInPage problem={loggedOut.problem} />;
  const place = page.place.value;
  return (
    <div class={`page at-${place.at}`}>
      <Announcer />
      <TopBar />
      <SessionList onNew={() => page.isController.value && setMaking(true)} />
      <Main />
      {isMaking && <NewSession onClose={() => setMaking(false)} />}
    </div>
  );
}

function Main() {
  const page = usePage();
  const open = page.open.value;
  if (page.place.value.at === "inbox") return <Inbox />;
  if (open !== undefined) return <SessionView session={open} key={open.sessionId} />;
  return (
    <main class="empty">
      <h1>Sessions</h1>
      <p class="muted">Choose a session, or make a new one.</p>
    </main>
  );
}
