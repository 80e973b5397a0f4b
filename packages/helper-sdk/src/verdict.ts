// The answers a Helper can give. They choose offered options by kind only and never grant more than the one request.
import { allowOption, refuse, type RequestPermissionParams } from "@acp-master/permission-core";

export type PermissionRequest = RequestPermissionParams;

export type Verdict =
  | { readonly outcome: "selected"; readonly optionId: string }
  | { readonly outcome: "cancelled" }
  | { readonly outcome: "ask" };

/** Leave it to the attached people. */
export function ask(): Verdict {
  return { outcome: "ask" };
}

/**
 * Allow this one call. Where the options have no single `allow_once`, people are asked instead.
 *
 *     allowOnce(request)  // { outcome: "selected", optionId: "allow" }
 */
export function allowOnce(request: PermissionRequest): Verdict {
  const optionId = allowOption(request.options);
  return optionId === undefined ? ask() : { outcome: "selected", optionId };
}

/** Refuse: the only one-time reject option, else the only lasting one, else `cancelled`. */
export function reject(request: PermissionRequest): Verdict {
  return refuse(request.options);
}
