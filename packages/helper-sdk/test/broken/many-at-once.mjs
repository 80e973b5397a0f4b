// Broken: has one place for the question it works on, and takes a while for it.
import { methods, parts, run, send } from "./sound.mjs";

let current;
const sound = { ...parts };
parts.message = (received) => {
  if (received.method !== "session/request_permission") return sound.message(received);
  current = received;
  return setTimeout(() => {
    if (current !== received) return;
    try {
      send({ id: received.id, result: methods[received.method](received.params) });
    } catch {
      send({ id: received.id, error: { code: -32602, message: "no" } });
    }
  }, 50);
};
run();
