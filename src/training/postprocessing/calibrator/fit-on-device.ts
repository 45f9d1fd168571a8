import type { Tensor1D } from '@tensorflow/tfjs';

import { sumOf } from '../../../internal/values.ts';
import { type Keep, withTensors } from '../../../metrics/reduce/tensors/row-states.ts';
import { type ColumnSource } from '../../../table/index.ts';
import { currentTensorflow, groupColumnSums, largestValues, type Slice, type Tf } from '../../../tensor/index.ts';
import { type DeviceScores, readDeviceScores } from '../device-scores.ts';
import { asOneGroup, poolScores, type ScoreBlock, sortScores } from '../score-blocks.ts';
import type { FittedMap, PlattInput } from './calibration-map.ts';
import { assertGroupsGiven, type CalibrationRowOptions } from './calibration-rows.ts';
import {
  assertBothLabels,
  type CalibratorSettings,
  type CalibratorState,
  calibratorState,
  type LabelCounts,
  whyPooled,
} from './fit-calibrator.ts';
import { isotonicMap } from './fit-isotonic.ts';
import { descend, type DescentPrecision, type Line, plattMap, type PlattStart, type PlattSums, plattTargets } from './fit-platt.ts'; // prettier-ignore
import { type LossDerivatives, searchTemperature } from './fit-temperature.ts';

/** The fitted maps of all rows and of the groups that get their own map. */
interface FittedMaps {
  readonly pooled: FittedMap;
  /** One entry per group code; undefined if the group uses the pooled map. */
  readonly own: readonly (FittedMap | undefined)[];
}

/** The rows of a fit, with the groups that get their own map. */
interface DeviceFit {
  readonly tf: Tf;
  readonly keep: Keep;
  readonly rows: DeviceScores;
  readonly margin: number;
  /** For each group code, whether the group gets its own map. */
  readonly isOwn: readonly boolean[];
}

/**
 * Fits a calibrator on the device of its scores, like {@link fitDeviceScores}.
 * @param scores a tensor, [rows]
 * @throws {DataValidationError} under the conditions of `readDeviceScores`, or if all rows have the same label
 * @throws {TrainingError} if the steps of `platt` do not converge
 */
export function fitOnDevice(
  scores: ColumnSource,
  y: ColumnSource,
  options: CalibrationRowOptions,
  settings: CalibratorSettings,
): Promise<CalibratorState> {
  const tf = currentTensorflow();
  return withTensors(tf, async (keep) =>
    fitDeviceScores(tf, keep, await readCalibrationTensors(tf, keep, scores, y, options), settings),
  );
}

/**
 * Reads rows for fitting a calibrator on the device of their scores.
 * @throws {DataValidationError} under the conditions of `readDeviceScores`
 */
export async function readCalibrationTensors(
  tf: Tf,
  keep: Keep,
  scores: ColumnSource,
  y: ColumnSource,
  { groups, sampleWeight, positiveLabel }: CalibrationRowOptions,
): Promise<DeviceScores> {
  assertGroupsGiven(groups);
  return readDeviceScores(tf, keep, {
    scores: { source: scores, must: 'unit' },
    y,
    positiveLabel,
    sampleWeight,
    groups: { groups },
  });
}

/**
 * Fits a calibrator to rows on the device. The device computes sums per group, and only these are read. `platt` and
 * `temperature` take their Newton steps for all groups at once.
 * @throws {DataValidationError} if all rows have the same label
 * @throws {TrainingError} if the steps of `platt` do not converge
 */
export async function fitDeviceScores(
  tf: Tf,
  keep: Keep,
  rows: DeviceScores,
  settings: CalibratorSettings,
): Promise<CalibratorState> {
  const counts = rows.counts.map(({ weight, yes, ...own }) => ({ ...own, positiveRate: yes / weight }));
  const total = sumOf(rows.counts.map(({ weight }) => weight));
  const all: LabelCounts = {
    n: sumOf(counts.map(({ n }) => n)),
    positives: sumOf(counts.map(({ positives }) => positives)),
    positiveRate: sumOf(rows.counts.map(({ yes }) => yes)) / total,
  };
  assertBothLabels(all);
  const margin = await deviceMargin(tf, rows);
  const isOwn = counts.map((own) => whyPooled(own, settings.minSamples) === null);
  const { pooled, own } = await fitMaps({ tf, keep, rows, margin, isOwn }, settings);
  const groupsFitted = counts.map((group, code) => ({ ...group, own: own[code] })).filter(({ n }) => n > 0);
  return calibratorState({ ...all, margin, pooled }, groupsFitted, settings.minSamples);
}

