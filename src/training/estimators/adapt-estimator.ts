import { DataValidationError, TrainingError, ValueError } from '../../exceptions/index.ts';
import { assertKnownOptions, oneOf, type OptionNames } from '../../internal/arguments.ts';
import { toFiniteNumbers } from '../../metrics/reduce/row-arguments.ts';
import { type ColumnSource, onHost } from '../../table/index.ts';
import { assertBinary, readFitRows } from '../data/fit-rows.ts';
import type { Matrix, MatrixSource } from '../data/read-matrix.ts';
import { cutToUnit, decide, fittedOr, readPredictRows } from './estimator-rows.ts';
import { type Estimator, type EstimatorJson, type FitOptions, isEstimator, type PredictOptions } from './estimator.ts';

/** Options passed to `fit` of an external model: the weights of the rows, if weights were given. */
interface PlainFitOptions {
  readonly sampleWeight?: number[];
}

/**
 * A model with `fit` and `predict`, from another library or custom code. Methods may be asynchronous. The return value
 * of `fit` is ignored.
 */
export interface PlainModel {
  fit(x: never, y: number[], options: PlainFitOptions): unknown;
  predict(x: never): unknown;
  /** Returns for each row the probability of 1, or the probabilities of 0 and 1. */
  predictProba?(x: never): unknown;
  /** Returns an unfitted copy. */
  clone?(): PlainModel;
  toJSON?(): unknown;
}

/** Options for calling a plain model. */
export interface PlainModelOptions {
  /**
   * The form in which the model's methods expect features: rows of numbers, or a {@link Matrix}.
   * @defaultValue 'rows'
   */
  readonly features?: 'rows' | 'matrix' | undefined;
  /**
   * Whether the model predicts decisions 0 and 1, or values.
   * @defaultValue 'binary'
   */
  readonly task?: 'binary' | 'regression' | undefined;
}

/** Lists the options of {@link PlainModelOptions}. */
const PLAIN_MODEL_OPTION_NAMES: OptionNames<PlainModelOptions> = { features: true, task: true };

/** Returns whether a value has `fit` and `predict`. */
function isPlainModel(value: unknown): value is PlainModel {
  return (
    typeof value === 'object' &&
    value !== null &&
    'fit' in value &&
    typeof value.fit === 'function' &&
    'predict' in value &&
    typeof value.predict === 'function'
  );
}

/** An estimator, another model with `fit` and `predict`, or a function that creates an estimator or model. */
export type EstimatorSource = Estimator | PlainModel | (() => Estimator | PlainModel);

const FEATURES = ['rows', 'matrix'] as const;
const TASKS = ['binary', 'regression'] as const;

/** The name of adapted models in messages. */
const CLASS_NAME = 'adapted model';

/**
 * Wraps any object with `fit(X, y, { sampleWeight })` and `predict(X)` as an {@link Estimator}. The methods may be
 * synchronous or asynchronous. `predictProba(X)` is used if it exists. X is passed as rows of numbers or as a matrix,
 * and y and weights as arrays of numbers. If there are no weights, `sampleWeight` is omitted. A model that ignores
 * `sampleWeight` is fitted without weights, and this function cannot detect it.
 *
 * `clone` calls the function that creates models, if you pass a function, or else the model's own `clone`. If the model
 * has no `clone`, the object is copied in the state that it had when it was adapted. If the model has no
 * `predictProba`, its decisions are used as probabilities or, with `task: 'regression'`, its values clipped to [0, 1].
 * @param model the model or, as the safest choice, a function that creates an unfitted model
 * @throws {ValueError} if the model lacks `fit` or `predict`
 * @example
 * ```ts
 * import { adaptEstimator } from 'evenhand/training';
 *
 * class Majority {
 *   label = 0;
 *   fit(x: number[][], y: number[]) {
 *     this.label = y.filter((value) => value === 1).length * 2 > y.length ? 1 : 0;
 *   }
 *   predict(x: number[][]) {
 *     return x.map(() => this.label);
 *   }
 * }
 * const estimator = await adaptEstimator(() => new Majority()).fit([[1], [2], [3]], [1, 1, 0]);
 * console.log([...(await estimator.predict([[4], [5]]))]);
 * // [ 1, 1 ]
 * ```
 */
