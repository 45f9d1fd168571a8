import { z } from 'zod';

import { DataValidationError } from '../../../exceptions/index.ts';
import { assertKnownOptions } from '../../../internal/arguments.ts';
import { createRandom } from '../../../internal/random.ts';
import { TRANSFORMER_PARAMS } from '../../../schemas/pipeline/transformer-params.ts';
import type { CategoricalColumn, Table } from '../../../table/index.ts';
import { type FitRows, replaceColumns } from '../fit-rows.ts';
import { type AppliedRows, FittedTransformer } from '../fitted-transformer.ts';
import { nameSome, numericFeatureNames, readFeature, readKnownGroups } from '../read-columns.ts';
import { FROM_AROUND, fromStored, readTransformerJson } from '../transformer-json.ts';
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

const KIND = 'LearnedFairRepresentations';

const PARAMS = TRANSFORMER_PARAMS[KIND].extend({ candidates: FROM_AROUND.candidates });

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
  }, 'every position should have a number per feature that varies');

type State = z.output<typeof STATE>;

/** How a fit came out. */
export interface RepresentationLosses {
  /** The parts of the loss where the prototypes started. */
  readonly start: LossParts;
  /** And where they ended. */
  readonly end: LossParts;
  readonly iterations: number;
}

/**
 * Replaces features by a mixture of a few prototypes, learned such that the
 * mixture tells the features and the label, and not the group.
 *
 * A row x (each feature less its mean, in units of its standard deviation)
 * belongs to prototype v_k with m_k = softmax(-|x - v_k|), and becomes
 * x^ = sum_k m_k v_k; y^ = sum_k m_k w_k with w_k in (0, 1) tells its label.
 * v and w minimise
 *
 *     Ax 2/G sum_g mean_(i in g, features) (x^ - x)^2  +  Ay mean_i -log P(y_i | y^_i)
 *       +  Az 2/(G K) sum_g,k |M_gk - mean_h M_hk|
 *
 * with Ax, Ay, Az = `reconstruction`, `prediction`, `parity`, K prototypes, G
 * groups and M_gk the mean of m_k over group g. For two groups these are the
 * terms of AIF360, the parity term being the mean over prototypes of
 * |M_0k - M_1k|; more groups are held against their mean, and all count alike,
 * so that a group of few rows weighs as much as a large one. `sampleWeight`
 * weighs the means.
 *
 * A local minimum is found by L-BFGS with the analytic gradient (gaps of less
 * than about 0.001 are rounded off for it) from prototypes drawn by `seed`:
 * O(rows prototypes features) an iteration. Other seeds find other minima.
 *
 * It constrains how often the groups are near each prototype on average, over
 * the rows fitted; a model trained on the result may still differ by group. It
 * costs most of what the features say: five prototypes keep little detail.
 *
 * Only numeric features: text ones must be made numbers first. A missing value
 * counts as its column's mean and stays missing. Columns that were constant in
 * `fit` become that constant. Rows without a group or a label are left out of
 * `fit`. `transform` needs neither the sensitive column nor the label.
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
  /** @throws {ValueError} for options outside their ranges */
  constructor(options: LearnedFairRepresentationsOptions) {
    assertKnownOptions('LearnedFairRepresentations', options, LEARNED_FAIR_REPRESENTATIONS_OPTION_NAMES);
    super(KIND, representationSettings(options));
  }

  /**
   * The parts of the loss before and after the search.
   * @throws {PipelineExecutionError} before `fit`
   */
  get losses(): RepresentationLosses {
    const { start, end, iterations } = this.fitted();
    return Object.freeze({ start: Object.freeze({ ...start }), end: Object.freeze({ ...end }), iterations });
  }

  /**
   * Reads what `toJSON` gave.
   * @throws {DataValidationError} naming the first part that is not as it should be
   */
  static fromJSON(json: unknown): LearnedFairRepresentations {
    const { options, state } = readTransformerJson(KIND, json, { params: PARAMS, state: STATE });
    const made = fromStored(
      KIND,
      () => new LearnedFairRepresentations(options as unknown as LearnedFairRepresentationsOptions),
    );
    made.keep(state);
    return made;
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
      const place = varying.indexOf(feature);
      const { mean, scale } = feature;
      const values = readFeature(table, feature.feature).map((value, row) => {
        if (Number.isNaN(value)) return value;
        return place < 0 ? mean : mean + scale * (matrix[row * varying.length + place] as number);
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

/** Log-odds of labels drawn evenly from (0, 1), and positions from the standard normal distribution. */
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
    ...(left > 0 ? [`${String(left)} rows without a group or a label are left out of the fit`] : []),
    ...(constant.length > 0 ? [`constant: ${nameSome(constant)}; other values become that constant`] : []),
    ...(rows.groupCount < 2 ? ['there is one group only: nothing is held equal'] : []),
    ...(found.hasConverged ? [] : [`the search ended after ${String(found.iterations)} iterations, before a minimum`]),
  ];
}

function noFeatures(features: readonly ScaledFeature[]): DataValidationError {
  return new DataValidationError('There is no feature to represent: no numeric column with two values or more.', {
    context: { argument: 'features', constant: features.map(({ feature }) => feature) },
    suggestion: 'Name numeric features that vary; make text ones numbers first.',
  });
}

/** A feature that is represented. */
interface ScaledFeature extends ColumnScale {
  readonly feature: string;
}

/** The columns that vary, with their scales; the others by what they always are. */
function scaleFeatures(table: Table, names: readonly string[]): ScaledFeature[] {
  return names.map((feature) => ({ feature, ...scaleColumn(readFeature(table, feature)) }));
}

/** Values in units of their columns' spreads, [rows, columns]; a missing one is its column's mean. */
function scaledMatrix(table: Table, features: readonly ScaledFeature[]): Float64Array {
  const width = features.length;
  const matrix = new Float64Array(table.rowCount * width);
  features.forEach(({ feature, mean, scale }, place) => {
    readFeature(table, feature).forEach((value, row) => {
      matrix[row * width + place] = Number.isNaN(value) ? 0 : (value - mean) / scale;
    });
  });
  return matrix;
}

/**
 * The rows that have a group and a label, ready to be represented.
 * @throws {DataValidationError} where there are none, or more than two classes
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
    // With one class only, it is the class 0 whatever its name: the loss has no preference.
    y: Float64Array.from(rows, (row) => classes.codes[row] as number),
    groups: codes.groups,
    groupCount: codes.count,
    weights: Float64Array.from(rows, (row) => weights?.[row] ?? 1),
  };
}

/** The groups of some rows, numbered without gaps. */
function denseCodes(rows: Int32Array, { codes, labels }: CategoricalColumn): { groups: Int32Array; count: number } {
  const occurring = new Set(Array.from(rows, (row) => codes[row] as number));
  const codeOf = new Map(
    labels.flatMap((_, code) => (occurring.has(code) ? [code] : [])).map((code, place) => [code, place] as const),
  );
  return { groups: rows.map((row) => codeOf.get(codes[row] as number) as number), count: codeOf.size };
}

function assertTwoClasses({ labels }: CategoricalColumn): void {
  if (labels.length <= 2) return;
  throw new DataValidationError(`The label column has ${String(labels.length)} values; two are needed.`, {
    context: { argument: 'label', labels: labels.slice(0, 12) },
    suggestion:
      'Name the positiveLabel, and every other one counts as negative; a target of numbers cannot be used, only a label of two classes.',
  });
}

function noRows(): DataValidationError {
  return new DataValidationError('No row has both a group and a label.', {
    context: { argument: 'data' },
    suggestion: 'Give rows whose sensitive values and labels are known.',
  });
}

/** Where a column's known values lie. */
interface ColumnScale {
  /** NaN without known values. */
  readonly mean: number;
  /** The population standard deviation; 0 for one value only. */
  readonly scale: number;
}

/** Mean and spread of the values that are not NaN, in units of the largest deviation so that squares stay finite. */
function scaleColumn(values: Float64Array): ColumnScale {
  const known = values.filter((value) => !Number.isNaN(value));
  if (known.length === 0) return { mean: NaN, scale: 0 };
  const [first = NaN] = known;
  // The rounded mean of a constant may differ from it, and would leave a spread of rounding errors.
  if (known.every((value) => value === first)) return { mean: first, scale: 0 };
  let mean = 0;
  known.forEach((value, index) => (mean += (value - mean) / (index + 1)));
  const unit = known.reduce((most, value) => Math.max(most, Math.abs(value - mean)), 0);
  const square = known.reduce((sum, value) => sum + ((value - mean) / unit) ** 2, 0) / known.length;
  return { mean, scale: unit * Math.sqrt(square) };
}
