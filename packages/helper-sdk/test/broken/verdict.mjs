// Broken: answers with a word of its own.
import { judge, methods, run } from "./sound.mjs";

methods["session/request_permission"] = (params) => {
  judge(params);
  return { outcome: "allow" };
};
run();
