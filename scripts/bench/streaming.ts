import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { createRandom } from '../../src/internal/random.ts';
import { FairnessDriftAndAlertEngine } from '../../src/monitoring/alarms/fairness-drift-and-alert-engine.ts';
import { RealTimeFairnessTracker } from '../../src/monitoring/tracker/real-time-fairness-tracker.ts';
import { Table } from '../../src/table/index.ts';
import { median } from './measure.ts';
import { assertResult, type Note } from './report.ts';

const GROUPS = 8;
const ATTRIBUTES = ['region', 'age'];
const LABELS = Array.from({ length: GROUPS }, (_, group) => `group_${String(group)}`);
const BATCH = 10_000;

/** The number of events of one run, the same as for the peer's script. */
export const STREAM_EVENTS = 200_000;
const BATCHED_EVENTS = 2_000_000;
const LONG_STREAM = 50_000_000;

const MIN_BATCHED = 1_000_000;
const MIN_SINGLE = 200_000;
/** The maximum growth of heap and array buffers, from a tenth of the long stream to its end. */
const MAX_GROWTH_MIB = 4;

/** Fair decisions, true labels and two attributes. */
interface Events {
  readonly codes: readonly Int32Array[];
  readonly decisions: Float64Array;
  readonly truths: Float64Array;
}

function makeEvents(count: number): Events {
  const random = createRandom(7);
  const bits = (): Float64Array => Float64Array.from({ length: count }, () => random.integer(2));
  return {
    codes: ATTRIBUTES.map(() => Int32Array.from({ length: count }, () => random.integer(GROUPS))),
    decisions: bits(),
    truths: bits(),
  };
}

function makeBatches({ codes, decisions, truths }: Events): Table[] {
  return Array.from({ length: decisions.length / BATCH }, (_, batch) => {
    const [from, to] = [batch * BATCH, (batch + 1) * BATCH];
    return Table.ofColumns([
      ...codes.map(
        (column, index) =>
          [
            ATTRIBUTES[index] as string,
            { kind: 'categorical', codes: column.slice(from, to), labels: LABELS },
          ] as const,
      ),
      ['approved', { kind: 'numeric', values: decisions.slice(from, to) }],
      ['repaid', { kind: 'numeric', values: truths.slice(from, to) }],
    ]);
  });
}

/**
 * Creates a tracker of the selection, true and false positive rates of every group, with ADWIN on every event of each.
 */
function makeTracker(attributes = ATTRIBUTES): RealTimeFairnessTracker {
  const tracker = new RealTimeFairnessTracker({
    columns: { yPred: 'approved', yTrue: 'repaid', protected: attributes },
    clock: () => 0,
  });
  new FairnessDriftAndAlertEngine({ detectors: ['adwin'] }).watch(tracker);
  return tracker;
}

/** Checks every rate of the first attribute against a simple count. */
function assertRates(tracker: RealTimeFairnessTracker, { codes, decisions, truths }: Events, times: number): void {
  const records = tracker.metrics({ window: 'cumulative' });
  for (const [group, label] of LABELS.entries()) {
    const own = [...decisions.keys()].filter((row) => codes[0]?.[row] === group);
    for (const [metric, rows] of [
      ['selection_rate', own],
      ['true_positive_rate', own.filter((row) => truths[row] === 1)],
      ['false_positive_rate', own.filter((row) => truths[row] === 0)],
    ] as const) {
      const rate = rows.filter((row) => decisions[row] === 1).length / rows.length;
      const found = records.find(
        (record) => record.attribute === ATTRIBUTES[0] && record.group === label && record.metric === metric,
      );
      assertResult(found?.n === times * rows.length, `the count of ${metric} of ${label}`);
      assertResult(Math.abs((found?.value ?? NaN) - rate) < 1e-12, `the ${metric} of ${label}`);
    }
  }
}

/** B6: measures a stream of events in 8 groups of 2 attributes, with their rates and ADWIN. */
export async function benchStream(note: Note): Promise<void> {
  const events = makeEvents(STREAM_EVENTS);
  await benchSingle(events, ATTRIBUTES, note);
  // The peer's script uses one attribute, and ADWIN only on decisions.
  await benchSingle(events, ATTRIBUTES.slice(0, 1), note);
  await benchBatches(events, note);
  benchMemory(events, note);
}

async function benchSingle(events: Events, attributes: string[], note: Note): Promise<void> {
  const { codes, decisions, truths } = events;
  const run = (): { seconds: number; tracker: RealTimeFairnessTracker } => {
    const tracker = makeTracker(attributes);
    const start = performance.now();
    for (let row = 0; row < STREAM_EVENTS; row++) {
      tracker.record({
        region: LABELS[codes[0]?.[row] as number],
        age: LABELS[codes[1]?.[row] as number],
        approved: decisions[row],
        repaid: truths[row],
      });
    }
    return { seconds: (performance.now() - start) / 1000, tracker };
  };
  assertRates(run().tracker, events, 1);
  const { seconds } = await median(5, run, (one) => one.seconds);
  noteRate(note, `one by one, ${String(attributes.length)} of 2 attributes`, STREAM_EVENTS, seconds, MIN_SINGLE);
}

async function benchBatches(events: Events, note: Note): Promise<void> {
  const batches = makeBatches(events);
  const rounds = BATCHED_EVENTS / STREAM_EVENTS;
  const run = (): { seconds: number; tracker: RealTimeFairnessTracker } => {
    const tracker = makeTracker();
    const start = performance.now();
    for (let round = 0; round < rounds; round++) for (const batch of batches) tracker.recordBatch(batch);
    return { seconds: (performance.now() - start) / 1000, tracker };
  };
  assertRates(run().tracker, events, rounds);
  const { seconds } = await median(5, run, (one) => one.seconds);
  noteRate(note, 'in batches of 10,000', BATCHED_EVENTS, seconds, MIN_BATCHED);
}

function noteRate(note: Note, how: string, count: number, seconds: number, min: number): void {
  const perSecond = count / seconds;
  const millions = (events: number): string => `${(events / 1e6).toPrecision(3)} million events a second`;
  note({
    id: 'B6',
    work: `rates and ADWIN of ${count.toLocaleString('en-US')} events, ${how}: ${millions(perSecond)}`,
    seconds,
    bar: `>= ${millions(min)}`,
    holds: perSecond >= min,
  });
}

/** Measures the memory after fifty million events, compared with that after five million. */
function benchMemory(events: Events, note: Note): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const used = (): number => {
    collect();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return (heapUsed + arrayBuffers) / 2 ** 20;
  };
  const batches = makeBatches(events);
  const tracker = makeTracker();
  const start = performance.now();
  let early = 0;
  while (tracker.nEvents < LONG_STREAM) {
    for (const batch of batches) tracker.recordBatch(batch);
    if (tracker.nEvents === LONG_STREAM / 10) early = used();
  }
  const growth = used() - early;
  assertRates(tracker, events, LONG_STREAM / STREAM_EVENTS);
  note({
    id: 'B6',
    work: `memory from ${(LONG_STREAM / 10).toLocaleString('en-US')} to ${LONG_STREAM.toLocaleString('en-US')} events: ${growth.toFixed(1)} MiB more, of ${early.toFixed(0)} MiB`,
    seconds: (performance.now() - start) / 1000,
    bar: `<= ${String(MAX_GROWTH_MIB)} MiB`,
    holds: growth <= MAX_GROWTH_MIB,
  });
}
