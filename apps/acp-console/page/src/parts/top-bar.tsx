// The head of the page: whether what is shown is current, notifications, the way out.
import type { View } from "../model/view.ts";
import { usePage } from "./page-context.ts";

export function TopBar() {
  const page = usePage();
  const notifying = page.notifier.state.value;
  return (
    <header class="top">
      <a href="#" class="name">
        acp-master
      </a>
      <Staleness view={page.view.value} />
      {page.view.value.isConnected && page.view.value.role === "observer" && <span class="tag">read only</span>}
      {notifying !== "unsupported" && (
        <label class="check" title={notifying === "blocked" ? "This browser blocks notifications of this page." : ""}>
          <input
            type="checkbox"
            checked={notifying === "on"}
            disabled={notifying === "blocked"}
            onChange={(event) => {
              if (event.currentTarget.checked) void page.notifier.turnOn();
              else page.notifier.turnOff();
            }}
          />{" "}
          Notify me
        </label>
      )}
      <button type="button" class="quiet" onClick={() => void page.logOut()}>
        Log out
      </button>
    </header>
  );
}

/** Says that what is shown may be old, and why. */
function Staleness({ view }: { view: View }) {
  return (
    <p class={view.isStale ? "stale" : "stale none"} role="status">
      {staleness(view)}
    </p>
  );
}

function staleness({ isConnected, isStale, daemon }: View): string {
  if (!isStale) return "";
  if (!isConnected) return "Not connected to the console: this may be old. Trying again…";
  if (daemon?.state !== "offline") return "Loading…";
  if (daemon.restarting === true) return "The daemon restarts: this may be old.";
  return `The daemon is offline: this may be old. ${daemon.problem ?? ""}`;
}
