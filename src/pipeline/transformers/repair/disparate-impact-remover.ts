import { z } from 'zod';

import { oneOf, type OptionNames } from '../../../internal/arguments.ts';
import { groupBy } from '../../../internal/values.ts';
import { nameSome } from '../../../internal/format.ts';
import { requireRate, requireInteger } from '../../../stats/parameters.ts';
import type { CategoricalColumn, Table } from '../../../table/index.ts';
import { countMissing, type FitRows, leftOutWarning, nameMissing, replaceColumns } from '../fit-rows.ts';
import { type AppliedRows, FittedTransformer } from '../fitted-transformer.ts';
import {
  FEATURE_SETTINGS_NAMES,
  type FeatureSettings,
  featureSettings,
  nameGroups,
  numericFeatureNames,
  readFeature,
  readGroups,
  readKnownGroups,
  type SensitiveColumns,
  sensitiveNames,
} from '../read-columns.ts';
import { quantileRepair } from './quantile-repair.ts';
import { indexKnots, interpolate, type Knots, nearestKnot, type RepairMap } from './repair-map.ts';

/** Options of {@link DisparateImpactRemover}. */
export interface DisparateImpactRemoverOptions extends FeatureSettings {
  /**
   * The sensitive column, or several columns, whose intersections are the groups. `transform` also needs these columns.
   */
  readonly sensitive: SensitiveColumns;
  /**
   * The columns of numbers to repair.
   * @defaultValue the numeric columns of `candidates`
   */
  readonly features?: readonly string[] | undefined;
  /**
   * The share of the distance by which values move towards their repaired values, from 0 (unchanged) to 1.
   * @defaultValue 1
   */
  readonly repairLevel?: number | undefined;
  /**
   * The minimum number of known values of a column in a group. Smaller groups keep their values.
   * @defaultValue 20; 1 under `compat`
   */
  readonly minGroupSize?: number | undefined;
  /**
   * With `aif360`, training rows get the same values as in AIF360's class `DisparateImpactRemover`.
   * @defaultValue none: repair by quantiles
   */
  readonly compat?: 'aif360' | undefined;
}

/** Lists the options of {@link DisparateImpactRemoverOptions}. */
export const DISPARATE_IMPACT_REMOVER_OPTION_NAMES: OptionNames<DisparateImpactRemoverOptions> = {
  ...FEATURE_SETTINGS_NAMES,
  repairLevel: true,
  minGroupSize: true,
  compat: true,
};

interface Settings extends DisparateImpactRemoverOptions {
  readonly repairLevel: number;
  readonly minGroupSize: number;
}

const numbers = z.array(z.number()).min(1).readonly();

const STATE = z.object({
  features: z.array(
    z.object({
      feature: z.string(),
      groups: z.array(
        z
          .object({ group: z.string(), from: numbers, to: numbers })
          .refine(({ from, to }) => from.length === to.length, 'from and to must have the same length'),
      ),
    }),
  ),
  seen: z.array(z.string()),
  warnings: z.array(z.string()),
});

type State = z.output<typeof STATE>;

const DEFINITION = {
  kind: 'DisparateImpactRemover',
  options: DISPARATE_IMPACT_REMOVER_OPTION_NAMES,
  state: STATE,
} as const;

