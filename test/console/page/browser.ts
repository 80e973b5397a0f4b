// Debian's Chromium for a file of tests, and pages of the console in it. A page that logs an error fails its test.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import type { Master } from "../../harness/master.ts";
import { isRunning, processGone } from "../../harness/processes.ts";

const executablePath = "/usr/bin/chromium";

/** The page goes on trying to reach a console that has ended. */
const whenTheConsoleEnds = /ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE/;

export interface PageOptions extends BrowserContextOptions {
  /** Its log-in may only read. */
  readonly readOnly?: boolean;
  /** Before the page's own script. */
  readonly prepare?: (page: Page) => Promise<unknown>;
  /** Errors of the browser's log that the test causes itself. */
  readonly expectedErrors?: RegExp;
}

/** One browser for the tests of a file. */
export class Pages {
  #browser: Browser | undefined;
  readonly #owned = new WeakSet<Master>();

  constructor() {
    beforeAll(async () => {
      if (!existsSync(executablePath)) {
        throw new Error(`${executablePath} is not there. Install it: apt-get install chromium fonts-dejavu-core`);
      }
      this.#browser = await chromium.launch({ executablePath, chromiumSandbox: false });
    });
    afterAll(() => this.#browser?.close());
  }

  /** Where a browser that is not logged in would go. */
  async address(master: Master, readOnly = false): Promise<string> {
    const { code, stdout, stderr } = await master.cli(["console", "--json", ...(readOnly ? ["--read-only"] : [])]);
    if (code !== 0) throw new Error(`acp-master console ended with ${code}: ${stderr}`);
    this.#own(master);
    return JSON.parse(stdout).address;
  }

  /** A browser of its own, logged in, in front of the list of sessions. Closed with the master. */
  async open(master: Master, options: PageOptions = {}): Promise<Page> {
    const { readOnly, prepare, expectedErrors, ...context } = options;
    const address = await this.address(master, readOnly);
    const page = await this.#page(master, context, expectedErrors);
    await prepare?.(page);
    await page.goto(address);
    await page.getByRole("navigation", { name: "Sessions" }).waitFor({ state: "attached" });
    return page;
  }

  /** A page that is not logged in. */
  async stranger(master: Master, address: string): Promise<Page> {
    const page = await this.#page(master, {}, /401/);
    await page.goto(address);
    return page;
  }

  /** A console ends with the daemon that stops, but not with one that a test has killed. */
  #own(master: Master): void {
    if (this.#owned.has(master)) return;
    this.#owned.add(master);
    master.own({
      [Symbol.asyncDispose]: async () => {
        const file = join(master.home, "run", "console.json");
        if (!existsSync(file)) return;
        const { pid } = JSON.parse(readFileSync(file, "utf8"));
        if (!isRunning(pid)) return;
        process.kill(pid, "SIGTERM");
        await processGone(pid);
      },
    });
  }

  async #page(master: Master, options: BrowserContextOptions, expected: RegExp | undefined): Promise<Page> {
    const context = await this.#browser?.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    if (context === undefined) throw new Error("the browser has not started");
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(error.stack ?? error.message));
    page.on("console", (message) => {
      // What the content security policy stops is an error, too.
      if (message.type() !== "error" || whenTheConsoleEnds.test(message.text())) return;
      if (expected?.test(message.text()) !== true) errors.push(message.text());
    });
    master.own({
      [Symbol.asyncDispose]: async () => {
        await context.close();
        if (errors.length > 0) throw new Error(`the page logged errors:\n${errors.join("\n")}`);
      },
    });
    return page;
  }
}
