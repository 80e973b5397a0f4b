// How parts reach the page's state without handing it through.
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { PageState } from "../session/page-state.ts";

export const PageContext = createContext<PageState | undefined>(undefined);

export function usePage(): PageState {
  const page = useContext(PageContext);
  if (page === undefined) throw new Error("A part of the page stands outside of it.");
  return page;
}