/**
 * Moves the values of each group to a common distribution. A value at rank r of its group moves to the median, over the
 * groups, of the values at rank r. For two groups, this median is the mean of both values:
 *
 *     x' = (1 - repairLevel) x + repairLevel median_g Q_g(F_s(x))
 *
 * where Q_g is the quantile function of group g (type 7), and F_s(x) is the rank of x in its own group s. At level 1,
 * the distribution of each column is the same in all groups, except for ties. Tied values stay tied and move to the
 * mean of the values for their ranks. The order of values within a group never changes.
 *
 * The repair is learned from the rows of `fit` alone: at most 1,001 quantiles per group and column, with linear
 * interpolation. A value outside the range of its group is treated as the nearest value in that range. `sampleWeight`
 * does not affect ranks.
 *
 * The transformer constrains the association of each single repaired column with the group. Two columns together, or a
 * column that is not repaired, may still reveal the group. The target may depend on the differences between groups that
 * the transformer removes. The transformer changes people's values according to their group, and **needs the sensitive
 * column for every row that is ever predicted**.
 *
 * Missing values stay missing. Rows are not changed if their group has fewer than `minGroupSize` known values, if their
 * group did not occur in `fit`, or if they have no group. `warnings` names these groups and counts the rows without a
 * group. If fewer than two groups remain, the column is not changed.
 *
 * `compat: 'aif360'` selects the algorithm of BlackBoxAuditing that AIF360 runs. This algorithm replaces values only by
 * existing values of the column. AIF360's implementation is transductive: it repairs only the rows on which it is
 * fitted. This class gives the training rows the same values as AIF360. A value that did not occur in its group in
 * `fit` is repaired like the nearest value of the group. For a sensitive column of numbers, AIF360's implementation
 * uses histogram bins, which may merge groups. In this class, each value is a separate group.
 *
 * Source: M. Feldman, S. A. Friedler, J. Moeller, C. Scheidegger and S.
 * Venkatasubramanian, "Certifying and removing disparate impact", KDD 2015.
 * @example
 * ```ts
 * import { DisparateImpactRemover } from 'evenhand/pipeline';
 *
 * const rows = { sex: ['f', 'f', 'f', 'm', 'm', 'm'], score: [1, 2, 3, 5, 6, 9] };
 * const remover = new DisparateImpactRemover({ sensitive: 'sex', features: ['score'], minGroupSize: 3 });
 * const { table } = await (await remover.fit(rows)).transform(rows);
 * console.log(table.toColumns().score);
 * // [ 3, 4, 6, 3, 4, 6 ]
 * ```
 */
export class DisparateImpactRemover extends FittedTransformer<Settings, State> {
  /** @throws {ValueError} if an option is out of its range */
  constructor(options: DisparateImpactRemoverOptions) {
    const { compat } = options;
    super(DEFINITION, options, () => ({
      ...featureSettings(options),
      repairLevel: requireRate('repairLevel', options.repairLevel ?? 1),
      minGroupSize: requireInteger('minGroupSize', options.minGroupSize ?? (compat === undefined ? 20 : 1), 1),
      compat: compat === undefined ? undefined : oneOf<'aif360'>('compat', compat, ['aif360']),
    }));
  }

  /**
   * Restores a transformer from the output of `toJSON`.
   * @throws {DataValidationError} if a part is invalid; the error names the first invalid part
   */
  static fromJSON(json: unknown): DisparateImpactRemover {
    return FittedTransformer.restore(DisparateImpactRemover, DEFINITION, json);
  }

  protected override learn({ table }: FitRows): State {
    const { sensitive, minGroupSize } = this.settings;
    const groups = readKnownGroups(table, sensitive);
    const names = numericFeatureNames(table, this.settings);
    const learned = names.map((name) => this.#learnFeature(table, name, groups));
    return {
      features: learned.map(({ feature, groups: maps }) => ({ feature, groups: [...maps] })),
      seen: [...groups.labels],
      warnings: [
        ...leftOutWarning(countMissing(groups), sensitiveNames(sensitive)),
        ...smallWarnings(learned, minGroupSize),
      ],
    };
  }

  #learnFeature(table: Table, feature: string, groups: CategoricalColumn): LearnedFeature {
    const { minGroupSize, repairLevel, compat } = this.settings;
    const sorted = sortByGroup(readFeature(table, feature), groups);
    const isLarge = (code: number): boolean => (sorted[code] as Float64Array).length >= minGroupSize;
    const codes = [...sorted.keys()].filter(isLarge);
    const small = groups.labels.filter((_, code) => !isLarge(code));
    const large = codes.map((code) => sorted[code] as Float64Array);
    if (large.length < 2) return { feature, groups: [], small };
    const maps = compat === undefined ? quantileRepair(large) : categoricRepair(large, repairLevel);
    return {
      feature,
      groups: maps.map(({ from, to }, index) => ({
        group: groups.labels[codes[index] as number] as string,
        from: [...from],
        to: [...to],
      })),
      small,
    };
  }

