// The daemon's log: one JSON line per event in a bounded set of files. Fields pass by an allow list, and nothing here ever throws.
import { join } from "node:path";
import { type Logger as PinoLogger, pino, stdTimeFunctions } from "pino";
import type { Places } from "../config/places.ts";
import type { LogLevel } from "../config/schema.ts";
import { knownFieldsOf, loggable } from "./log-fields.ts";
import { RotatingFile, type RotationBounds } from "./rotating-file.ts";

/** `text` must be ours and constant: what varies belongs into fields. Of an error its code and places are kept, not its message. */
export interface LogMethod {
  (fields: object, text?: string): void;
  (text: string): void;
}

export interface Logger {
  /** May be changed at any time; children made before keep theirs. */
  level: string;
  readonly trace: LogMethod;
  readonly debug: LogMethod;
  readonly info: LogMethod;
  readonly warn: LogMethod;
  readonly error: LogMethod;
  readonly fatal: LogMethod;
  /** A logger that adds these fields to every line. */
  child(fields: object): Logger;
}

/** 5 files of 5 MiB: `master.ndjson` and `master.1.ndjson` … `master.4.ndjson`. */
export const logBounds: RotationBounds = { fileBytes: 5 * 1024 * 1024, files: 5 };

export function logFile(places: Places): string {
  return join(places.logDir, "master.ndjson");
}

/**
 * Logs into `log/master.ndjson`, made 0600 at the first line. A file that cannot be written loses lines, not the daemon.
 *
 *     const log = createLogger(places, "info");
 *     log.info({ agent: "claude", pid: 4711 }, "agent started");
 */
export function createLogger(places: Places, level: LogLevel): Logger {
  return loggerInto(new RotatingFile(logFile(places), logBounds), level);
}

export function loggerInto(file: { write(line: string): void }, level: LogLevel): Logger {
  const options = {
    level,
    // Not "pid": that is the field for the process a line tells of.
    base: { daemon: process.pid },
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    // Pino's own would print an error's message.
    serializers: { err: (facts: unknown) => facts },
  };
  return filtered(pino(options, file));
}

function filtered(log: PinoLogger): Logger {
  const method =
    (level: LogLevel & keyof PinoLogger): LogMethod =>
    (first: unknown, text?: unknown) => {
      if (!log.isLevelEnabled(level)) return;
      if (typeof first === "string") log[level]({}, loggable(first));
      else log[level](knownFieldsOf(fieldsOf(first)), typeof text === "string" ? loggable(text) : undefined);
    };
  return {
    get level() {
      return log.level;
    },
    set level(level) {
      log.level = level;
    },
    trace: method("trace"),
    debug: method("debug"),
    info: method("info"),
    warn: method("warn"),
    error: method("error"),
    fatal: method("fatal"),
    child: (fields) => filtered(log.child(knownFieldsOf(fieldsOf(fields)))),
  };
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return value instanceof Error ? { err: value } : { ...(typeof value === "object" ? value : {}) };
}
