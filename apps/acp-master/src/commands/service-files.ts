// The texts of the service files: a systemd user unit and a launchd agent. It writes nothing; paths with any printable character come out right.

export interface ServiceProgram {
  /** The Node executable. */
  readonly node: string;
  /** The bundled program. */
  readonly script: string;
  /** What the daemon must find in its environment: PATH, and ACP_MASTER_HOME when it is set. Never secrets. */
  readonly environment: Readonly<Record<string, string>>;
}

/** The first line of each file that we write: `uninstall` removes nothing without it. */
export const marker = "Written by `acp-master service install`";

export function systemdUnit({ node, script, environment }: ServiceProgram): string {
  const variables = Object.entries(environment).map(([name, value]) => `Environment=${unitWord(`${name}=${value}`)}`);
  return `# ${marker}; \`acp-master service uninstall\` removes it.
[Unit]
Description=acp-master: one daemon that owns your coding agents
StartLimitIntervalSec=60
StartLimitBurst=5

[Service]
Type=exec
ExecStart=${execStart([node, script, "serve"])}
${variables.map((line) => `${line}\n`).join("")}Restart=on-failure
RestartSec=2
KillMode=mixed
TimeoutStopSec=60

[Install]
WantedBy=default.target
`;
}

/** The colon switches off the expansion of variables, so a dollar sign is only a dollar sign. */
function execStart(words: readonly [string, ...string[]]): string {
  const [program] = words;
  // systemd refuses quotes and backslashes in the program's own path; a shell takes them as an argument.
  const line = /["'\\]/.test(program) ? ["/bin/sh", "-c", 'exec "$@"', "acp-master", ...words] : words;
  return `:${line.map(unitWord).join(" ")}`;
}

/** One word of a unit file: quoted, backslash escapes, percent signs doubled. */
function unitWord(word: string): string {
  return `"${printable(word).replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("%", "%%")}"`;
}

export const launchdLabel = "acp-master";

export function launchdPlist({ node, script, environment }: ServiceProgram): string {
  const words = [node, script, "serve"].map((word) => `    <string>${xmlText(word)}</string>`);
  const variables = Object.entries(environment).map(
    ([name, value]) => `    <key>${xmlText(name)}</key>\n    <string>${xmlText(value)}</string>`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>
<!-- ${marker}; \`acp-master service uninstall\` removes it. -->
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${launchdLabel}</string>
  <key>ProgramArguments</key>
  <array>
${words.join("\n")}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
${variables.join("\n")}
  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ExitTimeOut</key>
  <integer>60</integer>
  <key>ProcessType</key>
  <string>Interactive</string>
  <key>StandardOutPath</key>
  <string>/dev/null</string>
  <key>StandardErrorPath</key>
  <string>/dev/null</string>
</dict>
</plist>
`;
}

function xmlText(text: string): string {
  return printable(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Neither format can hold a control character in a path. */
function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what it looks for
  if (/[\u0000-\u001F\u007F]/.test(text)) throw new RangeError("a path or variable holds a control character");
  return text;
}
