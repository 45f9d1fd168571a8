import { stat } from 'node:fs/promises';
import path from 'node:path';

import { DataValidationError, DependencyError } from '../../exceptions/index.ts';
import { assertKnownOptions, oneOf, type OptionNames } from '../../internal/arguments.ts';
import { importOptional } from '../../internal/packages.ts';
import { messageOf, sigmoid } from '../../internal/values.ts';
import { requireInteger } from '../../stats/parameters.ts';
import type { ToxicityScorer } from './lexicon-toxicity.ts';

/** A tensor of ONNX Runtime. */
interface OnnxTensor {
  readonly dims: readonly number[];
  readonly data: unknown;
}

/** A loaded model of ONNX Runtime. */
interface OnnxSession {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  run(
    inputs: Readonly<Record<string, OnnxTensor>>,
    outputs: readonly string[],
  ): Promise<Readonly<Record<string, OnnxTensor>>>;
  release?(): Promise<void>;
}

/** The part of `onnxruntime-node` and `onnxruntime-web` that is used here. */
export interface OnnxRuntime {
  readonly InferenceSession: { create(path: string): Promise<OnnxSession> };
  readonly Tensor: new (type: 'string' | 'int64', data: string[] | BigInt64Array, dims: number[]) => OnnxTensor;
}

const ACTIVATIONS = ['none', 'sigmoid', 'softmax'] as const;

/** Options of {@link onnxToxicityScorer}. */
export interface OnnxToxicityOptions {
  /**
   * Converts a text to the codes of its tokens. Use the tokenizer with which the model was trained.
   * @defaultValue none: the model takes the texts themselves
   */
  readonly tokenize?: ((text: string) => readonly number[]) | undefined;
  /**
   * The maximum number of tokens of a text. Longer texts are truncated.
   * @defaultValue 512
   */
  readonly maxLength?: number | undefined;
  /**
   * The name of the output with the scores.
   * @defaultValue the last output of the model
   */
  readonly output?: string | undefined;
  /**
   * The index of the column with the toxicity, or with the stereotype.
   * @defaultValue the last column
   */
  readonly column?: number | undefined;
  /**
   * The function that converts the output to a score from 0 to 1: `sigmoid` or `softmax` for logits, `none` for
   * probabilities.
   * @defaultValue 'none'
   */
  readonly activation?: (typeof ACTIVATIONS)[number] | undefined;
  /**
   * The number of texts that are scored in one batch.
   * @defaultValue 16
   */
  readonly batchSize?: number | undefined;
  /**
   * The name of the scorer in reports.
   * @defaultValue the name of the file
   */
  readonly name?: string | undefined;
  /**
   * The module of ONNX Runtime.
   * @defaultValue onnxruntime-node or, if it is not installed, onnxruntime-web
   */
  readonly runtime?: OnnxRuntime | undefined;
}

const ONNX_TOXICITY_OPTION_NAMES: OptionNames<OnnxToxicityOptions> = {
  tokenize: true,
  maxLength: true,
  output: true,
  column: true,
  activation: true,
  batchSize: true,
  name: true,
  runtime: true,
};

/** A loaded classifier. `dispose` frees its memory. */
export interface OnnxToxicityScorer extends ToxicityScorer {
  (texts: readonly string[]): Promise<readonly number[]>;
  readonly label: string;
  dispose(): Promise<void>;
}

/**
 * Loads your own ONNX text classifier as a scorer of toxicity, or of stereotypes.
 *
 * evenhand does not contain ONNX Runtime. Install `onnxruntime-node` or `onnxruntime-web`. Without `tokenize`, the model
 * takes the texts as a tensor of strings [texts, 1], as models of scikit-learn do. With `tokenize`, the model takes
 * `input_ids` as integers [texts, tokens], and `attention_mask` and `token_type_ids` if it has these inputs. Shorter
 * texts are padded with 0. The meaning of a score depends on the model.
 * @param file the path of the `.onnx` file
 * @throws {DependencyError} if ONNX Runtime is not installed; the message has the install command
 * @throws {DataValidationError} if the file is missing, is not a model, or does not have these inputs or the output
 * @throws {ValueError} if an option is out of range
 * @example
 * ```ts
 * import { onnxToxicityScorer } from 'evenhand/llm-evals';
 *
 * const problem = await onnxToxicityScorer('no-such-model.onnx').catch(String);
 * console.log(problem.includes('no-such-model.onnx'));
 * // true
 * ```
 */
export async function onnxToxicityScorer(file: string, options: OnnxToxicityOptions = {}): Promise<OnnxToxicityScorer> {
  assertKnownOptions('onnxToxicityScorer', options, ONNX_TOXICITY_OPTION_NAMES);
  const batchSize = requireInteger('batchSize', options.batchSize ?? 16, 1);
  const maxLength = requireInteger('maxLength', options.maxLength ?? 512, 1);
  const activation = oneOf('activation', options.activation ?? 'none', ACTIVATIONS);
  if (options.column !== undefined) requireInteger('column', options.column, 0);
  await assertFile(file);
  const runtime = options.runtime ?? (await loadRuntime());
  const session = await runtime.InferenceSession.create(file).catch((cause: unknown) => {
    throw badModel(file, messageOf(cause), cause);
  });
  const output = outputOf(file, session, options.output);
  assertInputs(file, session, options.tokenize !== undefined);
  const score = async (texts: readonly string[]): Promise<readonly number[]> => {
    const scores: number[] = [];
    for (let start = 0; start < texts.length; start += batchSize) {
      const batch = texts.slice(start, start + batchSize);
      const inputs = inputsOf(runtime, session, batch, options.tokenize, maxLength);
      const { [output]: result } = await session.run(inputs, [output]);
      scores.push(...readScores(file, result, batch.length, { column: options.column, activation }));
    }
    return scores;
  };
  const dispose = async (): Promise<void> => session.release?.();
  return Object.assign(score, { label: options.name ?? path.basename(file), dispose });
}

