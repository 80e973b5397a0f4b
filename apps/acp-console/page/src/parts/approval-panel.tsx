// A permission that the shown session waits for.
import type { ComponentChildren } from "preact";
import type { ApprovalRow } from "../../../src/protocol.ts";
import { ApprovalBody } from "./approval-body.tsx";
import { Deadline, deadlineOf } from "./deadline.tsx";
import { usePage } from "./page-context.ts";
import { PanelFrame } from "./panel-frame.tsx";
import { OptionButtons } from "./option-buttons.tsx";
import { Visible } from "./visible.tsx";

export function ApprovalPanel({ approval, position }: { approval: ApprovalRow; position: ComponentChildren }) {
  const page = usePage();
  const { approvalId, agent, options } = approval;
  const choose = (at: number): void => {
    const option = options[at];
    if (option !== undefined && page.isController.value)
      void page.answers.send([{ approvalId, optionId: option.optionId }]);
  };
  const refuse = (): void => {
    if (page.isController.value) void page.answers.send([{ approvalId, refuse: true }]);
  };
  return (
    <PanelFrame
      heading={
        <>
          <Visible text={agent} /> asks for permission
        </>
      }
      position={position}
      className="approval"
      choices={options.length}
      choose={choose}
      refuse={refuse}
    >
      {({ isGuarded }) => (
        <>
          <ApprovalBody approval={approval} />
          <Deadline at={deadlineOf(approval.expiresAt)} ends="Refused by itself" />
          <OptionButtons approval={approval} isGuarded={isGuarded} hasKeys choose={choose} />
        </>
      )}
    </PanelFrame>
  );
}
