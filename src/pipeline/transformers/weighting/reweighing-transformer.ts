import { z } from 'zod';

import { DataValidationError } from '../../../exceptions/index.ts';
import { type OptionNames } from '../../../internal/arguments.ts';
import type { CategoricalColumn, Table } from '../../../table/index.ts';
import type { FitRows } from '../fit-rows.ts';
import { type AppliedRows, FittedTransformer } from '../fitted-transformer.ts';
import {
  frozenSensitive,
  nameGroups,
  readGroups,
  readKnownGroups,
  type SensitiveColumns,
  sensitiveNames,
} from '../read-columns.ts';
import { crossToCells, type MeanOne, requireMaxWeight, scaleToMeanOne } from './cells.ts';
import { readClasses } from './read-classes.ts';
import { type Proportions, readProportions, targetShares } from './target-shares.ts';

/** A numeric column with more than this number of distinct values is treated as a continuous quantity. */
const MAX_NUMBERS = 20;

/**
 * Checks that the values of a label column can be classes. For a continuous quantity, nearly every row would be a
 * separate class. The weight of the row would then be the share of its group, so rows of small groups would get low
 * weights.
 * @throws {DataValidationError} if the column is numeric and has more than 20 distinct values
 */
function assertClasses(table: Table, column: string, { labels }: CategoricalColumn): void {
  if (table.column(column).kind !== 'numeric' || labels.length <= MAX_NUMBERS) return;
  const count = String(labels.length);
  throw new DataValidationError(
    `The label column '${column}' has ${count} distinct numbers. It must hold classes, and numeric labels may have at most ${String(MAX_NUMBERS)} distinct values.`,
    {
      code: 'invalid-data',
      context: { argument: 'label', column, values: labels.length },
      suggestion:
        'For a numeric target use InstanceReweighting. Otherwise choose a label column with classes, or set positiveLabel.',
    },
  );
}

/** Options of {@link ReweighingTransformer}. */
export interface ReweighingTransformerOptions {
  /** The sensitive column, or several columns, whose intersections are the groups. */
  readonly sensitive: SensitiveColumns;
  /**
   * The column of true labels. Only `fit` needs this column.
   * @defaultValue none: groups get the shares of `targets`
   */
  readonly label?: string | undefined;
  /**
   * The label that counts as positive. All other labels are negative.
   * @defaultValue none: every label is a separate class; a numeric column may have at most 20 labels
   */
  readonly positiveLabel?: string | undefined;
  /**
   * The target shares of groups, which are rescaled to a sum of 1. This option is used only if `label` is not set.
   * @defaultValue equal shares
   */
  readonly targets?: Proportions | undefined;
  /**
   * The maximum weight, at least 1. The excess is distributed among the other rows.
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

const STATE = z.object({
  cells: z.array(z.object({ group: z.string(), label: z.string().nullable(), weight: z.number().min(0) })),
  warnings: z.array(z.string()),
});

type State = z.output<typeof STATE>;

const DEFINITION = {
  kind: 'ReweighingTransformer',
  options: REWEIGHING_TRANSFORMER_OPTION_NAMES,
  state: STATE,
} as const;

/**
 * Weights rows so that group and label are independent. A row of group s and label y has the weight
 *
 *     w = n_s n_y / (n n_sy)
 *
 * This weight is the expected frequency divided by the observed frequency. Frequencies are counts or, if `sampleWeight`
 * is given, sums of weights. If you pass `sampleWeight`, multiply your weights by the weights that `transform` returns.
 * There can be any number of groups and classes. A label column with more than 20 distinct numbers is rejected. If no
 * label column is given, groups get the shares in `targets` (equal shares if omitted), and the weight is the target
 * share divided by the observed share.
 *
 * The transformer constrains the rows that a learner sees: in the weighted rows, all groups have the same share of
 * positive labels. A model that is trained on these rows with other columns may still have a gap in its decisions. The
 * effective number of rows decreases, and the weighted rows no longer show the actual distribution of labels.
 *
 * Weights have mean 1 over the training rows (weighted by `sampleWeight`). Weights above `maxWeight` are capped, and
 * the excess is distributed among the other rows. Rows without a value have weight 1. Rows whose group and label never
 * occurred together in `fit` also have weight 1, and `warnings` names these combinations. If the rows lack the label
 * column or a sensitive column, their weights are unknown and `sampleWeight` is null.
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
  /** @throws {ValueError} if an option is out of its range */
  constructor(options: ReweighingTransformerOptions) {
    super(DEFINITION, options, () => ({
      sensitive: frozenSensitive(options.sensitive),
      label: options.label,
      positiveLabel: options.positiveLabel,
      targets: readProportions('targets', options.targets),
      maxWeight: requireMaxWeight(options.maxWeight ?? 10),
    }));
  }

