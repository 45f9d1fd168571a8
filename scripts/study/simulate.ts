import { createRandom } from '../../src/internal/random.ts';
import { gapIntervals } from '../../src/stats/gap-interval.ts';
import type { Interval } from '../../src/stats/index.ts';
import { createDataSource } from './draw-data.ts';
import type { Cell } from './design.ts';
import { bonferroniIntervals, percentileInterval } from './rival-intervals.ts';

export const LEVEL = 0.95;
/** Replicates of the default interval: the default of the metrics. */
export const SAMPLES = 1000;
/** True gaps are sums of decimals, so an end may equal one up to rounding. */
const ROUNDING = 1e-12;
const STREAMS_PER_CELL = 1024;

/** A part of a cell's repetitions, with separate random number streams. */
export interface Chunk {
  readonly cell: Cell;
  readonly cellIndex: number;
  readonly chunkIndex: number;
  readonly repetitions: number;
  readonly seed: number;
  /** Whether the other methods are measured too. */
  readonly withRivals: boolean;
}

/** Counts and sums over repetitions, which can be added over chunks. */
export interface Tally {
  repetitions: number;
  /** Draws in which the metric has no value. They are in none of the other figures. */
  undefinedDraws: number;
  held: number;
  /** The truth is below the lower end, or above the upper one. */
  tooHigh: number;
  tooLow: number;
  width: number;
  bonferroniHeld: number;
  bonferroniWidth: number;
  /** Only at equality and in the first chunk: its failure needs no precision. */
  percentileTried: number;
  percentileHeld: number;
}

export function emptyTally(): Tally {
  return {
    repetitions: 0,
    undefinedDraws: 0,
    held: 0,
    tooHigh: 0,
    tooLow: 0,
    width: 0,
    bonferroniHeld: 0,
    bonferroniWidth: 0,
    percentileTried: 0,
    percentileHeld: 0,
  };
}

export function addTally(to: Tally, more: Tally): void {
  for (const key of Object.keys(to) as (keyof Tally)[]) to[key] += more[key];
}

/** Draws the data sets of a chunk and counts the results of each interval. */
export function simulate({ cell, cellIndex, chunkIndex, repetitions, seed, withRivals }: Chunk): Tally {
  const stream = 3 * (cellIndex * STREAMS_PER_CELL + chunkIndex);
  const draw = createDataSource(cell, createRandom(seed, stream));
  const random = createRandom(seed, stream + 1);
  const percentileRandom = createRandom(seed, stream + 2);
  const tally = emptyTally();
  for (let repetition = 0; repetition < repetitions; repetition++) {
    tally.repetitions++;
    const families = draw();
    if (families === null) {
      tally.undefinedDraws++;
      continue;
    }
    const [low, high] = worstCase(gapIntervals(families, { level: LEVEL, samples: SAMPLES, random }).intervals);
    tally.held += Number(holds([low, high], cell.gap));
    tally.tooHigh += Number(low > cell.gap + ROUNDING);
    tally.tooLow += Number(high < cell.gap - ROUNDING);
    tally.width += high - low;
    if (!withRivals) continue;
    const rival = worstCase(bonferroniIntervals(families, LEVEL));
    tally.bonferroniHeld += Number(holds(rival, cell.gap));
    tally.bonferroniWidth += rival[1] - rival[0];
    if (cell.gap > 0 || chunkIndex > 0) continue;
    tally.percentileTried++;
    const percentile = percentileInterval(families, { level: LEVEL, samples: SAMPLES, random: percentileRandom });
    tally.percentileHeld += Number(holds(percentile, cell.gap));
  }
  return tally;
}

/** Returns the interval of the larger gap, from the larger lower end to the larger upper end, as reported for EOD. */
function worstCase(intervals: readonly Interval[]): Interval {
  return [Math.max(...intervals.map(([low]) => low)), Math.max(...intervals.map(([, high]) => high))];
}

function holds([low, high]: Interval, truth: number): boolean {
  return low <= truth + ROUNDING && truth - ROUNDING <= high;
}
