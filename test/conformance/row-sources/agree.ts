import { expect } from 'chai';
import * as tf from '@tensorflow/tfjs';

import { AGREEMENTS, type Agreement } from './entry.ts';

/** The share of decisions of a network that may differ. */
const DIFFERING_DECISIONS = 0.001;

type Plain = number | string | boolean | null | undefined | readonly Plain[] | { readonly [key: string]: Plain };

/** Returns an answer of any kind as plain data. Tensors are read and disposed of. */
export async function plainOf(answer: unknown): Promise<Plain> {
  if (answer instanceof tf.Tensor) {
    const values = [...(await answer.data())];
    answer.dispose();
    return answer.rank === 0 ? values[0] : values;
  }
  if (typeof answer === 'function' || typeof answer === 'symbol') return undefined;
  if (typeof answer !== 'object' || answer === null) return answer as Plain;
  if (ArrayBuffer.isView(answer)) return Array.from(answer as unknown as ArrayLike<number>);
  if (Array.isArray(answer)) {
    const isPlain = answer.every((one) => typeof one !== 'object' || one === null);
    return isPlain ? answer : Promise.all(answer.map(plainOf));
  }
  const shown = answer as { toColumns?: () => unknown; toJSON?: () => unknown; columns?: readonly string[] };
  if (typeof shown.toColumns === 'function') return plainOf(shown.toColumns());
  if ('$columns' in answer && 'column' in answer) return plainOf(columnsOfFrame(answer as unknown as Frame));
  if (typeof shown.toJSON === 'function') return plainOf(shown.toJSON());
  const fields = Object.entries(answer).map(async ([name, value]) => [name, await plainOf(value)] as const);
  return Object.fromEntries(await Promise.all(fields));
}

interface Frame {
  readonly columns: readonly string[];
  column(name: string): { readonly values: unknown };
}

const columnsOfFrame = (frame: Frame): Record<string, unknown> =>
  Object.fromEntries(frame.columns.map((name) => [name, frame.column(name).values]));

/** Checks that two answers agree: numbers within a tolerance relative to their size, and all else exactly. */
export function assertAgree(actual: Plain, expected: Plain, agreement: Agreement, factor = 1): void {
  const found = difference(actual, expected, { agreement, tolerance: AGREEMENTS[agreement] * factor }, 'answer');
  if (found !== undefined) expect(found.actual, found.at).to.deep.equal(found.expected);
}

interface Difference {
  readonly at: string;
  readonly actual: unknown;
  readonly expected: unknown;
}

/** Returns the first difference. An assertion for each number would take seconds. */
function difference(
  actual: Plain,
  expected: Plain,
  rule: { readonly agreement: Agreement; readonly tolerance: number },
  at: string,
): Difference | undefined {
  if (typeof expected !== 'object' || expected === null) {
    return agrees(actual, expected, rule.tolerance) ? undefined : { at, actual, expected };
  }
  if (Array.isArray(expected) && Array.isArray(actual) && areDecisions(expected) && rule.agreement === 'networks') {
    const differing = expected.filter((decision, row) => actual[row] !== decision).length;
    const isClose = actual.length === expected.length && differing <= DIFFERING_DECISIONS * expected.length;
    return isClose ? undefined : { at: `${at}: ${String(differing)} decisions differ`, actual, expected };
  }
  const [own, other] = [fieldsOf(actual), fieldsOf(expected)];
  const [names, others] = [own, other].map((fields) => fields.map(([name]) => name));
  if (names?.join() !== others?.join()) return { at: `the fields of ${at}`, actual: names, expected: others };
  for (const [index, [name, value]] of other.entries()) {
    const found = difference(own[index]?.[1], value, rule, `${at}.${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function agrees(actual: Plain, expected: Plain, tolerance: number): boolean {
  if (Object.is(actual, expected) || actual === expected) return true;
  if (typeof actual !== 'number' || typeof expected !== 'number') return false;
  return Math.abs(actual - expected) <= tolerance * Math.max(1, Math.abs(expected));
}

const areDecisions = (values: readonly Plain[]): boolean => values.every((value) => value === 0 || value === 1);

const fieldsOf = (value: Plain): [string, Plain][] =>
  Object.entries<Plain>((value ?? {}) as Record<string, Plain>).filter(([, field]) => field !== undefined);
