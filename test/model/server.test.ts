// The scripted model, asked as an agent asks.
import { describe, expect, it } from "vitest";
import type { Loose } from "../harness/lines.ts";
import { plan } from "./plan.ts";
import { ScriptedModel } from "./server.ts";

const shell = { type: "object", properties: { command: { type: "string" } }, required: ["command"] };

/** The data of every event of the answer. */
async function events(url: string, body: object): Promise<Loose[]> {
  const answer = await fetch(url, { method: "POST", body: JSON.stringify(body) });
  return (await answer.text())
    .split("\n")
    .filter((line) => line.startsWith("data: {"))
    .map((line) => JSON.parse(line.slice(6)));
}

describe("the scripted model", () => {
  const text = plan(["say", 2], ["run", "touch x"], ["text", "after"]);

  it("plays a plan over chat completions, the part behind a tool call after its result", async () => {
    await using model = await ScriptedModel.start();
    const tools = [{ type: "function", function: { name: "bash", parameters: shell } }];
    const messages = [{ role: "user", content: text }];
    const first = await events(`${model.url}/v1/chat/completions`, { stream: true, model: "m", tools, messages });
    const deltas = first.flatMap((one) => one.choices.map((choice: Loose) => choice.delta));
    expect(deltas.map((delta) => delta.content ?? "").join("")).toBe("chunk 1 of 2. chunk 2 of 2. ");
    expect(deltas.find((delta) => delta.tool_calls)?.tool_calls[0].function.arguments).toBe('{"command":"touch x"}');
    const later = [...messages, { role: "assistant", content: "" }, { role: "tool", content: "ok" }];
    const answer = await fetch(`${model.url}/v1/chat/completions`, {
      method: "POST",
      body: JSON.stringify({ model: "m", tools, messages: later }),
    });
    expect(await answer.json()).toMatchObject({ choices: [{ message: { content: "after" }, finish_reason: "stop" }] });
  });

  it("plays it over responses", async () => {
    await using model = await ScriptedModel.start();
    const tools = [{ type: "function", name: "shell", parameters: shell }];
    const input = [{ type: "message", role: "user", content: [{ type: "input_text", text }] }];
    const first = await events(`${model.url}/v1/responses`, { stream: true, model: "m", tools, input });
    expect(first.at(-1)?.response.output.map((item: Loose) => item.type)).toEqual(["message", "function_call"]);
    const later = [...input, { type: "function_call" }, { type: "function_call_output", output: "ok" }];
    const second = await events(`${model.url}/v1/responses`, { stream: true, model: "m", tools, input: later });
    expect(second.at(-1)?.response.output[0].content[0].text).toBe("after");
  });

  it("plays it over messages", async () => {
    await using model = await ScriptedModel.start();
    const tools = [{ name: "Bash", input_schema: shell }];
    const messages: Loose[] = [{ role: "user", content: [{ type: "text", text }] }];
    const first = await events(`${model.url}/v1/messages`, { stream: true, model: "m", tools, messages });
    expect(first.map((one) => one.delta?.stop_reason).filter(Boolean)).toEqual(["tool_use"]);
    messages.push(
      { role: "assistant", content: [] },
      { role: "user", content: [{ type: "tool_result", content: "ok" }] },
    );
    const second = await events(`${model.url}/v1/messages`, { stream: true, model: "m", tools, messages });
    expect(second.map((one) => one.delta?.text ?? "").join("")).toBe("after");
  });

  it("plays it over generateContent, and fills a schema that it is asked for", async () => {
    await using model = await ScriptedModel.start();
    const base = `${model.url}/v1beta/models/m`;
    const tools = [{ functionDeclarations: [{ name: "run_shell_command", parametersJsonSchema: shell }] }];
    const contents = [{ role: "user", parts: [{ text }] }];
    const first = await events(`${base}:streamGenerateContent`, { tools, contents });
    const calls = first.flatMap((one) => one.candidates[0].content.parts).filter((part: Loose) => part.functionCall);
    expect(calls).toMatchObject([{ functionCall: { name: "run_shell_command", args: { command: "touch x" } } }]);
    const responseJsonSchema = { type: "object", properties: { next_speaker: {} }, required: ["next_speaker"] };
    const asked = await fetch(`${base}:generateContent`, {
      method: "POST",
      body: JSON.stringify({ contents, generationConfig: { responseJsonSchema } }),
    });
    const body: Loose = await asked.json();
    expect(JSON.parse(body.candidates[0].content.parts[0].text)).toEqual({ next_speaker: "user" });
  });

  it("fails with a status, drops the connection, and keeps an answer open until the caller hangs up", async () => {
    await using model = await ScriptedModel.start();
    const ask = (steps: string, signal?: AbortSignal): Promise<Response> => {
      const tools = [{ name: "Bash", input_schema: shell }];
      const body = JSON.stringify({ stream: true, model: "m", tools, messages: [{ role: "user", content: steps }] });
      return fetch(`${model.url}/v1/messages`, { method: "POST", body, ...(signal === undefined ? {} : { signal }) });
    };
    expect((await ask(plan(["fail", 418]))).status).toBe(418);
    await expect(ask(plan(["text", "a"], ["drop"])).then((answer) => answer.text())).rejects.toThrow();
    const hangUp = new AbortController();
    const open = await ask(plan(["text", "a"], ["hang"]), hangUp.signal);
    hangUp.abort();
    await expect(open.text()).rejects.toThrow();
    expect(model.requests).toHaveLength(3);
  });
});
