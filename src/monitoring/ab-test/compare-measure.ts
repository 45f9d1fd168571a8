import { numberOrNull } from '../../internal/values.ts';
import { DataValidationError } from '../../exceptions/index.ts';
import { suggestNames } from '../../internal/arguments.ts';
import { createRandom } from '../../internal/random.ts';
import { differenceInDifferences, logitInteraction, type RateCell } from '../../stats/ab/index.ts';
import { judgeDifference, type JudgingRule, marginOf } from '../../stats/ab/judge-difference.ts';
import { newcombeInterval } from '../../stats/ab/newcombe-interval.ts';
import { detectableDifference, differencePower } from '../../stats/ab/power.ts';
import { pooledDegrees } from '../../stats/ab/student-t.ts';
import { type ClusterFamily, clusterGapIntervals } from '../../stats/cluster-gap.ts';
import { gapIntervals } from '../../stats/gap-interval.ts';
import type { CategoricalColumn } from '../../table/index.ts';
import {
  type ABComparison,
  type ABEffect,
  type ABGap,
  type ABGroup,
  type ABInterval,
  type ABRow,
  definedInterval,
  perArm,
  type PerArm,
} from './ab-test-fields.ts';
import type { ABSettings } from './ab-test-options.ts';
import {
  type ArmCell,
  correlationOf,
  countCells,
  covarianceOf,
  type GroupCells,
  maxDegreesOf,
  type MeasuredRows,
  ROW_PROBLEMS,
} from './arm-cells.ts';
import type { ABMeasure } from './fairness-measures.ts';
import { type Arm, type ArmRows, ARMS } from './read-arms.ts';

/** The settings for comparing pairs of groups. */
interface PairRule {
  readonly alpha: number;
  /** The standard deviation of the expected changes in a sequential analysis. Undefined for a single analysis. */
  readonly tau: number | undefined;
  readonly minimumEffect: number;
}

/** The inputs for the comparison of a pair: a group, the reference group, and the counts of both. */
interface PairArguments {
  readonly identity: Pick<ABRow, 'attribute' | 'metric' | 'measure'>;
  readonly overall: ABEffect;
  readonly group: ABGroup;
  readonly reference: ABGroup;
  readonly cells: { readonly group: GroupCells; readonly reference: GroupCells };
  /** The reason why the pair cannot be tested; undefined if it can be tested. */
  readonly problem: string | undefined;
  readonly rule: PairRule;
}

const UNTESTED = {
  fairnessChange: null,
  standardError: null,
  interval: null,
  pValue: null,
  sizeChange: Object.freeze({ value: null, interval: null, pValue: null, adjustedPValue: null }),
  logitInteraction: null,
  power: null,
  detectable: null,
} satisfies Partial<ABRow>;

type PairTest = Pick<ABRow, keyof typeof UNTESTED>;

/**
 * Compares a pair of groups. If the pair cannot be tested, the verdict states the reason. Otherwise, the verdict is set
 * after all p-values are adjusted.
 */
function comparePair(pair: PairArguments): ABRow {
  const { identity, overall, group, reference, rule } = pair;
  const reason = pair.problem ?? group.excluded ?? reference.excluded;
  const tested: PairTest = reason === null ? testPair(pair) : UNTESTED;
  const untestable = reason ?? (tested.pValue === null ? 'the outcome does not vary within the groups' : null);
  return {
    ...identity,
    group: group.group,
    reference: reference.group,
    n: perArm((arm) => Object.freeze({ group: group.n[arm], reference: reference.n[arm] })),
    effect: Object.freeze({ overall, group, reference }),
    disparity: perArm((arm) => {
      const [own, other] = [group[arm], reference[arm]];
      return own === null || other === null ? null : own - other;
    }),
    ...tested,
    adjustedPValue: null,
    minimumEffect: numberOrNull(rule.minimumEffect),
    finding: 'cannot_tell',
    verdict: `inconclusive: ${untestable ?? ''}`,
  };
}

