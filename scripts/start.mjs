// npm start: installs and builds what is missing, runs the daemon in the foreground, and says what to try with it.
import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { ensureSetUp, root } from "./workspace.mjs";

ensureSetUp();

const program = join(root, "apps", "acp-master", "dist", "acp-master.js");
const master = spawn(process.execPath, [program, "serve", "--json"], {
  cwd: root,
  stdio: ["ignore", "pipe", "inherit"],
});

let line = "";
master.stdout.on("data", (chunk) => {
  if (line.endsWith("\n")) return;
  line += chunk;
  if (line.endsWith("\n")) welcome(JSON.parse(line));
});

// Ctrl-C in a terminal reaches the daemon as well; others are passed on. Its end is this program's end.
process.on("SIGINT", () => {});
// Once: the daemon takes a second signal as "end at once".
let isStopping = false;
function stop(signal) {
  if (!isStopping) master.kill(signal);
  isStopping = true;
}
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => stop(signal));
master.on("exit", (code) => process.exit(code ?? 1));
// npm may be ended without telling its child.
const parent = process.ppid;
const watch = setInterval(() => {
  if (process.ppid === parent) return;
  clearInterval(watch);
  stop("SIGTERM");
}, 1000);
watch.unref();

/** What is ready here, and the first things worth trying. */
function welcome({ pid, socket }) {
  const listed = spawnSync(process.execPath, [program, "agents", "--json"], { cwd: root, encoding: "utf8" });
  const agents = listed.status === 0 ? JSON.parse(listed.stdout).agents : [];
  const ready = agents.filter((agent) => agent.ready);
  const web = spawnSync(process.execPath, [program, "console", "--json"], { cwd: root, encoding: "utf8" });
  const address = web.status === 0 ? JSON.parse(web.stdout).address : `not there: ${web.stderr.trim()}`;
  const width = Math.max(...ready.map((agent) => agent.name.length), 0);
  const rows = ready.map(
    ({ name, how, command }) =>
      `    ${name.padEnd(width)}  ${how === "npx" ? "through npx, loaded on first use" : command}`,
  );
  console.log(`acp-master is ready (pid ${pid}). Stop it with Ctrl-C.

  Console: ${address}
           (logs in one browser, once; npx acp-master console gives another)
  Socket:  ${socket}
  Agents that can start here:
${rows.join("\n")}

  In another terminal, from this folder:
    npx acp-master run demo "/ask"          one prompt; the demo agent asks for permission
    npx acp-master sessions                 what runs
    npx acp-master agents                   every known agent, and why one is not ready

  In an editor that speaks ACP, use this as the agent's command:
    npx --prefix ${root} acp-master connect demo
`);
}
