// Preloaded into a daemon under test. On SIGUSR2 it writes what is alive in its memory: a heap snapshot, and the bytes that
// each typed array can reach. It is told no word to look for, so none comes into the memory by looking.
import { closeSync, openSync, writeFileSync, writeSync } from "node:fs";
import { Session } from "node:inspector";
import { join } from "node:path";
import { Buffer } from "node:buffer";
import process from "node:process";
import { writeHeapSnapshot } from "node:v8";

const folder = process.env.MEMORY_DUMP;

process.on("SIGUSR2", () => {
  // First the views: a heap snapshot holds no bytes of theirs.
  const out = openSync(join(folder, "views"), "w");
  for (const view of liveViews()) {
    writeSync(out, `\n# ${view.byteLength} of ${view.buffer.byteLength} at ${view.byteOffset}\n`);
    writeSync(out, view);
  }
  closeSync(out);
  writeHeapSnapshot(join(folder, "heap"));
  writeFileSync(join(folder, "done"), "");
});

/** Every typed array that something still refers to, but for the slab from which Buffer cuts small ones. */
function liveViews() {
  const session = new Session();
  session.connect();
  const call = (method, params) => {
    let answer;
    session.post(method, params, (error, result) => {
      if (error) throw new Error(error.message);
      answer = result;
    });
    return answer;
  };
  const prototype = call("Runtime.evaluate", { expression: "Object.getPrototypeOf(Uint8Array.prototype)" });
  const { objects } = call("Runtime.queryObjects", { prototypeObjectId: prototype.result.objectId });
  call("Runtime.callFunctionOn", {
    objectId: objects.objectId,
    functionDeclaration: "function () { globalThis.__liveViews = this; }",
  });
  const views = globalThis.__liveViews.filter((view) => ArrayBuffer.isView(view) && view.byteLength > 0);
  delete globalThis.__liveViews;
  session.disconnect();
  return views.filter((view) => !isSlab(view));
}

function isSlab(view) {
  return view.byteLength === Buffer.poolSize && view.buffer.byteLength === Buffer.poolSize;
}
