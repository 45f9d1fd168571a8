/** The maximum length of the time window over which the rate of requests is measured. */
const MAX_WINDOW_MILLIS = 5000;
const MIN_WINDOW_MILLIS = 1000;

/** The number of answers after which a lowered rate is raised. `RAISE` is the factor by which the rate is raised. */
const SUCCESSES_TO_RAISE = 5;
const RAISE = 1.5;

/**
 * The time during which a rate that the server rejected is not tried again. During this time, the server still counts
 * requests that were sent earlier.
 */
const CAUTION_MILLIS = 2000;

/** The maximum number of request starts that are stored. No provider allows more requests in the longest window. */
const MAX_STARTS = 10_000;

/** The lowest rate: one request a minute. */
const MIN_PER_MILLI = 1 / 60_000;

/**
 * Decides when requests may start. At first, the rate is not limited. After a response "too many requests", the limit
 * is set to half the rate measured over the last seconds. The rate is raised by half after every 5 answers, until it no
 * longer delays any request. The rate does not reach the rejected rate again for 2 seconds, because a fast client would
 * otherwise be rejected at once.
 *
 * If several requests in flight are rejected, the rate is halved only once.
 */
export class Pace {
  /** Requests per millisecond. */
  #rate = Infinity;
  #lastStart = -Infinity;
  #heldUntil = -Infinity;
  #loweredAt = -Infinity;
  #changedAt = -Infinity;
  /**
   * The last rate that the server rejected. If the server rejects two rates within {@link CAUTION_MILLIS}, the first
   * one is stored.
   */
  #refusedRate = Infinity;
  #successes = 0;
  /** Whether the rate has delayed a request since the last change of the rate. */
  #hasHeldBack = false;
  /** The times at which requests have started since the last pause that the server requested, oldest first. */
  #starts: number[] = [];
  #windowFrom = NaN;

  /** The rate in requests per second; Infinity if there is no limit. */
  get perSecond(): number {
    return this.#rate * 1000;
  }

  /** The time until which the server asked to send no request. */
  get heldUntil(): number {
    return this.#heldUntil;
  }

  /** Returns the number of milliseconds until the next request may start. */
  waitMillis(now: number): number {
    const wait = this.#lastStart + 1 / this.#rate - now;
    if (wait > 0 && this.#rate < Infinity) this.#hasHeldBack = true;
    // Timers take whole milliseconds. Subtracting a millionth prevents a wait of 1 ms that is only a rounding error.
    return Math.max(0, Math.ceil(Math.max(wait, this.#heldUntil - now) - 1e-6));
  }

  /** Records that a request starts. */
  start(now: number): void {
    if (Number.isNaN(this.#windowFrom)) this.#windowFrom = now;
    const step = 1 / this.#rate;
    const due = this.#lastStart + step;
    // Timers are late by a millisecond or two. Without this correction, the delays would add up.
    this.#lastStart = due <= now && now - due < step ? due : now;
    this.#starts.push(now);
    if (this.#starts.length >= 2 * MAX_STARTS) this.#starts = this.#starts.slice(-MAX_STARTS);
  }

  /** Holds all requests until a time that the server requested. */
  holdUntil(time: number): void {
    if (time <= this.#heldUntil) return;
    this.#heldUntil = time;
    // A hold must not lower the measured rate.
    this.#windowFrom = NaN;
    this.#starts = [];
  }

  /** Records that the server answered "too many requests" to the request that started at `startedAt`. */
  limited(startedAt: number, now: number): void {
    if (startedAt < this.#loweredAt) return;
    const rate = this.#rate < Infinity ? this.#rate : this.#measure(now);
    // Soon after the rate was lowered, the server still counts earlier requests, so a rejection concerns the old rate.
    if (now >= this.#loweredAt + CAUTION_MILLIS) this.#refusedRate = rate;
    this.#loweredAt = now;
    this.#change(Math.max(MIN_PER_MILLI, rate / 2), now);
  }

  /** Records an answer. */
  succeeded(now: number): void {
    if (this.#rate === Infinity || ++this.#successes < SUCCESSES_TO_RAISE) return;
    const raised = this.#hasHeldBack ? this.#rate * RAISE : Infinity;
    if (raised >= this.#refusedRate && now < this.#changedAt + CAUTION_MILLIS) return;
    this.#change(raised, now);
  }

  #change(rate: number, now: number): void {
    this.#rate = rate;
    this.#changedAt = now;
    this.#successes = 0;
    this.#hasHeldBack = false;
  }

  /** Returns the number of requests started per millisecond over the last seconds. */
  #measure(now: number): number {
    const recent = this.#starts.filter((start) => start >= now - MAX_WINDOW_MILLIS).length;
    const passed = now - this.#windowFrom;
    return recent / Math.min(MAX_WINDOW_MILLIS, Math.max(MIN_WINDOW_MILLIS, passed));
  }
}
