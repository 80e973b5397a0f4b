// How much a session may do without asking: its preset, live from the session's row, as a select.
import { useState } from "preact/hooks";
import type { Preset, SessionRow } from "../../../src/protocol.ts";
import { visibleLine } from "../model/visible-text.ts";
import { presetName } from "../model/words.ts";
import type { OpenSession } from "../session/open-session.ts";
import { Confirm } from "./dialog.tsx";
import { useFailing } from "./failing.ts";
import { usePage } from "./page-context.ts";
import { Visible } from "./visible.tsx";

export function PresetChip({ session, row }: { session: OpenSession; row: SessionRow }) {
  const page = usePage();
  const { isUnderWay, problem, run } = useFailing();
  const [asked, ask] = useState<Preset>();
  const [wanted, want] = useState<string>();
  const presets = session.presets.value;
  if (presets.length === 0) return null;
  const current = presets.find((preset) => preset.value === row.preset);

  const change = (preset: Preset, confirm: boolean): void => {
    want(preset.value);
    const { sessionId } = session;
    const params = { sessionId, preset: preset.value, ...(confirm ? { confirm } : {}) };
    void run(async () => await page.link?.request("preset", params)).finally(() => want(undefined));
  };
  const choose = (value: string): void => {
    const preset = presets.find((each) => each.value === value);
    if (preset === undefined || value === row.preset) return;
    // Only what allows more needs to be confirmed.
    const widens = preset.width > (current?.width ?? -1);
    if (preset.confirm && widens) ask(preset);
    else change(preset, false);
  };
  return (
    <>
      <label class="chip">
        <span>Approvals</span>
        <select
          value={wanted ?? row.preset ?? ""}
          disabled={isUnderWay || !page.isController.value}
          onChange={(event) => {
            const { value } = event.currentTarget;
            // Shown is what is in force until the session says otherwise.
            event.currentTarget.value = row.preset ?? "";
            choose(value);
          }}
        >
          {current === undefined && <option value={row.preset ?? ""}>Custom</option>}
          {presets.map(({ value, name, description }) => (
            <option value={value} title={description} key={value}>
              {visibleLine(presetName(value, name))}
            </option>
          ))}
        </select>
      </label>
      {problem !== "" && (
        <span class="warning" role="alert">
          <Visible text={problem} />
        </span>
      )}
      {asked !== undefined && (
        <Confirm
          title={`Switch to ${visibleLine(presetName(asked.value, asked.name))}?`}
          action="Switch"
          tick="I understand that nobody will be asked for what it allows."
          onConfirm={() => change(asked, true)}
          onClose={() => ask(undefined)}
        >
          <p>
            <Visible text={asked.description ?? "It allows more than the preset in force."} use="lines" />
          </p>
        </Confirm>
      )}
    </>
  );
}
