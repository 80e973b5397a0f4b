// The agents that need no entry in the configuration: what they are called on PATH and on npm, and how they speak ACP.

export interface KnownAgent {
  readonly name: string;
  /** On PATH after an installation. */
  readonly command: string;
  readonly args: readonly string[];
  /** What npx can run; absent for agents that are not on npm. With several, the first holds `command`. */
  readonly packages?: readonly string[];
  /** A second program that `command` starts and that must be on PATH as well. */
  readonly needs?: string;
  /** The oldest Node it runs on, where that is newer than ours. */
  readonly node?: readonly [major: number, minor: number];
  /** What to do when neither PATH nor npx has it. */
  readonly install: string;
}

const known: readonly KnownAgent[] = [
  npm({ name: "claude", command: "claude-agent-acp", packages: ["@agentclientprotocol/claude-agent-acp"] }),
  npm({ name: "codex", command: "codex-acp", packages: ["@agentclientprotocol/codex-acp"] }),
  npm({ name: "gemini", command: "gemini", args: ["--acp"], packages: ["@google/gemini-cli"] }),
  npm({ name: "opencode", command: "opencode", args: ["acp"], packages: ["opencode-ai"] }),
  npm({
    name: "copilot",
    command: "copilot",
    args: ["--acp", "--stdio", "--no-auto-update"],
    packages: ["@github/copilot"],
  }),
  npm({ name: "qwen", command: "qwen", args: ["--acp"], packages: ["@qwen-code/qwen-code"] }),
  // Its own default approves everything without a question.
  npm({ name: "cline", command: "cline", args: ["--acp", "--auto-approve", "false"], packages: ["cline"] }),
  npm({
    name: "pi",
    command: "pi-acp",
    packages: ["pi-acp", "@earendil-works/pi-coding-agent"],
    needs: "pi",
    node: [22, 19],
  }),
  npm({ name: "auggie", command: "auggie", args: ["--acp"], packages: ["@augmentcode/auggie"] }),
  npm({ name: "kilo", command: "kilo", args: ["acp"], packages: ["@kilocode/cli"] }),
  { name: "goose", command: "goose", args: ["acp"], install: "install goose as its documentation says" },
  {
    name: "kimi",
    command: "kimi",
    args: ["acp"],
    install: "install Kimi CLI, for example with `uv tool install kimi-cli`",
  },
  { name: "cursor", command: "cursor-agent", args: ["acp"], install: "install the Cursor CLI" },
  {
    name: "vibe",
    command: "vibe-acp",
    args: [],
    install: "install Mistral Vibe, for example with `uv tool install mistral-vibe`",
  },
];

export function knownAgents(): readonly KnownAgent[] {
  return known;
}

interface NpmAgent {
  readonly name: string;
  readonly command: string;
  readonly args?: readonly string[];
  readonly packages: readonly [string, ...string[]];
  readonly needs?: string;
  readonly node?: readonly [number, number];
}

function npm(agent: NpmAgent): KnownAgent {
  return { args: [], ...agent, install: `run \`npm install --global ${agent.packages.join(" ")}\`` };
}
