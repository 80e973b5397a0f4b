// The JSON Schema of config.json, from the same source as the checks. It adds no rule of its own.
import * as z from "zod";
import { configSchema } from "./schema.ts";

/** For editors and for `acp-master config schema`: describes the file as it is written, so every key is optional. */
export function configJsonSchema(): object {
  return {
    ...z.toJSONSchema(configSchema, { io: "input" }),
    title: "acp-master configuration",
    description: "config.json of acp-master: JSON with comments, every key optional.",
  };
}
