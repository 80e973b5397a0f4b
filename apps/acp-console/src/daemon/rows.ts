// Rows of the daemon as the page gets them: known members only, long texts cut with a mark. Contents stay what they are.
import { asList, asObject, asText } from "../json.ts";
import type { ApprovalRow, JsonObject, SessionRow, SessionState } from "../protocol.ts";

const states: readonly SessionState[] = ["idle", "running", "waiting", "parked", "lost", "closed"];

export function sessionRow(value: unknown): SessionRow {
  const row = asObject(value);
  return {
    sessionId: asText(row["sessionId"]),
    agent: asText(row["agent"]),
    cwd: asText(row["cwd"]),
    title: textOrNull(row["title"]),
    state: states.find((state) => state === row["state"]) ?? "lost",
    preset: textOrNull(row["preset"]),
    clients: asList(row["clients"])
      .map(asObject)
      .map(({ clientId, name, role }) => ({
        clientId: asText(clientId),
        name: asText(name),
        role: role === "controller" ? "controller" : "observer",
      })),
    approvals: typeof row["approvals"] === "number" ? row["approvals"] : 0,
    review: typeof row["review"] === "string",
    createdAt: asText(row["createdAt"]),
    updatedAt: asText(row["updatedAt"]),
  };
}

/** A row whose params are longer than this, in characters of JSON, has its long texts cut. */
export const longestParams = 256 * 1024;
const cuts = [16_384, 2_048, 256];

/** `whole`: whatever its length. */
export function approvalRow(value: unknown, whole = false): ApprovalRow {
  const row = asObject(value);
  const params = asObject(row["params"]);
  return {
    approvalId: asText(row["approvalId"]),
    sessionId: asText(row["sessionId"]),
    agent: asText(row["agent"]),
    toolCallId: asText(row["toolCallId"]),
    options: optionsOf(params, row["options"]),
    askedAt: asText(row["askedAt"]),
    expiresAt: textOrNull(row["expiresAt"]),
    ...(whole || JSON.stringify(params).length <= longestParams ? { params } : shortened(params)),
  };
}

/** What a person reads stands in the agent's request; the daemon's own list has ids and kinds only. */
function optionsOf(params: JsonObject, own: unknown): ApprovalRow["options"] {
  const asked = asList(params["options"]).map(asObject);
  return asList(own)
    .map(asObject)
    .map(({ optionId, kind }, index) => {
      const id = asText(optionId);
      const same = asked[index]?.["optionId"] === id ? asked[index] : asked.find((each) => each["optionId"] === id);
      return { optionId: id, name: asText(same?.["name"]), kind: asText(kind) };
    });
}

function shortened(params: JsonObject): Pick<ApprovalRow, "params" | "cutAt"> {
  for (const cutAt of cuts) {
    const cut = asObject(withShortTexts(params, cutAt));
    if (JSON.stringify(cut).length <= longestParams) return { params: cut, cutAt };
  }
  // Not long texts but very many: nothing of it can be shown in part.
  return { params: {}, cutAt: 0 };
}

function withShortTexts(value: unknown, longest: number): unknown {
  if (typeof value === "string") return value.length > longest ? `${value.slice(0, longest)}…` : value;
  if (Array.isArray(value)) return value.map((each) => withShortTexts(each, longest));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withShortTexts(each, longest)]));
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
