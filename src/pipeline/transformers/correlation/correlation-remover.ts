import { z } from 'zod';

import { assertKnownOptions, type OptionNames } from '../../../internal/known-options.ts';
import { TRANSFORMER_PARAMS } from '../../../schemas/pipeline/transformer-params.ts';
import { requireRate } from '../../../stats/parameters.ts';
import type { Table } from '../../../table/index.ts';
import type { FitRows } from '../fit-rows.ts';
import { type AppliedRows, FittedTransformer } from '../fitted-transformer.ts';
import { leftOutWarning } from '../missing-groups.ts';
import { nameSome } from '../name-some.ts';
import {
  FEATURE_SETTINGS_NAMES,
  type FeatureSettings,
  frozenNames,
  numericFeatureNames,
  readFeature,
  type SensitiveColumns,
  sensitiveNames,
} from '../read-columns.ts';
import { replaceColumns } from '../replace-columns.ts';
import { FROM_AROUND, fromStored, readTransformerJson } from '../transformer-json.ts';
import { countIncomplete, readAttributes } from './sensitive-design.ts';
import { addTerm, TERM, termsOf } from './terms.ts';

/** Options of {@link CorrelationRemover}. */
export interface CorrelationRemoverOptions extends FeatureSettings {
  /** The sensitive column, or several: numbers as they are, text by its categories. Also needed in `transform`. */
  readonly sensitive: SensitiveColumns;
  /**
   * The columns of numbers to change.
   * @defaultValue the numeric ones of `candidates`
   */
  readonly features?: readonly string[] | undefined;
  /**
   * How much is taken out, from 0 (features stay exactly as they are) to 1.
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

const KIND = 'CorrelationRemover';

const PARAMS = TRANSFORMER_PARAMS[KIND].extend(FROM_AROUND);

const STATE = z.object({
  features: z.array(z.object({ feature: z.string(), terms: z.array(TERM) })),
  warnings: z.array(z.string()),
});

type State = z.output<typeof STATE>;

/**
 * Takes out of each feature what a straight line through the sensitive columns
 * gives of it. With S the sensitive columns, each less its own mean, text by
 * indicators of its categories,
 *
 *     x' = x - alpha S b,   b = argmin |x - mean(x) - S b|^2
 *
 * so that at alpha 1 every feature has correlation 0 with every sensitive
 * column over the rows fitted, and (for text) the same mean in every group.
 * Means of features stay as they are. Least squares is weighted by
 * `sampleWeight`, where given. Other rows use the means and coefficients fitted.
 *
 * It constrains linear association of single features; a model that is not
 * linear may still find the attribute in spreads, shapes or several features
 * together. It costs the differences between groups that the target may depend
 * on. It changes people's values by their sensitive columns, and **needs those
 * columns of every row that is ever predicted**.
 *
 * Missing features stay missing; a missing sensitive value (the rows being
 * counted in `warnings`), or a category that `fit` has not seen (named there),
 * takes nothing out. `fit` uses, for each feature, the rows with a value of it
 * and of all sensitive columns.
 * Sensitive columns that others make up, and constant ones, change nothing.
 * One text column costs O(rows), whatever its categories; of several, all but
 * the widest cost the square of theirs.
 *
 * fairlearn's class of this name, in the version compared with, takes one global
 * mean off all sensitive columns, which leaves correlation where there are
 * several of different scale; with one column both agree.
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
  /** @throws {ValueError} for options outside their ranges */
  constructor(options: CorrelationRemoverOptions) {
    assertKnownOptions('CorrelationRemover', options, CORRELATION_REMOVER_OPTION_NAMES);
    sensitiveNames(options.sensitive);
    super(KIND, {
      sensitive: frozenNames(options.sensitive),
      features: frozenNames(options.features),
      candidates: frozenNames(options.candidates),
      label: options.label,
      alpha: requireRate('alpha', options.alpha ?? 1),
    });
  }

  /**
   * Reads what `toJSON` gave.
   * @throws {DataValidationError} naming the first part that is not as it should be
   */
  static fromJSON(json: unknown): CorrelationRemover {
    const { options, state } = readTransformerJson(KIND, json, { params: PARAMS, state: STATE });
    const made = fromStored(KIND, () => new CorrelationRemover(options as unknown as CorrelationRemoverOptions));
    made.keep(state);
    return made;
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
        ...(idle.length > 0 ? [`unchanged: ${nameSome(idle)}, without a row that has all sensitive values`] : []),
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
