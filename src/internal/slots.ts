/** Limits concurrency with a fixed number of slots and a waiting queue. */
export class Slots {
  readonly #count: number;
  readonly #line: (() => void)[] = [];
  #taken = 0;

  constructor(count: number) {
    this.#count = count;
  }

  get count(): number {
    return this.#count;
  }

  get waiting(): number {
    return this.#line.length;
  }

  get taken(): number {
    return this.#taken;
  }

  /**
   * Waits for a free slot and takes the slot. Callers are served in order of arrival. Call {@link release} to return
   * the slot.
   * @throws {unknown} the signal's reason if the signal is aborted before a slot is free
   */
  async take(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (this.#taken < this.#count) {
      this.#taken++;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        this.#line.splice(this.#line.indexOf(enter), 1);
        // The caller chooses the abort reason, which may be any value.
        reject(signal?.reason as Error);
      };
      const enter = (): void => {
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      signal?.addEventListener('abort', leave, { once: true });
      this.#line.push(enter);
    });
  }

  release(): void {
    const next = this.#line.shift();
    // The slot passes directly to the next caller in the queue.
    if (next === undefined) this.#taken--;
    else next();
  }
}
