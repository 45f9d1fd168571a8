import { DataValidationError } from '../../../exceptions/index.ts';
import { type GroupedScores, rowsOfGroups } from '../grouped-scores.ts';
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
import { fitIsotonic } from './fit-isotonic.ts';
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

/** The number of rows and labels of one group, or of all rows. Rows with weight 0 are not counted. */
export interface LabelCounts {
  readonly n: number;
  /** The number of rows with label 1. */
  readonly positives: number;
  /** The weighted share of positives. */
  readonly positiveRate: number;
}

/** A group before its calibration is stored. */
export interface FittedGroup extends LabelCounts {
  readonly label: string;
  /** The group's own map; undefined if the group uses the pooled map. */
  readonly own: FittedMap | undefined;
}

/**
 * Fits the pooled map and a map for each group that has enough rows and both labels. Rows with weight 0 are ignored.
 * @throws {DataValidationError} if all rows have the same label, or if no row has a weight above 0
 */
export function fitCalibrator(given: CalibrationRows, settings: CalibratorSettings): CalibratorState {
  const rows = withoutWeightless(given);
  const all = countLabels(rows);
  assertBothLabels(all);
  const margin = endMargin(rows.scores);
  const pooled = fitMap(rows, settings, margin);
  const groups = presentGroups(rows).map(({ label, members }): FittedGroup => {
    const group = takeCalibrationRows(rows, members);
    const counts = countLabels(group);
    const isOwn = whyPooled(counts, settings.minSamples) === null;
    return { ...counts, label, own: isOwn ? fitMap(group, settings, margin) : undefined };
  });
  return calibratorState({ ...all, margin, pooled }, groups, settings.minSamples);
}

/** Collects fitted maps as the state of a calibrator. */
export function calibratorState(
  { margin, pooled, n, positiveRate }: LabelCounts & { readonly margin: number; readonly pooled: FittedMap },
  groups: readonly FittedGroup[],
  minSamples: number,
): CalibratorState {
  const warned = [
    { name: 'all rows', warning: pooled.warning },
    ...groups.map(({ label, own }) => ({ name: `group '${label}'`, warning: own?.warning ?? null })),
  ];
  return Object.freeze({
    margin,
    pooled: pooled.map,
    n,
    positiveRate,
    groups: Object.freeze(
      groups.map(({ own, positives, ...group }) =>
        Object.freeze({
          label: group.label,
          n: group.n,
          positiveRate: group.positiveRate,
          map: own?.map ?? null,
          reason: whyPooled({ ...group, positives }, minSamples),
        }),
      ),
    ),
    warnings: Object.freeze(warned.flatMap(({ name, warning }) => (warning === null ? [] : [`${name}: ${warning}`]))),
  });
}

/** @throws {DataValidationError} if all rows have the same label */
export function assertBothLabels(counts: LabelCounts): void {
  const onlyLabel = soleLabel(counts);
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

/** Returns the reason why a group uses the pooled map; null if the group gets its own map. */
export function whyPooled(counts: LabelCounts, minSamples: number): string | null {
  if (counts.n < minSamples) return `fewer than minSamples = ${String(minSamples)} rows`;
  const onlyLabel = soleLabel(counts);
  return onlyLabel === undefined ? null : `y is ${String(onlyLabel)} in every row`;
}

/** Returns the label that all rows have; undefined if both labels occur. */
function soleLabel({ n, positives }: LabelCounts): 0 | 1 | undefined {
  if (positives > 0 && positives < n) return undefined;
  return positives === 0 ? 0 : 1;
}

/** Counts rows and labels. */
export function countLabels({
  y,
  weights,
  areCounts = false,
}: Pick<CalibrationRows, 'y' | 'weights' | 'areCounts'>): LabelCounts {
  let [positives, yes, total] = [0, 0, 0];
  for (let row = 0; row < y.length; row++) {
    const weight = weights[row] as number;
    total += weight;
    if (y[row] !== 1) continue;
    yes += weight;
    positives += 1;
  }
  const positiveRate = yes / total;
  return areCounts ? { n: total, positives: yes, positiveRate } : { n: y.length, positives, positiveRate };
}

/** Returns the rows of each non-empty group, in the order of the labels. */
function presentGroups({ groups }: CalibrationRows): { label: string; members: Int32Array }[] {
  const present = rowsOfGroups(groups, groups.codes.keys()).map((members, code) => ({
    label: groups.labels[code] as string,
    members,
  }));
  return present.filter(({ members }) => members.length > 0);
}