function testPair({ cells, rule }: PairArguments): PairTest {
  const four = perArm((arm) => ({ group: cells.group[arm].cell, reference: cells.reference[arm].cell }));
  const { alpha, tau, minimumEffect } = rule;
  const { control, treatment } = armsOf(cells);
  const [t, c] = [disparityOf(treatment), disparityOf(control)];
  const covariances = {
    change: covarianceOf([...t, ...opposite(c)]),
    sum: covarianceOf([...t, ...c]),
    maxDegrees: maxDegreesOf([...t, ...c].map(([cell]) => cell)),
  };
  const result = differenceInDifferences(four, { alpha, tau, covariances });
  const ofTest = { standardError: result.standardError, degrees: result.degrees, alpha, tau };
  return {
    fairnessChange: numberOrNull(result.change),
    standardError: numberOrNull(result.standardError),
    interval: definedInterval(result.interval),
    pValue: numberOrNull(result.pValue),
    sizeChange: {
      value: numberOrNull(result.sizeChange),
      interval: definedInterval(result.sizeInterval),
      pValue: numberOrNull(result.sizePValue),
      adjustedPValue: null,
    },
    logitInteraction: logitOf(cells),
    power: numberOrNull(differencePower(minimumEffect, ofTest)),
    detectable: numberOrNull(detectableDifference(ofTest)),
  };
}

type Terms = readonly (readonly [cell: ArmCell, factor: number])[];

/** Returns the cells of a pair by arm. */
function armsOf({ group, reference }: PairArguments['cells']): PerArm<{ group: ArmCell; reference: ArmCell }> {
  return perArm((arm) => ({ group: group[arm], reference: reference[arm] }));
}

function disparityOf({ group, reference }: { group: ArmCell; reference: ArmCell }): Terms {
  return [
    [group, 1],
    [reference, -1],
  ];
}

function opposite(terms: Terms): Terms {
  return terms.map(([cell, factor]) => [cell, -factor]);
}

function logitOf({ group, reference }: PairArguments['cells']): ABRow['logitInteraction'] {
  if (ARMS.some((arm) => group[arm].rate === undefined || reference[arm].rate === undefined)) return null;
  const arms = armsOf({ group, reference });
  const found = logitInteraction(
    perArm((arm) => ({ group: group[arm].rate as RateCell, reference: reference[arm].rate as RateCell })),
    covarianceOf(
      [...disparityOf(arms.treatment), ...opposite(disparityOf(arms.control))], // The derivative of the log-odds of a rate p is 1 / (p (1 - p)).
      ({ cell: { value, variance } }) => Math.sqrt(variance) / (value * (1 - value)),
    ),
  );
  return Number.isNaN(found.estimate) ? null : found;
}

/** The settings for the interval around the change of a gap. */
type GapRule = Pick<PairRule, 'alpha' | 'tau'> & { readonly seed: number };

/** The number of replicates of the simultaneous interval. */
const SAMPLES = 1000;

/**
 * Computes how much the largest gap between groups changed. For two groups, this is the change in the size of the
 * disparity between them. For more groups, the gap of each arm has an interval at the level sqrt(1 - alpha), because
 * the arms are independent, or 1 - alpha / 2 if clusters have rows in both arms. The interval of the change is formed from the differences between opposite ends of the two
 * intervals. The resulting interval is valid but conservative. In the sequential mode, alpha is divided among all pairs
 * of both arms instead (Bonferroni).
 * @param groups the groups that can be compared
 * @param pair the row of the two groups; undefined unless there are exactly two groups
 */
function gapChange(groups: readonly GroupCells[], pair: ABRow | undefined, rule: GapRule): ABGap | null {
  if (groups.length < 2) return null;
  const [control, treatment] = [groups.map((group) => group.control), groups.map((group) => group.treatment)];
  const [before, after] = [spreadOf(control), spreadOf(treatment)];
  const found = groups.length === 2 ? ofPair(pair) : ofMany(control, treatment, rule);
  if (found === null) return null;
  return Object.freeze({ groups: groups.length, control: before, treatment: after, change: after - before, ...found });
}

type GapInterval = Pick<ABGap, 'interval' | 'method'>;

