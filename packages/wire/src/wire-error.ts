// The one error class of this package. Its messages hold positions and sizes, never a byte of a frame.

export type WireErrorCode =
  "not_json" | "too_deep" | "not_an_object" | "not_an_array" | "edits_out_of_order" | "bad_limit";

export class WireError extends Error {
  readonly code: WireErrorCode;

  constructor(code: WireErrorCode, message: string) {
    super(message);
    this.name = "WireError";
    this.code = code;
  }
}
