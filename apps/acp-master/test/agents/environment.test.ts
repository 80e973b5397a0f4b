// What of the daemon's environment an agent gets.
import { expect, it } from "vitest";
import { agentEnvironment } from "../../src/agents/environment.ts";
import { agentDefinition } from "./agent-harness.ts";

const plain = agentDefinition("agent");
const marker = "0123456789abcdef";

it("an agent gets the allow list and the marker, and nothing else of the first starter", () => {
  const parent = {
    PATH: "/usr/bin",
    HOME: "/home/a",
    LOGNAME: "a",
    LC_TIME: "C",
    XDG_CONFIG_HOME: "/home/a/.config",
    https_proxy: "http://p",
    NO_PROXY: "localhost",
    TERM: "xterm",
    TZ: "UTC",
    API_KEY: "secret",
    GIT_AUTHOR_NAME: "a",
    PATH_TO_X: "x",
    path: "lower case is another name",
    NODE_OPTIONS: "--inspect",
    TMUX: "/tmp/tmux",
  };
  expect(agentEnvironment(plain, parent, marker, "linux")).toEqual({
    ACP_MASTER_RUN: marker,
    PATH: "/usr/bin",
    HOME: "/home/a",
    LOGNAME: "a",
    LC_TIME: "C",
    XDG_CONFIG_HOME: "/home/a/.config",
    https_proxy: "http://p",
    NO_PROXY: "localhost",
    TERM: "xterm",
    TZ: "UTC",
  });
});

it("passEnv hands on what it names, env sets and wins", () => {
  const definition = { ...plain, passEnv: ["API_KEY", "ABSENT"], env: { PATH: "/opt/bin", A: "b" } };
  const parent = { PATH: "/usr/bin", API_KEY: "k", OTHER_KEY: "o" };
  expect(agentEnvironment(definition, parent, marker, "linux")).toEqual({
    ACP_MASTER_RUN: marker,
    PATH: "/opt/bin",
    API_KEY: "k",
    A: "b",
  });
});

it("nothing that names the master comes through, whoever asks for it", () => {
  const definition = { ...plain, passEnv: ["ACP_MASTER_HOME"], env: { ACP_MASTER_SOCKET: "/s", ACP_MASTER_RUN: "x" } };
  const parent = { ACP_MASTER_HOME: "/h", ACP_MASTER_RUN: "of an outer daemon" };
  expect(agentEnvironment(definition, parent, marker, "linux")).toEqual({ ACP_MASTER_RUN: marker });
});

it("on Windows names are compared without case and the system's own are there", () => {
  const definition = { ...plain, env: { PATH: "C:\\agent" }, passEnv: ["my_key"] };
  const parent = { Path: "C:\\bin", SystemRoot: "C:\\Windows", AppData: "C:\\a", MY_KEY: "k", Secret: "s" };
  expect(agentEnvironment(definition, parent, marker, "win32")).toEqual({
    ACP_MASTER_RUN: marker,
    PATH: "C:\\agent",
    SystemRoot: "C:\\Windows",
    AppData: "C:\\a",
    MY_KEY: "k",
  });
  expect(agentEnvironment(plain, parent, marker, "linux")).toEqual({ ACP_MASTER_RUN: marker });
});

it("the marker comes first", () => {
  expect(Object.keys(agentEnvironment(plain, { PATH: "/bin" }, marker, "linux"))[0]).toBe("ACP_MASTER_RUN");
});