function ofPair(pair: ABRow | undefined): GapInterval | null {
  const interval = pair?.sizeChange.interval ?? null;
  return interval === null ? null : { interval, method: 'pair' };
}

function ofMany(control: readonly ArmCell[], treatment: readonly ArmCell[], rule: GapRule): GapInterval | null {
  const areDependent = control.some((one) => treatment.some((other) => correlationOf(one, other) !== 0));
  const range = rule.tau === undefined ? simultaneousRange(rule, areDependent) : anytimeRange(rule, rule.tau);
  const [before, after] = [range(control, 0), range(treatment, 1)];
  const interval = definedInterval([after[0] - before[1], after[1] - before[0]]);
  if (interval === null) return null;
  return { interval, method: rule.tau === undefined ? 'difference-of-simultaneous' : 'anytime-bonferroni' };
}

type RangeOf = (cells: readonly ArmCell[], stream: number) => ABInterval;

function simultaneousRange({ alpha, seed }: GapRule, areDependent: boolean): RangeOf {
  const level = areDependent ? 1 - alpha / 2 : Math.sqrt(1 - alpha);
  return (cells, stream) => {
    const options = { level, samples: SAMPLES, random: createRandom(seed, stream) };
    if (cells[0]?.dependence !== undefined) {
      return clusterGapIntervals([clusterFamily(cells)], options).intervals[0] ?? [NaN, NaN];
    }
    const rates = cells.flatMap(({ rate }) => rate ?? []);
    const family =
      rates.length === cells.length
        ? {
            kind: 'rates' as const,
            successes: rates.map(({ successes }) => successes),
            trials: rates.map(({ trials }) => trials),
          }
        : {
            kind: 'means' as const,
            means: cells.map(({ cell }) => cell.value),
            standardErrors: cells.map(({ cell }) => Math.sqrt(cell.variance)),
            sizes: cells.map(({ effective }) => effective),
          };
    return gapIntervals([family], options).intervals[0] ?? [NaN, NaN];
  };
}

/** Returns the values of cells with the errors and covariances of their clusters. */
function clusterFamily(cells: readonly ArmCell[]): ClusterFamily {
  const pairs = cells.flatMap((one, second) =>
    cells.slice(0, second).flatMap((other, first) => {
      const correlation = correlationOf(one, other);
      if (correlation === 0) return [];
      const covariance = correlation * Math.sqrt(one.cell.variance * other.cell.variance);
      return [
        { first, second, covariance, maxDegrees: one.rate === undefined ? maxDegreesOf([one, other]) : Infinity },
      ];
    }),
  );
  return {
    values: Float64Array.from(cells, ({ cell }) => cell.value),
    variances: Float64Array.from(cells, ({ cell }) => cell.variance),
    degrees: Float64Array.from(cells, ({ cell }) => cell.degrees),
    pairs,
    ceiling: cells[0]?.rate === undefined ? Infinity : 1,
  };
}

function anytimeRange({ alpha }: GapRule, tau: number): RangeOf {
  return (cells) => {
    const share = alpha / (cells.length * (cells.length - 1));
    let [low, high] = [0, 0];
    for (const [index, one] of cells.entries()) {
      for (const two of cells.slice(0, index)) {
        const [cell, other] = [one.cell, two.cell];
        const difference = Math.abs(cell.value - other.value);
        const standardError = errorOfDifference(one, two);
        const margin = standardError === 0 ? 0 : marginOf(standardError, Infinity, { alpha: share, tau });
        low = Math.max(low, difference - margin);
        high = Math.max(high, difference + margin);
      }
    }
    return [low, high];
  };
}

function errorOfDifference(one: ArmCell, two: ArmCell): number {
  const added = covarianceOf([
    [one, 1],
    [two, -1],
  ]);
  return Math.sqrt(Math.max(0, one.cell.variance + two.cell.variance + added));
}

function spreadOf(cells: readonly ArmCell[]): number {
  const values = cells.map(({ cell }) => cell.value);
  return Math.max(...values) - Math.min(...values);
}

/**
 * The default for means of the minimum effect and of the expected standard deviation of changes (tau), as a share of
 * the standard deviation of the values.
 */
const MEAN_CHANGE = 0.2;

