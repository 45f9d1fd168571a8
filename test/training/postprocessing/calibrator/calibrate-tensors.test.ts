import * as tf from '@tensorflow/tfjs';
import { expect } from 'chai';

import { createRandom } from '../../../../src/internal/random.ts';
import { countReads, loadTensorflow } from '../../../../src/tensor/index.ts';
import { GroupFairnessCalibrator, type GroupFairnessCalibratorOptions } from '../../../../src/training/index.ts';
import { describeOn, TESTED_BACKENDS } from '../../../helpers/software-gpu.ts';
import { sigmoid } from './draw-scores.ts';

/** Rows as float32 numbers, so that tensors and arrays hold the same values. */
interface Rows {
  readonly scores: Float32Array;
  readonly y: Float32Array;
  readonly groups: Int32Array;
  readonly weights?: Float32Array;
}

interface Shape {
  readonly rows?: number;
  readonly groups?: number;
  /** Rounds scores to this many values; with ends, some are exactly 0 and 1. */
  readonly distinct?: number;
  readonly isWeighted?: boolean;
}

/** Draws scores whose calibration differs by group. The last group has only one label. */
function drawRows({ rows = 4000, groups = 5, distinct, isWeighted = false }: Shape): Rows {
  const random = createRandom(rows + groups);
  const round = (score: number): number => (distinct === undefined ? score : Math.round(score * distinct) / distinct);
  const codes = Int32Array.from({ length: rows }, () => Math.floor(groups * random.next() ** 1.5));
  const scores = Float32Array.from(codes, () => round(sigmoid(1.5 * random.normal())));
  const y = Float32Array.from(scores, (score, row) => {
    const code = codes[row] as number;
    if (groups > 1 && code === groups - 1) return 1;
    return Number(random.next() < score ** (1 + code / 2));
  });
  const drawn = { scores, y, groups: codes };
  if (!isWeighted) return drawn;
  return { ...drawn, weights: Float32Array.from(codes, () => Number(random.next() > 0.2) * 3 * random.next()) };
}

const TABLE: readonly (readonly [title: string, shape: Shape])[] = [
  ['continuous scores', {}],
  ['weights, some of them 0', { isWeighted: true }],
  ['deciles, with scores of exactly 0 and 1', { distinct: 10 }],
  ['weighted deciles', { distinct: 10, isWeighted: true }],
  ['one group', { groups: 1, rows: 500 }],
  ['many small groups', { groups: 300, rows: 6000 }],
];

const METHODS: readonly GroupFairnessCalibratorOptions[] = [
  { method: 'platt' },
  { method: 'platt', input: 'score' },
  { method: 'temperature' },
  { method: 'isotonic' },
];

/** Creates the tensors of rows, on the backend that is active. */
function toTensors({ scores, y, groups, weights }: Rows) {
  return {
    scores: tf.tensor1d(scores),
    y: tf.tensor1d(y, 'int32'),
    groups: tf.tensor1d(groups, 'int32'),
    weights: weights && tf.tensor1d(weights),
  };
}

for (const backend of TESTED_BACKENDS) {
  // The logarithm of a GPU has an absolute error of 5e-7.
  const tolerance = backend === 'webgpu' ? 2e-5 : 1e-6;
  describeOn(backend, `calibration of tensors, on ${backend}`, () => {
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

    for (const options of METHODS) {
      describe(Object.values(options).join(' of '), () => {
        // A software GPU takes minutes for all cases.
        for (const [title, shape] of backend === 'webgpu' ? [['weights', { rows: 600, isWeighted: true }] as const] : TABLE) { // prettier-ignore
          it(`equals calibration of arrays: ${title}`, async () => {
            const rows = drawRows(shape);
            const given = { groups: rows.groups, sampleWeight: rows.weights };
            const onHost = new GroupFairnessCalibrator(options);
            const expected = await onHost.fitTransform(rows.scores, rows.y, given);
            const { scores, y, groups, weights } = toTensors(rows);
            const onDevice = new GroupFairnessCalibrator(options);
            const calibrated = await onDevice.fitTransform(scores, y, { groups, sampleWeight: weights });
            const found = await calibrated.data();
            tf.dispose([calibrated, scores, y, groups, weights ?? []]);
            expect(calibrated).to.be.instanceOf(tf.Tensor);
            const largest = expected.reduce((most, value, row) => Math.max(most, Math.abs(value - (found[row] as number))), 0); // prettier-ignore
            expect(largest).to.be.below(tolerance);
            expect(onDevice.fallbacks).to.deep.equal(onHost.fallbacks);
            expect(onDevice.warnings).to.deep.equal(onHost.warnings);
            const counts = (calibrator: GroupFairnessCalibrator): unknown => calibrator.describe().toColumns()['n'];
            expect(counts(onDevice)).to.deep.equal(counts(onHost));
          });
        }

        it('reads as much for 10,000 rows as for ten times as many', async function () {
          if (backend === 'cpu' || backend === 'webgpu') this.skip();
          const few = drawRows({ rows: 10_000, distinct: 50 });
          const readsOf = async (times: number): Promise<readonly number[]> => {
            const { scores, y, groups } = toTensors(few);
            const tiled = [scores, y, groups].map((column) => column.tile([times])) as [tf.Tensor1D, tf.Tensor1D, tf.Tensor1D]; // prettier-ignore
            const calibrator = new GroupFairnessCalibrator({ ...options, minSamples: 1 });
            const { reads, values } = await countReads(tf, async () => {
              const calibrated = await calibrator.fitTransform(tiled[0], tiled[1], { groups: tiled[2] });
              calibrated.dispose();
            });
            tf.dispose([scores, y, groups, tiled]);
            return [reads, values];
          };
          const [reads = 0, values = 0] = await readsOf(1);
          const [moreReads = 0, moreValues = 0] = await readsOf(10);
          expect(moreReads).to.be.at.most(reads + 2);
          expect(values).to.be.below(2500);
          expect(moreValues).to.be.at.most(1.1 * values);
        });
      });
    }
  });
}
