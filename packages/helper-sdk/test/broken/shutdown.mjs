// Broken: a shutdown makes it stay.
import { methods, parts, run } from "./sound.mjs";

methods["helper/shutdown"] = () => {
  parts.end = () => setInterval(() => {}, 60_000);
  return {};
};
run();
