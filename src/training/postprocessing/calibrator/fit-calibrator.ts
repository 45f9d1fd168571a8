import { DataValidationError } from '../../../exceptions/index.ts';
import { countAtMost, type GroupedScores, rowsOfGroups } from '../grouped-scores.ts';
import {
  calibrationFunction,
  type CalibrationMap,
  type CalibrationMethod,
  endMargin,
  type FittedMap,
  type LabelledScores,
  type PlattInput,
} from './calibration-map.ts';
import { type CalibrationRows, takeCalibrationRows, withoutWeightless } from './calibration-rows.ts';
import { fitPlatt } from './fit-platt.ts';
import { fitTemperature } from './fit-temperature.ts';

/** The settings of a calibrator, with defaults filled in. */
export interface CalibratorSettings {
  readonly method: CalibrationMethod;
  readonly minSamples: number;
  readonly input: PlattInput;
}

/** The fitted calibration of one group. */
interface GroupCalibration {
  readonly label: string;
  readonly n: number;
  /** The weighted share of positives. */
  readonly positiveRate: number;
  /** The group's own map; null if the group uses the pooled map. */
  readonly map: CalibrationMap | null;
  /** Why the group uses the pooled map; null if the group has its own map. */
  readonly reason: string | null;
}

/** The fitted state of a calibrator. */
export interface CalibratorState {
  /** The minimum distance from 0 and 1 to which a score is clipped before its logit is computed. */
  readonly margin: number;
  /** The map fitted on the rows of all groups. */
  readonly pooled: CalibrationMap;
  readonly n: number;
  readonly positiveRate: number;
  readonly groups: readonly GroupCalibration[];
  readonly warnings: readonly string[];
}

/**
 * Fits the pooled map and a map for each group that has enough rows and both labels. Rows with weight 0 are ignored.
 * @throws {DataValidationError} if all rows have the same label, or if no row has a weight above 0
 */
export function fitCalibrator(given: CalibrationRows, settings: CalibratorSettings): CalibratorState {
  const rows = withoutWeightless(given);
  assertBothLabels(rows.y);
  const margin = endMargin(rows.scores);
  const pooled = fitMap(rows, settings, margin);
  const warnings = pooled.warning === null ? [] : [`all rows: ${pooled.warning}`];
  const groups = presentGroups(rows).map(({ label, members }): GroupCalibration => {
    const own = takeCalibrationRows(rows, members);
    const base = { label, n: members.length, positiveRate: positiveRate(own) };
    const reason = whyPooled(own.y, settings.minSamples);
    if (reason !== null) return Object.freeze({ ...base, map: null, reason });
    const { map, warning } = fitMap(own, settings, margin);
    if (warning !== null) warnings.push(`group '${label}': ${warning}`);
    return Object.freeze({ ...base, map, reason });
  });
  return Object.freeze({
    margin,
    pooled: pooled.map,
    n: rows.y.length,
    positiveRate: positiveRate(rows),
    groups: Object.freeze(groups),
    warnings: Object.freeze(warnings),
  });
}

/** @throws {DataValidationError} if all rows have the same label */
export function assertBothLabels(y: Uint8Array): void {
  const onlyLabel = soleLabel(y);
  if (onlyLabel === undefined) return;
  throw new DataValidationError(`y is ${String(onlyLabel)} in every row, so no calibrator can be fitted.`, {
    code: 'empty-data',
    context: { argument: 'y', value: onlyLabel },
    suggestion: 'Provide rows of both labels, or specify another positive label.',
  });
}

/** Calibrates each score, [rows], with the map of its group, or with the pooled map. */
export function applyCalibrator({ pooled, margin, groups: known }: CalibratorState, rows: GroupedScores): Float64Array {
  const mapOf = new Map(known.map(({ label, map }) => [label, map]));
  const { codes, labels } = rows.groups;
  const functions = labels.map((label) => calibrationFunction(mapOf.get(label) ?? pooled, margin));
  return rows.scores.map((score, row) => (functions[codes[row] as number] as (score: number) => number)(score));
}

