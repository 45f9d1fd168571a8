import { z } from 'zod';

import { assertKnownOptions, type OptionNames } from '../../../internal/known-options.ts';
import { TRANSFORMER_PARAMS } from '../../../schemas/pipeline/transformer-params.ts';
import type { CategoricalColumn, Table } from '../../../table/index.ts';
import type { FitRows } from '../fit-rows.ts';
import { type AppliedRows, FittedTransformer } from '../fitted-transformer.ts';
import { nameGroups } from '../name-some.ts';
import { frozenNames, readGroups, readKnownGroups, type SensitiveColumns, sensitiveNames } from '../read-columns.ts';
import { fromStored, readTransformerJson } from '../transformer-json.ts';
import { assertClasses } from './assert-classes.ts';
import { crossToCells } from './cells.ts';
import { requireMaxWeight } from './max-weight.ts';
import { readClasses } from './read-classes.ts';
import { independenceCells, shareCells, type WeightedCell } from './reweighing-cells.ts';
import { type Proportions, readProportions } from './target-shares.ts';

/** Options of {@link ReweighingTransformer}. */
export interface ReweighingTransformerOptions {
  /** The sensitive column, or several: their crossings are the groups. */
  readonly sensitive: SensitiveColumns;
  /**
   * The column of true labels; needed in `fit` only.
   * @defaultValue none: groups then get the shares of `targets`
   */
  readonly label?: string | undefined;
  /**
   * The label that counts as positive, all others being negative.
   * @defaultValue none: every label is a class of its own, of numbers at most 20
   */
  readonly positiveLabel?: string | undefined;
  /**
   * Without a label: the shares that groups should have, taken in proportion.
   * @defaultValue equal shares
   */
  readonly targets?: Proportions | undefined;
  /**
   * No weight is larger, at least 1; what is cut off goes to the other rows.
   * @defaultValue 10
   */
  readonly maxWeight?: number | undefined;
}

/** Lists the options of {@link ReweighingTransformerOptions}. */
export const REWEIGHING_TRANSFORMER_OPTION_NAMES: OptionNames<ReweighingTransformerOptions> = {
  sensitive: true,
  label: true,
  positiveLabel: true,
  targets: true,
  maxWeight: true,
};

interface Settings extends ReweighingTransformerOptions {
  readonly maxWeight: number;
}

const KIND = 'ReweighingTransformer';

const PARAMS = TRANSFORMER_PARAMS[KIND];

const STATE = z.object({
  cells: z.array(z.object({ group: z.string(), label: z.string().nullable(), weight: z.number().min(0) })),
  warnings: z.array(z.string()),
});

type State = z.output<typeof STATE>;

/**
 * Weighs rows so that group and label are independent: a row of group s and
 * label y has the weight
 *
 *     w = n_s n_y / (n n_sy)
 *
 * expected over observed frequency, from counts or, where `sampleWeight` is
 * given, from sums of weights; the result is a factor on those weights. Any
 * number of groups and of classes; a label column of more than 20 different
 * numbers has none, and is refused. Without a label column groups get their
 * `targets` (equal shares where left out): target over observed share.
 *
 * It constrains the rows that a learner sees: in the weighted rows all groups
 * have the same share of positive labels. A model trained on them that uses
 * other columns need not decide evenly. It costs effective rows, and the
 * weighted rows no longer show how labels really are distributed.
 *
 * Weights have mean 1 over the rows fitted (weighed by `sampleWeight`). Those
 * above `maxWeight` are cut, and the rest goes to the other rows. Rows without
 * a value have the weight 1, as have rows of a group and label that never came
 * together in `fit`, which are named in `warnings`. Of rows without the label or
 * a sensitive column no weight is known: `sampleWeight` is then null.
 *
 * Source: F. Kamiran and T. Calders, "Data preprocessing techniques for
 * classification without discrimination", Knowledge and Information Systems 33,
 * 2012.
 * @example
 * ```ts
 * import { ReweighingTransformer } from 'evenhand/pipeline';
 *
 * const rows = { sex: ['f', 'f', 'm', 'm', 'm', 'm'], hired: [0, 1, 0, 1, 1, 1] };
 * const weigher = await new ReweighingTransformer({ sensitive: 'sex', label: 'hired' }).fit(rows);
 * const { sampleWeight } = await weigher.transform(rows);
 * console.log(Array.from(sampleWeight ?? [], (weight) => weight.toFixed(3)).join(' '));
 * // 0.667 1.333 1.333 0.889 0.889 0.889
 * ```
 */
