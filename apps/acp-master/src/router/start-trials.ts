// An agent that has not shown that it works is tried by one process at a time: whoever asks meanwhile waits for how that
// ends. It starts nothing by itself and keeps no clock.

export class StartTrials<Result extends { readonly ok: boolean }> {
  readonly #proven = new Set<string>();
  readonly #running = new Map<string, Promise<Result>>();

  /** It did something for a client: any number may be started at once. */
  proved(agent: string): void {
    this.#proven.add(agent);
  }

  failed(agent: string): void {
    this.#proven.delete(agent);
  }

  /** Runs `start` in its turn. A trial that failed is the answer for all that waited for it. */
  async start(agent: string, start: () => Promise<Result>): Promise<Result> {
    while (!this.#proven.has(agent)) {
      const running = this.#running.get(agent);
      if (running === undefined) return await this.#try(agent, start);
      const result = await running;
      if (!result.ok) return result;
    }
    return await start();
  }

  async #try(agent: string, start: () => Promise<Result>): Promise<Result> {
    const trial = start();
    this.#running.set(agent, trial);
    try {
      return await trial;
    } finally {
      this.#running.delete(agent);
    }
  }
}
