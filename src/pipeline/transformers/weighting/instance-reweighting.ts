import { z } from 'zod';

import { DataValidationError } from '../../../exceptions/index.ts';
import { invalidParameter, type OptionNames } from '../../../internal/arguments.ts';
import { own } from '../../../internal/values.ts';
import { requireInteger } from '../../../stats/parameters.ts';
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
import { type Cells, crossToCells, type MeanOne, requireMaxWeight, scaleToMeanOne } from './cells.ts';
import { rake } from './rake.ts';
import { type Proportions, readProportions, targetShares } from './target-shares.ts';

/** Options of {@link InstanceReweighting}. */
export interface InstanceReweightingOptions {
  /** The sensitive column, or several columns. The groups of each column get their target shares. */
  readonly sensitive: SensitiveColumns;
  /**
   * The shares in the population, by attribute and group. The shares are rescaled to a sum of 1.
   * @defaultValue equal shares of the groups of each attribute
   */
  readonly benchmarks?: Readonly<Record<string, Proportions>> | undefined;
  /**
   * The maximum weight, at least 1. The excess is distributed among the other rows.
   * @defaultValue 10
   */
  readonly maxWeight?: number | undefined;
  /**
   * The minimum number of rows of a group. Smaller groups keep the weight 1.
   * @defaultValue 1
   */
  readonly minCount?: number | undefined;
}

/** Lists the options of {@link InstanceReweightingOptions}. */
export const INSTANCE_REWEIGHTING_OPTION_NAMES: OptionNames<InstanceReweightingOptions> = {
  sensitive: true,
  benchmarks: true,
  maxWeight: true,
  minCount: true,
};

interface Settings extends InstanceReweightingOptions {
  readonly maxWeight: number;
  readonly minCount: number;
}

const STATE = z.object({
  attributes: z.array(
    z.object({ attribute: z.string(), labels: z.array(z.string()), factors: z.array(z.number().min(0).nullable()) }),
  ),
  scale: z.number().gt(0),
  limit: z.number().gt(0),
  warnings: z.array(z.string()),
});

type State = z.output<typeof STATE>;

const DEFINITION = { kind: 'InstanceReweighting', options: INSTANCE_REWEIGHTING_OPTION_NAMES, state: STATE } as const;

/**
 * Weights rows so that groups have the shares of a population. If n_g / n is the observed share of group g and t_g is
 * its benchmark,
 *
 *     w_g = t_g / (n_g / n)
 *
 * If there are several attributes, raking (iterative proportional fitting) over the attributes' margins gives the
 * groups of all attributes their shares at the same time. A row's weight is the product of its groups' factors. Weights
 * have mean 1 over the training rows (weighted by `sampleWeight`, if given).
 *
 * The transformer constrains the total weight of each group. The transformer does not use labels, so outcomes may still
 * differ between groups. The effective number of rows decreases: very unequal weights make every estimate less certain.
 *
 * The following degenerate cases are reported in `warnings`. A group has weight 1 if it has fewer than `minCount` rows,
 * has no benchmark, or did not occur in `fit`. If a group of the benchmark has no rows, its share is distributed among
 * the other groups. Weights are capped at `maxWeight`. If no weights can match all margins, the result is the closest
 * result of raking. Rows without a value also have weight 1. If the rows lack the sensitive columns, their weights are
 * unknown and `sampleWeight` is null.
 *
 * Source: W. E. Deming and F. F. Stephan, "On a Least Squares Adjustment of a
 * Sampled Frequency Table When the Expected Marginal Totals are Known", Annals
 * of Mathematical Statistics 11, 1940.
 * @example
 * ```ts
 * import { InstanceReweighting } from 'evenhand/pipeline';
 *
 * const rows = { sex: ['female', 'male', 'male', 'male'] };
 * const weigher = new InstanceReweighting({ sensitive: 'sex', benchmarks: { sex: { female: 0.5, male: 0.5 } } });
 * const { sampleWeight } = await (await weigher.fit(rows)).transform(rows);
 * console.log(Array.from(sampleWeight ?? [], (weight) => weight.toFixed(3)));
 * // [ '2.000', '0.667', '0.667', '0.667' ]
 * ```
 */
export class InstanceReweighting extends FittedTransformer<Settings, State> {
  /** @throws {ValueError} if an option is out of its range, or if a benchmark names a column that is not sensitive */
  constructor(options: InstanceReweightingOptions) {
    super(DEFINITION, options, () => ({
      sensitive: frozenSensitive(options.sensitive),
      benchmarks: readBenchmarks(options),
      maxWeight: requireMaxWeight(options.maxWeight ?? 10),
      minCount: requireInteger('minCount', options.minCount ?? 1, 1),
    }));
  }

  /**
   * Restores a transformer from the output of `toJSON`.
   * @throws {DataValidationError} if a part is invalid; the error names the first invalid part
   */
  static fromJSON(json: unknown): InstanceReweighting {
    return FittedTransformer.restore(InstanceReweighting, DEFINITION, json);
  }

