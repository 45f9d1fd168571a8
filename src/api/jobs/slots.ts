/** Lends a bounded number of slots; who comes later waits in line. */
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
   * Takes a slot as soon as there is one; given back by {@link release}.
   * @throws {unknown} the signal's reason, where that comes first
   */
  async take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#taken < this.#count) {
      this.#taken++;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        this.#line.splice(this.#line.indexOf(enter), 1);
        // The reason is the caller's, whatever it is.
        reject(signal.reason as Error);
      };
      const enter = (): void => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#line.push(enter);
    });
  }

  release(): void {
    const next = this.#line.shift();
    // The slot passes on without being free in between.
    if (next === undefined) this.#taken--;
    else next();
  }
}
