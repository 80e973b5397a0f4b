import { expect, test } from "vitest";
import {
  encodeFinal,
  encodeValidation,
  finalStatuses,
  parseFinal,
  parseValidation,
  validationStatuses,
} from "../src/responses.ts";
import { bytes } from "./channels.ts";

const proposalId = "7b1c3f1e-9a51-4d7c-8d25-1f0a2b3c4d5e";

test("the lines have their keys in the order of the contract", () => {
  expect(encodeValidation({ status: "accepted", proposalId })).toBe(
    `{"phase":"validation","status":"accepted","proposal_id":"${proposalId}","retryable":false}`,
  );
  expect(encodeValidation({ status: "expired", reason: "why", retryable: true })).toBe(
    '{"phase":"validation","status":"expired","reason":"why","retryable":true}',
  );
  expect(encodeFinal({ status: "timed_out", proposalId })).toBe(
    `{"phase":"final","status":"timed_out","proposal_id":"${proposalId}"}`,
  );
});

test("every status is read back as it was written", () => {
  for (const status of validationStatuses) {
    const line =
      status === "accepted" ? ({ status, proposalId } as const) : ({ status, reason: "r", retryable: false } as const);
    expect(parseValidation(bytes(encodeValidation(line)))).toEqual(line);
  }
  for (const status of finalStatuses) {
    expect(parseFinal(bytes(encodeFinal({ status, proposalId })))).toEqual({ status, proposalId });
  }
});

test.each([
  "",
  "{}",
  "[]",
  "x",
  '{"phase":"final","status":"expired","retryable":true}',
  '{"phase":"validation","status":"fine","retryable":true}',
  '{"phase":"validation","status":"expired","retryable":1}',
  '{"phase":"validation","status":"expired"}',
  '{"phase":"validation","status":"expired","retryable":true,"x":1}',
  '{"phase":"validation","status":"expired","retryable":true,"retryable":true}',
  `{"phase":"validation","status":"expired","proposal_id":"${proposalId}","retryable":true}`,
  '{"phase":"validation","status":"expired","reason":1,"retryable":true}',
  '{"phase":"validation","status":"accepted","retryable":false}',
  `{"phase":"validation","status":"accepted","proposal_id":"${proposalId}","retryable":true}`,
  `{"phase":"validation","status":"accepted","proposal_id":"${proposalId.toUpperCase()}","retryable":false}`,
  `{"phase":"validation","status":"accepted","proposal_id":"${proposalId}","reason":"r","retryable":false}`,
])("%j is no validation line", (text) => {
  expect(parseValidation(bytes(text))).toBeUndefined();
});

test.each([
  `{"phase":"validation","status":"confirmed","proposal_id":"${proposalId}"}`,
  `{"phase":"final","status":"accepted","proposal_id":"${proposalId}"}`,
  '{"phase":"final","status":"confirmed"}',
  `{"phase":"final","status":"confirmed","proposal_id":"x"}`,
  `{"phase":"final","status":"confirmed","proposal_id":"${proposalId}","reason":"r"}`,
])("%j is no final line", (text) => {
  expect(parseFinal(bytes(text))).toBeUndefined();
});
