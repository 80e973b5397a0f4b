// Broken: takes every session that it never heard of for a friend.
import { judge, methods, run, sessions } from "./sound.mjs";

const ended = new Set();
const end = methods["helper/session_end"];
methods["helper/session_end"] = (params) => {
  ended.add(params.sessionId);
  return end(params);
};
methods["session/request_permission"] = (params) => {
  if (typeof params.sessionId === "string" && !ended.has(params.sessionId)) sessions.add(params.sessionId);
  return judge(params);
};
run();
