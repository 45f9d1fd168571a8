import { DataValidationError } from '../../exceptions/index.ts';
import { toFiniteNumbers } from '../../metrics/reduce/row-arguments.ts';
import { type ColumnSource, onHost } from '../../table/index.ts';

/** What a method of a plain model gave, to be read. */
export interface PlainOutput {
  /** As errors call it: "predict(X)". */
  readonly name: string;
  readonly value: unknown;
  /** Rows that it was asked for. */
  readonly rows: number;
}

/**
 * Numbers that a model gave, one per row; true and false are 1 and 0.
 * @throws {DataValidationError} for anything else, with the first bad index
 */
export async function readNumbers({ name, value, rows }: PlainOutput): Promise<Float64Array> {
  const { given } = await onHost({ given: value });
  const isBooleans = Array.isArray(given) && given.every((item) => typeof item === 'boolean');
  const numbers = toFiniteNumbers((isBooleans ? given.map(Number) : given) as ColumnSource, name);
  const missing = numbers.findIndex((number) => Number.isNaN(number));
  if (numbers.length === rows && missing < 0) return numbers;
  const fault =
    numbers.length === rows
      ? `nothing at index ${String(missing)}`
      : `${String(numbers.length)} values for ${String(rows)} rows`;
  throw badOutput(name, fault, { index: missing, values: numbers.length, rows });
}

/**
 * Decisions that a model gave.
 * @throws {DataValidationError} for values that are not 0 or 1
 */
export async function readLabels(output: PlainOutput): Promise<Uint8Array> {
  const numbers = await readNumbers(output);
  const index = numbers.findIndex((number) => number !== 0 && number !== 1);
  if (index < 0) return Uint8Array.from(numbers);
  throw badOutput(output.name, `${String(numbers[index])} at index ${String(index)}, which is not 0 or 1`, {
    index,
    value: numbers[index],
  });
}

/**
 * Probabilities of 1 that a model gave: one per row, or a list of those of 0 and 1 per row.
 * @throws {DataValidationError} for values outside [0, 1]
 */
export async function readProbabilities({ name, value, rows }: PlainOutput): Promise<Float64Array> {
  const numbers = await readNumbers({ name, value: isPairs(value) ? value.map(([, one]) => one) : value, rows });
  const index = numbers.findIndex((number) => !(number >= 0 && number <= 1));
  if (index < 0) return numbers;
  throw badOutput(name, `${String(numbers[index])} at index ${String(index)}, which is no probability`, {
    index,
    value: numbers[index],
  });
}

function isPairs(value: unknown): value is [number, number][] {
  return Array.isArray(value) && value.length > 0 && value.every((item) => Array.isArray(item) && item.length === 2);
}

function badOutput(name: string, fault: string, context: Record<string, unknown>): DataValidationError {
  return new DataValidationError(`${name} of the adapted model gave ${fault}.`, {
    context: { argument: name, ...context },
    suggestion: "Check the model; where it gives values and not decisions, adapt it with { task: 'regression' }.",
  });
}