function fitMaps(fit: DeviceFit, { method, input }: CalibratorSettings): Promise<FittedMaps> {
  switch (method) {
    case 'platt':
      return fitPlattMaps(fit, input);
    case 'isotonic':
      return fitIsotonicMaps(fit);
    case 'temperature':
      return fitTemperatureMaps(fit);
  }
}

/** Computes `endMargin` of the rows with a weight above 0. */
async function deviceMargin(tf: Tf, { scores, codes, groups, rows }: DeviceScores): Promise<number> {
  const [atEnd = 0, negated = -0.5] = await largestValues(tf, rows, 2, (slice) => {
    const own = slice(scores);
    const distance = tf.minimum<Tensor1D>(own, tf.sub(1, own));
    const isKept = slice(codes).less<Tensor1D>(groups);
    const isEnd = tf.logicalAnd(distance.equal(0), isKept);
    const isInside = tf.logicalAnd(distance.greater(0), isKept);
    return [isEnd.cast('float32'), tf.where<Tensor1D>(isInside, distance.neg(), tf.fill(distance.shape, -0.5))];
  });
  return atEnd === 0 ? Number.EPSILON : Math.max(Number.EPSILON, -negated / 2);
}

/** Computes the logits of scores that are clipped to a distance of `margin` from 0 and 1. */
export function deviceLogits(tf: Tf, scores: Tensor1D, margin: number): Tensor1D {
  // Both distances are exact in float32; 1 - margin may be 1.
  const clipped = (distance: Tensor1D): Tensor1D =>
    tf.log<Tensor1D>(tf.clipByValue<Tensor1D>(distance, margin, 1 - margin));
  return clipped(scores).sub<Tensor1D>(clipped(tf.sub<Tensor1D>(1, scores)));
}

/** Returns each row's entry of a table by group code. Rows without a group get 0. */
function ofGroups(tf: Tf, codes: Tensor1D, table: ArrayLike<number>): Tensor1D {
  return tf.gather(tf.tensor1d([...Array.from(table), 0]), codes.cast<Tensor1D>('int32'));
}

/** Sums columns over the rows of each group; the result is indexed by column, then by group code. */
function sumColumns(
  { tf, rows: { rows, codes, groups, weights, largestWeight } }: DeviceFit,
  columns: number,
  columnsOf: (slice: Slice, shares: Tensor1D | undefined) => readonly Tensor1D[],
): Promise<Float64Array[]> {
  return groupColumnSums(
    tf,
    { rows, cells: groups + 1, codesOf: (slice) => slice(codes).cast('int32') },
    columns,
    (slice) => columnsOf(slice, weights && slice(weights).div<Tensor1D>(largestWeight)),
  );
}

/** Runs solvers together. In each step, one pass over the rows computes the sums that all unfinished solvers need. */
async function solveTogether<Point, Sums, Result>(
  solvers: readonly (Generator<Point, Result, Sums> | undefined)[],
  sumsAt: (points: readonly (Point | undefined)[]) => Promise<readonly Sums[]>,
): Promise<(Result | undefined)[]> {
  const steps = solvers.map((solver) => solver?.next());
  for (;;) {
    const points = steps.map((step) => (step === undefined || step.done === true ? undefined : step.value));
    if (points.every((point) => point === undefined)) break;
    const sums = await sumsAt(points);
    points.forEach((point, index) => {
      if (point !== undefined) steps[index] = solvers[index]?.next(sums[index] as Sums);
    });
  }
  return steps.map((step) => (step?.done === true ? step.value : undefined));
}

/** With float32 sums, the last steps start at a distance of about 1e-4 from the minimum and end at about 1e-7. */
const ON_DEVICE: DescentPrecision = { hidden: 1e-9, rounding: 1e-6 };

/** If the spread of x is below this share of its size, float32 cannot distinguish the values. */
const FLAT = 1e-6;

