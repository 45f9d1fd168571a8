import { z } from 'zod';

import { type OptionNames } from '../../../internal/arguments.ts';
import { takeValues } from '../../../internal/values.ts';
import { nameSome } from '../../../internal/format.ts';
import { requireRate } from '../../../stats/parameters.ts';
import type { Table } from '../../../table/index.ts';
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
  type SensitiveColumns,
  sensitiveNames,
} from '../read-columns.ts';
import { regress } from './regress.ts';
import {
  countIncomplete,
  type Design,
  designOf,
  isKnown,
  readAttributes,
  type SensitiveAttribute,
} from './sensitive-design.ts';

const NUMERIC_TERM = z.object({ column: z.string(), mean: z.number(), coefficient: z.number() });

const GROUP_TERM = z.object({
  column: z.string(),
  groups: z.array(z.object({ group: z.string(), effect: z.number() })),
});

/** The schema of the stored contribution of one sensitive column to a feature. */
const TERM = z.union([NUMERIC_TERM, GROUP_TERM]);

/** The contribution of one sensitive column to a feature: a coefficient, or an effect per group. */
type Term = z.output<typeof TERM>;

/**
 * Computes the contribution of each attribute to one feature. Each contribution has mean 0 over the rows that have all
 * values.
 */
function termsOf(
  values: Float64Array,
  attributes: readonly SensitiveAttribute[],
  weights: Float64Array | undefined,
): Term[] {
  const rows = Int32Array.from(values.keys()).filter(
    (row) => !Number.isNaN(values[row]) && attributes.every((attribute) => isKnown(attribute, row)),
  );
  if (rows.length === 0) return [];
  const design = designOf(attributes, rows);
  const ownWeights = weights === undefined ? undefined : takeValues(weights, rows);
  const { coefficients, means, effects } = regress(takeValues(values, rows), design, ownWeights);
  return attributes.map((attribute) => {
    if (attribute === design.stratified) return groupTerm(attribute.name, attribute.groups.labels, [...effects]);
    return columnTerm(attribute, design, coefficients, means);
  });
}

function columnTerm(
  attribute: SensitiveAttribute,
  { columns }: Design,
  coefficients: Float64Array,
  means: Float64Array,
): Term {
  const indices = [...columns.keys()].filter((index) => columns[index]?.attribute === attribute);
  if (attribute.kind === 'numeric') {
    const [index = 0] = indices;
    return { column: attribute.name, mean: means[index] as number, coefficient: coefficients[index] as number };
  }
  // The mean of an indicator is the share of its label. Therefore, the mean of all effects is subtracted from each
  // effect.
  const mean = indices.reduce((sum, index) => sum + (coefficients[index] as number) * (means[index] as number), 0);
  const effects = indices.map((index) => ((means[index] as number) > 0 ? (coefficients[index] as number) - mean : NaN));
  return groupTerm(attribute.name, attribute.groups.labels, effects);
}

/**
 * Creates the term of a text column. The effect of a label is 0 if the feature is missing in all rows with this label.
 */
function groupTerm(column: string, labels: readonly string[], effects: readonly number[]): Term {
  return {
    column,
    groups: labels.map((group, code) => ({
      group,
      effect: Number.isNaN(effects[code]) ? 0 : (effects[code] as number),
    })),
  };
}

/**
 * Adds the contribution of a term to the value of each row. Returns notes about rows without a contribution: rows of
 * groups that did not occur in `fit`, and rows without a value.
 */
function addTerm(explained: Float64Array, table: Table, term: Term): string[] {
  if ('coefficient' in term) {
    const values = readFeature(table, term.column);
    let missing = 0;
    values.forEach((value, row) => {
      if (Number.isNaN(value)) missing++;
      else explained[row] = (explained[row] as number) + term.coefficient * (value - term.mean);
    });
    return missingNote(missing, term.column);
  }
  const groups = readGroups(table, term.column);
  const { codes, labels } = groups;
  const effectOf = new Map(term.groups.map(({ group, effect }) => [group, effect]));
  const effects = labels.map((label) => effectOf.get(label) ?? 0);
  codes.forEach((code, row) => {
    if (code >= 0) explained[row] = (explained[row] as number) + (effects[code] as number);
  });
  const unseen = labels.filter((label) => !effectOf.has(label));
  return [
    ...(unseen.length > 0
      ? [`${term.column}: nothing is removed from rows of ${nameGroups(unseen)} (not seen in fit)`]
      : []),
    ...missingNote(countMissing(groups), term.column),
  ];
}

function missingNote(count: number, column: string): string[] {
  return count === 0 ? [] : [`nothing is removed from ${nameMissing(count, [column])}`];
}

/** Options of {@link CorrelationRemover}. */
export interface CorrelationRemoverOptions extends FeatureSettings {
  /**
   * The sensitive column, or several columns. Numbers are used unchanged, and texts are used as categories. `transform`
   * also needs these columns.
   */
  readonly sensitive: SensitiveColumns;
  /**
   * The columns of numbers to change.
   * @defaultValue the numeric columns of `candidates`
   */
  readonly features?: readonly string[] | undefined;
  /**
   * The share of the linear association that is removed, from 0 (features do not change) to 1 (all of it is removed).
   * @defaultValue 1
   */
  readonly alpha?: number | undefined;
}

