import type { TensorBackend } from '../../src/tensor/index.ts';
import { type ParetoSweep, type SweepOptions, sweepPareto } from '../../src/training/index.ts';
import { type Adult, type AdultRows, sweepSource } from './adult.ts';
import type { PointFigures, SweepFigures, SweepRun } from './report.ts';
import { type Found, joinReasons } from './run-part.ts';

/** The work of benchmark B11: that of B5 with more etas. */
export const SWEEP = { penalty: 'mean_gap', epochs: 20, patience: 20, batchSize: 512, hidden: [64], lr: 3e-3 } as const;

/**
 * The lower bound of the mean hypervolume: 0.99 of what the PyTorch loop reaches with 16 etas from 0 to 3, on the mean
 * of its seeds 1 to 5 (0.08976, PyTorch 2.3.1). With 64 etas over the same range, each of the 16 has one within 1/42,
 * and the area under more points is larger, not smaller. The bound only shows whether the networks have learned.
 */
export const HYPERVOLUME_BOUND = 0.99 * 0.08976;

/** The minimum number of etas: with fewer than those of the bound, the comparison is not valid. */
const FEWEST_ETAS = 16;

/** The columns of Adult, as in every run that the bounds come from. */
const COLUMNS = 42;

/** The reduced work. */
export interface CutWork {
  readonly epochs?: number;
  readonly batchSize?: number;
  readonly hidden?: readonly number[];
}

/** The inputs of the sweep. */
export interface SweepRequest {
  readonly backend: TensorBackend;
  readonly etas: number;
  readonly seeds: readonly number[];
  readonly cut: CutWork;
  readonly isQuick: boolean;
  readonly note: (line: string) => void;
  readonly signal: AbortSignal;
}

/** Returns the weights of the penalty, evenly spaced from 0 to 3. */
export function etasOf(count: number): number[] {
  return Array.from({ length: count }, (_, index) => Number(((3 * index) / (count - 1)).toFixed(4)));
}

/** Measures B11: a sweep on the device, with all networks at once. */
export async function measureSweep(adult: Adult, rows: AdultRows, request: SweepRequest): Promise<Found<SweepFigures>> {
  const { backend, signal, note, isQuick } = request;
  const etas = etasOf(request.etas);
  // One thread on a CPU too; otherwise all cores would compete with the loop's one.
  const options = { ...SWEEP, ...request.cut, etas, backend, signal, threads: 1 } satisfies SweepOptions;
  const warmUp = await timeSweep(adult, { ...options, epochs: 1, seed: 0 });
  note(`warm-up of one epoch: ${warmUp.seconds.toFixed(1)} s`);
  const runs: SweepRun[] = [];
  for (const seed of request.seeds) {
    const run = await timeSweep(adult, { ...options, seed });
    runs.push(run);
    note(`seed ${String(seed)}: ${run.seconds.toFixed(2)} s, hypervolume ${run.hypervolume.toFixed(5)}`);
  }
  const autoBatch = await timeAutoBatch(adult, {
    ...options,
    seed: request.seeds[0],
    epochs: isQuick ? 1 : options.epochs,
  });
  note(`batches of ${String(autoBatch.batch_size)}, the default of auto: ${autoBatch.seconds.toFixed(2)} s`);
  const median = medianOf(runs.map(({ seconds }) => seconds));
  const bound = isQuick || etas.length < FEWEST_ETAS ? null : HYPERVOLUME_BOUND;
  const figures: SweepFigures = {
    work: {
      etas: etas.length,
      epochs: options.epochs,
      batch_size: options.batchSize,
      hidden: options.hidden,
      lr: options.lr,
      penalty: options.penalty,
      columns: rows.train.inputs,
      rows: adult.train.rowCount,
      test_rows: adult.test.rowCount,
    },
    warm_up_seconds: warmUp.seconds,
    runs,
    median_seconds: median,
    hypervolume_bound: bound,
    auto_batch: autoBatch,
  };
  return { figures, reason: judge(figures, request, rows) };
}

function judge(figures: SweepFigures, { isQuick }: SweepRequest, rows: AdultRows): string | null {
  const { runs, hypervolume_bound: bound } = figures;
  const mean = runs.reduce((sum, run) => sum + run.hypervolume, 0) / runs.length;
  return joinReasons([
    bound === null || mean > bound ? null : `mean hypervolume ${mean.toFixed(5)}, not above ${bound.toFixed(5)}`,
    isQuick || rows.train.inputs === COLUMNS ? null : `${String(rows.train.inputs)} columns, not ${String(COLUMNS)}`,
  ]);
}

async function timeSweep(adult: Adult, options: SweepOptions): Promise<SweepRun> {
  const start = performance.now();
  const sweep = await sweepPareto(sweepSource(adult), options);
  const seconds = (performance.now() - start) / 1000;
  return {
    seed: sweep.seed,
    batch_size: sweep.batchSize,
    seconds,
    hypervolume: sweep.hypervolume,
    points: pointsOf(sweep),
  };
}

/** Measures the same with the backend's default batch size. */
async function timeAutoBatch(adult: Adult, options: SweepOptions): Promise<SweepRun> {
  const automatic = { ...options, batchSize: 'auto' } as const;
  // Larger batches have new shapes, which are compiled outside the measured time.
  if (options.epochs !== 1) await timeSweep(adult, { ...automatic, epochs: 1 });
  return timeSweep(adult, automatic);
}

function pointsOf(sweep: ParetoSweep): PointFigures[] {
  return sweep.map(({ eta, accuracy, dpDiff }) => ({ eta, accuracy, dp: dpDiff }));
}

/** Returns the median. */
export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? NaN) + (sorted[Math.floor(middle)] ?? NaN)) / 2;
}
