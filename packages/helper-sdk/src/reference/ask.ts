// The Helper that leaves every question to people.
import { defineHelper } from "../define-helper.ts";
import { ask } from "../verdict.ts";

export const askHelper = defineHelper({ name: "ask", permission: () => ask() });