async function fitPlattMaps(fit: DeviceFit, input: PlattInput): Promise<FittedMaps> {
  const { tf, keep, rows, margin } = fit;
  const x = input === 'logit' ? keep(tf.tidy(() => deviceLogits(tf, rows.scores, margin))) : rows.scores;
  const { pooled, own } = await plattStarts(fit, x);
  const standardised = (starts: PlattStart | readonly PlattStart[]): PlattRows => keepPlattRows(fit, x, starts);
  const ofAll = standardised(pooled);
  const ofOwn = fit.isOwn.includes(true) ? standardised(own) : undefined;
  const solvers = [descend(pooled, ON_DEVICE), ...own.map((start, code) => (fit.isOwn[code] ? descend(start, ON_DEVICE) : undefined))]; // prettier-ignore
  const [line, ...lines] = await solveTogether(solvers, async ([all, ...groups]) => {
    const isGroupwise = groups.some((point) => point !== undefined);
    const sets = [
      ...(all === undefined ? [] : [{ ...ofAll, lines: [all] }]),
      ...(isGroupwise ? [{ ...(ofOwn as PlattRows), lines: groups.map((point) => point ?? ([0, 0] as const)) }] : []),
    ];
    const sums = await sumColumns(fit, PLATT_COLUMNS * sets.length, (slice, shares) =>
      sets.flatMap((set) => plattColumns(tf, slice, set, rows.codes, shares)),
    );
    const unit = rows.largestWeight;
    const groupColumns = sums.slice(-PLATT_COLUMNS);
    return [
      plattSums(sums.map((column) => (sumOf(column.subarray(0, rows.groups)) * unit) / pooled.total)),
      ...own.map(({ total }, code) =>
        plattSums(groupColumns.map((column) => ((column[code] as number) * unit) / total)),
      ),
    ];
  });
  return {
    pooled: plattMap(line as Line, pooled, input),
    own: lines.map((own_, code) => own_ && plattMap(own_, own[code] as PlattStart, input)),
  };
}

/** Rows with standardised x and the targets of Platt's method, for all rows or for each group. */
interface PlattRows {
  readonly z: Tensor1D;
  readonly targets: Tensor1D;
}

/** Computes the statistics from which the descents of all rows and of each group start. */
async function plattStarts(
  fit: DeviceFit,
  x: Tensor1D,
): Promise<{ readonly pooled: PlattStart; readonly own: readonly PlattStart[] }> {
  const { tf, rows } = fit;
  const { counts, largestWeight, codes } = rows;
  const weighted = (values: Tensor1D, shares: Tensor1D | undefined): Tensor1D =>
    shares === undefined ? values : values.mul<Tensor1D>(shares);
  const [sums] = (await sumColumns(fit, 1, (slice, shares) => [weighted(slice(x), shares)])) as [Float64Array];
  const means = counts.map(({ weight }, code) => ((sums[code] as number) * largestWeight) / weight || 0);
  const centre = tf.tidy(() => ofGroups(tf, codes, means));
  const [squares] = (await sumColumns(fit, 1, (slice, shares) => [
    weighted(slice(x).sub<Tensor1D>(slice(centre)).square(), shares),
  ]).finally(() => {
    centre.dispose();
  })) as [Float64Array];
  const start = (parts: readonly number[]): PlattStart => {
    const total = sumOf(parts.map((code) => counts[code]?.weight ?? 0));
    const mean = sumOf(parts.map((code) => (counts[code]?.weight ?? 0) * (means[code] ?? 0))) / total;
    const within = sumOf(parts.map((code) => (squares[code] as number) * largestWeight));
    const between = sumOf(parts.map((code) => (counts[code]?.weight ?? 0) * ((means[code] ?? 0) - mean) ** 2));
    const spread = Math.sqrt((within + between) / total);
    const isFlat = !(spread > FLAT * Math.max(1, Math.abs(mean)));
    return { mean, spread, isFlat, total, yes: sumOf(parts.map((code) => counts[code]?.yes ?? 0)) };
  };
  return { pooled: start([...counts.keys()]), own: counts.map((_, code) => start([code])) };
}

function keepPlattRows(
  { tf, keep, rows: { codes, y } }: DeviceFit,
  x: Tensor1D,
  starts: PlattStart | readonly PlattStart[],
): PlattRows {
  const tableOf = (value: (start: PlattStart) => number): Tensor1D =>
    'mean' in starts ? tf.scalar(value(starts)).reshape([1]) : ofGroups(tf, codes, starts.map(value));
  const made = tf.tidy(() => {
    const scale = tableOf(({ spread, isFlat }) => (isFlat ? 0 : 1 / spread));
    const no = tableOf((start) => plattTargets(start)[0]);
    const yes = tableOf((start) => plattTargets(start)[1]);
    return {
      z: x.sub<Tensor1D>(tableOf(({ mean }) => mean)).mul<Tensor1D>(scale),
      targets: no.add<Tensor1D>(y.mul(yes.sub(no))),
    };
  });
  return { z: keep(made.z), targets: keep(made.targets) };
}

const PLATT_COLUMNS = 6;