/** The default for rates of the minimum effect and of the expected standard deviation of changes (tau). */
const RATE_CHANGE = 0.05;

/** One measure of all rows, with everything that comparisons by any attribute need. */
export interface PreparedMeasure {
  /** The fairness metric, or the column of a business metric. */
  readonly metric: string;
  readonly measured: MeasuredRows;
  readonly overall: ABEffect;
  readonly rule: PairRule;
  /** The reason why the measure cannot be tested; undefined if it can be tested. */
  readonly problem: string | undefined;
}

/** Computes the parts of a comparison that do not depend on the attribute. */
export function prepareMeasure(
  rows: ArmRows,
  metric: string,
  measured: MeasuredRows,
  settings: ABSettings,
): PreparedMeasure {
  const all = countCells(measured, rows, new Uint8Array(rows.nRows), 1)[0] as GroupCells;
  const unit = measured.measure.kind === 'rate' ? RATE_CHANGE : MEAN_CHANGE * deviationOf(all);
  const rule: PairRule = {
    alpha: settings.alpha,
    tau: settings.isSequential ? (settings.tau ?? unit) : undefined,
    minimumEffect: settings.minimumEffect ?? unit,
  };
  const problem = constancy(measured) ?? (unit > 0 ? undefined : 'the outcome does not vary within the arms');
  return { metric, measured, rule, problem, overall: effectOfCells(all, rule) };
}

/** Compares the groups of one attribute by one measure. Does not adjust p-values. */
export function compareMeasure(
  rows: ArmRows,
  prepared: PreparedMeasure,
  attribute: string,
  settings: ABSettings,
): ABComparison {
  const { metric, measured, overall, rule, problem } = prepared;
  const column = rows.groups.get(attribute) as CategoricalColumn;
  const cells = countCells(measured, rows, column.codes, column.labels.length);
  const groups = cells.map((own, index): ABGroup =>
    Object.freeze({
      group: column.labels[index] as string,
      ...effectOfCells(own, rule),
      excluded: exclusion(own, column.labels[index] as string, measured.measure, settings.minGroupSize) ?? null,
    }),
  );
  const reference = referenceOf(groups, attribute, settings);
  const identity = { attribute, metric, measure: measured.measure.name };
  const pairs = groups.flatMap((group, index) =>
    reference === undefined || index === reference
      ? []
      : comparePair({
          identity,
          overall,
          group,
          reference: groups[reference] as ABGroup,
          cells: { group: cells[index] as GroupCells, reference: cells[reference] as GroupCells },
          problem,
          rule,
        }),
  );
  const comparable = cells.filter((_, index) => groups[index]?.excluded === null);
  const pair = pairs.find(({ pValue }) => pValue !== null);
  return Object.freeze({
    ...identity,
    kind: measured.measure.kind,
    reference: reference === undefined ? null : (column.labels[reference] as string),
    overall,
    groups: Object.freeze(groups),
    gap: problem === undefined ? gapChange(comparable, pair, { ...rule, seed: settings.seed }) : null,
    rows: Object.freeze(pairs),
    dropped: countDropped(rows, measured, column),
  });
}

/**
 * Returns the index of the reference group. The options name the reference group. By default, it is the largest group
 * that can be compared.
 */
function referenceOf(groups: readonly ABGroup[], attribute: string, settings: ABSettings): number | undefined {
  const named = settings.referenceGroups.find((entry) => entry.attribute === attribute)?.group;
  if (named !== undefined) {
    const index = groups.findIndex(({ group }) => group === named);
    if (index >= 0) return index;
    throw new DataValidationError(`'${attribute}' has no group '${named}'.`, {
      code: 'unknown-label',
      context: { parameter: 'referenceGroups', attribute, group: named },
      suggestion: suggestNames(
        named,
        groups.map(({ group }) => group),
        'groups',
      ),
    });
  }
  const sizeOf = ({ n, excluded }: ABGroup): number => (excluded === null ? 1e15 : 0) + n.control + n.treatment;
  let best: number | undefined;
  groups.forEach((group, index) => {
    if (best === undefined || sizeOf(group) > sizeOf(groups[best] as ABGroup)) best = index;
  });
  return best;
}

