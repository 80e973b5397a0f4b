// Broken: exits only when it is told to, not when nobody is there to tell it.
import { methods, parts, run } from "./sound.mjs";

const exit = parts.end;
parts.end = () => setInterval(() => {}, 60_000);
methods["helper/shutdown"] = () => {
  parts.end = exit;
  return {};
};
run();
