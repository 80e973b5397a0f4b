// Makes a session: which agent, in which folder.
import { useEffect, useId, useState } from "preact/hooks";
import type { AgentRow } from "../../../src/protocol.ts";
import { visibleLine } from "../model/visible-text.ts";
import { Dialog } from "./dialog.tsx";
import { useFailing } from "./failing.ts";
import { usePage } from "./page-context.ts";
import { Visible } from "./visible.tsx";

export function NewSession({ onClose }: { onClose: () => void }) {
  const page = usePage();
  const id = useId();
  const [agents, setAgents] = useState<readonly AgentRow[]>([]);
  const [chosen, choose] = useState<string>();
  const listing = useFailing();
  const making = useFailing();
  const { isConnected, daemon } = page.view.value;
  const isReached = isConnected && daemon?.state === "connected";
  // The next daemon may have other agents.
  useEffect(() => {
    if (isReached) void listing.run(async () => setAgents((await page.link?.request("agents", {}))?.agents ?? []));
  }, [isReached]);
  const ready = agents.filter((agent) => agent.ready);
  const agent = chosen ?? ready.find((each) => each.isDefault)?.name ?? ready[0]?.name ?? "";
  const folders = [...new Set([...page.view.value.sessions.values()].map((row) => row.cwd))];
  const make = (cwd: string): void =>
    void making.run(async () => {
      const made = await page.link?.request("new", { agent, cwd });
      if (made === undefined) return;
      onClose();
      page.wantsComposer = true;
      page.go({ at: "session", sessionId: made.sessionId });
    });
  const problem = making.problem || listing.problem;
  return (
    <Dialog title="New session" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const cwd = new FormData(event.currentTarget).get("cwd");
          if (!making.isUnderWay && agent !== "" && typeof cwd === "string") make(cwd.trim());
        }}
      >
        <label for={`${id}-agent`}>Agent</label>
        <select
          id={`${id}-agent`}
          value={agent}
          onChange={(event) => choose(event.currentTarget.value)}
          disabled={agents.length === 0}
        >
          {agents.map(({ name, ready }) => (
            <option value={name} disabled={!ready} key={name}>
              {visibleLine(name)}
              {ready ? "" : " (not ready)"}
            </option>
          ))}
        </select>
        <label for={`${id}-folder`}>Folder</label>
        <input
          id={`${id}-folder`}
          name="cwd"
          list={`${id}-folders`}
          required
          placeholder="/absolute/path"
          defaultValue={folders[0] ?? ""}
          autocomplete="off"
          spellcheck={false}
        />
        <datalist id={`${id}-folders`}>
          {folders.map((folder) => (
            <option value={folder} key={folder} />
          ))}
        </datalist>
        {problem !== "" && (
          <p class="warning" role="alert">
            <Visible text={problem} use="lines" />
          </p>
        )}
        <NotReady agents={agents} />
        <div class="options">
          <button type="submit" class="primary" aria-disabled={making.isUnderWay || agent === ""}>
            {making.isUnderWay ? "Starting…" : "Start"}
          </button>
          <button type="button" onClick={onClose}>
            Not now
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function NotReady({ agents }: { agents: readonly AgentRow[] }) {
  const lacking = agents.filter((agent) => !agent.ready);
  if (lacking.length === 0) return null;
  return (
    <details>
      <summary>Agents that are not ready ({lacking.length})</summary>
      <ul>
        {lacking.map(({ name, problem }) => (
          <li key={name}>
            <Visible text={name} />: <Visible text={problem ?? ""} />
          </li>
        ))}
      </ul>
    </details>
  );
}
