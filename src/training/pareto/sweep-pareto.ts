import { chartFormat } from '../../charts/render-chart.ts';
import { assertKnownOptions } from '../../internal/known-options.ts';
import type { CategoricalColumn } from '../../table/index.ts';
import { assertFileWritable, assertReplaceable, assertWritable } from '../../io/atomic-write.ts';
import type { OnProgress } from '../../internal/progress.ts';
import { loadTensorflow, type Tensorflow } from '../../tensor/index.ts';
import { judgeDecisions } from '../decision-quality.ts';
import { crossEntropy } from '../logistic.ts';
import { type EtaRange, findEtas, type ProbeEtas } from './find-etas.ts';
import { changesGap } from './gap-change.ts';
import { hypervolume, markDominated, type ParetoPoint } from './pareto-points.ts';
import type { ParetoSweep, SweepInfo } from './pareto-sweep.ts';
import { fitSplits, joinOutputs } from './fit-splits.ts';
import { plotPareto, pointsPath } from './plot-pareto.ts';
import type { FairnessPenaltyName } from '../networks/penalties.ts';
import { holdsOnlyNetworks, saveNetworks } from '../models/save-networks.ts';
import {
  type FilledSweepOptions,
  fillSweepOptions,
  SWEEP_OPTION_NAMES,
  type SweepOptions,
  type SweepPlan,
} from './sweep-options.ts';
import {
  assertComparable,
  countGroups,
  joinRows,
  smallGroups,
  splitRows,
  unseenGroups,
  type Split,
} from '../data/row-splits.ts';
import { readTrainingData, type TrainingSource, type TrainingData, type TrainingRows } from '../data/training-data.ts';

/**
 * Trains one network for every eta, all at once, and shows what each gives up
 * in accuracy for how small a gap: the trade-off between error and a fairness
 * penalty, on rows that the networks have not seen.
 *
 * The data are split by target and group (80/20 unless told otherwise), or
 * cross-fitted with `folds`; 10% of the training rows decide when to stop.
 * Features are encoded from training rows alone: numbers standardised, text
 * one-hot, missing values marked. Sensitive columns are never features.
 *
 * The penalty constrains mean scores on the training rows; that the gap of
 * decisions falls with eta on other rows is what the points show, not a promise.
 * `etas: 'auto'` first trains on the first split alone, and looks at its training
 * rows alone: from which eta on the gap differs from the gap without a penalty by
 * more than noise (a paired test at the 5% level), and before which one the model decides alike for all rows
 * or no better. `etaRange` says what was found.
 *
 * Rows x etas x epochs decide the time; results depend on the seed and, in the
 * last digits, on the backend, never on the number of cores.
 * @throws {DataValidationError} for unknown columns, a target without two values, one group, or too few rows
 * @throws {TrainingError} where the loss diverges
 * @throws {DependencyError} where the backend asked for cannot start
 * @example
 * ```ts
 * import { sweepPareto, sampleData } from 'evenhand';
 *
 * const points = await sweepPareto(
 *   { table: sampleData('cps-wages'), target: 'wage_above_median', sensitive: 'gender', features: ['education', 'experience'] },
 *   { etas: [0, 2], epochs: 3, backend: 'wasm' },
 * );
 * console.log(points.map((point) => point.eta), points.nTest);
 * // [ 0, 2 ] 107
 * ```
 */
