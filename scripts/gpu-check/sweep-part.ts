import type { TensorBackend } from '../../src/tensor/index.ts';
import { hypervolume, type ParetoSweep, type SweepOptions, sweepPareto } from '../../src/training/index.ts';
import { markDominated } from '../../src/training/pareto/pareto-points.ts';
import { type Adult, type AdultRows, sweepSource } from './adult.ts';
import { type PeerChoice, runPeer } from './peer.ts';
import type { PeerFigures, PointFigures, SweepFigures, SweepRun } from './report.ts';
import { type Found, joinReasons } from './run-part.ts';

/** The work of benchmark B11: that of B5 with more etas. */
export const SWEEP = { penalty: 'mean_gap', epochs: 20, patience: 20, batchSize: 512, hidden: [64], lr: 3e-3 } as const;

/** How many times as long the loop must take. */
export const BAR = 10;

/**
 * What the mean hypervolume must exceed: 0.99 of what the PyTorch loop reaches with 16 etas from 0 to 3, on the mean of
 * its seeds 1 to 5 (0.08976, PyTorch 2.3.1). 64 etas over the same range lie as near to each of the 16 as 1/42, and the
 * area under more points is larger, not smaller; so this is a lower bound that tells whether the networks have learned,
 * no more.
 */
export const HYPERVOLUME_BOUND = 0.99 * 0.08976;

/** Fewer etas than the bound was found with show nothing. */
const FEWEST_ETAS = 16;

/** How far the peer's hypervolume may lie from ours: both must have learned the same. */
const PEER_APART = 0.05;

/** The columns of Adult, as in every run that the bounds come from. */
const COLUMNS = 42;

/** What is cut down where the work is. */
export interface CutWork {
  readonly epochs?: number;
  readonly batchSize?: number;
  readonly hidden?: readonly number[];
}

/** What is asked of the sweep. */
export interface SweepRequest {
  readonly backend: TensorBackend;
  readonly etas: number;
  readonly seeds: readonly number[];
  readonly cut: CutWork;
  /** Whether times count: all the work, on a GPU that is hardware. */
  readonly isMeasurement: boolean;
  readonly isQuick: boolean;
  readonly peer: PeerChoice;
  readonly note: (line: string) => void;
  readonly signal: AbortSignal;
}

/** The penalty's weights, evenly from 0 to 3. */
export function etasOf(count: number): number[] {
  return Array.from({ length: count }, (_, index) => Number(((3 * index) / (count - 1)).toFixed(4)));
}

/** B11: a sweep on the device beside the same work in a loop of PyTorch. */
export async function measureSweep(adult: Adult, rows: AdultRows, request: SweepRequest): Promise<Found<SweepFigures>> {
  const { backend, signal, note, isQuick } = request;
  const etas = etasOf(request.etas);
  // One thread on a CPU too, where it would otherwise be all cores against the loop.
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
  note(`batches of ${String(autoBatch.batch_size)}, as auto takes them: ${autoBatch.seconds.toFixed(2)} s`);
  const peer = await runPeer(rows, { ...options, etas }, request.peer);
  const median = medianOf(runs.map(({ seconds }) => seconds));
  const ratio = peer.figures === null ? null : peer.figures.seconds / median;
  if (ratio !== null) note(`PyTorch: ${(peer.figures?.seconds ?? NaN).toFixed(1)} s, ${ratio.toFixed(1)} times ours`);
  const bound = isQuick || etas.length < FEWEST_ETAS ? null : HYPERVOLUME_BOUND;
  const majority = majorityShare(rows.test.y);
  const figures: SweepFigures = {
    work: {
      etas: etas.length,
      epochs: options.epochs,
      batch_size: options.batchSize,
      hidden: options.hidden,
      lr: options.lr,
      penalty: options.penalty,
      columns: rows.train.inputs,
    },
    warm_up_seconds: warmUp.seconds,
    runs,
    median_seconds: median,
    hypervolume_bound: bound,
    auto_batch: autoBatch,
    peer: peer.figures === null ? null : { ...peer.figures, hypervolume: areaOf(peer.figures.points, majority) },
    peer_reason: peer.reason,
    ratio,
    bar: BAR,
    bar_holds: ratio === null || !request.isMeasurement ? null : ratio >= BAR,
  };
  return { figures, reason: judge(figures, request, rows) };
}

function judge(figures: SweepFigures, { isQuick, peer }: SweepRequest, rows: AdultRows): string | null {
  const { runs, hypervolume_bound: bound, ratio } = figures;
  const mean = runs.reduce((sum, run) => sum + run.hypervolume, 0) / runs.length;
  const apart = figures.peer === null || isQuick ? 0 : Math.abs(mean / figures.peer.hypervolume - 1);
  return joinReasons([
    bound === null || mean > bound ? null : `mean hypervolume ${mean.toFixed(5)}, not above ${bound.toFixed(5)}`,
    isQuick || rows.train.inputs === COLUMNS ? null : `${String(rows.train.inputs)} columns, not ${String(COLUMNS)}`,
    figures.peer === null && peer.isWanted === true ? `PyTorch did not run: ${figures.peer_reason ?? ''}` : null,
    apart <= PEER_APART ? null : `the hypervolumes of loop and sweep are ${(100 * apart).toFixed(1)}% apart`,
    figures.bar_holds === false ? `${(ratio ?? NaN).toFixed(2)} times as fast as the loop, below ${String(BAR)}` : null,
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

/** The same with batches as large as the backend chooses. */
async function timeAutoBatch(adult: Adult, options: SweepOptions): Promise<SweepRun> {
  const automatic = { ...options, batchSize: 'auto' } as const;
  // Larger batches bring shapes of their own, which are compiled outside the time measured.
  if (options.epochs !== 1) await timeSweep(adult, { ...automatic, epochs: 1 });
  return timeSweep(adult, automatic);
}

function pointsOf(sweep: ParetoSweep): PointFigures[] {
  return sweep.map(({ eta, accuracy, dpDiff }) => ({ eta, accuracy, dp: dpDiff }));
}

/** The area that points dominate, as a sweep's own is measured. */
function areaOf(points: PeerFigures['points'], majority: number): number {
  const none = { eoDiff: NaN, loss: NaN, accuracyCi: [NaN, NaN] as const, dpDiffCi: null };
  return hypervolume(
    markDominated(points.map(({ eta, accuracy, dp }) => ({ eta, accuracy, dpDiff: dp, ...none }))),
    majority,
  );
}

function majorityShare(y: Float32Array): number {
  const positives = y.reduce((sum, value) => sum + value, 0) / y.length;
  return Math.max(positives, 1 - positives);
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}
