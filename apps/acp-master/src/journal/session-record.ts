// What is known of a kept session besides what was seen in it: the content of its session.json. It reads no file.

import * as z from "zod";

export interface SessionRecord {
  /** As clients see it; chosen once. */
  readonly sessionId: string;
  readonly agent: string;
  readonly agentId: string;
  readonly cwd: string;
  readonly additionalDirectories: readonly string[];
  /** Undefined: none was stored or it cannot be read; whoever asks then takes the one of least width. */
  readonly preset: string | undefined;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly title?: string | undefined;
  readonly state: "open" | "parked" | "lost" | "closed";
  /** Some agents lose a session that never had one. */
  readonly hadTurn: boolean;
}

const time = z.number().int().nonnegative();

const schema = z.object({
  sessionId: z.string(),
  agent: z.string().min(1),
  agentId: z.string(),
  cwd: z.string().min(1),
  additionalDirectories: z.array(z.string()).catch([]),
  preset: z.string().min(1).optional().catch(undefined),
  createdAt: time,
  updatedAt: time,
  title: z.string().optional().catch(undefined),
  state: z.enum(["open", "parked", "lost", "closed"]).catch("parked"),
  hadTurn: z.boolean().catch(true),
});

export const encodeRecord = (record: SessionRecord): Buffer => Buffer.from(`${JSON.stringify(record)}\n`);

/** Undefined where it cannot be told which session this is. */
export function decodeRecord(bytes: Buffer): SessionRecord | undefined {
  try {
    const read = schema.safeParse(JSON.parse(bytes.toString()));
    return read.success ? { ...read.data, preset: read.data.preset } : undefined;
  } catch {
    return undefined; // no JSON
  }
}
