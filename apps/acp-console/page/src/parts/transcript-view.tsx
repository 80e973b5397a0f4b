// The transcript: only the rows around what is seen are there. At the end it follows what comes; elsewhere it stays.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Virtualizer, type VirtualizerHandle } from "virtua";
import type { OpenSession } from "../session/open-session.ts";
import { TranscriptRow } from "./transcript-rows.tsx";

/** Nearer to the end than this counts as the end. */
const nearPixels = 60;

export function TranscriptView({ session, isWorking }: { session: OpenSession; isWorking: boolean }) {
  const version = session.version.value;
  const { transcript } = session;
  const list = useRef<VirtualizerHandle>(null);
  const [follows, setFollows] = useState(true);
  const before = useRef({ transcript, left: transcript.left });
  // Old rows that went away must not move what is read.
  const shift = before.current.transcript === transcript && before.current.left !== transcript.left;
  before.current = { transcript, left: transcript.left };

  const toEnd = (): void => list.current?.scrollToIndex(transcript.rows.length - 1, { align: "end" });
  useLayoutEffect(() => {
    if (follows) toEnd();
  }, [version, follows]);

  // What stands below the transcript comes and goes, and so does its height.
  const frame = useRef<HTMLDivElement>(null);
  const stay = useRef(() => {});
  stay.current = () => follows && toEnd();
  useLayoutEffect(() => {
    const observer = new ResizeObserver(() => stay.current());
    if (frame.current !== null) observer.observe(frame.current);
    return () => observer.disconnect();
  }, []);

  // Only a person leaves the end; rows that grow, shrink or are measured do not.
  const isByHand = useRef(false);
  const byHand = (): void => {
    isByHand.current = true;
  };
  const scrolled = (offset: number): void => {
    if (list.current === null) return;
    const { scrollSize, viewportSize } = list.current;
    if (offset + viewportSize >= scrollSize - nearPixels) setFollows(true);
    else if (isByHand.current) setFollows(false);
  };

  return (
    <div class="transcript-frame" ref={frame}>
      <div
        class="transcript"
        tabIndex={0}
        role="region"
        aria-label="Transcript"
        onWheel={byHand}
        onTouchMove={byHand}
        onPointerDown={byHand}
        onKeyDown={byHand}
      >
        {transcript.left > 0 && <p class="muted">{transcript.left} older parts are not shown.</p>}
        {transcript.rows.length === 0 && session.attachment.value.state === "attached" && (
          <p class="muted">Nothing was said yet.</p>
        )}
        <Virtualizer
          ref={list}
          data={transcript.rows.slice()}
          shift={shift}
          onScroll={scrolled}
          onScrollEnd={() => {
            isByHand.current = false;
          }}
        >
          {(row) => <TranscriptRow row={row} isWorking={isWorking} key={row.key} />}
        </Virtualizer>
      </div>
      {!follows && (
        <button type="button" class="to-end" onClick={toEnd}>
          To the end ↓
        </button>
      )}
    </div>
  );
}
