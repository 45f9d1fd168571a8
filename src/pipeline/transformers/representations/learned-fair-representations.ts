import { z } from 'zod';

import { DataValidationError } from '../../../exceptions/index.ts';
import { createRandom } from '../../../internal/random.ts';
import type { CategoricalColumn, Table } from '../../../table/index.ts';
import { type FitRows, replaceColumns } from '../fit-rows.ts';
import { type AppliedRows, FittedTransformer } from '../fitted-transformer.ts';
import { nameSome } from '../../../internal/format.ts';
import { numericFeatureNames, readFeature, readKnownGroups } from '../read-columns.ts';
import type { TransformerFitOptions } from '../transformer.ts';
import { readClasses } from '../weighting/read-classes.ts';
import { minimise, type Minimum } from './minimise.ts';
import { type LossParts, PrototypeObjective, type PrototypeRows } from './prototype-objective.ts';
import { memberships, readPrototypes, reconstruct } from './prototypes.ts';
import {
  LEARNED_FAIR_REPRESENTATIONS_OPTION_NAMES,
  type LearnedFairRepresentationsOptions,
  type RepresentationSettings,
  representationSettings,
} from './representation-options.ts';

export type { LearnedFairRepresentationsOptions };

const PARTS = z.object({ reconstruction: z.number(), prediction: z.number(), parity: z.number() });

const STATE = z
  .object({
    features: z.array(z.object({ feature: z.string(), mean: z.number(), scale: z.number().min(0) })),
    labels: z.array(z.number().min(0).max(1)),
    positions: z.array(z.array(z.number())),
    start: PARTS,
    end: PARTS,
    iterations: z.number(),
    warnings: z.array(z.string()),
  })
  .refine(({ features, positions }) => {
    const width = features.filter(({ scale }) => scale > 0).length;
    return positions.every((position) => position.length === width);
  }, 'every position must have one number per feature that varies');

type State = z.output<typeof STATE>;

const DEFINITION = {
  kind: 'LearnedFairRepresentations',
  options: LEARNED_FAIR_REPRESENTATIONS_OPTION_NAMES,
  state: STATE,
} as const;

/** The losses of a fit. */
export interface RepresentationLosses {
  /** The parts of the loss at the initial prototypes. */
  readonly start: LossParts;
  /** The parts of the loss at the final prototypes. */
  readonly end: LossParts;
  readonly iterations: number;
}

/**
 * Replaces features with a mixture of a few prototypes. The prototypes are learned so that the mixture predicts the
 * features and the label, but not the group.
 *
 * Let x be a row in which each feature is centred and divided by its standard deviation. The membership of the row in
 * prototype v_k is m_k = softmax(-|x - v_k|). The row becomes x^ = sum_k m_k v_k, and its label is predicted by
 * y^ = sum_k m_k w_k with w_k in (0, 1). The parameters v and w minimise
 *
 *     Ax 2/G sum_g mean_(i in g, features) (x^ - x)^2  +  Ay mean_i -log P(y_i | y^_i)
 *       +  Az 2/(G K) sum_g,k |M_gk - mean_h M_hk|
 *
 * where Ax, Ay and Az are `reconstruction`, `prediction` and `parity`, K is the number of prototypes, G is the number
 * of groups, and M_gk is the mean of m_k over group g. For two groups, these terms are the terms of AIF360, and the
 * parity term is the mean over prototypes of |M_0k - M_1k|. If there are more groups, each group is compared with the
 * mean of all groups. All groups have equal weight, regardless of their numbers of rows. `sampleWeight` weights the
 * means.
 *
 * L-BFGS finds a local minimum with the analytic gradient, from prototypes drawn by `seed`. Gaps below about 0.001 are
 * smoothed, so that the gradient is continuous. An iteration takes O(rows prototypes features) time. Different seeds
 * may lead to different minima.
 *
 * The transformer constrains the mean membership of each group in each prototype, over the training rows. A model
 * trained on the result may still differ by group. Most of the information in the features is lost: five prototypes
 * keep little detail.
 *
 * The transformer uses only numeric features, so convert text to numbers first. A missing value is replaced by the mean
 * of its column in the calculation, but stays missing in the result. A column that was constant in `fit` gets this
 * constant in every row. Rows without a group or a label are excluded from `fit`. `transform` needs neither the
 * sensitive column nor the label.
 *
 * Source: R. Zemel, Y. Wu, K. Swersky, T. Pitassi and C. Dwork, "Learning Fair
 * Representations", ICML 2013.
 * @example
 * ```ts
 * import { sampleData } from 'evenhand';
 * import { LearnedFairRepresentations } from 'evenhand/pipeline';
 *
 * const rows = sampleData('cps-wages');
 * const learner = new LearnedFairRepresentations({
 *   sensitive: 'gender',
 *   label: 'wage_above_median',
 *   features: ['education', 'experience'],
 * });
 * const { table } = await (await learner.fit(rows)).transform(rows);
 * const { start, end } = learner.losses;
 * console.log(table.rowCount, end.parity < start.parity);
 * // 534 true
 * ```
 */
