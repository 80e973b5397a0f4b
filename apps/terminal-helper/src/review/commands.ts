// The programs behind a card in a popup and behind `acp-master review`. Each resolves with its exit code.
import { isatty, type ReadStream, type WriteStream } from "node:tty";
import { popupRan } from "../tmux/popups.ts";
import { ownTarget } from "../tmux/target.ts";
import { Desk, type DeskEnd } from "./desk.ts";
import { EndpointFeed } from "./endpoint-feed.ts";
import { printList } from "./print-list.ts";
import { placeOf } from "./place.ts";

const surroundings = (target: string | null) => placeOf(target, process.env);

/** One card of one Helper, in a terminal that was made for it. */
export async function reviewCard(path: string, proposalId: string): Promise<number> {
  using desk = new Desk({ ...terminal(), name: "tmux popup", only: proposalId, placeOf: surroundings });
  desk.follow([path]);
  await desk.closed;
  return popupRan;
}

/** The cards of every Helper that the caller names on descriptor 3, line by line, until it names no more. */
export async function reviewAll(options: { readonly json: boolean }): Promise<number> {
  using feed = new EndpointFeed(3);
  if (options.json || !isatty(0) || !isatty(1)) {
    process.stdout.write(await printList(await feed.first, options));
    return 0;
  }
  const place = ownTarget(process.env);
  const settings = { name: "acp-master review", placeOf: surroundings };
  using desk = new Desk({ ...terminal(), ...settings, ...(place === undefined ? {} : { place }) });
  feed.follow((paths) => desk.follow(paths));
  const end: DeskEnd = await Promise.race([desk.closed, feed.ended.then((): DeskEnd => "left")]);
  return end === "interrupted" ? 130 : 0;
}

/** These two follow the size of the terminal; others do not. */
function terminal(): { input: ReadStream; output: WriteStream } {
  return { input: process.stdin, output: process.stdout };
}