export function adaptEstimator(model: PlainModel | (() => PlainModel), options: PlainModelOptions = {}): Estimator {
  assertKnownOptions('adaptEstimator', options, PLAIN_MODEL_OPTION_NAMES);
  const how: Required<PlainModelOptions> = {
    features: oneOf('features', options.features ?? 'rows', FEATURES),
    task: oneOf('task', options.task ?? 'binary', TASKS),
  };
  const make = typeof model === 'function' ? () => requireModel(callFactory(model)) : copiesOf(requireModel(model));
  return new AdaptedEstimator(typeof model === 'function' ? make() : model, make, how);
}

/**
 * Wraps any estimator-like object in the {@link Estimator} interface.
 * @throws {ValueError} if the source lacks `fit` or `predict`
 */
export function toEstimator(source: EstimatorSource, options: PlainModelOptions = {}): Estimator {
  assertKnownOptions('toEstimator', options, PLAIN_MODEL_OPTION_NAMES);
  if (isEstimator(source)) return source;
  if (typeof source !== 'function') return adaptEstimator(source, options);
  const made = callFactory(source);
  return isEstimator(made) ? made : adaptEstimator(source, options);
}

class AdaptedEstimator implements Estimator {
  readonly #model: PlainModel;
  readonly #make: () => PlainModel;
  readonly #how: Required<PlainModelOptions>;
  /** The number of features in `fit`. */
  #features: number | undefined;

  constructor(model: PlainModel, make: () => PlainModel, how: Required<PlainModelOptions>) {
    this.#model = model;
    this.#make = make;
    this.#how = how;
  }

