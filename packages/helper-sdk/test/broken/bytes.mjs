// Broken: counts characters where bytes are meant.
import { parts, run } from "./sound.mjs";

let text = "";
parts.read = (chunk, rest) => {
  text += chunk.toString();
  for (;;) {
    const end = text.indexOf("\r\n\r\n");
    const length = Number(/\d+/.exec(text.slice(0, Math.max(end, 0)))?.[0]);
    if (end < 0 || text.length < end + 4 + length) return rest;
    parts.body(text.slice(end + 4, end + 4 + length));
    text = text.slice(end + 4 + length);
  }
};
run();
