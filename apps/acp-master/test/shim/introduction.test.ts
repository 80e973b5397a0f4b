import { Envelope, peek } from "@acp-master/wire";
import { describe, expect, it } from "vitest";
import { introduced, type Introduction } from "../../src/shim/introduction.ts";

function spliced(frame: string, introduction: Partial<Introduction> = {}): string | undefined {
  const bytes = Buffer.from(`${frame}\n`);
  const envelope = new Envelope();
  peek(bytes, 0, bytes.length - 1, envelope);
  return introduced(envelope, { agent: "demo", role: "controller", version: "0.1.0", ...introduction })?.toString();
}

const head = '{"jsonrpc":"2.0","id":0,"method":"initialize"';

const asking = (member: string) => `${head},"params":{"_meta":{"acp-master":{${member}}}}}`;

describe("introduced()", () => {
  it.each([
    ["params without _meta", '{"protocolVersion":1}', {}],
    ["empty params", "{}", {}],
    ["an empty _meta", '{"_meta":{}}', {}],
    ["a _meta that is null", '{"_meta":null}', {}],
    ["a key of ours that is no object", '{"_meta":{"acp-master":7}}', {}],
  ])("adds agent, role and version to %s", (_, params, more) => {
    const message: { params: { _meta: object } } = JSON.parse(spliced(`${head},"params":${params}}`) ?? "");
    expect(message.params._meta).toEqual({
      "acp-master": { agent: "demo", role: "controller", version: "0.1.0", positions: true, ...more },
    });
  });

  it("keeps every other byte, those of other _meta members too", () => {
    const frame = `${head}, "params" : {"n":9007199254740993,"x":1.0,"_meta":{"other": [1e2] ,"acp-master":{"events":true,"agent":"a"}}}}`;
    expect(spliced(frame)).toBe(
      `${frame.replace('{"events":true,"agent":"a"}', '{"events":true,"agent":"demo","role":"controller","version":"0.1.0","positions":true}')}\n`,
    );
  });

  it("lets the editor name the agent, null included, where the command line names none", () => {
    expect(spliced(asking('"agent":"mine"'), { agent: undefined })).toContain('"agent":"mine"');
    expect(spliced(asking('"agent":null'), { agent: undefined })).toContain('"agent":null');
    expect(spliced(`${head},"params":{}}`, { agent: undefined })).not.toContain("agent");
  });

  it("keeps an observer an observer", () => {
    expect(spliced(asking('"role":"controller"'), { role: "observer" })).toContain('"role":"observer"');
    expect(spliced(asking('"role":"observer"'))).toContain('"role":"observer"');
  });

  it("has no place in a frame without params", () => {
    expect(spliced(`${head}}`)).toBeUndefined();
    expect(spliced(`${head},"params":[1]}`)).toBeUndefined();
  });
});
