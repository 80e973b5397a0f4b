// An action of a person that may fail: its controls rest meanwhile, and the reason is shown.
import { useState } from "preact/hooks";

export interface Failing {
  readonly isUnderWay: boolean;
  readonly problem: string;
  readonly run: (action: () => Promise<unknown>) => Promise<void>;
}

export function useFailing(): Failing {
  const [isUnderWay, setUnderWay] = useState(false);
  const [problem, setProblem] = useState("");
  const run = async (action: () => Promise<unknown>): Promise<void> => {
    setUnderWay(true);
    setProblem("");
    try {
      await action();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    } finally {
      setUnderWay(false);
    }
  };
  return { isUnderWay, problem, run };
}
