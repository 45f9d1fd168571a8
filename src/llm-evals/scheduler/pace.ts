/** Starts are counted over so long, at most and at least. */
const MAX_WINDOW_MILLIS = 5000;
const SHORTEST_WINDOW_MILLIS = 1000;

/** Answers after which a lowered rate is raised, and by what. */
const SUCCESSES_TO_RAISE = 5;
const RAISE = 1.5;

/** A rate that was refused is tried again only after so long at a lower one: the server's own count must forget first. */
const CAUTION_MILLIS = 2000;

/** Starts that are remembered; no provider answers so many in the longest window. */
const MAX_STARTS = 10_000;

/** However often the rate is halved, one request a minute starts. */
const LOWEST_PER_MILLI = 1 / 60_000;

/**
 * When requests may start. Without a limit, at once; after "too many requests"
 * at half the rate of the last seconds, raised by half after every 5 answers,
 * until it holds nobody back any more. It is raised to what was refused, and
 * beyond, only after some seconds, or a fast client would be refused again at once.
 *
 * Several requests that were under way when the rate was halved say nothing
 * about the new rate: it is halved once for all of them.
 */
export class Pace {
  /** Requests per millisecond. */
  #rate = Infinity;
  #lastStart = -Infinity;
  #heldUntil = -Infinity;
  #loweredAt = -Infinity;
  #changedAt = -Infinity;
  /** The rate that was one too many, the last time. */
  #refusedRate = Infinity;
  #successes = 0;
  /** Whether the rate has held back a start since it was last changed. */
  #hasHeldBack = false;
  /** Times of the last starts, oldest first, since the last time when all were held. */
  #starts: number[] = [];
  #windowFrom = NaN;

  /** Requests a second; Infinity where there is no limit. */
  get perSecond(): number {
    return this.#rate * 1000;
  }

  /** The time before which nobody starts, since the server has named it. */
  get heldUntil(): number {
    return this.#heldUntil;
  }

  /** How long until the next request may start. */
  waitMillis(now: number): number {
    const wait = this.#lastStart + 1 / this.#rate - now;
    if (wait > 0 && this.#rate < Infinity) this.#hasHeldBack = true;
    // Whole milliseconds, as timers have them; the millionth allows for what float64 rounds.
    return Math.max(0, Math.ceil(Math.max(wait, this.#heldUntil - now) - 1e-6));
  }

  /** Notes that a request starts. */
  start(now: number): void {
    if (Number.isNaN(this.#windowFrom)) this.#windowFrom = now;
    const step = 1 / this.#rate;
    const due = this.#lastStart + step;
    // A timer is late by a millisecond or two, which must not add up.
    this.#lastStart = due <= now && now - due < step ? due : now;
    this.#starts.push(now);
    // Now and then is enough: the measure looks at times.
    if (this.#starts.length >= 2 * MAX_STARTS) this.#starts = this.#starts.slice(-MAX_STARTS);
  }

  /** Lets nobody start before a time: the server has named it. */
  holdUntil(time: number): void {
    if (time <= this.#heldUntil) return;
    this.#heldUntil = time;
    // A time when nobody may start says nothing about the rate.
    this.#windowFrom = NaN;
    this.#starts = [];
  }

  /** Notes that the request that started then was one too many. */
  limited(startedAt: number, now: number): void {
    if (startedAt < this.#loweredAt) return;
    const rate = this.#rate < Infinity ? this.#rate : this.#measure(now);
    this.#refusedRate = rate;
    this.#loweredAt = now;
    this.#change(Math.max(LOWEST_PER_MILLI, rate / 2), now);
  }

  /** Notes an answer. */
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

  /** Starts per millisecond over the last seconds. */
  #measure(now: number): number {
    const recent = this.#starts.filter((start) => start >= now - MAX_WINDOW_MILLIS).length;
    const passed = now - this.#windowFrom;
    return recent / Math.min(MAX_WINDOW_MILLIS, Math.max(SHORTEST_WINDOW_MILLIS, passed));
  }
}
