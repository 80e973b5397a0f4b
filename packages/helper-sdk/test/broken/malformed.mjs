// Broken: a request of a wrong shape ends it.
import { methods, run, sessions } from "./sound.mjs";

const { "session/request_permission": judge } = methods;
methods["session/request_permission"] = (params) => {
  if (!Array.isArray(params.options) || typeof params.toolCall !== "object") process.exit(1);
  if (!sessions.has(params.sessionId)) throw new Error("unknown session");
  return judge(params);
};
run();
