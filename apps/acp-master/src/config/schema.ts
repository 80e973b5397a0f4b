// Every key of config.json: its shape, default, bounds and description. The checks, the types and the JSON Schema all come from here.
import * as z from "zod";

const noNul = /^[^\0]*$/;

/** The message of every check is the list of what is allowed, so that a problem can be shown without knowing the check. */
function text(allowed: string) {
  return z.string({ error: allowed }).min(1, { error: allowed }).max(4096, { error: allowed }).regex(noNul, {
    error: allowed,
  });
}

function choice<const Values extends readonly [string, ...string[]]>(values: Values) {
  return z.enum(values, { error: values.join(" | ") });
}

function count(least: number, most: number) {
  const allowed = `a whole number from ${least} to ${most}`;
  return z.int({ error: allowed }).min(least, { error: allowed }).max(most, { error: allowed });
}

/** Fractions are fine: half a second is a time too. */
function positiveTime(most: number, unit: string) {
  const allowed = `${unit} above 0, at most ${most}`;
  return z.number({ error: allowed }).positive({ error: allowed }).max(most, { error: allowed });
}

function timeOrNone(most: number, unit: string, zero: string) {
  const allowed = `${unit} from 0 to ${most} (0: ${zero})`;
  return z.number({ error: allowed }).min(0, { error: allowed }).max(most, { error: allowed });
}

function block<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.strictObject(shape, {
    error: (issue) => (issue.code === "invalid_type" ? "an object { … }" : undefined),
  });
}

/** Timers hold at most 24 days. */
const fourteenDays = { seconds: 1_209_600, minutes: 20_160 } as const;

const agentName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, {
  error: "a name of letters, digits, '.', '_' and '-', at most 64 long",
});
const variableName = z
  .string({ error: "the name of an environment variable" })
  .regex(/^[A-Za-z_][A-Za-z0-9_]{0,254}$/, { error: "the name of an environment variable" });
const words = z.array(
  z.string({ error: "a string without NUL" }).regex(noNul, { error: "a string without NUL" }).max(131_072, {
    error: "a string of at most 131072 characters",
  }),
  { error: "a list of strings" },
);
const record = { error: "an object { name: … }" };

const helperUse = z
  .union(
    [
      z.enum(["presets", "ask", "deny-all", "policy-file", "terminal"]),
      z.strictObject({ module: text("a path").describe("Path of a Helper's entry file, from this file's folder.") }),
      z.strictObject({
        command: words
          .min(1, { error: 'at least the program: ["program", "argument"]' })
          .describe("Program and arguments of a Helper in any language."),
      }),
    ],
    {
      error:
        'presets | ask | deny-all | policy-file | terminal | {"module": "./my-helper.js"} | {"command": ["program", "argument"]}',
    },
  )
  .describe("Which Helper decides permissions.");

const helperIsolation = choice(["session", "shared"]).describe("One Helper process per session, or one for all.");
const decideSeconds = positiveTime(3600, "seconds").describe("How long a Helper may take for one decision.");
const helperIdleSeconds = timeOrNone(fourteenDays.seconds, "seconds", "at once").describe(
  "How long a Helper stays after its session went quiet.",
);
const helperTmux = text("the name or the path of a tmux socket").describe(
  "With terminal: which tmux server, by the name (-L) or the path (-S) of its socket.",
);

const presetName = text("the name of a preset of the Helper").describe("The preset that new sessions start with.");
const timeoutSeconds = timeOrNone(fourteenDays.seconds, "seconds", "no limit").describe(
  "How long a permission waits for a person before it is refused.",
);
const noClientSeconds = timeOrNone(fourteenDays.seconds, "seconds", "no limit").describe(
  "How long a permission waits while nobody who could answer is attached.",
);

const agent = block({
  command: text("the program to start").optional().describe("The program. A known agent needs none."),
  args: words.default([]).describe("Its arguments, one string each; no shell reads them."),
  env: z
    .record(variableName, z.string({ error: "a string" }).regex(noNul, { error: "a string without NUL" }), record)
    .default({})
    .describe("Variables that are set for it."),
  passEnv: z
    .array(variableName, { error: "a list of variable names" })
    .default([])
    .describe("Variables that it gets from the daemon's own environment, besides the usual ones."),
  share: choice(["pool", "session"]).default("pool").describe("One process for many sessions, or one for each."),
  shell: choice(["sh", "powershell", "argv"]).default("sh").describe("What the agent runs its commands with."),
  arming: choice(["required", "preflight"]).default("required").describe("How a direct proposal gets its permission."),
  approvalsOption: choice(["auto", "always", "never"])
    .default("auto")
    .describe("Whether sessions show the preset as a config option of the session."),
  helper: block({
    use: helperUse.optional(),
    isolation: helperIsolation.optional(),
    decideSeconds: decideSeconds.optional(),
    idleSeconds: helperIdleSeconds.optional(),
    tmux: helperTmux.optional(),
  })
    .optional()
    .describe("This agent's own Helper; what is left out is taken from the general one."),
  approvals: block({
    preset: presetName.optional(),
    timeoutSeconds: timeoutSeconds.optional(),
    noClientSeconds: noClientSeconds.optional(),
  })
    .optional()
    .describe("This agent's own approvals; what is left out is taken from the general ones."),
});

