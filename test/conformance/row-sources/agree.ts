import { expect } from 'chai';
import * as tf from '@tensorflow/tfjs';

import { AGREEMENTS, type Agreement } from './entry.ts';

/** The share of decisions of a network that may differ. */
const DIFFERING_DECISIONS = 0.001;

type Plain = number | string | boolean | null | undefined | readonly Plain[] | { readonly [key: string]: Plain };

/** Returns an answer as plain data, whatever holds it. Tensors are read and disposed of. */
export async function plainOf(answer: unknown): Promise<Plain> {
  if (answer instanceof tf.Tensor) {
    const values = [...(await answer.data())];
    answer.dispose();
    return answer.rank === 0 ? (values[0] as number) : values;
  }
  if (typeof answer === 'function' || typeof answer === 'symbol') return undefined;
  if (typeof answer !== 'object' || answer === null) return answer as Plain;
  if (ArrayBuffer.isView(answer)) return Array.from(answer as unknown as ArrayLike<number>);
  if (Array.isArray(answer)) return Promise.all(answer.map(plainOf));
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
export function assertAgree(actual: Plain, expected: Plain, agreement: Agreement, factor = 1, at = 'answer'): void {
  if (Array.isArray(expected) && agreement === 'networks' && expected.every((one) => one === 0 || one === 1)) {
    assertDecisions(actual as readonly Plain[], expected, at);
    return;
  }
  if (typeof expected === 'object' && expected !== null) {
    const [own, other] = [fieldsOf(actual), fieldsOf(expected)];
    expect(Object.keys(own), at).to.deep.equal(Object.keys(other));
    for (const [name, value] of Object.entries(other))
      assertAgree(own[name], value, agreement, factor, `${at}.${name}`);
    return;
  }
  const tolerance = AGREEMENTS[agreement] * factor;
  if (typeof expected !== 'number' || typeof actual !== 'number' || tolerance === 0 || !Number.isFinite(expected)) {
    expect(actual, at).to.deep.equal(expected);
    return;
  }
  expect(actual, at).to.be.closeTo(expected, tolerance * Math.max(1, Math.abs(expected)));
}

const fieldsOf = (value: Plain): Readonly<Record<string, Plain>> =>
  Object.fromEntries(Object.entries(value ?? {}).filter(([, field]) => field !== undefined));

function assertDecisions(actual: readonly Plain[], expected: readonly Plain[], at: string): void {
  expect(actual.length, at).to.equal(expected.length);
  const differing = expected.filter((decision, row) => actual[row] !== decision);
  expect(differing.length, `${at}: decisions that differ`).to.be.at.most(DIFFERING_DECISIONS * expected.length);
}
