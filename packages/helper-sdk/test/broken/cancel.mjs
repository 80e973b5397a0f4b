// Broken: drops a cancelled question without an answer.
import { methods, notifications, parts, run, send } from "./sound.mjs";

const open = new Map();
notifications["$/cancelRequest"] = ({ id }) => clearTimeout(open.get(id));
const sound = { ...parts };
parts.message = (received) => {
  if (received.method !== "session/request_permission") return sound.message(received);
  const { id, params } = received;
  const answer = () => {
    try {
      send({ id, result: methods[received.method](params) });
    } catch {
      send({ id, error: { code: -32602, message: "no" } });
    }
  };
  return open.set(id, setTimeout(answer, 20));
};
run();
