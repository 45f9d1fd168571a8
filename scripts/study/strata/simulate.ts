import { createRandom, type Random } from '../../../src/internal/random.ts';
import { FairnessDriftAndAlertEngine } from '../../../src/monitoring/alarms/fairness-drift-and-alert-engine.ts';
import type { Within } from '../../../src/monitoring/alarms/engine-options.ts';
import { RealTimeFairnessTracker } from '../../../src/monitoring/tracker/real-time-fairness-tracker.ts';

/** A kind of simulated streams. */
export interface StrataCell {
  readonly id: string;
  readonly text: string;
  readonly within: Within;
  /** Whether both groups have the same rate at every instant. */
  readonly isFair: boolean;
  readonly metric: string;
  readonly maxEvents: number;
  /** The limit of the gap; 0.1 by default. */
  readonly limit?: number;
  /** Returns the shares of the groups and their rates, at a time in days and in a region. */
  readonly at: (
    day: number,
    region: number,
  ) => { readonly shares: readonly number[]; readonly rates: readonly number[] };
}

/** The first alarms of a stream: the numbers of events from the start; null if there was none. */
export interface StrataOutcome {
  /** The alarm of the gap within strata. */
  readonly within: number | null;
  /** The alarm of the gap of the complete stream, of an engine without strata. */
  readonly plain: number | null;
}

const EVENTS_PER_DAY = 1000;
const DAY_MILLIS = 86_400_000;
/** The number of events between two checks. */
const LOOK_EVERY = 25;
const REGIONS = 5;
const LIMIT = 0.1;

const wave = (day: number): number => Math.sin(2 * Math.PI * day);
const fair = (share: number, rate: number): ReturnType<StrataCell['at']> => ({
  shares: [share, 1 - share],
  rates: [rate, rate],
});
const SELECTION = 'demographic_parity_difference';

/** All cells: fair streams in which rates and shares change together, and streams with a gap of 0.25. */
export const STRATA_CELLS: readonly StrataCell[] = [
  {
    id: 'fair-cycle',
    text: 'fair; rate and share of a group follow a daily cycle together',
    within: { time: 3600 },
    isFair: true,
    metric: SELECTION,
    maxEvents: 20_000,
    at: (day) => fair(0.5 + 0.4 * wave(day), 0.5 + 0.3 * wave(day)),
  },
  {
    id: 'fair-trend',
    text: 'fair; rate and share of a group rise together over 20 days',
    within: { time: 3600 },
    isFair: true,
    metric: SELECTION,
    maxEvents: 20_000,
    at: (day) => fair(0.1 + 0.04 * day, 0.2 + 0.03 * day),
  },
  {
    id: 'fair-region',
    text: 'fair; five regions with different rates and shares',
    within: 'region',
    isFair: true,
    metric: SELECTION,
    maxEvents: 20_000,
    at: (_, region) => fair(0.1 + 0.2 * region, 0.2 + 0.15 * region),
  },
  {
    id: 'fair-cycle-tpr',
    text: 'fair true positive rates; rate and share of a group follow a daily cycle together',
    within: { time: 3600 },
    isFair: true,
    metric: 'equal_opportunity_difference',
    maxEvents: 20_000,
    at: (day) => fair(0.5 + 0.4 * wave(day), 0.5 + 0.3 * wave(day)),
  },
  {
    id: 'fair-region-zero',
    text: 'fair, limit 0; five regions with different rates and shares',
    within: 'region',
    isFair: true,
    metric: SELECTION,
    maxEvents: 20_000,
    limit: 0,
    at: (_, region) => fair(0.1 + 0.2 * region, 0.2 + 0.15 * region),
  },
  {
    id: 'edge-cycle',
    text: 'a gap of 0.1 at every instant, equal to the limit; rates and shares follow a daily cycle together',
    within: { time: 3600 },
    isFair: true,
    metric: SELECTION,
    maxEvents: 20_000,
    at: (day) => ({
      shares: [0.5 + 0.4 * wave(day), 0.5 - 0.4 * wave(day)],
      rates: [0.55 + 0.3 * wave(day), 0.45 + 0.3 * wave(day)],
    }),
  },
  ...gaps('gap', 'a gap of 0.25', () => ({ shares: [0.5, 0.5], rates: [0.5, 0.25] })),
  ...gaps('gap-small', 'a gap of 0.25, one group has 10% of the events', () => ({
    shares: [0.9, 0.1],
    rates: [0.5, 0.25],
  })),
  ...gaps('gap-four', 'a gap of 0.25, four groups', () => ({
    shares: [0.4, 0.3, 0.2, 0.1],
    rates: [0.5, 0.25, 0.4, 0.4],
  })),
];

function gaps(id: string, text: string, at: StrataCell['at']): StrataCell[] {
  const cell = { isFair: false, maxEvents: 30_000, at };
  const equalOpportunity = 'equal_opportunity_difference';
  return [
    { ...cell, id, text: `${text}; selection rate, within hours`, within: { time: 3600 }, metric: SELECTION },
    {
      ...cell,
      id: `${id}-tpr`,
      text: `${text}; true positive rate, within hours`,
      within: { time: 3600 },
      metric: equalOpportunity,
    },
    {
      ...cell,
      id: `${id}-region`,
      text: `${text}; selection rate, within regions`,
      within: 'region',
      metric: SELECTION,
    },
  ];
}

/** Simulates one stream of a cell with two engines, with and without strata. */
export function simulateStream(cell: StrataCell, run: number, seed: number): StrataOutcome {
  const random = createRandom(seed + run, STRATA_CELLS.indexOf(cell));
  const needsTruth = cell.metric !== SELECTION;
  const tracker = new RealTimeFairnessTracker({
    columns: { yPred: 'p', yTrue: needsTruth ? 'y' : undefined, protected: ['g'], timestamp: 'at' },
    metrics: [cell.metric],
  });
  const limits = { [cell.metric]: cell.limit ?? LIMIT };
  const plainEngine = new FairnessDriftAndAlertEngine({ limits, detectors: [] });
  const engine = new FairnessDriftAndAlertEngine({ limits, detectors: [], within: cell.within });
  plainEngine.watch(tracker);
  engine.watch(tracker);
  let [within, plain]: (number | null)[] = [null, null];
  for (let event = 1; event <= cell.maxEvents; event++) {
    tracker.record(drawEvent(cell, event, needsTruth, random));
    if (event % LOOK_EVERY !== 0) continue;
    if (plain === null && plainEngine.update(tracker).alerts.length > 0) plain = event;
    if (within === null && engine.update(tracker).alerts.some((alert) => alert.within?.isReason === true))
      within = event;
    if (plain !== null && within !== null) break;
  }
  return { within: within ?? null, plain: plain ?? null };
}

function drawEvent(cell: StrataCell, event: number, needsTruth: boolean, random: Random): Record<string, unknown> {
  const day = event / EVENTS_PER_DAY;
  const region = random.integer(REGIONS);
  const { shares, rates } = cell.at(day, region);
  let left = random.next();
  let group = 0;
  while (group < shares.length - 1 && left >= (shares[group] as number)) left -= shares[group++] as number;
  return {
    at: Math.round(day * DAY_MILLIS),
    region: `region ${region + 1}`,
    g: `group ${group + 1}`,
    p: Number(random.next() < (rates[group] as number)),
    ...(needsTruth ? { y: 1 } : {}),
  };
}
