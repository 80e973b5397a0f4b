// Broken: allows what it cannot see.
import { judge, methods, run, select, sessions } from "./sound.mjs";

methods["session/request_permission"] = (params) => {
  const answer = judge(params);
  const allows = params.options.filter((option) => option.kind === "allow_once");
  return sessions.has(params.sessionId) && allows.length === 1 && params.toolCall !== null
    ? select(allows[0].optionId)
    : answer;
};
run();
