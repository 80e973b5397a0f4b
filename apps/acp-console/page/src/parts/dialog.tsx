// A modal dialog of the browser's own: it keeps the focus inside, Escape closes it, and the focus goes back afterwards.
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";

interface Props {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** Open as long as it is there. */
export function Dialog({ title, onClose, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const before = document.activeElement;
    const element = dialog.current;
    element?.showModal();
    return () => {
      // Unless what comes after the dialog has taken it already.
      const { activeElement } = document;
      const isFree =
        activeElement === null || activeElement === document.body || element?.contains(activeElement) === true;
      if (isFree && before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={onClose}>
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}

interface ConfirmProps {
  readonly title: string;
  readonly action: string;
  /** What has to be ticked before; without it one press is enough. */
  readonly tick?: string;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

export function Confirm({ title, action, tick, onConfirm, onClose, children }: ConfirmProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        method="dialog"
        onSubmit={(event) => {
          if (event.submitter instanceof HTMLButtonElement && event.submitter.value === "yes") onConfirm();
        }}
      >
        {children}
        {tick !== undefined && (
          <label class="check">
            <input type="checkbox" required /> {tick}
          </label>
        )}
        <div class="options">
          <button type="submit" value="yes" class="danger">
            {action}
          </button>
          <button type="submit" value="no" formNoValidate autofocus>
            Not now
          </button>
        </div>
      </form>
    </Dialog>
  );
}