function fitMap(rows: LabelledScores, { method, input }: CalibratorSettings, margin: number): FittedMap {
  switch (method) {
    case 'platt':
      return fitPlatt(rows, margin, input);
    case 'isotonic':
      return fitIsotonic(rows);
    case 'temperature':
      return fitTemperature(rows, margin);
  }
}

function whyPooled(y: Uint8Array, minSamples: number): string | null {
  if (y.length < minSamples) return `fewer than minSamples = ${String(minSamples)} rows`;
  const onlyLabel = soleLabel(y);
  return onlyLabel === undefined ? null : `y is ${String(onlyLabel)} in every row`;
}

/** Returns the label that all rows have; undefined if both labels occur. */
function soleLabel(y: Uint8Array): number | undefined {
  return y.includes(0) && y.includes(1) ? undefined : y[0];
}

function positiveRate({ y, weights }: LabelledScores): number {
  let [yes, total] = [0, 0];
  for (let row = 0; row < y.length; row++) {
    const weight = weights[row] as number;
    total += weight;
    yes += weight * (y[row] as number);
  }
  return yes / total;
}

/** Returns the rows of each non-empty group, in the order of the labels. */
function presentGroups({ groups }: CalibrationRows): { label: string; members: Int32Array }[] {
  const present = rowsOfGroups(groups, groups.codes.keys()).map((members, code) => ({
    label: groups.labels[code] as string,
    members,
  }));
  return present.filter(({ members }) => members.length > 0);
}

/**
 * Fits an isotonic regression of labels on scores: the non-decreasing rates with the least weighted squared error. The
 * fit uses the pool adjacent violators algorithm (Ayer et al. 1955) and pools equal scores first. Sorting takes O(n log
 * n) time, and the other steps take O(n) time.
 */
function fitIsotonic({ scores, y, weights }: LabelledScores): FittedMap {
  const distinct = distinctSorted(scores);
  const [weightOf, yesOf] = [new Float64Array(distinct.length), new Float64Array(distinct.length)];
  for (let row = 0; row < scores.length; row++) {
    const index = countAtMost(distinct, scores[row] as number) - 1;
    const weight = weights[row] as number;
    weightOf[index] = (weightOf[index] as number) + weight;
    yesOf[index] = (yesOf[index] as number) + weight * (y[row] as number);
  }
  const rates = poolViolators(yesOf, weightOf);
  // Points inside a flat segment do not change the interpolation.
  const isCorner = (index: number): boolean => rates[index] !== rates[index - 1] || rates[index] !== rates[index + 1];
  const kept = rates.flatMap((_, index) => (isCorner(index) ? [index] : []));
  return {
    map: {
      kind: 'isotonic',
      scores: kept.map((index) => distinct[index] as number),
      rates: kept.map((index) => rates[index] as number),
    },
    warning:
      rates[0] === rates.at(-1)
        ? 'the curve is flat, because the rate of positives does not rise with the score'
        : null,
  };
}

/**
 * Returns the distinct values in ascending order. Sorting a typed array of numbers is faster than sorting indexes
 * with a comparison function.
 */
function distinctSorted(values: Float64Array): Float64Array {
  const sorted = values.toSorted();
  return sorted.filter((value, index) => value !== sorted[index - 1]);
}

/**
 * Computes the non-decreasing rates that are nearest to yes / weight. Blocks of equal rates are stored on a stack, so
 * each index is merged at most once.
 */
function poolViolators(yesOf: Float64Array, weightOf: Float64Array): number[] {
  const blocks: { yes: number; weight: number; indices: number }[] = [];
  for (const [index, yes] of yesOf.entries()) {
    let block = { yes, weight: weightOf[index] as number, indices: 1 };
    for (let last = blocks.at(-1); last !== undefined && rateOf(last) >= rateOf(block); last = blocks.at(-1)) {
      block = { yes: last.yes + block.yes, weight: last.weight + block.weight, indices: last.indices + block.indices };
      blocks.pop();
    }
    blocks.push(block);
  }
  return blocks.flatMap((block) => Array<number>(block.indices).fill(rateOf(block)));
}

function rateOf({ yes, weight }: { readonly yes: number; readonly weight: number }): number {
  return yes / weight;
}
