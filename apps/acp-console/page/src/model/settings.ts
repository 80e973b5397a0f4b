// A session's modes, models and config options as choices, and what an agent's update changes of them.
import type { Opened } from "../../../src/protocol.ts";
import { asList, asRecord, asText, type JsonRecord } from "./json-value.ts";

export interface Setting {
  /** What is asked of the server when it changes. */
  readonly sets: "mode" | "model" | "option";
  readonly id: string;
  readonly label: string;
  readonly description: string;
  readonly value: string | boolean;
  /** Empty for a yes or no. */
  readonly choices: readonly { readonly value: string; readonly label: string; readonly group: string }[];
}

/** The master's own option; it has a chip of its own. */
const approvals = "acp-master.approvals";

export function settingsOf(opened: Opened): readonly Setting[] {
  const options = asList(opened.configOptions).flatMap((each) => optionOf(asRecord(each)));
  // An agent that lists its modes or models as options, too, means the same ones.
  const categories = new Set(asList(opened.configOptions).map((each) => asText(asRecord(each).category)));
  const modes = categories.has("mode") ? [] : listed(opened.modes, "mode");
  const models = categories.has("model") ? [] : listed(opened.models, "model");
  return [...modes, ...models, ...options].filter((each) => typeof each.value === "boolean" || each.choices.length > 0);
}

/** `undefined`: the update is about something else. */
export function openedAfter(opened: Opened, update: JsonRecord): Opened | undefined {
  if (update.sessionUpdate === "config_option_update" && Array.isArray(update.configOptions))
    return { ...opened, configOptions: update.configOptions.map(asRecord) };
  if (update.sessionUpdate === "current_mode_update")
    return { ...opened, modes: { ...opened.modes, currentModeId: update.currentModeId } };
  return undefined;
}

function listed(given: JsonRecord | undefined, sets: "mode" | "model"): Setting[] {
  const fields = asRecord(given);
  const names = {
    mode: ["availableModes", "id", "currentModeId"],
    model: ["availableModels", "modelId", "currentModelId"],
  };
  const [list = "", id = "", current = ""] = names[sets];
  const choices = asList(fields[list]).map((entry) => {
    const choice = asRecord(entry);
    return { value: asText(choice[id]), label: asText(choice.name) || asText(choice[id]), group: "" };
  });
  const label = sets === "mode" ? "Mode" : "Model";
  return [{ sets, id: sets, label, description: "", value: asText(fields[current]), choices }];
}

function optionOf(fields: JsonRecord): Setting[] {
  const id = asText(fields.id);
  if (id === approvals) return [];
  const setting = {
    sets: "option",
    id,
    label: asText(fields.name) || id,
    description: asText(fields.description),
  } as const;
  if (fields.type === "boolean") return [{ ...setting, value: fields.currentValue === true, choices: [] }];
  const choices = asList(fields.options).flatMap((entry) => {
    const choice = asRecord(entry);
    const group = asText(choice.name) || asText(choice.group);
    return Array.isArray(choice.options)
      ? choice.options.map((each: unknown) => choiceOf(asRecord(each), group))
      : [choiceOf(choice, "")];
  });
  return [{ ...setting, value: asText(fields.currentValue), choices }];
}

const choiceOf = (choice: JsonRecord, group: string) => ({
  value: asText(choice.value),
  label: asText(choice.name) || asText(choice.value),
  group,
});
