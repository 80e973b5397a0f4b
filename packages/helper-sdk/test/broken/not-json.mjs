// Broken: a body that is not JSON ends it.
import { parts, run } from "./sound.mjs";

parts.body = (text) => parts.message(JSON.parse(text));
run();
