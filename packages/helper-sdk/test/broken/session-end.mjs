// Broken: a session never ends for it.
import { methods, run } from "./sound.mjs";

methods["helper/session_end"] = () => ({});
run();
