// Broken: a method of tomorrow ends it.
import { parts, run } from "./sound.mjs";

parts.unknown = () => process.exit(1);
run();
