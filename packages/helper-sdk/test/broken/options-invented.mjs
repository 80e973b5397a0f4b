// Broken: knows the options by heart instead of reading them.
import { judge, methods, run, select } from "./sound.mjs";

methods["session/request_permission"] = (params) =>
  judge(params).outcome.outcome === "ask" ? judge(params) : select("allow-once");
run();