  protected override apply(table: Table, state: State): AppliedRows {
    const { sensitive, repairLevel, compat } = this.settings;
    const groups = readGroups(table, sensitive);
    const level = compat === undefined ? repairLevel : null;
    const repaired = state.features.map(({ feature, groups: maps }) => {
      const values = readFeature(table, feature);
      const isUnchanged = repairLevel === 0 || maps.length === 0;
      return [feature, isUnchanged ? values : repairValues(values, groups, maps, level)] as const;
    });
    const isRepaired = repairLevel > 0 && state.features.some(({ groups: maps }) => maps.length > 0);
    const notes = isRepaired ? unrepairedNotes(groups, state.seen, sensitiveNames(sensitive)) : [];
    return { table: replaceColumns(table, repaired), sampleWeight: null, notes };
  }
}

/** Sorts the values of each group in ascending order, without missing values. Takes O(rows log rows) time. */
function sortByGroup(values: Float64Array, { codes, labels }: CategoricalColumn): readonly Float64Array[] {
  const counts = new Int32Array(labels.length);
  for (let row = 0; row < values.length; row++) {
    const code = codes[row] as number;
    const value = values[row] as number;
    // The comparison is false only for NaN. A function call per row would take as long as the sort.
    if (code >= 0 && value === value) counts[code] = (counts[code] as number) + 1;
  }
  const starts = new Int32Array(labels.length + 1);
  counts.forEach((count, code) => (starts[code + 1] = (starts[code] as number) + count));
  const all = new Float64Array(starts[labels.length] as number);
  const next = starts.slice();
  for (let row = 0; row < values.length; row++) {
    const code = codes[row] as number;
    const value = values[row] as number;
    if (!(code >= 0 && value === value)) continue;
    const index = next[code] as number;
    all[index] = value;
    next[code] = index + 1;
  }
  return labels.map((_, code) => all.subarray(starts[code], starts[code + 1]).sort());
}

/**
 * Returns the values of one column after repair. Missing values and values of groups without a map do not change. Takes
 * O(rows log knots) time.
 * @param level the share of the distance by which a value moves towards its repaired value; null if `maps` already
 *   include this share (repair as in AIF360)
 */
function repairValues(
  values: Float64Array,
  { codes, labels }: CategoricalColumn,
  maps: readonly RepairMap[],
  level: number | null,
): Float64Array {
  const mapOf = new Map(
    maps.map(({ group, from, to }) => [
      group,
      indexKnots({ from: Float64Array.from(from), to: Float64Array.from(to) }),
    ]),
  );
  const byCode = labels.map((label) => mapOf.get(label));
  const repaired = Float64Array.from(values);
  for (let row = 0; row < repaired.length; row++) {
    const value = values[row] as number;
    const knots = byCode[codes[row] as number];
    if (knots === undefined || Number.isNaN(value)) continue;
    // Both terms increase with the value, so the sum keeps the order of values within a group.
    repaired[row] =
      level === null ? nearestKnot(knots, value) : (1 - level) * value + level * interpolate(knots, value);
  }
  return repaired;
}

/** The fitted repair of one column. */
interface LearnedFeature {
  readonly feature: string;
  /** The repair of each group; empty if the column is not changed. */
  readonly groups: RepairMap[];
  /** Groups whose values are not changed. */
  readonly small: readonly string[];
}

/**
 * Returns warnings about columns that are not repaired and about groups that are too small to be repaired. Groups that
 * are small in the same columns share one warning.
 */
function smallWarnings(learned: readonly LearnedFeature[], minGroupSize: number): string[] {
  const idle = learned.filter(({ groups }) => groups.length === 0).map(({ feature }) => feature);
  const small = learned
    .filter(({ groups }) => groups.length > 0)
    .flatMap(({ feature, small: labels }) => labels.map((label) => ({ label, feature })));
  const byLabel = groupBy(small, ({ label }) => label);
  const byColumns = groupBy(byLabel, ([, pairs]) => nameSome(pairs.map(({ feature }) => feature)));
  const min = String(minGroupSize);
  return [
    ...(idle.length > 0
      ? [`unchanged: ${nameSome(idle)}, because fewer than two groups have at least ${min} values`]
      : []),
    ...Array.from(byColumns, ([columns, labels]) => {
      const groups = nameGroups(labels.map(([label]) => label));
      return `unchanged: ${groups}, with fewer than ${min} values of ${columns}`;
    }),
  ];
}