/** Returns the terms of a chunk's rows: loss, gradient and second derivatives. */
function plattColumns(
  tf: Tf,
  slice: Slice,
  { z, targets, lines }: PlattRows & { readonly lines: readonly Line[] },
  codes: Tensor1D,
  shares: Tensor1D | undefined,
): Tensor1D[] {
  const [own, target] = [slice(z), slice(targets)];
  const part = (index: 0 | 1): Tensor1D =>
    lines.length === 1
      ? tf.tensor1d([(lines[0] as Line)[index]])
      : ofGroups(
          tf,
          slice(codes),
          lines.map((line) => line[index]),
        );
  const f = own.mul<Tensor1D>(part(0)).add<Tensor1D>(part(1));
  const p = tf.sigmoid(f);
  const loss = tf.log1p(tf.exp(f.abs().neg())).add<Tensor1D>(tf.relu(f)).sub<Tensor1D>(target.mul(f));
  const curvature = p.mul<Tensor1D>(tf.sub(1, p));
  const [weightedLoss, error, second] = [loss, p.sub<Tensor1D>(target), curvature].map((term) =>
    shares === undefined ? term : term.mul<Tensor1D>(shares),
  ) as [Tensor1D, Tensor1D, Tensor1D];
  const mixed = second.mul<Tensor1D>(own);
  return [weightedLoss, error.mul(own), error, mixed.mul(own), mixed, second];
}

function plattSums(means: readonly number[]): PlattSums {
  const [loss, g0, g1, h00, h01, h11] = means as [number, number, number, number, number, number];
  return { loss, gradient: [g0, g1], curvature: [h00, h01, h11] };
}

/** With float32 sums, a relative step of this size ends at a distance of about 1e-7 from the root. */
const TEMPERATURE_STEP = 1e-5;

async function fitTemperatureMaps(fit: DeviceFit): Promise<FittedMaps> {
  const { tf, keep, rows, margin, isOwn } = fit;
  const x = keep(tf.tidy(() => deviceLogits(tf, rows.scores, margin)));
  const [sizes] = (await sumColumns(fit, 1, (slice) => [slice(x).abs()])) as [Float64Array];
  const search = (size: number): Generator<number, FittedMap, LossDerivatives> =>
    searchTemperature(size === 0, TEMPERATURE_STEP);
  const solvers = [
    search(sumOf(sizes.subarray(0, rows.groups))),
    ...isOwn.map((own, code) => (own ? search(sizes[code] as number) : undefined)),
  ];
  const total = sumOf(rows.counts.map(({ weight }) => weight));
  const [pooled, ...own] = await solveTogether(solvers, async ([all, ...groups]) => {
    const isGroupwise = groups.some((point) => point !== undefined);
    const sets = [...(all === undefined ? [] : [[all]]), ...(isGroupwise ? [groups.map((point) => point ?? 0)] : [])];
    const sums = await sumColumns(
      fit,
      2 * sets.length,
      (slice, shares) =>
      sets.flatMap((set) => temperatureColumns(tf, slice(x), slice(rows.y), set.length === 1 ? tf.tensor1d(set) : ofGroups(tf, slice(rows.codes), set), shares)), // prettier-ignore
    );
    const unit = rows.largestWeight;
    const at = (means: readonly number[]): LossDerivatives => means as unknown as LossDerivatives;
    return [
      at(sums.slice(0, 2).map((column) => (sumOf(column.subarray(0, rows.groups)) * unit) / total)),
      ...rows.counts.map(({ weight }, code) => at(sums.slice(-2).map((column) => ((column[code] as number) * unit) / weight))), // prettier-ignore
    ];
  });
  return { pooled: pooled as FittedMap, own };
}

/** Returns the terms of a chunk's rows: the first and second derivative of the loss. */
function temperatureColumns(
  tf: Tf,
  x: Tensor1D,
  y: Tensor1D,
  b: Tensor1D,
  shares: Tensor1D | undefined,
): [Tensor1D, Tensor1D] {
  const p = tf.sigmoid(x.mul<Tensor1D>(b));
  const weighted = shares === undefined ? x : x.mul<Tensor1D>(shares);
  const first = p.sub<Tensor1D>(y).mul<Tensor1D>(weighted);
  return [first, p.mul<Tensor1D>(tf.sub(1, p)).mul<Tensor1D>(x).mul<Tensor1D>(weighted)];
}

async function fitIsotonicMaps({ tf, keep, rows, isOwn }: DeviceFit): Promise<FittedMaps> {
  const own = isOwn.includes(true) ? await poolScores(tf, sortScores(tf, keep, rows), 1) : [];
  const pooled = await poolScores(tf, sortScores(tf, keep, asOneGroup(tf, keep, rows)), 1);
  const blocksOf = isOwn.map((): ScoreBlock[] => []);
  for (const block of own) blocksOf[block.group]?.push(block);
  return {
    pooled: isotonicMap(pooled),
    own: blocksOf.map((blocks, code) => (isOwn[code] === true ? isotonicMap(blocks) : undefined)),
  };
}
