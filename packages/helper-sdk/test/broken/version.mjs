// Broken: speaks whatever version it is asked for.
import { methods, run } from "./sound.mjs";

const initialize = methods["helper/initialize"];
methods["helper/initialize"] = (params) => ({ ...initialize(), protocolVersion: params.protocolVersion });
run();