async function assertFile(file: string): Promise<void> {
  const found = await stat(file).catch(() => undefined);
  if (found?.isFile() !== true) throw badModel(file, 'there is no such file');
}

async function loadRuntime(): Promise<OnnxRuntime> {
  const purpose = 'to score texts with an ONNX model';
  try {
    return runtimeIn(await importOptional('onnxruntime-node', purpose, () => import('onnxruntime-node')));
  } catch (error) {
    if (!DependencyError.isInstance(error)) throw error;
    const web: unknown = await import('onnxruntime-web').catch(() => undefined);
    // The error names onnxruntime-node, which is faster.
    if (web === undefined) throw error;
    return runtimeIn(web);
  }
}

/** Returns the module. A CommonJS module is the default export of its import. */
function runtimeIn(loaded: unknown): OnnxRuntime {
  const { default: common, ...named } = loaded as { readonly default?: OnnxRuntime } & Partial<OnnxRuntime>;
  return named.InferenceSession === undefined ? (common as OnnxRuntime) : (named as OnnxRuntime);
}

function outputOf(file: string, { outputNames }: OnnxSession, given: string | undefined): string {
  const name = given ?? outputNames.at(-1);
  if (name !== undefined && outputNames.includes(name)) return name;
  throw badModel(file, `it has no output '${String(given)}'; its outputs are ${outputNames.join(', ')}`);
}

/** The inputs of a model that takes tokens. Only the first one is required. */
const TOKEN_INPUTS = ['input_ids', 'attention_mask', 'token_type_ids'] as const;

function assertInputs(file: string, { inputNames }: OnnxSession, hasTokens: boolean): void {
  const isKnown = (name: string): boolean => TOKEN_INPUTS.some((known) => known === name);
  const fits = hasTokens ? inputNames.includes('input_ids') && inputNames.every(isKnown) : inputNames.length === 1;
  if (fits) return;
  const expected = hasTokens ? `the inputs ${TOKEN_INPUTS.join(', ')}` : 'one input of texts, or the option tokenize';
  throw badModel(file, `it needs ${expected}; its inputs are ${inputNames.join(', ')}`);
}

function inputsOf(
  { Tensor }: OnnxRuntime,
  { inputNames }: OnnxSession,
  texts: readonly string[],
  tokenize: OnnxToxicityOptions['tokenize'],
  maxLength: number,
): Record<string, OnnxTensor> {
  if (tokenize === undefined) return { [inputNames[0] as string]: new Tensor('string', [...texts], [texts.length, 1]) };
  const rows = texts.map((text) => tokenize(text).slice(0, maxLength));
  // A model may not accept a tensor without columns.
  const width = Math.max(1, ...rows.map(({ length }) => length));
  const fill = (valueOf: (row: readonly number[], index: number) => number): OnnxTensor => {
    const cells = rows.flatMap((row) => Array.from({ length: width }, (_, index) => BigInt(valueOf(row, index))));
    return new Tensor('int64', BigInt64Array.from(cells), [rows.length, width]);
  };
  const made: Record<(typeof TOKEN_INPUTS)[number], OnnxTensor> = {
    input_ids: fill((row, index) => row[index] ?? 0),
    attention_mask: fill((row, index) => Number(index < row.length)),
    token_type_ids: fill(() => 0),
  };
  return Object.fromEntries(TOKEN_INPUTS.filter((name) => inputNames.includes(name)).map((name) => [name, made[name]]));
}

function readScores(
  file: string,
  result: OnnxTensor | undefined,
  count: number,
  { column, activation }: Required<Pick<OnnxToxicityOptions, 'column' | 'activation'>>,
): number[] {
  const { dims = [], data } = result ?? {};
  const isNumeric = ArrayBuffer.isView(data) && !(data instanceof BigInt64Array) && !(data instanceof DataView);
  const values = isNumeric ? Array.from(data as unknown as ArrayLike<number>) : [];
  const columns = values.length / count;
  const chosen = column ?? columns - 1;
  if (dims[0] !== count || !Number.isInteger(columns) || columns < 1 || chosen >= columns) {
    const shape = `[${dims.join(', ')}]`;
    throw badModel(
      file,
      `its output has the shape ${shape} for ${String(count)} texts, without column ${String(chosen)}`,
    );
  }
  return Array.from({ length: count }, (_, row) => {
    const cells = values.slice(row * columns, (row + 1) * columns);
    const value = cells[chosen] as number;
    if (activation === 'none') return value;
    return activation === 'sigmoid' ? sigmoid(value) : softmaxAt(cells, value);
  });
}

function softmaxAt(cells: readonly number[], value: number): number {
  const highest = Math.max(...cells);
  return Math.exp(value - highest) / cells.reduce((sum, cell) => sum + Math.exp(cell - highest), 0);
}

function badModel(file: string, reason: string, cause?: unknown): DataValidationError {
  return new DataValidationError(`Cannot use the ONNX model '${file}': ${reason.replace(/\.$/, '')}.`, {
    code: 'unreadable-file',
    context: { path: file },
    suggestion: 'Export the classifier with the inputs and the output that onnxToxicityScorer documents.',
    cause,
  });
}
