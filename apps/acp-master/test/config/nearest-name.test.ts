import { expect, it } from "vitest";
import { nearestName } from "../../src/config/nearest-name.ts";

it.each([
  ["helpr", "helper"],
  ["Limits", "limits"],
  ["idleMinute", "idleMinutes"],
  ["zzz", undefined],
  ["x".repeat(100_000), undefined],
])("nearestName() of %.20s is %s", (name, meant) => {
  expect(nearestName(name, ["helper", "limits", "idleMinutes", "env"])).toBe(meant);
});