export async function sweepPareto(data: TrainingSource, options: SweepOptions = {}): Promise<ParetoSweep> {
  assertKnownOptions('sweepPareto', options, SWEEP_OPTION_NAMES);
  const filled = fillSweepOptions(options);
  const training = readTrainingData(data);
  await assertPlaces(filled);
  const splits = splitRows(training, filled);
  const heldOut = splits.map(({ test }) => test);
  assertComparable(heldOut, filled.minGroupSize);
  const { tf, backend } = await loadTensorflow({ backend: filled.backend });
  const [first] = splits as [Split, ...Split[]];
  const { etas, range } =
    filled.etas === 'auto'
      ? await findEtas(probeOn(training, first.train, { tf, backend }, filled))
      : { etas: filled.etas, range: null };
  const plan: SweepPlan = { ...filled, etas };

  // With cross-fitting no fold's networks are the ones to keep: those are trained on all rows.
  const whole = { train: training.rows, test: training.rows };
  const keepsWhole = filled.modelPath !== undefined && filled.folds !== undefined;
  const all = await fitSplits(training, keepsWhole ? [...splits, whole] : splits, { tf, backend }, plan);
  const fits = all.slice(0, splits.length);
  const warnings = new Set(fits.flatMap((fit) => fit.warnings));

  const together = joinRows(heldOut);
  const points = Object.freeze(
    markDominated(
      etas.map((eta, model) => ({
        eta,
        ...judgeLogits(joinOutputs(fits, model), together.y, together.groups, filled),
      })),
    ).map((point) => Object.freeze(point)),
  );
  const info: SweepInfo = {
    hypervolume: hypervolume(points, majorityShare(together.y)),
    backend,
    penalty: filled.penalty,
    etaRange: range,
    seed: filled.seed,
    folds: filled.folds ?? null,
    batchSize: fits[0]?.batchSize ?? 0,
    nTrain: splits[0]?.train.y.length ?? 0,
    nTest: together.y.length,
    nDropped: training.rows.nDropped,
    target: training.target,
    sensitive: training.sensitive,
    positiveLabel: training.positiveLabel,
    warnings: [
      ...training.warnings,
      ...warnings,
      ...blindness(filled.penalty, range),
      ...unseenGroups(training),
      ...smallGroups(together, filled.minGroupSize),
    ],
  };
  const sweep: ParetoSweep = Object.freeze(Object.assign([...points], info));
  filled.signal?.throwIfAborted();
  if (filled.modelPath !== undefined) {
    const kept = keepsWhole ? all.at(-1) : all[0];
    const groups = countGroups((keepsWhole ? whole : splits[0])?.train ?? training.rows);
    await saveNetworks(tf, filled.modelPath, {
      specs: kept?.specs ?? [],
      weights: kept?.weights ?? [],
      points,
      info,
      groups,
    });
  }
  if (filled.savePath !== undefined) await plotPareto(sweep, { savePath: filled.savePath, withPoints: true });
  return sweep;
}

/** Trains networks of one split for the search, and judges them on the rows trained on: held-out rows choose nothing. */
function probeOn(
  training: TrainingData,
  train: TrainingRows,
  runtime: Pick<Tensorflow, 'tf' | 'backend'>,
  options: FilledSweepOptions,
): ProbeEtas {
  const { onProgress, penalty } = options;
  const split = { train, test: train } satisfies Split;
  const majority = majorityShare(train.y);
  const compared = {
    labels: penalty === 'equalized_odds' ? 'each' : 'all',
    minGroupSize: options.minGroupSize,
  } as const;
  let round = 0;
  let free: Uint8Array | undefined;
  return async (etas) => {
    const stage = `searching for etas, round ${String(++round)}`;
    const report: OnProgress = ({ done, total }) => onProgress?.({ stage, done, total });
    const fits = await fitSplits(training, [split], runtime, { ...options, etas, onProgress: report });
    return etas.map((_, model) => {
      const decisions = decide(joinOutputs(fits, model));
      free ??= decisions;
      const isAlike = decisions.every((decision) => decision === decisions[0]);
      const right = decisions.reduce((sum, decision, row) => sum + Number(decision === train.y[row]), 0);
      return {
        changesGap: changesGap(free, decisions, train, compared),
        isConstant: isAlike || right / train.y.length <= majority,
      };
    });
  };
}

function blindness(penalty: FairnessPenaltyName, range: EtaRange | null): string[] {
  if (range === null || range.hasEffect) return [];
  return [
    `no eta up to ${String(range.to)} changes the gap on the training rows by more than its noise, so that the ${penalty} penalty may have nothing to do there`,
  ];
}

/** Checked before the work, so that its result is not lost to a bad path. */
async function assertPlaces({ savePath, modelPath }: FilledSweepOptions): Promise<void> {
  if (savePath !== undefined) {
    chartFormat(savePath);
    await assertFileWritable(savePath);
    await assertFileWritable(pointsPath(savePath));
  }
  if (modelPath === undefined) return;
  assertReplaceable(modelPath, holdsOnlyNetworks);
  await assertWritable(modelPath);
}

/** Judges one network's logits: it decides 1 for 0 or more, a probability of at least 0.5. */
function judgeLogits(
  logits: Float32Array,
  y: Uint8Array,
  groups: CategoricalColumn,
  options: FilledSweepOptions,
): Omit<ParetoPoint, 'eta' | 'dominated'> {
  const { accuracy, accuracyCi, dpDiff, dpDiffCi, eoDiff } = judgeDecisions(decide(logits), y, groups, options);
  const loss = logits.reduce((sum, logit, row) => sum + crossEntropy(logit, y[row] as number), 0) / y.length;
  return { accuracy, accuracyCi, dpDiff, dpDiffCi, eoDiff, loss };
}

function decide(logits: Float32Array): Uint8Array {
  return Uint8Array.from(logits, (logit) => Number(logit >= 0));
}

function majorityShare(y: Uint8Array): number {
  const positives = y.reduce((sum, value) => sum + value, 0) / y.length;
  return Math.max(positives, 1 - positives);
}