/** The shape of the file as it is written. */
export const configSchema = block({
  $schema: z.string({ error: "a string" }).optional().describe("For editors: where this file's JSON Schema is."),
  agents: z.record(agentName, agent, record).default({}).describe("Agents by name."),
  defaultAgent: agentName.default("claude").describe("The agent when none is named."),
  helper: block({
    use: helperUse.default("presets"),
    isolation: helperIsolation.default("session"),
    decideSeconds: decideSeconds.default(30),
    idleSeconds: helperIdleSeconds.default(60),
    tmux: helperTmux.default("default"),
  })
    .prefault({})
    .describe("Who decides permissions before people are asked."),
  approvals: block({
    preset: presetName.default("ask"),
    timeoutSeconds: timeoutSeconds.default(0),
    noClientSeconds: noClientSeconds.default(600),
  })
    .prefault({})
    .describe("How permissions are asked."),
  sessions: block({
    idleMinutes: positiveTime(fourteenDays.minutes, "minutes")
      .default(30)
      .describe("After this an idle one is parked."),
    keepDays: positiveTime(36_500, "days").default(30).describe("How long a parked or closed one is kept."),
    cancelSeconds: positiveTime(3600, "seconds").default(30).describe("How long an agent may take to obey a cancel."),
  })
    .prefault({})
    .describe("How long sessions live."),
  limits: block({
    frameBytes: count(1024, 268_435_456).default(33_554_432).describe("The longest message, in bytes."),
    promptQueue: count(1, 1024).default(16).describe("Prompts that may wait in one session."),
    helpers: count(1, 4096).default(256).describe("Helper processes at one time."),
    clientSeconds: positiveTime(86_400, "seconds").default(60).describe("How long a client may take for a request."),
    stalledSeconds: positiveTime(86_400, "seconds")
      .default(600)
      .describe("How long a client may leave what waits for it unread before it is let go."),
    agentIdleSeconds: positiveTime(86_400, "seconds")
      .default(60)
      .describe("How long an agent process runs on without session and client."),
  })
    .prefault({})
    .describe("Bounds."),
  daemon: block({
    idleExitMinutes: timeOrNone(fourteenDays.minutes, "minutes", "never")
      .default(0)
      .describe("After this long without clients and sessions at work the daemon ends."),
    drainSeconds: timeOrNone(3600, "seconds", "cancel at once")
      .default(10)
      .describe("How long a stop waits for running turns."),
  })
    .prefault({})
    .describe("The daemon itself."),
  console: block({
    port: count(0, 65_535).default(0).describe("0 takes a free one."),
    host: text("a host name or address")
      .default("127.0.0.1")
      .describe("Another address than loopback needs `tls` or `proxies`."),
    origins: z
      .array(text("an origin such as https://console.example"), { error: "a list of origins" })
      .default([])
      .describe("How browsers reach it when not under its own address; the first one is printed."),
    proxies: z
      .array(text("an IP address"), { error: "a list of IP addresses" })
      .default([])
      .describe("The proxies in front of it. With any, nobody else may connect from another machine."),
    tls: block({
      cert: text("a path").optional().describe("The certificate chain, PEM."),
      key: text("a path").optional().describe("Its private key, PEM."),
    })
      .refine(({ cert, key }) => (cert === undefined) === (key === undefined), { error: "both cert and key" })
      .prefault({})
      .describe("Serve TLS. Paths start at this file's folder."),
    readOnly: z.boolean({ error: "true | false" }).default(false).describe("Browsers look on and cannot act."),
  })
    .prefault({})
    .describe("The web console."),
  audit: block({ sync: choice(["batched", "always"]).default("batched").describe("batched: within 100 ms.") })
    .prefault({})
    .describe("The decision record."),
  log: block({ level: choice(["trace", "debug", "info", "warn", "error", "fatal", "silent"]).default("info") })
    .prefault({})
    .describe("The log file."),
});

type WrittenConfig = z.output<typeof configSchema>;
export type HelperConfig = WrittenConfig["helper"];
export type ApprovalsConfig = WrittenConfig["approvals"];
export type LogLevel = WrittenConfig["log"]["level"];

/** One entry of `agents`: an own `helper` or `approvals` is complete, the general values filled in. */
export interface AgentConfig extends Omit<WrittenConfig["agents"][string], "helper" | "approvals"> {
  readonly helper?: HelperConfig;
  readonly approvals?: ApprovalsConfig;
}

/** The file with every default resolved and relative paths made absolute. */
export interface Config extends Omit<WrittenConfig, "agents" | "$schema"> {
  readonly agents: Readonly<Record<string, AgentConfig>>;
}
