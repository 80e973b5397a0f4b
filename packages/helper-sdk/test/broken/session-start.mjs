// Broken: declares the same preset twice.
import { methods, run } from "./sound.mjs";

const start = methods["helper/session_start"];
methods["helper/session_start"] = (params) => {
  const { presets } = start(params);
  return { presets: [...presets, ...presets] };
};
run();
