/** A cell of the study: a simulated stream with shares of groups, and rates before and after a change. */
export interface AlarmCell {
  readonly id: string;
  readonly kind: 'fair' | 'fresh' | 'late';
  readonly text: string;
  readonly limit: number;
  /** The groups' shares of events; they add up to 1. */
  readonly shares: readonly number[];
  /** The groups' rates of the events that are checked one by one. */
  readonly rates: readonly number[];
  /** The number of initial fair events, with equal rates. */
  readonly fairEvents: number;
  /** The maximum number of events that are checked one by one. */
  readonly maxEvents: number;
  readonly runs: number;
  /** The reference median delay, for fresh cells. */
  readonly reference?: number;
  /** The fresh cell that a late one is compared with. */
  readonly against?: string;
}

const TWO = [0.5, 0.5];
const TWO_UNEQUAL = [0.97, 0.03];
const FOUR = [0.7, 0.2, 0.07, 0.03];

/** The number of events of a fair stream, and the number of runs, as the acceptance criterion requires. */
const FAIR_EVENTS = 20_000;
const FAIR_RUNS = 1000;
const FRESH_RUNS = 500;
const LATE_RUNS = 200;
/** The number of events after which a change counts as not found. */
const MAX_DELAY = 60_000;

function fair(id: string, text: string, limit: number, shares: readonly number[], rates: readonly number[]): AlarmCell {
  return { id, kind: 'fair', text, limit, shares, rates, fairEvents: 0, maxEvents: FAIR_EVENTS, runs: FAIR_RUNS };
}

/** All cells of the study. */
export const ALARM_CELLS: readonly AlarmCell[] = [
  fair('fair-2', 'two groups, 50% and 50%; gap 0, limit 0', 0, TWO, [0.5, 0.5]),
  fair('fair-2-small', 'two groups, 97% and 3%; gap 0, limit 0', 0, TWO_UNEQUAL, [0.5, 0.5]),
  fair('fair-4', 'four groups, 70%, 20%, 7% and 3%; gap 0, limit 0', 0, FOUR, [0.5, 0.5, 0.5, 0.5]),
  fair('edge-2', 'two groups, 50% and 50%; gap 0.1, limit 0.1', 0.1, TWO, [0.5, 0.4]),
  fair('edge-2-small', 'two groups, 97% and 3%; gap 0.1, limit 0.1', 0.1, TWO_UNEQUAL, [0.5, 0.4]),
  fair('edge-4', 'four groups, 70%, 20%, 7% and 3%; gap 0.1, limit 0.1', 0.1, FOUR, [0.5, 0.4, 0.5, 0.4]),
  {
    id: 'fresh-large',
    kind: 'fresh',
    text: 'a gap of 0.25 between the two largest of four groups, limit 0.1',
    limit: 0.1,
    shares: FOUR,
    rates: [0.5, 0.25, 0.4, 0.4],
    fairEvents: 0,
    maxEvents: MAX_DELAY,
    runs: FRESH_RUNS,
    reference: 1550,
  },
  {
    id: 'fresh-small',
    kind: 'fresh',
    text: 'a gap of 0.30 for the group with 3% of the events, limit 0.1',
    limit: 0.1,
    shares: FOUR,
    rates: [0.5, 0.5, 0.5, 0.2],
    fairEvents: 0,
    maxEvents: MAX_DELAY,
    runs: FRESH_RUNS,
    reference: 3225,
  },
  ...lateCells('2', 'two groups', 0.1, TWO, [0.5, 0.25]),
  ...lateCells('2-zero', 'two groups', 0, TWO, [0.5, 0.25]),
  ...lateCells('4', 'four groups', 0.1, FOUR, [0.5, 0.25, 0.5, 0.5]),
];

/** Returns cells with the same gap from the first event, and after 100,000 fair events. */
function lateCells(
  id: string,
  groups: string,
  limit: number,
  shares: readonly number[],
  rates: readonly number[],
): AlarmCell[] {
  const cell = { limit, shares, rates, maxEvents: MAX_DELAY, runs: LATE_RUNS };
  const text = `a gap of 0.25, ${groups}, limit ${limit}`;
  return [
    { ...cell, id: `start-${id}`, kind: 'fresh', text: `${text}, from the first event`, fairEvents: 0 },
    {
      ...cell,
      id: `late-${id}`,
      kind: 'late',
      text: `${text}, after 100,000 fair events`,
      fairEvents: 100_000,
      against: `start-${id}`,
    },
  ];
}

/** A part of a cell's runs, as sent to a worker. */
export interface AlarmChunk {
  readonly cell: AlarmCell;
  readonly cellIndex: number;
  readonly firstRun: number;
  readonly runs: number;
  readonly seed: number;
}

/** The first alarm of each rule in one run: the number of events after the change, from 1; null if there was none. */
export interface RunOutcome {
  /** The engine. */
  readonly alarm: number | null;
  /** The engine without fresh starts; late cells only. */
  readonly cumulative: number | null;
  /** A z test of the largest against the smallest rate after every event, at 5%. */
  readonly zTest: number | null;
  /** The gap itself is above the limit, or above 0.1 if the limit is 0, once every group has 30 events. */
  readonly plainRule: number | null;
}
