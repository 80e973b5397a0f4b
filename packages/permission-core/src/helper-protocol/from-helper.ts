// Every message from a Helper to the master. All are notifications: a Helper asks the master for nothing.
import * as z from "zod";
import { masterMethods } from "./methods.ts";

export const logParams = z.looseObject({
  level: z.enum(["trace", "debug", "info", "warn", "error"]),
  message: z.string(),
  fields: z.record(z.string(), z.unknown()).optional(),
});
export type LogParams = z.infer<typeof logParams>;

export const busyParams = z.looseObject({ sessionId: z.string(), busy: z.boolean() });
export type BusyParams = z.infer<typeof busyParams>;

export const unavailableParams = z.looseObject({ sessionId: z.string(), reason: z.string() });
export type UnavailableParams = z.infer<typeof unavailableParams>;

/** A part of what this Helper offers does not work as long as it runs; its decisions do. The reason is for people. */
export const impairedParams = z.looseObject({ sessionId: z.string(), reason: z.string() });
export type ImpairedParams = z.infer<typeof impairedParams>;

export const fromHelper = {
  [masterMethods.log]: { kind: "notification", params: logParams },
  [masterMethods.busy]: { kind: "notification", params: busyParams },
  [masterMethods.unavailable]: { kind: "notification", params: unavailableParams },
  [masterMethods.impaired]: { kind: "notification", params: impairedParams },
} as const;
