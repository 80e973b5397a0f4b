// Every permission and proposal that waits, in every session. Several permissions can be answered at once, each with its own one-time option.
import { useState } from "preact/hooks";
import type { Answer, ApprovalRow, Card } from "../../../src/protocol.ts";
import { hashOf } from "../model/place.ts";
import { onceOption } from "../model/queue.ts";
import { ApprovalBody } from "./approval-body.tsx";
import { CardBody } from "./card-body.tsx";
import { CardButtons, useCardDecision } from "./card-decision.tsx";
import { Deadline, deadlineOf } from "./deadline.tsx";
import { useAnswerGuard } from "./guard.ts";
import { OptionButtons } from "./option-buttons.tsx";
import { usePage } from "./page-context.ts";
import { Visible } from "./visible.tsx";

/** So many are shown; the next ones follow as these are answered. */
const most = 50;

export function Inbox() {
  const page = usePage();
  const { approvals, cards } = page.view.value;
  const shown = approvals.slice(0, most);
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set());
  const chosen = shown.filter(({ approvalId }) => ticked.has(approvalId));
  const tick = (approvalIds: readonly string[], isOn: boolean): void => {
    const next = new Set(ticked);
    for (const approvalId of approvalIds) {
      if (isOn) next.add(approvalId);
      else next.delete(approvalId);
    }
    setTicked(next);
  };
  const answer = (answers: readonly Answer[]): void => {
    if (!page.isController.value) return;
    setTicked(new Set());
    void page.answers.send(answers);
  };
  const isOff = chosen.length === 0 || !page.isController.value;
  const allowable = chosen.flatMap(({ approvalId, options }): Answer[] => {
    const option = onceOption(options);
    return option === undefined ? [] : [{ approvalId, optionId: option.optionId }];
  });
  const canAllow = !isOff && allowable.length === chosen.length;
  return (
    <main class="inbox">
      <header class="head">
        <h1>Inbox</h1>
        <p class="muted">
          {approvals.length + cards.length === 0
            ? "Nothing waits for you."
            : `${approvals.length + cards.length} waiting, the oldest first.`}
          {approvals.length > most && ` The first ${most} are shown.`}
        </p>
        {shown.length > 1 && (
          <div class="settings">
            <label class="check">
              <input
                type="checkbox"
                checked={chosen.length === shown.length}
                onChange={(event) =>
                  tick(
                    shown.map((row) => row.approvalId),
                    event.currentTarget.checked,
                  )
                }
              />{" "}
              All
            </label>
            <button type="button" class="allow" aria-disabled={!canAllow} onClick={() => canAllow && answer(allowable)}>
              Allow {chosen.length} once
            </button>
            <button
              type="button"
              class="reject"
              aria-disabled={isOff}
              onClick={() => !isOff && answer(chosen.map(({ approvalId }) => ({ approvalId, refuse: true })))}
            >
              Refuse {chosen.length}
            </button>
            {chosen.length > 0 && !canAllow && page.isController.value && (
              <span class="muted">
                Not all of them have exactly one option that allows once: answer those one by one.
              </span>
            )}
          </div>
        )}
      </header>
      <ul class="cards">
        {shown.map((approval) => (
          <Entry
            approval={approval}
            isTicked={ticked.has(approval.approvalId)}
            tick={(isOn) => tick([approval.approvalId], isOn)}
            key={approval.approvalId}
          />
        ))}
        {cards.map((card) => (
          <CardEntry card={card} key={card.proposalId} />
        ))}
      </ul>
    </main>
  );
}

function CardEntry({ card }: { card: Card }) {
  const page = usePage();
  const guard = useAnswerGuard();
  const decision = useCardDecision();
  const { sessionId } = card;
  return (
    <li class="panel card">
      <header>
        <span>
          <Visible text={card.agent} /> proposes
        </span>
        <a href={hashOf({ at: "session", sessionId })}>
          <Visible text={page.view.value.sessions.get(sessionId)?.title ?? "Untitled"} />
        </a>
        <span class="muted">
          <Visible text={card.cwd} />
        </span>
      </header>
      <CardBody card={card} />
      <Deadline at={card.deadline} ends="Ends by itself" />
      <CardButtons card={card} decision={decision} isGuarded={guard.isGuarded} />
    </li>
  );
}

interface EntryProps {
  readonly approval: ApprovalRow;
  readonly isTicked: boolean;
  readonly tick: (isOn: boolean) => void;
}

function Entry({ approval, isTicked, tick }: EntryProps) {
  const page = usePage();
  const guard = useAnswerGuard();
  const { approvalId, sessionId, agent, options } = approval;
  const row = page.view.value.sessions.get(sessionId);
  const choose = (at: number): void => {
    const option = options[at];
    if (option !== undefined) void page.answers.send([{ approvalId, optionId: option.optionId }]);
  };
  const title = row?.title ?? "Untitled";
  return (
    <li class="panel approval">
      <header>
        <label class="check">
          <input type="checkbox" checked={isTicked} onChange={(event) => tick(event.currentTarget.checked)} />{" "}
          <Visible text={agent} /> asks
        </label>
        <a href={hashOf({ at: "session", sessionId })}>
          <Visible text={title} />
        </a>
        <span class="muted">
          <Visible text={row?.cwd ?? ""} />
        </span>
      </header>
      <ApprovalBody approval={approval} />
      <Deadline at={deadlineOf(approval.expiresAt)} ends="Refused by itself" />
      <OptionButtons approval={approval} isGuarded={guard.isGuarded} hasKeys={false} choose={choose} />
    </li>
  );
}
