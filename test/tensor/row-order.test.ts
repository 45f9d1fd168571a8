import { expect } from 'chai';

import { createRandom } from '../../src/internal/random.ts';
import { atRows, countReads, loadTensorflow, rowsOfParts, sortedRows, type Tf } from '../../src/tensor/index.ts';
import { onDevice } from '../helpers/on-device.ts';
import { describeOn, TESTED_BACKENDS } from '../helpers/software-gpu.ts';

for (const backend of TESTED_BACKENDS) {
  describeOn(backend, `the order of rows on ${backend}`, () => {
    onDevice(backend);
    let tf: Tf;
    let tensors = 0;
    beforeEach(async () => {
      ({ tf } = await loadTensorflow({ backend }));
      tensors = tf.memory().numTensors;
    });
    afterEach('leaves no tensor behind', () => {
      expect(tf.memory().numTensors).to.equal(tensors);
    });

    it('rows are sorted by code, and rows with equal codes keep their order', async () => {
      const codes = tf.tensor1d([2, 0, 1, 0, 2, 2, 0], 'int32');
      const rows = sortedRows(tf, codes, [3, 1, 3]);
      expect([...(await rows.data())]).to.deep.equal([1, 3, 6, 2, 0, 4, 5]);
      const back = atRows(tf, rows, codes);
      expect([...(await back.data())]).to.deep.equal([2, 2, 0, 0, 2, 0, 1]);
      tf.dispose([codes, rows, back]);
    });

    for (const [n, size] of [
      [20_000, 6],
      [2000, 5000],
    ] as const) {
      it(`${String(n)} rows with up to ${String(size)} codes are in the order of a stable sort, without a read`, async () => {
        const random = createRandom(5);
        const codes = Int32Array.from({ length: n }, () => 2 * random.integer(size / 2));
        const counts = new Float64Array(size);
        for (const code of codes) counts[code] = (counts[code] ?? 0) + 1;
        const given = tf.tensor1d(codes, 'int32');
        const { result, reads } = await countReads(tf, () => Promise.resolve(sortedRows(tf, given, counts)));
        expect(reads).to.equal(0);
        const sorted = [...codes.keys()].sort((a, b) => (codes[a] ?? 0) - (codes[b] ?? 0));
        const actual = await result.data();
        expect(actual.findIndex((row, position) => row !== sorted[position])).to.equal(-1);
        tf.dispose([given, result]);
      });
    }

    it('the rows of parts are ascending, and empty parts have none', async () => {
      const parts = tf.tensor1d([1, 0, 3, 0, 1, 1], 'int32');
      const rows = rowsOfParts(tf, parts, [2, 3, 0, 1]);
      const read = await Promise.all(rows.map((one) => one.data()));
      expect(read.map((one) => [...one])).to.deep.equal([[1, 3], [0, 4, 5], [], [2]]);
      tf.dispose([parts, ...rows]);
    });
  });
}