/**
 * Returns notes about rows that cannot be repaired: rows of groups that did not occur in `fit`, and rows without a
 * group.
 */
function unrepairedNotes(groups: CategoricalColumn, seen: readonly string[], sensitive: readonly string[]): string[] {
  const known = new Set(seen);
  const unseen = groups.labels.filter((label) => !known.has(label));
  const missing = countMissing(groups);
  return [
    ...(unseen.length > 0 ? [`unchanged: ${nameGroups(unseen)}, not seen in fit`] : []),
    ...(missing > 0 ? [`unchanged: ${nameMissing(missing, sensitive)}`] : []),
  ];
}

/**
 * Repairs one column in the same way as AIF360, which uses BlackBoxAuditing. The distinct values of every group are
 * split into the same number of buckets: the smallest number of distinct values in any group. The target of a bucket is
 * computed in two steps: first the lower median of the bucket in each group, then the lower median of these medians.
 * The distinct values of the column, over all groups, are numbered in ascending order. A value moves towards the target
 * by the share `level` of the difference between their two numbers (rounded), so the result is an existing value.
 *
 * The repaired value depends only on the group of the original value and on the fitted values. Buckets count distinct
 * values, not rows: tied rows count once.
 * @param groups each ascending and not empty
 * @param level from 0 (none) to 1 (full)
 * @returns one map per group, which is defined on the group's distinct values
 */
function categoricRepair(groups: readonly Float64Array[], level: number): Knots[] {
  const distinct = groups.map((values) => values.filter((value, index) => index === 0 || value !== values[index - 1]));
  const steps = Float64Array.from(new Set(distinct.flatMap((values) => [...values]))).sort();
  const stepOf = new Map(Array.from(steps, (value, step) => [value, step]));
  const buckets = bucketEnds(distinct);
  const targets = buckets.map((ends, bucket) => stepOf.get(targetOf(distinct, ends, buckets[bucket - 1])) as number);
  return distinct.map((values, group) => {
    let bucket = 0;
    const to = values.map((value, index) => {
      while (bucket < buckets.length && index >= (buckets[bucket]?.[group] as number)) bucket++;
      const step = stepOf.get(value) as number;
      const target = targets[bucket] ?? step;
      return steps[step + roundHalfEven((target - step) * level)] as number;
    });
    return { from: values, to };
  });
}

/**
 * Returns the end of each bucket in each group. Ends are computed by repeated addition of 1 / (number of buckets),
 * because the rounding errors of this sum decide ties.
 */
function bucketEnds(distinct: readonly Float64Array[]): number[][] {
  const count = Math.min(...distinct.map((values) => values.length));
  const unit = 1 / count;
  let offset = 0;
  return Array.from({ length: count }, () => {
    offset += unit;
    return distinct.map((values) => roundHalfEven(offset * values.length));
  });
}

function targetOf(distinct: readonly Float64Array[], ends: readonly number[], starts: readonly number[] = []): number {
  const medians = distinct.flatMap((values, group) => {
    const [start, end] = [starts[group] ?? 0, ends[group] as number];
    return end > start ? [lowerMedian(values.subarray(start, end))] : [];
  });
  return lowerMedian(Float64Array.from(medians).sort());
}

function lowerMedian(sorted: Float64Array): number {
  return sorted[Math.floor((sorted.length - 1) / 2)] as number;
}

/** Rounds to the nearest integer. Halves are rounded to the even integer, as in Python. */
function roundHalfEven(value: number): number {
  const below = Math.floor(value);
  const rest = value - below;
  if (rest !== 0.5) return rest < 0.5 ? below : below + 1;
  return below % 2 === 0 ? below : below + 1;
}
