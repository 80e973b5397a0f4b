// Broken: keeps its name to itself. (The other cases do not look at it.)
import { methods, run } from "./sound.mjs";

const initialize = methods["helper/initialize"];
methods["helper/initialize"] = () => {
  const { helper: _helper, ...rest } = initialize();
  return rest;
};
run();
