// The Helper protocol as JSON Schema, made from the very schemas that check the messages.
import * as z from "zod";
import { fromHelper } from "./from-helper.ts";
import { PROTOCOL_VERSION } from "./methods.ts";
import { toHelper } from "./to-helper.ts";

interface Message {
  readonly kind: "request" | "notification";
  readonly params: z.ZodType;
  readonly result?: z.ZodType;
}

/** `{protocolVersion, toHelper, fromHelper}`; both maps go from a method to its `{kind, params, result?}`. */
export function helperProtocolSchema(): object {
  return {
    protocolVersion: PROTOCOL_VERSION,
    toHelper: schemas(toHelper),
    fromHelper: schemas(fromHelper),
  };
}

function schemas(messages: Readonly<Record<string, Message>>): object {
  return Object.fromEntries(
    Object.entries(messages).map(([method, { kind, params, result }]) => [
      method,
      {
        kind,
        params: z.toJSONSchema(params),
        ...(result === undefined ? {} : { result: z.toJSONSchema(result) }),
      },
    ]),
  );
}
