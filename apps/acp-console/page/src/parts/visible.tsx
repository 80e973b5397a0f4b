// Untrusted text on the page: what would hide or reorder something is shown by its code point.
import { segments, type TextUse } from "../model/visible-text.ts";

/** In its own direction, so that it cannot reorder what stands around it. */
export function Visible({ text, use = "line" }: { text: string; use?: TextUse }) {
  const parts = segments(text, use).map((segment, at) =>
    typeof segment === "string" ? (
      segment
    ) : (
      <span class="escape" title={segment.meaning} key={at}>
        {segment.shown}
      </span>
    ),
  );
  return <bdi>{parts}</bdi>;
}