export class LearnedFairRepresentations extends FittedTransformer<RepresentationSettings, State> {
  /** @throws {ValueError} if an option is out of its range */
  constructor(options: LearnedFairRepresentationsOptions) {
    super(DEFINITION, options, () => representationSettings(options));
  }

  /**
   * The parts of the loss before and after the search.
   * @throws {PipelineExecutionError} if the transformer has not been fitted
   */
  get losses(): RepresentationLosses {
    const { start, end, iterations } = this.fitted();
    return Object.freeze({ start: Object.freeze({ ...start }), end: Object.freeze({ ...end }), iterations });
  }

  /**
   * Restores a transformer from the output of `toJSON`.
   * @throws {DataValidationError} if a part is invalid; the error names the first invalid part
   */
  static fromJSON(json: unknown): LearnedFairRepresentations {
    return FittedTransformer.restore(LearnedFairRepresentations, DEFINITION, json);
  }

  protected override async learn({ table, weights }: FitRows, options: TransformerFitOptions): Promise<State> {
    const { sensitive, label, positiveLabel, prototypes, seed } = this.settings;
    const groups = readKnownGroups(table, sensitive);
    const classes = readClasses(table, label, positiveLabel);
    const features = scaleFeatures(table, numericFeatureNames(table, this.settings)).filter(
      ({ mean }) => !Number.isNaN(mean),
    );
    const varying = features.filter(({ scale }) => scale > 0);
    if (varying.length === 0) throw noFeatures(features);
    const rows = representedRows(table, varying, { groups, classes, weights });
    const objective = new PrototypeObjective(rows, prototypes, this.settings);
    const start = drawPrototypes(prototypes, varying.length, seed);
    const found = await this.#search(objective, start, options);
    const { labels, positions } = readPrototypes(found.point, prototypes);
    return {
      features,
      labels: [...labels],
      positions: Array.from(labels, (_, k) => [...positions.subarray(k * varying.length, (k + 1) * varying.length)]),
      start: objective.parts(start),
      end: objective.parts(found.point),
      iterations: found.iterations,
      warnings: warningsOf(rows, table.rowCount, features, found),
    };
  }

  #search(objective: PrototypeObjective, start: Float64Array, options: TransformerFitOptions): Promise<Minimum> {
    const { maxIterations } = this.settings;
    const { onProgress, signal } = options;
    const onStep = (done: number): void => onProgress?.({ stage: 'moving prototypes', done, total: maxIterations });
    return minimise(objective.evaluate, start, { maxIterations, signal, onStep });
  }

  protected override apply(table: Table, { features, positions }: State): AppliedRows {
    const varying = features.filter(({ scale }) => scale > 0);
    const matrix = scaledMatrix(table, varying);
    representMatrix(matrix, varying.length, positions);
    const changed = features.map((feature) => {
      const index = varying.indexOf(feature);
      const { mean, scale } = feature;
      const values = readFeature(table, feature.feature).map((value, row) => {
        if (Number.isNaN(value)) return value;
        return index < 0 ? mean : mean + scale * (matrix[row * varying.length + index] as number);
      });
      return [feature.feature, values] as const;
    });
    return { table: replaceColumns(table, changed), sampleWeight: null, notes: [] };
  }
}

/** Replaces each row of a matrix by its mixture of prototypes. */
function representMatrix(matrix: Float64Array, columns: number, positions: readonly (readonly number[])[]): void {
  const flat = Float64Array.from(positions.flat());
  const shares = new Float64Array(positions.length);
  for (let start = 0; start < matrix.length; start += columns) {
    memberships(matrix, start, columns, flat, shares);
    reconstruct(shares, flat, matrix.subarray(start, start + columns));
  }
}

/**
 * Draws initial parameters: the log-odds of labels that are uniform in (0, 1), and positions from the standard normal
 * distribution.
 */
function drawPrototypes(count: number, columns: number, seed: number): Float64Array {
  const random = createRandom(seed);
  const draw = (index: number): number => {
    if (index >= count) return random.normal();
    const share = random.next();
    return Math.log((share + 1e-3) / (1 - share + 1e-3));
  };
  return Float64Array.from({ length: count * (columns + 1) }, (_, index) => draw(index));
}

function warningsOf(rows: PrototypeRows, all: number, features: readonly ScaledFeature[], found: Minimum): string[] {
  const left = all - rows.y.length;
  const constant = features.filter(({ scale }) => scale === 0).map(({ feature }) => feature);
  return [
    ...(left > 0 ? [`${String(left)} rows without a group or a label are excluded from the fit`] : []),
    ...(constant.length > 0 ? [`constant: ${nameSome(constant)}; other values become that constant`] : []),
    ...(rows.groupCount < 2 ? ['there is only one group, so there is no gap to constrain'] : []),
    ...(found.hasConverged
      ? []
      : [`the search stopped after ${String(found.iterations)} iterations without reaching a minimum`]),
  ];
}

