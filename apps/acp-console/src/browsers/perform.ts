// What each request of a page does. Who may only read is refused here, before anything is done.
import { refuse } from "@acp-master/permission-core";
import { AcpLink, type DaemonAddress } from "../daemon/acp-link.ts";
import type { DaemonLink } from "../daemon/daemon-link.ts";
import { linkError, LinkError } from "../daemon/link-error.ts";
import type { Roster } from "../daemon/roster.ts";
import { approvalRow } from "../daemon/rows.ts";
import { asList, asObject, asText } from "../json.ts";
import type { AgentRow, Answer, AnswerResult, Preset, Request, Requests, ResultOf } from "../protocol.ts";
import type { Cards } from "../sessions/cards.ts";
import type { Elicitations } from "../sessions/elicitations.ts";
import type { Page, Perform } from "./page.ts";

export interface Services {
  readonly daemon: DaemonAddress;
  readonly link: DaemonLink;
  readonly roster: Roster;
  readonly elicitations: Elicitations;
  readonly cards: Cards;
}

type Op = keyof Requests;

const reading: ReadonlySet<Op> = new Set<Op>(["attach", "detach", "presets", "approval", "agents", "ping"]);

const nothing = {};

export function performer(services: Services): Perform {
  const { link, roster, elicitations, cards } = services;

  return async (page, request) => {
    if (page.role !== "controller" && !reading.has(request.op)) {
      throw new LinkError({ message: "This page only looks on.", reason: "observer" });
    }
    return await perform(page, request);
  };

  async function perform(page: Page, request: Request): Promise<object> {
    switch (request.op) {
      case "attach":
        return await attach(page, request);
      case "detach":
        page.detach(request.sessionId);
        return nothing;
      case "prompt": {
        const attachment = page.attachment(request.sessionId);
        const { stopReason } = await page.prompting(request.id, (cancel) =>
          attachment.request("session/prompt", { prompt: request.content }, cancel),
        );
        return { stopReason: asText(stopReason) } satisfies ResultOf<"prompt">;
      }
      case "prompt.cancel":
        page.cancelPrompt(request.prompt);
        return nothing;
      case "cancel":
        page.attachment(request.sessionId).cancel();
        return nothing;
      case "cancel.all":
        await link.request("_acp-master/session/cancel", { sessionId: request.sessionId });
        return nothing;
      case "new":
        return { sessionId: await newSession(services, request) } satisfies ResultOf<"new">;
      case "close":
        await link.request("_acp-master/session/close", { sessionId: request.sessionId });
        return nothing;
      case "mode":
        await page.attachment(request.sessionId).request("session/set_mode", { modeId: request.modeId });
        return nothing;
      case "model":
        await page.attachment(request.sessionId).request("session/set_model", { modelId: request.modelId });
        return nothing;
      case "option": {
        const { configId, value } = request;
        const typed = typeof value === "boolean" ? { type: "boolean", value } : { value };
        const attachment = page.attachment(request.sessionId);
        const { configOptions } = await attachment.request("session/set_config_option", { configId, ...typed });
        return { configOptions: asList(configOptions).map(asObject) } satisfies ResultOf<"option">;
      }
      case "presets":
        return await presets(request.sessionId);
      case "preset": {
        const { sessionId, preset, confirm } = request;
        const asked = { sessionId, preset, ...(confirm === undefined ? {} : { confirm }) };
        const answer = await link.request("_acp-master/session/preset", asked);
        return { preset: asText(answer["preset"]) } satisfies ResultOf<"preset">;
      }
      case "answer":
        return { results: await Promise.all(request.answers.map(answerOne)) } satisfies ResultOf<"answer">;
      case "approval":
        return await wholeApproval(request.approvalId);
      case "elicitation": {
        const { elicitation, action, content } = request;
        const answer = { action, ...(content === undefined ? {} : { content }) };
        return { status: elicitations.answer(elicitation, answer) } satisfies ResultOf<"elicitation">;
      }
      case "card.shown":
        cards.shown(request.proposalId);
        return nothing;
      case "card.decide": {
        const { id: _id, op: _op, ...decision } = request;
        return await cards.decide(decision);
      }
      case "agents":
        return { agents: await agents() } satisfies ResultOf<"agents">;
      case "ping":
        return nothing;
      default:
        return request satisfies never;
    }
  }

  async function attach(
    page: Page,
    request: { id: number } & Requests["attach"]["params"],
  ): Promise<ResultOf<"attach">> {
    const { id, sessionId, reopen } = request;
    const row = roster.session(sessionId);
    if (!link.isConnected) await link.request("_acp-master/status", {});
    if (row === undefined) {
      throw new LinkError({ message: "There is no such session any more.", reason: "unknown_session" });
    }
    const { daemon } = services;
    // To the daemon a controller's load is the wish to go on with it.
    const role = row.state === "closed" && reopen !== true ? "observer" : page.role;
    const attachment = await page.attach(id, { daemon, role, sessionId, cwd: row.cwd, elicitations });
    for (const question of elicitations.of(sessionId)) page.send(question);
    return { opened: attachment.opened };
  }

  async function presets(sessionId: string): Promise<ResultOf<"presets">> {
    const { preset, presets: rows } = await link.request("_acp-master/session/presets", { sessionId });
    return { preset: typeof preset === "string" ? preset : null, presets: asList(rows).map(presetRow) };
  }

  async function answerOne(answer: Answer): Promise<AnswerResult> {
    const { approvalId } = answer;
    const row = roster.approval(approvalId);
    if (row === undefined) return { approvalId, status: "not_pending" };
    const outcome =
      "refuse" in answer ? refuse(row.options) : { outcome: "selected" as const, optionId: answer.optionId };
    try {
      const { sessionId } = row;
      const receipt = await link.request("_acp-master/approval/answer", { approvalId, sessionId, outcome });
      return { approvalId, status: receipt["status"] === "accepted" ? "accepted" : "not_pending" };
    } catch (error) {
      return { approvalId, status: "failed", error: linkError(error, link.isConnected).shown };
    }
  }

  async function wholeApproval(approvalId: string): Promise<ResultOf<"approval">> {
    const { approvals } = await link.request("_acp-master/approvals", { approvalId });
    const [found] = asList(approvals);
    if (found !== undefined) return { approval: approvalRow(found, true) };
    throw new LinkError({ message: "This approval waits for no answer any more.", reason: "not_pending" });
  }

  async function agents(): Promise<AgentRow[]> {
    const { agents: rows, defaultAgent } = await link.request("_acp-master/agents", {});
    return asList(rows)
      .map(asObject)
      .map(({ name, ready, why }) => ({
        name: asText(name),
        ready: ready === true,
        ...(typeof why === "string" ? { problem: why } : {}),
        isDefault: name === defaultAgent,
      }));
  }
}

/** On a connection of its own, which leaves at once: who wants to see the session attaches to it like to any other. */
async function newSession(
  { daemon, roster }: Services,
  { agent, cwd }: { agent: string; cwd: string },
): Promise<string> {
  const link = await AcpLink.open({ daemon, role: "controller", events: false });
  try {
    const created = await link.request("session/new", { cwd, mcpServers: [], _meta: { "acp-master": { agent } } });
    const sessionId = asText(created["sessionId"]);
    await roster.listed(sessionId);
    return sessionId;
  } finally {
    link.close();
  }
}

function presetRow(value: unknown): Preset {
  const { value: id, name, description, width, confirm } = asObject(value);
  return {
    value: asText(id),
    name: asText(name),
    ...(typeof description === "string" ? { description } : {}),
    width: typeof width === "number" ? width : 0,
    confirm: confirm === true,
  };
}