  async fit(x: MatrixSource, y: ColumnSource, { sampleWeight, signal }: FitOptions = {}): Promise<this> {
    this.#features = undefined;
    const rows = await readFitRows(x, y, sampleWeight);
    if (this.#how.task === 'binary') assertBinary(rows.y);
    signal?.throwIfAborted();
    const weights = sampleWeight === undefined ? {} : { sampleWeight: [...rows.weights] };
    await this.#model.fit(this.#toFeatures(rows.x), [...rows.y], weights);
    signal?.throwIfAborted();
    this.#features = rows.x.columns;
    return this;
  }

  async predictProba(x: MatrixSource): Promise<Float64Array> {
    if (this.#model.predictProba !== undefined) return readProbabilities(await this.#ask('predictProba', x));
    const output = await this.#ask('predict', x);
    if (this.#how.task === 'binary') return Float64Array.from(await readLabels(output));
    return (await readNumbers(output)).map(cutToUnit);
  }

  async predict(x: MatrixSource, { threshold }: PredictOptions = {}): Promise<Uint8Array | Float64Array> {
    const isRegression = this.#how.task === 'regression';
    if (!isRegression && threshold !== undefined) return decide(await this.predictProba(x), threshold);
    const output = await this.#ask('predict', x);
    if (!isRegression) return readLabels(output);
    const values = await readNumbers(output);
    return threshold === undefined ? values : decide(values, threshold);
  }

  clone(): Estimator {
    return new AdaptedEstimator(this.#make(), this.#make, this.#how);
  }

  /** @throws {TrainingError} if the model was fitted and has no `toJSON` */
  toJSON(): EstimatorJson {
    const { features, task } = this.#how;
    const params = { features, task };
    if (this.#features === undefined) return { kind: 'adapted', params, state: null };
    if (this.#model.toJSON !== undefined) {
      return { kind: 'adapted', params, state: { features: this.#features, model: this.#model.toJSON() } };
    }
    throw new TrainingError('This adapted model has no toJSON method, so its fitted state cannot be saved.', {
      suggestion: 'Add a toJSON method to the model, or save it with the functions of its library.',
    });
  }

  /** Calls a method of the fitted model. */
  async #ask(method: 'predict' | 'predictProba', x: MatrixSource): Promise<PlainOutput> {
    const matrix = await readPredictRows(x, fittedOr(this.#features, CLASS_NAME));
    const value = await this.#model[method]?.(this.#toFeatures(matrix));
    return { name: `${method}(X)`, value, rows: matrix.rows };
  }

  /**
   * Returns features in the form that the model expects. The return type is `never`, because the methods of a plain
   * model accept no other type.
   */
  #toFeatures(matrix: Matrix): never {
    const { rows, columns, values } = matrix;
    if (this.#how.features === 'matrix') return matrix as never;
    const from = (row: number): number[] => Array.from(values.subarray(row * columns, (row + 1) * columns));
    return Array.from({ length: rows }, (_, row) => from(row)) as never;
  }
}

/**
 * Returns a function that creates unfitted copies of a model. The function calls the model's own `clone` if the model
 * has this method. Otherwise it copies the properties that the model had when it was adapted.
 */
function copiesOf(model: PlainModel): () => PlainModel {
  if (model.clone !== undefined) return () => requireModel(model.clone?.());
  let owned: unknown;
  try {
    owned = structuredClone({ ...model });
  } catch (cause) {
    return () => {
      throw new ValueError(
        'The model cannot be copied: it has no clone method, and one of its properties cannot be cloned.',
        {
          context: { parameter: 'model' },
          suggestion: 'Pass a function that creates a model, for example () => new Model().',
          cause,
        },
      );
    };
  }
  const prototype: unknown = Object.getPrototypeOf(model);
  return () => Object.assign(Object.create(prototype as object) as PlainModel, structuredClone(owned));
}

function callFactory<Made>(make: () => Made): Made {
  try {
    return make();
  } catch (cause) {
    throw new ValueError('The function given as estimator threw an error instead of returning a model.', {
      context: { parameter: 'estimator' },
      suggestion:
        'Pass a function that creates an unfitted model, for example () => new Model(), not the class itself.',
      cause,
    });
  }
}

/** @throws {ValueError} if the value is not a model */
function requireModel(model: unknown): PlainModel {
  if (isPlainModel(model)) return model;
  throw new ValueError(
    `The estimator parameter must be an estimator, an object with fit and predict, or a function that creates one. Got ${describe(model)} instead.`,
    { context: { parameter: 'estimator' }, suggestion: 'Pass new LogisticRegression(), or a model with both methods.' },
  );
}

/** Describes a value. `String` may throw for an object, for example an object without a prototype. */
function describe(model: unknown): string {
  return typeof model === 'object' && model !== null ? 'an object without both' : String(model);
}

/** The output of a plain model's method. */
interface PlainOutput {
  /** The name of the method in error messages, for example "predict(X)". */
  readonly name: string;
  readonly value: unknown;
  /** The number of rows passed in. */
  readonly rows: number;
}

/**
 * Reads the numbers that a model returned, one per row. The value true is read as 1, and false is read as 0.
 * @throws {DataValidationError} if the output has any other form; the error names the first invalid index
 */
async function readNumbers({ name, value, rows }: PlainOutput): Promise<Float64Array> {
  const { given } = await onHost({ given: value });
  const isBooleans = Array.isArray(given) && given.every((item) => typeof item === 'boolean');
  const numbers = toFiniteNumbers((isBooleans ? given.map(Number) : given) as ColumnSource, name);
  const missing = numbers.findIndex((number) => Number.isNaN(number));
  if (numbers.length === rows && missing < 0) return numbers;
  const problem =
    numbers.length === rows
      ? `no value at index ${String(missing)}`
      : `${String(numbers.length)} values for ${String(rows)} rows`;
  throw badOutput(name, problem, { index: missing, values: numbers.length, rows });
}

/**
 * Reads the decisions that a model returned.
 * @throws {DataValidationError} if a value is not 0 or 1
 */
async function readLabels(output: PlainOutput): Promise<Uint8Array> {
  const numbers = await readNumbers(output);
  const index = numbers.findIndex((number) => number !== 0 && number !== 1);
  if (index < 0) return Uint8Array.from(numbers);
  throw badOutput(output.name, `${String(numbers[index])} at index ${String(index)}, which is not 0 or 1`, {
    index,
    value: numbers[index],
  });
}

/**
 * Reads the probabilities of 1 that a model returned: either one probability per row, or the probabilities of 0 and 1
 * per row.
 * @throws {DataValidationError} if a value is outside [0, 1]
 */
async function readProbabilities({ name, value, rows }: PlainOutput): Promise<Float64Array> {
  const numbers = await readNumbers({ name, value: isPairs(value) ? value.map(([, one]) => one) : value, rows });
  const index = numbers.findIndex((number) => !(number >= 0 && number <= 1));
  if (index < 0) return numbers;
  throw badOutput(name, `${String(numbers[index])} at index ${String(index)}, which is not a probability`, {
    index,
    value: numbers[index],
  });
}

function isPairs(value: unknown): value is [number, number][] {
  return Array.isArray(value) && value.length > 0 && value.every((item) => Array.isArray(item) && item.length === 2);
}

function badOutput(name: string, problem: string, context: Record<string, unknown>): DataValidationError {
  return new DataValidationError(`${name} of the adapted model returned ${problem}.`, {
    code: 'invalid-value',
    context: { argument: name, ...context },
    suggestion: "Check the model. If it returns values and not decisions, adapt it with { task: 'regression' }.",
  });
}