  /**
   * Restores a transformer from the output of `toJSON`.
   * @throws {DataValidationError} if a part is invalid; the error names the first invalid part
   */
  static fromJSON(json: unknown): ReweighingTransformer {
    return FittedTransformer.restore(ReweighingTransformer, DEFINITION, json);
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

/** Returns the weight of each row by its cell, with notes about cells that did not occur in `fit`. */
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
  const notes = unseen.length > 0 ? [`rows of ${nameGroups(unseen.sort())} have the weight 1 (not seen in fit)`] : [];
  return { sampleWeight: Float64Array.from(cellOfRow, (cell) => weights[cell] as number), notes };
}

function nameCell(group: string, label: string | null): string {
  return label === null ? group : JSON.stringify([group, label]);
}

/** The weight of the rows with the given group and label (or with the given group, if labels are not used). */
interface WeightedCell {
  readonly group: string;
  readonly label: string | null;
  readonly weight: number;
}

/** The weights of the cells that occur in the training rows. */
interface CellWeights {
  readonly cells: readonly WeightedCell[];
  readonly warnings: readonly string[];
}

/**
 * Computes the weights of Kamiran and Calders: expected frequency divided by observed frequency. The weights have mean
 * 1 and are capped. Takes O(rows) time.
 */
function independenceCells(
  groups: CategoricalColumn,
  classes: CategoricalColumn,
  weights: Float64Array | undefined,
  maxWeight: number,
): CellWeights {
  const { codes, masses } = crossToCells([groups, classes], weights);
  const [group, label] = codes as readonly [Int32Array, Int32Array];
  const known = [...masses.keys()].filter((cell) => (group[cell] as number) >= 0 && (label[cell] as number) >= 0);
  const ofGroup = new Float64Array(groups.labels.length);
  const ofLabel = new Float64Array(classes.labels.length);
  let total = 0;
  for (const cell of known) {
    const [s, y, mass] = [group[cell] as number, label[cell] as number, masses[cell] as number];
    ofGroup[s] = (ofGroup[s] as number) + mass;
    ofLabel[y] = (ofLabel[y] as number) + mass;
    total += mass;
  }
  const ratio = (cell: number): number =>
    ((ofGroup[group[cell] as number] as number) * (ofLabel[label[cell] as number] as number)) /
    (total * (masses[cell] as number));
  const ratios = known.map(ratio);
  const scaled = scaleToMeanOne(
    ratios,
    known.map((cell) => masses[cell] as number),
    maxWeight,
  );
  const cells = known.map((cell, index) => ({
    group: groups.labels[group[cell] as number] as string,
    label: classes.labels[label[cell] as number] as string,
    weight: weigh(scaled, ratios[index] as number),
  }));
  return { cells, warnings: [...noneKnown(known), ...cutWarning(scaled)] };
}

/** Computes the ratio of target share to observed share for each group, scales the ratios to mean 1 and caps them. */
function shareCells(
  groups: CategoricalColumn,
  weights: Float64Array | undefined,
  options: { readonly what: string; readonly targets: Proportions | undefined; readonly maxWeight: number },
): CellWeights {
  const { what, targets, maxWeight } = options;
  const { shares, warnings } = targetShares(groups, targets, { what, minCount: 1 });
  const { codes, masses } = crossToCells([groups], weights);
  const [group] = codes as readonly [Int32Array];
  const taking = [...masses.keys()].filter((cell) => !Number.isNaN(shares[group[cell] as number] ?? NaN));
  const ratios = taking.map((cell) => (shares[group[cell] as number] as number) / (masses[cell] as number));
  const scaled = scaleToMeanOne(
    ratios,
    taking.map((cell) => masses[cell] as number),
    maxWeight,
  );
  const weightOf = new Map(taking.map((cell, index) => [group[cell], weigh(scaled, ratios[index] as number)]));
  const cells = groups.labels.map((label, code) => ({ group: label, label: null, weight: weightOf.get(code) ?? 1 }));
  return { cells, warnings: [...warnings, ...cutWarning(scaled)] };
}

function weigh({ scale, limit }: MeanOne, ratio: number): number {
  return Math.min(limit, scale * ratio);
}

function noneKnown(known: readonly number[]): string[] {
  return known.length === 0 ? ['no row has both a group and a label, so every weight is 1'] : [];
}

function cutWarning({ cut, limit }: MeanOne): string[] {
  return cut.length === 0
    ? []
    : [`weights of ${String(cut.length)} combinations are capped at ${String(limit)}, so independence is not reached`];
}
