// Broken: prints what it hears where the protocol is spoken.
import { notifications, run } from "./sound.mjs";

notifications["helper/preset"] = ({ preset }) => console.log(`preset is ${preset}`);
run();