export class ReweighingTransformer extends FittedTransformer<Settings, State> {
  /** @throws {ValueError} for options outside their ranges */
  constructor(options: ReweighingTransformerOptions) {
    assertKnownOptions('ReweighingTransformer', options, REWEIGHING_TRANSFORMER_OPTION_NAMES);
    sensitiveNames(options.sensitive);
    super(KIND, {
      sensitive: frozenNames(options.sensitive),
      label: options.label,
      positiveLabel: options.positiveLabel,
      targets: readProportions('targets', options.targets),
      maxWeight: requireMaxWeight(options.maxWeight ?? 10),
    });
  }

  /**
   * Reads what `toJSON` gave.
   * @throws {DataValidationError} naming the first part that is not as it should be
   */
  static fromJSON(json: unknown): ReweighingTransformer {
    const { options, state } = readTransformerJson(KIND, json, { params: PARAMS, state: STATE });
    const made = fromStored(KIND, () => new ReweighingTransformer(options as unknown as ReweighingTransformerOptions));
    made.keep(state);
    return made;
  }

  protected override learn({ table, weights }: FitRows): State {
    const { sensitive, label, positiveLabel, targets, maxWeight } = this.settings;
    const groups = readKnownGroups(table, sensitive);
    const what = sensitiveNames(sensitive).join(', ');
    const classes = label === undefined ? undefined : readClasses(table, label, positiveLabel);
    if (label !== undefined && classes !== undefined) assertClasses(table, label, classes);
    const { cells, warnings } =
      classes === undefined
        ? shareCells(groups, weights, { what, targets, maxWeight })
        : independenceCells(groups, classes, weights, maxWeight);
    return { cells: [...cells], warnings: [...warnings] };
  }

  protected override apply(table: Table, state: State): AppliedRows {
    const { sensitive, label, positiveLabel } = this.settings;
    const needed = [...sensitiveNames(sensitive), ...(label === undefined ? [] : [label])];
    if (needed.some((name) => !table.has(name))) return { table, sampleWeight: null, notes: [] };
    const groups = readGroups(table, sensitive);
    const classes = label === undefined ? undefined : readClasses(table, label, positiveLabel, false);
    return { table, ...weighRows(groups, classes, state.cells) };
  }
}

/** The weight of each row by its cell, and which cells the fit has not seen. */
function weighRows(
  groups: CategoricalColumn,
  classes: CategoricalColumn | undefined,
  known: readonly WeightedCell[],
): { sampleWeight: Float64Array; notes: string[] } {
  const weightOf = new Map(known.map(({ group, label, weight }) => [nameCell(group, label), weight]));
  const { cellOfRow, codes } = crossToCells(classes === undefined ? [groups] : [groups, classes]);
  const [groupCodes, classCodes] = codes as readonly [Int32Array, Int32Array?];
  const unseen: string[] = [];
  const weights = Float64Array.from(groupCodes, (code, cell) => {
    const group = groups.labels[code];
    const label = classes === undefined ? null : classes.labels[classCodes?.[cell] ?? -1];
    if (group === undefined || label === undefined) return 1;
    const weight = weightOf.get(nameCell(group, label));
    if (weight === undefined) unseen.push(label === null ? group : `${group} with label ${label}`);
    return weight ?? 1;
  });
  const notes = unseen.length > 0 ? [`${nameGroups(unseen.sort())} not among those fitted: weight 1`] : [];
  return { sampleWeight: Float64Array.from(cellOfRow, (cell) => weights[cell] as number), notes };
}

function nameCell(group: string, label: string | null): string {
  return label === null ? group : JSON.stringify([group, label]);
}
