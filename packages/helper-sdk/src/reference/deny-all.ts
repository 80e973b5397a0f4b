// The Helper that refuses every question. Its one preset says so to the router.
import { defineHelper } from "../define-helper.ts";
import { reject } from "../verdict.ts";

export const denyAllHelper = defineHelper({
  name: "deny-all",
  presets: [{ value: "deny-all", name: "Deny all", width: 0, refuseWrites: true, refuseAll: true }],
  permission: (request) => reject(request),
});
