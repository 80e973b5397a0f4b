// The answers to a permission: every option as it was offered, in that order. They rest while an answer is on its way.
import type { ApprovalRow } from "../../../src/protocol.ts";
import { asList, asRecord } from "../model/json-value.ts";
import { scopeOf } from "../model/words.ts";
import { usePage } from "./page-context.ts";
import { Visible } from "./visible.tsx";

interface Props {
  readonly approval: ApprovalRow;
  readonly isGuarded: boolean;
  /** Number keys choose; the keys are shown. */
  readonly hasKeys: boolean;
  readonly choose: (at: number) => void;
}

export function OptionButtons({ approval, isGuarded, hasKeys, choose }: Props) {
  const page = usePage();
  const answered = page.answers.byApproval.value.get(approval.approvalId);
  const isReader = !page.isController.value;
  const rests = isGuarded || isReader || answered?.state === "sent";
  const offered = asList(approval.params.options).map(asRecord);
  return (
    <div class="answers">
      <div class="options">
        {approval.options.map((option, at) => (
          // Two options may have one id, so the place is the key. Resting buttons keep the focus.
          <button
            type="button"
            class={option.kind.startsWith("allow") ? "allow" : "reject"}
            aria-disabled={rests}
            onClick={() => !rests && choose(at)}
            key={at}
          >
            {hasKeys && at < 9 && <kbd>{at + 1}</kbd>} <Visible text={option.name || option.optionId} />
            <small>
              {scopeOf(option.kind)}
              <Grant meta={offered[at]?._meta} />
            </small>
          </button>
        ))}
      </div>
      <p class="receipt" role="status">
        {isReader && "This page may only read."}
        {answered?.state === "sent" && (answered.isLate ? "Somebody else was first." : "The answer is on its way…")}
      </p>
      {answered?.state === "failed" && (
        <p class="warning" role="alert">
          The answer did not arrive: <Visible text={answered.problem} use="lines" /> It still waits.
        </p>
      )}
    </div>
  );
}

/** Agents say here what an "always" grants. */
function Grant({ meta }: { meta: unknown }) {
  if (meta === undefined || meta === null) return null;
  return (
    <>
      : <Visible text={JSON.stringify(meta)} />
    </>
  );
}
