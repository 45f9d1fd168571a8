import * as tf from '@tensorflow/tfjs';
import { expect } from 'chai';

import { DataValidationError } from '../../../src/exceptions/index.ts';
import { withTensors } from '../../../src/metrics/reduce/tensors/row-states.ts';
import type { ColumnSource, SensitiveSource } from '../../../src/table/index.ts';
import { countReads, loadTensorflow } from '../../../src/tensor/index.ts';
import { type DeviceColumn, readDeviceRows } from '../../../src/training/data/device-rows.ts';
import { describeOn, TESTED_BACKENDS } from '../../helpers/software-gpu.ts';

/** Sources of rows; tensors are created by the test, on the backend that it activated. */
interface Given {
  readonly scores?: () => unknown;
  readonly y?: () => unknown;
  readonly sampleWeight?: () => unknown;
  readonly x?: () => unknown;
  readonly groups?: () => unknown;
}

const GOOD: Required<Given> = {
  scores: () => tf.tensor1d([0, 0.25, 0.5, 1]),
  y: () => tf.tensor1d([0, 1, 1, 0], 'int32'),
  sampleWeight: () => tf.tensor1d([1, 0, 2.5, 4]),
  x: () => tf.tensor2d([1, -2, 3, 4, 5, 6, 7, 8], [4, 2]),
  groups: () => tf.tensor1d([5, 0, 5, 300], 'int32'),
};

interface ReadRows {
  readonly labels: readonly string[];
  readonly codes: number[];
  readonly values: Readonly<Record<string, number[]>>;
  readonly largestWeight: number | undefined;
}

async function read(given: Given): Promise<ReadRows> {
  const made = Object.fromEntries(Object.entries({ ...GOOD, ...given }).map(([name, make]) => [name, make()]));
  const column = (name: string, must: DeviceColumn['must'], rank?: 1 | 2): DeviceColumn | undefined =>
    made[name] === undefined ? undefined : { source: made[name] as ColumnSource, must, ...(rank && { rank }) };
  try {
    return await withTensors(tf, async (keep) => {
      const { columns, groups } = await readDeviceRows(tf, keep, {
        columns: {
          scores: column('scores', 'unit'),
          y: column('y', 'binary'),
          sampleWeight: column('sampleWeight', 'weight'),
          x: column('x', 'finite', 2),
        },
        groups: { groups: made['groups'] as SensitiveSource },
      });
      const values: Record<string, number[]> = {};
      for (const [name, own] of Object.entries(columns)) values[name] = [...(await own.tensor.data())];
      return {
        labels: groups.labels,
        codes: [...(await groups.codes.data())],
        values,
        largestWeight: columns.sampleWeight?.max,
      };
    });
  } finally {
    tf.dispose(made as tf.TensorContainerObject);
  }
}

async function errorOf(given: Given): Promise<DataValidationError> {
  try {
    await read(given);
  } catch (error) {
    expect(error).to.be.instanceOf(DataValidationError);
    return error as DataValidationError;
  }
  throw new Error('nothing was thrown');
}