/**
 * The words that describe rows after a number of rows in a sentence. The words depend on which rows the measure
 * includes.
 */
const ROWS: Readonly<Record<ABMeasure['rows'], string>> = {
  all: 'rows',
  positives: 'rows with a positive label',
  negatives: 'rows with a negative label',
};

function exclusion(cells: GroupCells, label: string, { rows }: ABMeasure, minGroupSize: number): string | undefined {
  const sizes = ARMS.map((arm): [Arm, number] => [arm, cells[arm].n]);
  const [arm, n] = sizes.reduce((min, other) => (other[1] < min[1] ? other : min));
  if (n === 0) return `group '${label}' has no ${ROWS[rows]} in the ${arm} arm`;
  if (n >= minGroupSize) {
    const weightless = ARMS.find((name) => !(cells[name].effective > 1));
    if (weightless === undefined) return undefined;
    return `group '${label}' has an effective size of at most one row in the ${weightless} arm`;
  }
  const counted = n === 1 ? ROWS[rows].replace('rows', 'row') : ROWS[rows];
  return `group '${label}' has ${String(n)} ${counted} in the ${arm} arm; at least ${String(minGroupSize)} are needed`;
}

/** Returns the standard deviation of the values within the arms. */
function deviationOf({ control, treatment }: GroupCells): number {
  const degrees = (arm: ArmCell): number => Math.max(0, arm.effective - 1);
  const total = degrees(control) + degrees(treatment);
  const squares = [control, treatment].reduce(
    (sum, arm) => sum + (degrees(arm) > 0 ? degrees(arm) * arm.spread : 0),
    0,
  );
  return Math.sqrt(squares / total);
}

function constancy({ values }: MeasuredRows): string | undefined {
  let first: number | undefined;
  for (const value of values) {
    if (Number.isNaN(value)) continue;
    first ??= value;
    if (value !== first) return undefined;
  }
  return first === undefined
    ? 'no row has a value of this measure'
    : `the outcome is ${String(first)} in every included row`;
}

function countDropped(
  rows: ArmRows,
  { faults: problems }: MeasuredRows,
  { codes }: CategoricalColumn,
): ABComparison['dropped'] {
  const counts = perArm(() => ({ group: 0, outcome: 0, label: 0, weight: 0 }));
  for (let row = 0; row < rows.nRows; row++) {
    const own = row < rows.nControl ? counts.control : counts.treatment;
    const problem = problems[row] as number;
    if ((codes[row] as number) < 0) own.group += 1;
    else if (problem > 0) own[ROW_PROBLEMS[problem - 1] as 'outcome'] += 1;
  }
  return perArm((arm) => Object.freeze(counts[arm]));
}

/** Returns the effect of the treatment on the rows of a group in both arms. */
function effectOfCells(cells: GroupCells, rule: JudgingRule): ABEffect {
  const { control, treatment } = cells;
  const pooled = pooledDegrees([treatment.cell, control.cell]);
  const judged = judgeDifference(
    {
      value: treatment.cell.value - control.cell.value,
      standardError: errorOfDifference(treatment, control),
      degrees: pooled === Infinity ? pooled : Math.min(pooled, maxDegreesOf([treatment, control])),
    },
    rule,
  );
  const [after, before] = [treatment.rate, control.rate];
  const isNewcombe = rule.tau === undefined && after !== undefined && before !== undefined;
  const interval = isNewcombe
    ? newcombeInterval(
        after.successes,
        after.trials,
        before.successes,
        before.trials,
        1 - rule.alpha,
        correlationOf(treatment, control),
      )
    : judged.interval;
  return Object.freeze({
    n: perArm((arm) => cells[arm].n),
    effective: perArm((arm) => cells[arm].effective),
    control: numberOrNull(control.cell.value),
    treatment: numberOrNull(treatment.cell.value),
    value: numberOrNull(judged.value),
    standardError: numberOrNull(judged.standardError),
    interval: definedInterval(interval),
    pValue: numberOrNull(judged.pValue),
  });
}
