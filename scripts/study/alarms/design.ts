/** A stream that is drawn again and again: shares of groups, rates before and after a change. */
export interface AlarmCell {
  readonly id: string;
  readonly kind: 'fair' | 'fresh' | 'late';
  readonly text: string;
  readonly limit: number;
  /** Of the events; they add up to 1. */
  readonly shares: readonly number[];
  /** Rates of the events that are looked at one by one. */
  readonly rates: readonly number[];
  /** Fair events that come first, of rates that are all alike. */
  readonly fairEvents: number;
  /** Events that are looked at one by one, at most. */
  readonly mostEvents: number;
  readonly runs: number;
  /** The median delay that was found elsewhere, for fresh cells. */
  readonly reference?: number;
  /** The fresh cell that a late one is held against. */
  readonly against?: string;
}

const TWO = [0.5, 0.5];
const TWO_UNEQUAL = [0.97, 0.03];
const FOUR = [0.7, 0.2, 0.07, 0.03];

/** Events of a fair stream, and how often it is drawn: what the bar asks. */
const FAIR_EVENTS = 20_000;
const FAIR_RUNS = 1000;
const FRESH_RUNS = 500;
const LATE_RUNS = 200;
/** A change is given up after so many events. */
const MAX_DELAY = 60_000;

function fair(id: string, text: string, limit: number, shares: readonly number[], rates: readonly number[]): AlarmCell {
  return { id, kind: 'fair', text, limit, shares, rates, fairEvents: 0, mostEvents: FAIR_EVENTS, runs: FAIR_RUNS };
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
    mostEvents: MAX_DELAY,
    runs: FRESH_RUNS,
    reference: 1550,
  },
  {
    id: 'fresh-small',
    kind: 'fresh',
    text: 'a gap of 0.30 of the group with 3% of the events, limit 0.1',
    limit: 0.1,
    shares: FOUR,
    rates: [0.5, 0.5, 0.5, 0.2],
    fairEvents: 0,
    mostEvents: MAX_DELAY,
    runs: FRESH_RUNS,
    reference: 3225,
  },
  ...lateCells('2', 'two groups', 0.1, TWO, [0.5, 0.25]),
  ...lateCells('2-zero', 'two groups', 0, TWO, [0.5, 0.25]),
  ...lateCells('4', 'four groups', 0.1, FOUR, [0.5, 0.25, 0.5, 0.5]),
];

/** The same gap at once, and after 100,000 fair events. */
function lateCells(
  id: string,
  groups: string,
  limit: number,
  shares: readonly number[],
  rates: readonly number[],
): AlarmCell[] {
  const cell = { limit, shares, rates, mostEvents: MAX_DELAY, runs: LATE_RUNS };
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

/** A part of a cell's runs: what a worker is sent. */
export interface AlarmChunk {
  readonly cell: AlarmCell;
  readonly cellIndex: number;
  readonly firstRun: number;
  readonly runs: number;
  readonly seed: number;
}

/** What a rule did in one run: the event of its first alarm after the change, counted from 1; null where there was none. */
export interface RunOutcome {
  /** The engine's alarm. */
  readonly alarm: number | null;
  /** Of the engine without fresh starts; late cells only. */
  readonly cumulative: number | null;
  /** A z test of the largest against the smallest rate after every event, at 5%. */
  readonly zTest: number | null;
  /** The gap itself above the limit, or above 0.1 where the limit is 0, once every group has 30 events. */
  readonly plainRule: number | null;
}