function noFeatures(features: readonly ScaledFeature[]): DataValidationError {
  return new DataValidationError('No numeric column has two or more values, so there is no feature to represent.', {
    code: 'empty-data',
    context: { argument: 'features', constant: features.map(({ feature }) => feature) },
    suggestion: 'Name numeric features that vary, and convert text to numbers first.',
  });
}

/** A feature that is represented. */
interface ScaledFeature extends ColumnScale {
  readonly feature: string;
}

/** Returns the features with their scales. A column that does not vary has scale 0. */
function scaleFeatures(table: Table, names: readonly string[]): ScaledFeature[] {
  return names.map((feature) => ({ feature, ...scaleColumn(readFeature(table, feature)) }));
}

/**
 * Returns values in units of the spread of their column, [rows, columns]. A missing value is replaced by the mean of
 * its column.
 */
function scaledMatrix(table: Table, features: readonly ScaledFeature[]): Float64Array {
  const width = features.length;
  const matrix = new Float64Array(table.rowCount * width);
  features.forEach(({ feature, mean, scale }, index) => {
    readFeature(table, feature).forEach((value, row) => {
      matrix[row * width + index] = Number.isNaN(value) ? 0 : (value - mean) / scale;
    });
  });
  return matrix;
}

/**
 * Reads the rows that have a group and a label, ready to be represented.
 * @throws {DataValidationError} if there are no such rows, or if there are more than two classes
 */
function representedRows(
  table: Table,
  features: readonly ScaledFeature[],
  {
    groups,
    classes,
    weights,
  }: { groups: CategoricalColumn; classes: CategoricalColumn; weights: Float64Array | undefined },
): PrototypeRows {
  assertTwoClasses(classes);
  const rows = Int32Array.from(groups.codes.keys()).filter(
    (row) => (groups.codes[row] as number) >= 0 && (classes.codes[row] as number) >= 0,
  );
  if (rows.length === 0) throw noRows();
  const codes = denseCodes(rows, groups);
  return {
    x: scaledMatrix(table.take(rows), features),
    columns: features.length,
    // A single class is class 0 regardless of its name, because the loss is symmetric in the classes.
    y: Float64Array.from(rows, (row) => classes.codes[row] as number),
    groups: codes.groups,
    groupCount: codes.count,
    weights: Float64Array.from(rows, (row) => weights?.[row] ?? 1),
  };
}

/** Renumbers the groups that occur in the given rows from 0, without gaps. */
function denseCodes(rows: Int32Array, { codes, labels }: CategoricalColumn): { groups: Int32Array; count: number } {
  const occurring = new Set(Array.from(rows, (row) => codes[row] as number));
  const codeOf = new Map(
    labels.flatMap((_, code) => (occurring.has(code) ? [code] : [])).map((code, index) => [code, index] as const),
  );
  return { groups: rows.map((row) => codeOf.get(codes[row] as number) as number), count: codeOf.size };
}

function assertTwoClasses({ labels }: CategoricalColumn): void {
  if (labels.length <= 2) return;
  throw new DataValidationError(`The label column has ${String(labels.length)} values, but two are needed.`, {
    context: { argument: 'label', labels: labels.slice(0, 12) },
    suggestion:
      'Set positiveLabel; all other labels then count as negative. A numeric target cannot be used, only a label with two classes.',
  });
}

function noRows(): DataValidationError {
  return new DataValidationError('No row has both a group and a label.', {
    code: 'empty-data',
    context: { argument: 'data' },
    suggestion: 'Provide rows whose sensitive values and labels are known.',
  });
}

/** The mean and spread of a column's known values. */
interface ColumnScale {
  /** The mean of the known values; NaN if there are no known values. */
  readonly mean: number;
  /** The population standard deviation; 0 for a single value. */
  readonly scale: number;
}

/**
 * Computes the mean and the spread of the values that are not NaN. Deviations are divided by the largest deviation, so
 * that squares stay finite.
 */
function scaleColumn(values: Float64Array): ColumnScale {
  const known = values.filter((value) => !Number.isNaN(value));
  if (known.length === 0) return { mean: NaN, scale: 0 };
  const [first = NaN] = known;
  // The rounded mean of a constant column may differ from the constant. The spread would then be a rounding error.
  if (known.every((value) => value === first)) return { mean: first, scale: 0 };
  let mean = 0;
  known.forEach((value, index) => (mean += (value - mean) / (index + 1)));
  const unit = known.reduce((most, value) => Math.max(most, Math.abs(value - mean)), 0);
  const square = known.reduce((sum, value) => sum + ((value - mean) / unit) ** 2, 0) / known.length;
  return { mean, scale: unit * Math.sqrt(square) };
}