/** Lists the options of {@link CorrelationRemoverOptions}. */
export const CORRELATION_REMOVER_OPTION_NAMES: OptionNames<CorrelationRemoverOptions> = {
  ...FEATURE_SETTINGS_NAMES,
  alpha: true,
};

interface Settings extends CorrelationRemoverOptions {
  readonly alpha: number;
}

const STATE = z.object({
  features: z.array(z.object({ feature: z.string(), terms: z.array(TERM) })),
  warnings: z.array(z.string()),
});

type State = z.output<typeof STATE>;

const DEFINITION = { kind: 'CorrelationRemover', options: CORRELATION_REMOVER_OPTION_NAMES, state: STATE } as const;

/**
 * Removes from each feature its linear dependence on the sensitive columns. Let S be the sensitive columns. Each column
 * is centred at its mean, and text is encoded as indicators of its categories. Then
 *
 *     x' = x - alpha S b,   b = argmin |x - mean(x) - S b|^2
 *
 * At alpha 1 every feature has correlation 0 with every sensitive column over the training rows, and (for text) the
 * same mean in every group. The means of features do not change. If `sampleWeight` is given, the least-squares fit is
 * weighted. The fitted means and coefficients are then also used for other rows.
 *
 * The transformer constrains the linear association of single features. A nonlinear model may still infer the attribute
 * from the spread, the shape of the distribution, or combinations of features. The target may depend on the differences
 * between groups that the transformer removes. The transformer changes people's values according to their sensitive
 * columns, and **needs those columns for every row that is ever predicted**.
 *
 * Missing features stay missing. If a sensitive value is missing, or its category did not occur in `fit`, nothing is
 * removed. `warnings` counts these rows and names these categories. For each feature, `fit` uses the rows that have a
 * value of the feature and of all sensitive columns. Constant sensitive columns have no effect. A sensitive column that
 * is a linear combination of other sensitive columns also has no effect. A single text column takes O(rows) time for
 * any number of categories. If there are several text columns, the column with the most categories takes O(rows) time.
 * Each other text column takes time proportional to the square of its number of categories.
 *
 * In the compared version, fairlearn's class `CorrelationRemover` subtracts one global mean from all sensitive columns.
 * If several columns have different scales, some correlation therefore remains. With a single sensitive column, the two
 * classes give the same result.
 * @example
 * ```ts
 * import { CorrelationRemover } from 'evenhand/pipeline';
 *
 * const rows = { sex: ['f', 'f', 'm', 'm'], score: [1, 3, 6, 8], age: [30, 50, 30, 50] };
 * const remover = await new CorrelationRemover({ sensitive: 'sex', features: ['score', 'age'] }).fit(rows);
 * const { table } = await remover.transform(rows);
 * console.log(table.toColumns().score, table.toColumns().age);
 * // [ 3.5, 5.5, 3.5, 5.5 ] [ 30, 50, 30, 50 ]
 * ```
 */
export class CorrelationRemover extends FittedTransformer<Settings, State> {
  /** @throws {ValueError} if an option is out of its range */
  constructor(options: CorrelationRemoverOptions) {
    super(DEFINITION, options, () => ({
      ...featureSettings(options),
      alpha: requireRate('alpha', options.alpha ?? 1),
    }));
  }

  /**
   * Restores a transformer from the output of `toJSON`.
   * @throws {DataValidationError} if a part is invalid; the error names the first invalid part
   */
  static fromJSON(json: unknown): CorrelationRemover {
    return FittedTransformer.restore(CorrelationRemover, DEFINITION, json);
  }

  protected override learn({ table, weights }: FitRows): State {
    const sensitive = sensitiveNames(this.settings.sensitive);
    const attributes = readAttributes(table, sensitive);
    const names = numericFeatureNames(table, this.settings);
    const learned = names.map((feature) => ({
      feature,
      terms: termsOf(readFeature(table, feature), attributes, weights),
    }));
    const idle = learned.filter(({ terms }) => terms.length === 0).map(({ feature }) => feature);
    return {
      features: learned,
      warnings: [
        ...leftOutWarning(countIncomplete(attributes, table.rowCount), sensitive),
        ...(idle.length > 0 ? [`unchanged: ${nameSome(idle)}, because no row has all sensitive values`] : []),
      ],
    };
  }

  protected override apply(table: Table, state: State): AppliedRows {
    const { alpha, sensitive } = this.settings;
    table.select(sensitiveNames(sensitive));
    const notes = new Set<string>();
    const changed = state.features.map(({ feature, terms }) => {
      const values = readFeature(table, feature);
      if (alpha === 0) return [feature, values] as const;
      const explained = new Float64Array(values.length);
      for (const term of terms) for (const note of addTerm(explained, table, term)) notes.add(note);
      return [feature, values.map((value, row) => value - alpha * (explained[row] as number))] as const;
    });
    return { table: replaceColumns(table, changed), sampleWeight: null, notes: [...notes] };
  }
}
