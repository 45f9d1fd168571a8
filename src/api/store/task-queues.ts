/**
 * Runs tasks that belong to names: those of one name one after another in the order in which they came, those of
 * different names together, but at most so many at once, so that files do not run out of handles.
 */
export class TaskQueues {
  readonly #lasts = new Map<string, Promise<unknown>>();
  readonly #waiting: (() => void)[] = [];
  #places: number;

  constructor(mostAtOnce: number) {
    this.#places = mostAtOnce;
  }

  /** Runs a task in its turn, and settles as it does. A task must not wait for another one. */
  run<Result>(name: string, task: () => Promise<Result>): Promise<Result> {
    const before = this.#lasts.get(name) ?? Promise.resolve();
    const result = before.then(() => this.#inPlace(task));
    const last = result.then(
      () => undefined,
      () => undefined,
    );
    this.#lasts.set(name, last);
    void last.then(() => {
      if (this.#lasts.get(name) === last) this.#lasts.delete(name);
    });
    return result;
  }

  /** Resolves when no task is left. */
  async idle(): Promise<void> {
    while (this.#lasts.size > 0) await Promise.all(this.#lasts.values());
  }

  async #inPlace<Result>(task: () => Promise<Result>): Promise<Result> {
    if (this.#places === 0) {
      // The place is handed over by who had it.
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else {
      this.#places -= 1;
    }
    try {
      return await task();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#places += 1;
      else next();
    }
  }
}
