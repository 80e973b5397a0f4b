// What the proof has to refuse: an option that carries a title.
export { proof } from "./proof.ts";

declare module "../../src/choice.ts" {
  interface TicketOption {
    readonly title: string;
  }
}