/** Rows that are rejected, with the message and the code. */
const BAD: readonly (readonly [given: Given, message: string, code: string])[] = [
  [{ y: () => tf.zeros([4, 1]) }, 'y has shape [4, 1]; expected [4].', 'invalid-value'],
  [{ scores: () => tf.scalar(1) }, 'scores has shape []; expected [rows].', 'invalid-value'],
  [{ x: () => tf.zeros([4]) }, 'x has shape [4]; expected [4, columns].', 'invalid-value'],
  [{ y: () => tf.zeros([3]) }, 'y has shape [3]; expected [4].', 'length-mismatch'],
  [{ y: () => [0, 1, 0] }, 'y has shape [3]; expected [4].', 'length-mismatch'],
  [{ groups: () => tf.zeros([3], 'int32') }, 'groups has shape [3]; expected [4].', 'length-mismatch'],
  [{ y: () => tf.tensor1d(['a', 'b', 'c', 'd']) }, 'y has dtype string; expected float32, int32 or bool.', 'invalid-value'], // prettier-ignore
  [{ scores: () => tf.tensor1d([0, 1, NaN, 1]) }, 'scores must lie in [0, 1], but holds NaN at index 2.', 'invalid-value'], // prettier-ignore
  [{ scores: () => tf.tensor1d([0, 1, 1.5, 1]) }, 'scores must lie in [0, 1], but holds 1.5 at index 2.', 'invalid-value'], // prettier-ignore
  [{ scores: () => tf.tensor1d([0, 1, 1, -1]) }, 'scores must lie in [0, 1], but holds -1 at index 3.', 'invalid-value'], // prettier-ignore
  [{ y: () => tf.tensor1d([0, 2, 1, 0]) }, 'y must hold 0 and 1, but holds 2 at index 1.', 'invalid-value'],
  [{ y: () => tf.tensor1d([0, 0.5, 1, 0]) }, 'y must hold 0 and 1, but holds 0.5 at index 1.', 'invalid-value'],
  [{ sampleWeight: () => tf.tensor1d([1, 1, -3, 1]) }, 'sampleWeight must be 0 or more and finite, but holds -3 at index 2.', 'invalid-value'], // prettier-ignore
  [{ sampleWeight: () => [1, 1, NaN, 1] }, 'sampleWeight must be 0 or more and finite, but holds NaN at index 2.', 'invalid-value'], // prettier-ignore
  [{ x: () => tf.tensor2d([1, 2, 3, Infinity, 5, 6, 7, 8], [4, 2]) }, 'x must be finite, but holds Infinity at index [1, 1].', 'invalid-value'], // prettier-ignore
  [{ groups: () => tf.tensor1d([0, 1, -1, 0], 'int32') }, 'groups must hold whole numbers from 0 to 65535, but holds -1 at index 2.', 'invalid-value'], // prettier-ignore
  [{ groups: () => tf.tensor1d([0, 1.5, 1, 0]) }, 'groups must hold whole numbers from 0 to 65535, but holds 1.5 at index 1.', 'invalid-value'], // prettier-ignore
  [{ groups: () => tf.tensor1d([70_000, 0, 0, 0]) }, 'groups must hold whole numbers from 0 to 65535, but holds 70000 at index 0.', 'invalid-value'], // prettier-ignore
  [{ groups: () => ['a', null, 'a', 'b'] }, 'groups is missing at index 1.', 'invalid-value'],
];

for (const backend of TESTED_BACKENDS) {
  describeOn(backend, `rows on the device, on ${backend}`, () => {
    let tensors = 0;
    before(async () => {
      await loadTensorflow({ backend });
    });
    beforeEach(() => {
      tensors = tf.memory().numTensors;
    });
    afterEach('leaves no tensor behind', () => {
      expect(tf.memory().numTensors).to.equal(tensors);
    });

    it('numbers the groups that occur, and returns the caller’s numbers as float32', async () => {
      expect(await read({})).to.deep.equal({
        labels: ['0', '5', '300'],
        codes: [1, 0, 1, 2],
        values: {
          scores: [0, 0.25, 0.5, 1],
          y: [0, 1, 1, 0],
          sampleWeight: [1, 0, 2.5, 4],
          x: [1, -2, 3, 4, 5, 6, 7, 8],
        },
        largestWeight: 4,
      });
    });

    it('reads arrays beside tensors, and skips columns that are not given', async () => {
      const rows = await read({
        y: () => ['1', '0', '1', '0'],
        sampleWeight: () => undefined,
        groups: () => ['b', 'a', 'b', 'é'],
      });
      expect(rows.labels).to.deep.equal(['a', 'b', 'é']);
      expect(rows.codes).to.deep.equal([1, 0, 1, 2]);
      expect(rows.values['y']).to.deep.equal([1, 0, 1, 0]);
      expect(rows.values['sampleWeight']).to.equal(undefined);
    });

    it('accepts no rows', async () => {
      const none = (): unknown => tf.tensor1d([]);
      const rows = await read({ scores: none, y: none, sampleWeight: none, x: () => tf.zeros([0, 2]), groups: none });
      expect(rows.labels).to.deep.equal([]);
    });

    for (const [given, message, code] of BAD) {
      it(`rejects: ${message}`, async () => {
        const error = await errorOf(given);
        expect(error.message).to.equal(message);
        expect(error.code).to.equal(code);
        expect(error.context['argument']).to.equal(message.split(' ')[0]);
      });
    }

    it('reads the same number of values for 10,000 and 200,000 rows', async () => {
      const readsOf = async (rows: number): Promise<readonly number[]> => {
        const [scores, groups] = tf.tidy(() => {
          const row = tf.range(0, rows);
          return [row.div(rows), row.mod(7).cast('int32')] as [tf.Tensor1D, tf.Tensor1D];
        });
        const { reads, values } = await countReads(tf, () =>
          withTensors(tf, (keep) =>
            readDeviceRows(tf, keep, { columns: { scores: { source: scores, must: 'unit' } }, groups: { groups } }),
          ),
        );
        tf.dispose([scores, groups]);
        return [reads, values];
      };
      const few = await readsOf(10_000);
      expect(few[1]).to.be.below(50);
      expect(await readsOf(200_000)).to.deep.equal(few);
    });
  });
}
