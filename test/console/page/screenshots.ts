// Writes docs/screenshots. Run by npm run screenshots.
import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { Pages } from "./browser.ts";
import { throughStates } from "./states.ts";

const pages = new Pages();
const folder = fileURLToPath(new URL("../../../docs/screenshots/", import.meta.url));

it.each([
  ["light", ["transcript", "permission"], { colorScheme: "light", viewport: { width: 1120, height: 700 } }],
  ["dark", ["inbox"], { colorScheme: "dark", viewport: { width: 1120, height: 700 } }],
  ["phone", ["permission"], { colorScheme: "dark", viewport: { width: 390, height: 760 } }],
] as const)("takes pictures: %s", async (name, wanted, options) => {
  mkdirSync(folder, { recursive: true });
  const taken: string[] = [];
  await throughStates(pages, options, async (state, page) => {
    if (!(wanted as readonly string[]).includes(state)) return;
    // No cursor, and no folder of a test's.
    await page.evaluate(() => {
      const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      while (walker.nextNode() !== null) {
        const node = walker.currentNode;
        node.nodeValue = (node.nodeValue ?? "").replaceAll(/\/tmp\/acpm-\w+\/work/g, "/home/ada/hello");
      }
    });
    await page.screenshot({ path: `${folder}${state}-${name}.png`, caret: "hide", animations: "disabled" });
    taken.push(state);
  });
  expect(taken).toEqual([...wanted]);
});
