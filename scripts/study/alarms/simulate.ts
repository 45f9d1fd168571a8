import { createRandom, type Random } from '../../../src/internal/random.ts';
import { FairnessDriftAndAlertEngine } from '../../../src/monitoring/alarms/fairness-drift-and-alert-engine.ts';
import { RealTimeFairnessTracker } from '../../../src/monitoring/tracker/real-time-fairness-tracker.ts';
import type { AlarmCell, AlarmChunk, RunOutcome } from './design.ts';

const METRIC = 'demographic_parity_difference';
/** The number of events between checks before a change. After the change, there is a check after every event. */
const FAIR_STEP = 50;
/** The two-sided critical value at 5%. */
const CRITICAL_Z = 1.959964;
/** The minimum number of events of every group before the plain rule applies. */
const PLAIN_RULE_EVENTS = 30;
/** The limit of the plain rule if the limit is 0. */
const PLAIN_RULE_GAP = 0.1;

/** Simulates the runs of a chunk. */
export function simulate({ cell, cellIndex, firstRun, runs, seed }: AlarmChunk): RunOutcome[] {
  return Array.from({ length: runs }, (_, index) => runOnce(cell, createRandom(seed + firstRun + index, cellIndex)));
}

/** An engine with default options, and its tracker. */
class Watch {
  readonly tracker: RealTimeFairnessTracker;
  readonly engine: FairnessDriftAndAlertEngine;

  constructor(limit: number, windows: 'restarted' | 'cumulative') {
    this.tracker = new RealTimeFairnessTracker({ columns: { yPred: 'p', protected: ['g'] }, clock: () => 0 });
    this.engine = new FairnessDriftAndAlertEngine({ limits: { [METRIC]: limit }, windows });
    this.engine.watch(this.tracker);
  }

  /** Returns whether the check after an event raises an alarm. */
  looksAt(event: { readonly g: string; readonly p: number }): boolean {
    this.tracker.record(event);
    return this.engine.update(this.tracker).alerts.length > 0;
  }

  isAlarmedBy(batch: { readonly g: string[]; readonly p: number[] }): boolean {
    this.tracker.recordBatch(batch);
    return this.engine.update(this.tracker).alerts.length > 0;
  }
}

function runOnce(cell: AlarmCell, random: Random): RunOutcome {
  const watch = new Watch(cell.limit, 'restarted');
  const cumulative = cell.kind === 'late' ? new Watch(cell.limit, 'cumulative') : undefined;
  const naive = cell.kind === 'fair' ? new NaiveRules(cell) : undefined;
  const names = cell.shares.map((_, group) => `group ${group + 1}`);
  let isEarly = false;
  for (let done = 0; done < cell.fairEvents; done += FAIR_STEP) {
    const batch = { g: [] as string[], p: [] as number[] };
    for (let event = 0; event < FAIR_STEP; event++) {
      batch.g.push(names[drawGroup(cell.shares, random)] as string);
      batch.p.push(Number(random.next() < 0.5));
    }
    isEarly ||= watch.isAlarmedBy(batch);
    cumulative?.isAlarmedBy(batch);
  }
  const found: { -readonly [Rule in keyof RunOutcome]: RunOutcome[Rule] } = {
    alarm: null,
    cumulative: null,
    zTest: null,
    plainRule: null,
  };
  // A run with an alarm before the change has no delay.
  if (isEarly) return { ...found, alarm: 0 };
  for (let event = 1; event <= cell.maxEvents; event++) {
    const group = drawGroup(cell.shares, random);
    const made = { g: names[group] as string, p: Number(random.next() < (cell.rates[group] as number)) };
    if (found.alarm === null && watch.looksAt(made)) found.alarm = event;
    if (cumulative !== undefined && found.cumulative === null && cumulative.looksAt(made)) found.cumulative = event;
    naive?.add(group, made.p, event, found);
    const isOver = naive === undefined || (found.zTest !== null && found.plainRule !== null);
    if (found.alarm !== null && isOver && (cumulative === undefined || found.cumulative !== null)) break;
  }
  return found;
}

/** Common alternatives: a test, or the gap itself, checked after every event. */
class NaiveRules {
  readonly #counts: number[];
  readonly #sums: number[];
  readonly #gap: number;
  readonly #limit: number;

  constructor({ shares, limit }: AlarmCell) {
    this.#counts = shares.map(() => 0);
    this.#sums = shares.map(() => 0);
    this.#limit = limit;
    this.#gap = limit === 0 ? PLAIN_RULE_GAP : limit;
  }

  add(group: number, positive: number, event: number, found: { zTest: number | null; plainRule: number | null }): void {
    this.#counts[group] = (this.#counts[group] as number) + 1;
    this.#sums[group] = (this.#sums[group] as number) + positive;
    if (this.#counts.some((count) => count < PLAIN_RULE_EVENTS)) return;
    const rates = this.#counts.map((count, index) => (this.#sums[index] as number) / count);
    const high = rates.indexOf(Math.max(...rates));
    const low = rates.indexOf(Math.min(...rates));
    const gap = (rates[high] as number) - (rates[low] as number);
    if (gap > this.#gap) found.plainRule ??= event;
    const [n, m] = [this.#counts[high] as number, this.#counts[low] as number];
    const pooled = ((this.#sums[high] as number) + (this.#sums[low] as number)) / (n + m);
    const error = Math.sqrt(pooled * (1 - pooled) * (1 / n + 1 / m));
    if ((gap - this.#limit) / error > CRITICAL_Z) found.zTest ??= event;
  }
}

function drawGroup(shares: readonly number[], random: Random): number {
  let left = random.next();
  let group = 0;
  while (group < shares.length - 1 && left >= (shares[group] as number)) left -= shares[group++] as number;
  return group;
}
