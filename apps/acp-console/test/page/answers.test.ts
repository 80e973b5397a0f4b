// Answers on their way: controls rest while one is, come back when it failed, and nothing is removed by an answer.
import { describe, expect, it } from "vitest";
import type { Answer, AnswerResult } from "../../src/protocol.ts";
import { Answers } from "../../page/src/session/answers.ts";

/** Answers whose receipts come when the test says so. */
function slowAnswers() {
  const asked: (readonly Answer[])[] = [];
  let settle: { resolve: (results: readonly AnswerResult[]) => void; reject: (error: Error) => void } | undefined;
  const answers = new Answers((open) => {
    asked.push(open);
    return new Promise((resolve, reject) => (settle = { resolve, reject }));
  });
  return {
    answers,
    asked,
    stateOf: (approvalId: string) => answers.byApproval.value.get(approvalId),
    resolve: (...results: AnswerResult[]) => settle?.resolve(results),
    reject: (message: string) => settle?.reject(new Error(message)),
  };
}

const allow = (approvalId: string) => ({ approvalId, optionId: "allow" });

describe("answers", () => {
  it("hold the controls of an approval until it is over", async () => {
    const { answers, stateOf, resolve } = slowAnswers();
    const sending = answers.send([allow("1")]);
    expect(stateOf("1")).toMatchObject({ state: "sent", isLate: false });
    resolve({ approvalId: "1", status: "accepted" });
    await sending;
    expect(stateOf("1")).toMatchObject({ state: "sent" });
    answers.forget("1");
    expect(stateOf("1")).toBeUndefined();
  });

  it("say that somebody else was first", async () => {
    const { answers, stateOf, resolve } = slowAnswers();
    const sending = answers.send([allow("1")]);
    resolve({ approvalId: "1", status: "not_pending" });
    await sending;
    expect(stateOf("1")).toMatchObject({ state: "sent", isLate: true });
  });

  it("let go when they fail, each by itself", async () => {
    const { answers, stateOf, resolve, reject } = slowAnswers();
    const both = answers.send([allow("1"), allow("2")]);
    resolve({ approvalId: "1", status: "accepted" }, { approvalId: "2", status: "failed", error: { message: "no" } });
    await both;
    expect(stateOf("1")).toMatchObject({ state: "sent" });
    expect(stateOf("2")).toEqual({ state: "failed", problem: "no" });
    const again = answers.send([allow("2")]);
    expect(stateOf("2")).toMatchObject({ state: "sent" });
    reject("The connection to the console ended.");
    await again;
    expect(stateOf("2")).toEqual({ state: "failed", problem: "The connection to the console ended." });
  });

  it("are sent once", async () => {
    const { answers, asked, resolve } = slowAnswers();
    const sending = answers.send([allow("1")]);
    await answers.send([allow("1")]);
    expect(asked).toHaveLength(1);
    const more = answers.send([allow("1"), allow("2")]);
    expect(asked.at(-1)).toEqual([allow("2")]);
    resolve({ approvalId: "2", status: "accepted" });
    await more;
    void sending;
  });

  it("bring nothing back that ended while they were under way", async () => {
    const { answers, stateOf, resolve } = slowAnswers();
    const sending = answers.send([allow("1")]);
    answers.forget("1");
    resolve({ approvalId: "1", status: "accepted" });
    await sending;
    expect(stateOf("1")).toBeUndefined();
  });
});
