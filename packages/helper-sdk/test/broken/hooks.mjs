// Broken: has a verdict of its own for tool calls.
import { methods, run } from "./sound.mjs";

methods["helper/tool_call"] = () => ({ verdict: "maybe" });
run();
