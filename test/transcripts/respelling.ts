// Equal JSON as no SDK writes it: numbers, spaces and escapes of its own. Only who hands on the very bytes leaves it so.
import { TransformStream } from "node:stream/web";
import { LineSplitter } from "../harness/lines.ts";

/** Stands in what the test client sends, nearly everywhere. */
export const trace = { traceparent: "00-abc-def-01", id: 12, sessionId: "not this one" };
/** Stands in what the test agent sends, nearly everywhere. */
export const awkward = {
  id: 7,
  sessionId: "not this one",
  method: "session/prompt",
  deep: { "": [1e21, -0.5, null, "\u2028"] },
};

const spellings = [
  ['"id":12,"sessionId":"not this one"}', '"id": 12.0 ,"sessionId":"not\\u0020this one"}'],
  ['"deep":{"":[1e+21,-0.5,', '"deep" :{"":[ 10.0E+20,-5e-1,'],
] as const;

const respelled = (line: string): string =>
  spellings.reduce((text, [written, instead]) => text.replaceAll(written, instead), line);

/** A stream of lines that spells them anew. */
export function respell(): TransformStream<Uint8Array, Uint8Array> {
  let out: Buffer[] = [];
  const splitter = new LineSplitter((bytes) => out.push(Buffer.from(`${respelled(bytes.toString("utf8"))}\n`)));
  return new TransformStream({
    transform(chunk, controller) {
      splitter.push(Buffer.from(chunk));
      const lines = out;
      out = [];
      for (const line of lines) controller.enqueue(line);
    },
  });
}