  protected override learn({ table, weights }: FitRows): State {
    const { benchmarks, maxWeight, minCount } = this.settings;
    const names = sensitiveNames(this.settings.sensitive);
    const groups = names.map((name) => readKnownGroups(table, name));
    const targets = names.map((what, index) =>
      targetShares(groups[index] as CategoricalColumn, own(benchmarks, what), { what, minCount }),
    );
    const cells = crossToCells(groups, weights);
    const shares = targets.map((target) => target.shares);
    const { factors, gap } = rake(margins(cells, shares), cells.masses);
    const scaled = scaleCells(cells, shares, factors, maxWeight);
    return {
      attributes: names.map((attribute, index) => ({
        attribute,
        labels: [...(groups[index] as CategoricalColumn).labels],
        factors: Array.from(factors[index] ?? [], (factor, code) =>
          Number.isNaN(shares[index]?.[code]) ? null : factor,
        ),
      })),
      scale: scaled.scale,
      limit: scaled.limit,
      warnings: [...targets.flatMap(({ warnings }) => warnings), ...fitWarnings(gap, scaled, maxWeight)],
    };
  }

  protected override apply(table: Table, state: State): AppliedRows {
    if (state.attributes.some(({ attribute }) => !table.has(attribute))) {
      return { table, sampleWeight: null, notes: [] };
    }
    const ratios = new Float64Array(table.rowCount).fill(NaN);
    const unseen = state.attributes.flatMap((attribute) => multiplyFactors(ratios, table, attribute));
    const { scale, limit } = state;
    const sampleWeight = ratios.map((ratio) => (Number.isNaN(ratio) ? 1 : Math.min(limit, scale * ratio)));
    return { table, sampleWeight, notes: unseen };
  }
}

function readBenchmarks({ benchmarks, sensitive }: InstanceReweightingOptions): Settings['benchmarks'] {
  if (benchmarks === undefined) return undefined;
  const names = sensitiveNames(sensitive);
  const other = Object.keys(benchmarks).find((name) => !names.includes(name));
  if (other !== undefined)
    throw invalidParameter('benchmarks', `name only sensitive columns (${names.join(', ')})`, other);
  const read = Object.entries(benchmarks).map(([name, given]) => [name, readProportions(`benchmarks.${name}`, given)]);
  return Object.freeze(Object.fromEntries(read) as Record<string, Proportions>);
}

function margins({ codes }: Cells, shares: readonly Float64Array[]): { codes: Int32Array; shares: Float64Array }[] {
  return shares.map((each, index) => ({ codes: codes[index] as Int32Array, shares: each }));
}

/**
 * Computes the scale of the weights from the cells that have a target share in at least one attribute. The other cells
 * keep weight 1.
 */
function scaleCells(
  { codes, masses }: Cells,
  shares: readonly Float64Array[],
  factors: readonly Float64Array[],
  maxWeight: number,
): MeanOne {
  const hasShare = (index: number, cell: number): boolean =>
    !Number.isNaN(shares[index]?.[codes[index]?.[cell] ?? -1] ?? NaN);
  const taking = [...masses.keys()].filter((cell) => codes.some((_, index) => hasShare(index, cell)));
  const ratios = taking.map((cell) =>
    codes.reduce((ratio, code, index) => ratio * (factors[index]?.[code[cell] ?? -1] ?? 1), 1),
  );
  if (taking.length > 0 && ratios.every((ratio) => ratio === 0)) throw nothingLeft();
  return scaleToMeanOne(
    ratios,
    taking.map((cell) => masses[cell] as number),
    maxWeight,
  );
}

function nothingLeft(): DataValidationError {
  return new DataValidationError('With these benchmarks, every row has the weight 0.', {
    code: 'empty-data',
    context: { argument: 'benchmarks' },
    suggestion: 'Give a share above 0 to groups that occur together in at least one row.',
  });
}

function fitWarnings(gap: number, { cut, limit }: MeanOne, maxWeight: number): string[] {
  return [
    ...(gap > 1e-6
      ? [`no weights match the shares of all attributes: the largest difference is ${gap.toPrecision(3)}`]
      : []),
    ...(cut.length > 0
      ? [`weights are capped at ${String(limit > maxWeight ? limit : maxWeight)}, so the shares are not reached`]
      : []),
  ];
}

/**
 * Multiplies the ratio of each row by the factor of its group in one attribute. If a row has no factor, its ratio is
 * not changed. Returns notes on unseen groups.
 */
function multiplyFactors(
  ratios: Float64Array,
  table: Table,
  { attribute, labels, factors }: State['attributes'][number],
): string[] {
  const groups = readGroups(table, attribute);
  const factorOf = new Map(labels.map((label, code) => [label, factors[code]]));
  const byCode = groups.labels.map((label) => factorOf.get(label));
  groups.codes.forEach((code, row) => {
    const factor = byCode[code] ?? NaN;
    const ratio = ratios[row] as number;
    if (!Number.isNaN(factor)) ratios[row] = Number.isNaN(ratio) ? factor : ratio * factor;
  });
  const met = new Set(groups.codes);
  const unseen = groups.labels.filter((label, code) => met.has(code) && !factorOf.has(label));
  return unseen.length > 0 ? [`${attribute}: rows of ${nameGroups(unseen)} have the weight 1 (not seen in fit)`] : [];
}
