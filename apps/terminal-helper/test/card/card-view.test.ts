// A card at every width: what would happen is all there, nothing can be run before it was read, each key does one thing.
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type CardView, frame, isAllSeen, openCard, press, withCard, withSize } from "../../src/card/card-view.ts";
import type { Key } from "../../src/card/keys.ts";
import { columnsOf } from "../../src/card/wrap.ts";
import { card, choice } from "./cards.ts";

const letter = (text: string): Key => ({ letter: text });
const sizes = fc.record({ columns: fc.integer({ min: 40, max: 200 }), rows: fc.integer({ min: 8, max: 60 }) });
const place = "work:0.1, zsh";
const awake = { waiting: 0, isAwake: true };

function pressed(view: CardView, key: Key): CardView {
  const done = press(view, key);
  if (done.do !== "show") throw new Error(`expected to stay, got ${done.do}`);
  return done.view;
}

/** Every body row, read from the top to the end as a person would. One row above the body, two below. */
function readThrough(start: CardView): string[] {
  const rows: string[] = [];
  let view = start;
  for (;;) {
    const [, first = "", ...rest] = frame(view, awake);
    rows.push(first);
    const next = pressed(view, "down");
    if (next.top === view.top) return [...rows, ...rest.slice(0, -2)];
    view = next;
  }
}

const texts = fc.array(
  fc.string({ maxLength: 500 }).map((text) => text.replaceAll(/[\n\r]/g, " ")),
  {
    minLength: 1,
    maxLength: 20,
  },
);

describe("what would happen", () => {
  test("can be read whole at every size, line by line", () => {
    fc.assert(
      fc.property(texts, sizes, (lines, size) => {
        const view = openCard(card({ choices: [choice({ actions: [{ type: "send", lines }] })] }), place, size);
        const rows = readThrough(view);
        const read: string[] = [];
        for (const row of rows.slice(rows.findIndex((each) => each.startsWith("send to")) + 1)) {
          if (row.startsWith("> ")) read.push(row.slice(2));
          else if (row.startsWith("+ ")) read.push(`${read.pop()}${row.slice(2)}`);
          else break;
        }
        const shown = lines.map((line) => line.replace(/ +$/, (blanks) => "\\u{20}".repeat(blanks.length)));
        expect(read).toEqual(shown);
      }),
      { numRuns: 60 },
    );
  });

  test("fills the screen and never leaves it", () => {
    fc.assert(
      fc.property(texts, sizes, fc.integer({ min: 0, max: 3 }), (lines, size, waiting) => {
        const given = card({ choices: [choice({ actions: [{ type: "send", lines }] }), choice({ choice: 2 })] });
        const screen = frame(openCard(given, place, size), { waiting, isAwake: waiting > 1 });
        expect(screen).toHaveLength(size.rows);
        for (const row of screen) expect(columnsOf(row)).toBeLessThanOrEqual(size.columns);
      }),
    );
  });

  test("must have been on the screen before it can be run", () => {
    fc.assert(
      fc.property(texts, sizes, fc.constantFrom("r", "i"), (lines, size, key) => {
        let view = openCard(card({ choices: [choice({ actions: [{ type: "send", lines }] })] }), place, size);
        for (let at = 0; at < 10_000; at++) {
          const done = press(view, letter(key));
          if (done.do === "decide") {
            expect(isAllSeen(view)).toBe(true);
            return;
          }
          if (done.do !== "show") throw new Error(done.do);
          expect(done.view.top).toBeGreaterThan(view.top); // it reads on instead
          view = done.view;
        }
        throw new Error("it never runs");
      }),
      { numRuns: 60 },
    );
  });

  test("is unread again in another width, and when the card changes", () => {
    const size = { columns: 80, rows: 24 };
    const view = openCard(
      card({ choices: [choice({ actions: [{ type: "send", lines: Array(60).fill("x") }] })] }),
      place,
      size,
    );
    let read = view;
    while (!isAllSeen(read)) read = pressed(read, "page_down");
    expect(isAllSeen(withSize(read, { columns: 60, rows: 24 }))).toBe(false);
    expect(isAllSeen(withCard(read, { ...read.card, detached: true }))).toBe(true);
    const other = [choice({ actions: [{ type: "send", lines: Array(60).fill("y") }] })];
    expect(isAllSeen(withCard(read, { ...read.card, choices: other }))).toBe(false);
  });

  test("is not offered on a screen that is too small to show it", () => {
    for (const size of [
      { columns: 10, rows: 24 },
      { columns: 80, rows: 3 },
      { columns: 80, rows: 1 },
    ]) {
      const view = openCard(card(), place, size);
      expect(press(view, letter("r")).do).toBe("show");
      expect(frame(view, awake).join(" ")).toContain("small");
    }
  });
});

test("what is opened is said in a line of its own, and what is typed there is marked", () => {
  const actions = [{ type: "open_and_send", lines: ['open a tab named "x", and in it:', "npm test", "echo done"] }];
  const [, , ...rows] = frame(
    openCard(card({ choices: [choice({ actions })] }), place, { columns: 80, rows: 24 }),
    awake,
  );
  expect(rows.slice(0, 3)).toEqual(['open a tab named "x", and in it:', "> npm test", "> echo done"]);
});

describe("keys", () => {
  const size = { columns: 80, rows: 24 };
  const two = card({
    choices: [
      choice(),
      choice({ choice: 2, title: "Remove them", actions: [{ type: "send", lines: ["rm *"] }], modes: ["run"] }),
    ],
  });
  const { proposalId } = two;

  test("run, insert and cancel are three decisions", () => {
    const view = openCard(two, place, size);
    const confirm = { proposalId, decision: "confirm", choice: 1 } as const;
    expect(press(view, letter("r"))).toEqual({ do: "decide", request: { ...confirm, mode: "run" } });
    expect(press(view, letter("i"))).toEqual({ do: "decide", request: { ...confirm, mode: "insert" } });
    expect(press(view, letter("c"))).toEqual({ do: "decide", request: { proposalId, decision: "cancel" } });
  });

  test("a number looks at another choice and decides nothing; the next key decides on that one", () => {
    const view = pressed(openCard(two, place, size), letter("2"));
    expect(frame(view, awake).join("\n")).toContain("> rm *");
    expect(press(view, letter("r"))).toEqual({
      do: "decide",
      request: { proposalId, decision: "confirm", choice: 2, mode: "run" },
    });
  });

  test("what cannot be inserted is not offered and not decided", () => {
    const view = pressed(openCard(two, place, size), letter("2"));
    expect(frame(view, awake).join("\n")).not.toContain("i insert");
    expect(press(view, letter("i")).do).toBe("show");
  });

  test("the recommended choice is looked at first", () => {
    expect(openCard({ ...two, recommended: 2 }, place, size).choice).toBe(2);
  });

  test("return, blanks, other letters and numbers decide nothing", () => {
    const view = openCard(two, place, size);
    for (const key of ["enter", "page_down", "up", letter("y"), letter("R"), letter("I"), letter("3")] as const) {
      expect(press(view, key).do).toBe("show");
    }
    expect(press(view, letter("q")).do).toBe("leave");
    expect(press(view, "interrupt").do).toBe("interrupt");
  });

  test("are named only while they count", () => {
    expect(frame(openCard(two, place, size), { waiting: 0, isAwake: false }).join("\n")).not.toContain("r run");
  });

  test("a card whose proposer is gone says so and can be decided", () => {
    const view = openCard({ ...two, detached: true }, place, size);
    expect(frame(view, awake)[0]).toContain("Detached");
    expect(press(view, letter("r")).do).toBe("decide");
  });
});
