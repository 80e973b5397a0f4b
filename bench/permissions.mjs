// npm run bench:permissions [ROUNDS]: how long an answer takes from a client to the agent while 200 questions are open in 50
// sessions, every one shown to 4 clients, all decided by people behind one shared Helper. Fails when the median is over 5 ms.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const sessionCount = 50;
const ticketsPerSession = 4;
const clientCount = 4;
const limitMs = 5;
const rounds = Number(process.argv[2] ?? 10);
const total = sessionCount * ticketsPerSession;

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const folder = mkdtempSync(join(realpathSync(tmpdir()), "acp-master-bench-"));
const home = join(folder, "home");
const work = join(folder, "work");
for (const path of [home, work]) mkdirSync(path, { mode: 0o700 });
writeFileSync(
  join(home, "config.json"),
  JSON.stringify({
    agents: { bench: { command: process.execPath, args: [here("asking-agent.mjs")] } },
    helper: { use: "ask", isolation: "shared" },
  }),
);

/** One client: sends requests, keeps the questions that it is shown, tells of each that is settled. */
class Client {
  questions = new Map();
  settled = new Map();
  shown = () => {};
  #waiting = new Map();
  #lastId = 0;

  constructor(path) {
    this.socket = connect(path);
    createInterface({ input: this.socket }).on("line", (line) => this.#hear(JSON.parse(line)));
  }

  send(message) {
    this.socket.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  request(method, params) {
    const id = ++this.#lastId;
    this.send({ id, method, params });
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }

  #hear(message) {
    if (message.method === "session/request_permission") {
      this.questions.set(message.params.toolCall.toolCallId, message.id);
      this.shown();
    } else if (message.method === "_acp-master/event") {
      const { type, toolCallId } = message.params;
      if (type === "approval_resolved") this.settled.get(toolCallId)?.();
    } else if (message.method === undefined) {
      const { resolve, reject } = this.#waiting.get(message.id);
      this.#waiting.delete(message.id);
      if (message.error) reject(new Error(`${message.error.code}: ${message.error.message}`));
      else resolve(message.result);
    }
  }

  async start(agent) {
    await once(this.socket, "connect");
    const _meta = { "acp-master": { agent, events: true } };
    await this.request("initialize", { protocolVersion: 1, clientCapabilities: {}, _meta });
  }

  hasQuestions(count) {
    return new Promise((resolve) => {
      this.shown = () => this.questions.size >= count && resolve();
      this.shown();
    });
  }

  /** Answers, and waits until everybody is told. */
  async answer(toolCallId, sentAt) {
    const told = new Promise((resolve) => this.settled.set(toolCallId, resolve));
    sentAt.set(toolCallId, process.hrtime.bigint());
    const result = { outcome: { outcome: "selected", optionId: "allow" } };
    this.send({ id: this.questions.get(toolCallId), result });
    await told;
    this.settled.delete(toolCallId);
  }
}

function shuffled(list) {
  const copy = [...list];
  for (let at = copy.length - 1; at > 0; at--) {
    const other = Math.floor(Math.random() * (at + 1));
    [copy[at], copy[other]] = [copy[other], copy[at]];
  }
  return copy;
}

const quantile = (sorted, part) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];

/** All questions are open; each of the clients answers its share, one after the other, all clients at once. */
async function round(clients, sessions) {
  for (const client of clients) client.questions.clear();
  const ready = Promise.all(clients.map((client) => client.hasQuestions(total)));
  for (const sessionId of sessions) {
    clients[0].send({ method: "_bench/ask", params: { sessionId, count: ticketsPerSession } });
  }
  await ready;
  const sentAt = new Map();
  const order = shuffled([...clients[0].questions.keys()]);
  await Promise.all(
    clients.map(async (client, nth) => {
      for (const id of order.filter((_id, at) => at % clients.length === nth)) await client.answer(id, sentAt);
    }),
  );
  const { arrivals } = await clients[0].request("_bench/arrivals", {});
  if (arrivals.length !== total) throw new Error(`${arrivals.length} of ${total} answers arrived`);
  return arrivals.map(([id, at]) => Number(BigInt(at) - sentAt.get(id)) / 1e6);
}

const program = process.env.ACP_MASTER_PROGRAMS ?? here("../apps/acp-master/dist");
const daemon = spawn(process.execPath, [join(program, "acp-master.js"), "serve", "--json"], {
  env: { ...process.env, ACP_MASTER_HOME: home },
  stdio: ["ignore", "pipe", "inherit"],
});
const clients = [];
try {
  const [line] = await once(createInterface({ input: daemon.stdout }), "line");
  const { socket } = JSON.parse(line);
  for (let n = 0; n < clientCount; n++) clients.push(new Client(socket));
  await Promise.all(clients.map((client, nth) => client.start(nth === 0 ? "bench" : null)));
  const sessions = [];
  for (let n = 0; n < sessionCount; n++) {
    const { sessionId } = await clients[0].request("session/new", { cwd: work, mcpServers: [] });
    for (const client of clients.slice(1)) {
      await client.request("session/load", { sessionId, cwd: work, mcpServers: [] });
    }
    sessions.push(sessionId);
  }
  const times = [];
  for (let n = 0; n < rounds; n++) times.push(...(await round(clients, sessions)));
  times.sort((a, b) => a - b);
  const p50 = quantile(times, 0.5);
  console.log(
    `${total} open questions in ${sessionCount} sessions, ${clientCount} clients, ${times.length} answers: ` +
      `from answer to agent p50 ${p50.toFixed(2)} ms, p95 ${quantile(times, 0.95).toFixed(2)} ms, ` +
      `most ${times.at(-1).toFixed(2)} ms (limit for p50: ${limitMs} ms)`,
  );
  process.exitCode = p50 < limitMs ? 0 : 1;
} finally {
  for (const client of clients) client.socket.destroy();
  if (daemon.exitCode === null) {
    daemon.kill("SIGTERM");
    await once(daemon, "exit");
  }
  rmSync(folder, { recursive: true, force: true });
}
