import * as tf from '@tensorflow/tfjs';
import { expect } from 'chai';

import { checkNumerics, largestError } from '../../src/numerics/check-numerics.ts';
import type { Compared, NumericsCase } from '../../src/numerics/numerics-case.ts';
import { loadTensorflow } from '../../src/tensor/index.ts';

/** Creates a case with the given result; 1 is expected, with a tolerance of 0.01 and one read. */
function question(run: NumericsCase['run'], changes: Partial<NumericsCase> = {}): NumericsCase {
  return { op: 'op', name: 'name', tolerance: 0.01, reads: 1, run, ...changes };
}

async function answer(values: ArrayLike<number>, expected: ArrayLike<number> = [1]): Promise<Compared> {
  return Promise.resolve({ actual: values, expected });
}

/** Reads a tensor the given number of times. */
async function readings(count: number): Promise<Compared> {
  const tensor = tf.tensor1d([1]);
  for (let reading = 0; reading < count; reading++) await tensor.data();
  tensor.dispose();
  return answer([1]);
}

/** Results, and the reason for rejection; null for none. */
const ANSWERS: readonly [title: string, run: NumericsCase['run'], reason: string | null][] = [
  ['a right one', () => answer([1]), null],
  ['one within the tolerance', () => answer([1.009]), null],
  ['one beyond it', () => answer([1.02]), 'an error of 2.0e-2, more than 1.0e-2'],
  ['a large one within the relative tolerance', () => answer([1005], [1000]), null],
  ['a large one beyond the relative tolerance', () => answer([1020], [1000]), 'an error of 2.0e-2, more than 1.0e-2'],
  ['NaN for a number', () => answer([NaN]), 'an error of Infinity, more than 1.0e-2'],
  ['a number for NaN', () => answer([1], [NaN]), 'an error of Infinity, more than 1.0e-2'],
  ['NaN for NaN', () => answer([NaN, 1], [NaN, 1]), null],
  ['Infinity for a number', () => answer([Infinity]), 'an error of Infinity, more than 1.0e-2'],
  ['Infinity for -Infinity', () => answer([Infinity], [-Infinity]), 'an error of Infinity, more than 1.0e-2'],
  ['Infinity for Infinity', () => answer([Infinity], [Infinity]), null],
  ['too few', () => answer([]), 'an error of Infinity, more than 1.0e-2'],
  ['too many', () => answer([1, 1]), 'an error of Infinity, more than 1.0e-2'],
  ['the maximum number of reads', () => readings(1), null],
  ['more reads', () => readings(2), '2 reads of the device, more than 1'],
  ['an exception', () => Promise.reject(new Error('a kernel is missing\nat depth')), 'a kernel is missing'],
];

describe('checkNumerics', () => {
  before(async () => {
    await loadTensorflow({ backend: 'cpu' });
  });

  for (const [title, run, reason] of ANSWERS) {
    it(`${reason === null ? 'accepts' : 'rejects'} ${title}`, async () => {
      const [finding] = await checkNumerics(tf, [question(run)]);
      expect(finding).to.include({ op: 'op', name: 'name', tolerance: 0.01, passes: reason === null, reason });
      expect(finding?.ms).to.be.at.least(0);
    });
  }

  it('rejects a result that leaks a tensor, or disposes of one too many', async () => {
    const left: tf.Tensor[] = [];
    const leaking = question(() => {
      left.push(tf.scalar(1), tf.scalar(2));
      return answer([1]);
    });
    const freeing = question(() => {
      tf.dispose(left);
      return answer([1]);
    });
    const findings = await checkNumerics(tf, [leaking, freeing]);
    expect(findings.map(({ leaked }) => leaked)).to.deep.equal([2, -2]);
    expect(findings.map(({ reason }) => reason)).to.deep.equal(['2 tensors left behind', '-2 tensors left behind']);
  });

  it('reports every case in order, also after one that throws', async () => {
    const findings = await checkNumerics(tf, [
      question(() => Promise.reject(new Error('own')), { name: 'first' }),
      question(() => readings(1), { name: 'second' }),
    ]);
    expect(findings.map(({ name, passes, reads }) => [name, passes, reads])).to.deep.equal([
      ['first', false, 0],
      ['second', true, 1],
    ]);
    expect(findings[0]?.error).to.equal(null);
  });
});

describe('largestError', () => {
  it('is relative for numbers above 1, absolute below, and the maximum of all', () => {
    expect(largestError({ actual: [0.25, 1010], expected: [0, 1000] })).to.equal(0.25);
    expect(largestError({ actual: [0.001, 1010], expected: [0, 1000] })).to.be.closeTo(0.01, 1e-12);
    expect(largestError({ actual: [-0], expected: [0] })).to.equal(0);
  });
});
