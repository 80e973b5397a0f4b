// A session's modes, models and options as native controls.
import { settingsOf, type Setting } from "../model/settings.ts";
import { visibleLine } from "../model/visible-text.ts";
import type { OpenSession } from "../session/open-session.ts";
import { useFailing } from "./failing.ts";
import { usePage } from "./page-context.ts";
import { Visible } from "./visible.tsx";

export function SettingsBar({ session }: { session: OpenSession }) {
  const settings = settingsOf(session.opened.value);
  return (
    <>
      {settings.map((setting) => (
        <SettingControl session={session} setting={setting} key={`${setting.sets} ${setting.id}`} />
      ))}
    </>
  );
}

function SettingControl({ session, setting }: { session: OpenSession; setting: Setting }) {
  const page = usePage();
  const { isUnderWay, problem, run } = useFailing();
  const isOff = isUnderWay || !page.isController.value || session.attachment.value.state !== "attached";
  const change = (value: string | boolean): void =>
    void run(async () => {
      const { sessionId } = session;
      if (setting.sets === "mode") await page.link?.request("mode", { sessionId, modeId: String(value) });
      else if (setting.sets === "model") await page.link?.request("model", { sessionId, modelId: String(value) });
      else {
        const result = await page.link?.request("option", { sessionId, configId: setting.id, value });
        if (result !== undefined)
          session.opened.value = { ...session.opened.value, configOptions: result.configOptions };
      }
    });
  return (
    <span class="setting" title={setting.description}>
      {typeof setting.value === "boolean" ? (
        <label class="check">
          <input
            type="checkbox"
            checked={setting.value}
            disabled={isOff}
            onChange={(event) => change(event.currentTarget.checked)}
          />{" "}
          <Visible text={setting.label} />
        </label>
      ) : (
        <label class="chip">
          <span>
            <Visible text={setting.label} />
          </span>
          <select value={setting.value} disabled={isOff} onChange={(event) => change(event.currentTarget.value)}>
            <Choices setting={setting} />
          </select>
        </label>
      )}
      {problem !== "" && (
        <span class="warning" role="alert">
          <Visible text={problem} />
        </span>
      )}
    </span>
  );
}

function Choices({ setting }: { setting: Setting }) {
  const groups = [...new Set(setting.choices.map((choice) => choice.group))];
  return (
    <>
      {!setting.choices.some((choice) => choice.value === setting.value) && (
        <option value={String(setting.value)}>{visibleLine(String(setting.value))}</option>
      )}
      {groups.map((group) => {
        const options = setting.choices
          .filter((choice) => choice.group === group)
          .map(({ value, label }) => (
            <option value={value} key={value}>
              {visibleLine(label)}
            </option>
          ));
        return group === "" ? (
          options
        ) : (
          <optgroup label={visibleLine(group)} key={group}>
            {options}
          </optgroup>
        );
      })}
    </>
  );
}
