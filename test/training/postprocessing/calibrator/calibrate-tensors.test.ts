import * as tf from '@tensorflow/tfjs';
import { expect } from 'chai';

import { createRandom } from '../../../../src/internal/random.ts';
import { countReads, loadTensorflow } from '../../../../src/tensor/index.ts';
import {
  calibrateHeldOut,
  type CalibrateHeldOutOptions,
  GroupFairnessCalibrator,
  type GroupFairnessCalibratorOptions,
  measureCalibration,
  reliabilityCurve,
} from '../../../../src/training/index.ts';
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

/** The cases on backends on which each test takes longer. */
const FEW: typeof TABLE = [
  ['continuous scores', { rows: 600 }],
  ['weighted deciles', { rows: 600, distinct: 10, isWeighted: true }],
];

const METHODS: readonly GroupFairnessCalibratorOptions[] = [
  { method: 'platt' },
  { method: 'platt', input: 'score' },
  { method: 'temperature' },
  { method: 'isotonic' },
];

/** How rows are held out, with the rows of each case. */
const HELD_OUT: readonly (readonly [title: string, split: Partial<CalibrateHeldOutOptions>, shape: Shape])[] = [
  ['five folds', {}, { rows: 3000, groups: 12 }],
  ['three folds, deciles, weights, some of them 0', { folds: 3 }, { rows: 1000, distinct: 10, isWeighted: true }],
  ['a train size', { trainSize: 0.6, seed: 3 }, { rows: 1500, isWeighted: true }],
  ['one fold', { folds: 1 }, { rows: 500 }],
  ['groups that are small in some folds', { folds: 4, minSamples: 30 }, { rows: 900, groups: 40 }],
];

/** The cases on backends on which each test takes longer. */
const FEW_HELD_OUT: typeof HELD_OUT = [
  ['two folds', { folds: 2 }, { rows: 400, groups: 3 }],
  ['a train size', { trainSize: 0.6 }, { rows: 400, distinct: 10, isWeighted: true }],
];

/** Returns all numbers of a value, in order. */
function numbersIn(value: unknown): number[] {
  if (typeof value === 'number') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(numbersIn) : [];
}

/** Creates the tensors of rows, on the backend that is active. */
function toTensors({ scores, y, groups, weights }: Rows) {
  return {
    scores: tf.tensor1d(scores),
    y: tf.tensor1d(y, 'int32'),
    groups: tf.tensor1d(groups, 'int32'),
    weights: weights && tf.tensor1d(weights),
  };
}

describe('calibration of tensors with other labels', () => {
  before(async () => {
    await loadTensorflow({ backend: 'wasm' });
  });

  for (const [title, [no, yes]] of [
    ['0 for positives', [1, 0]],
    ['1 and 2', [1, 2]],
    ['-1 and 1', [-1, 1]],
  ] as const) {
    it(`reads ${title} by the positive label, as for arrays`, async () => {
      const { scores, groups, y } = drawRows({ rows: 500, groups: 2 });
      const labels = y.map((label) => (label === 1 ? yes : no));
      const given = [tf.tensor1d(scores), tf.tensor1d(labels, 'int32'), tf.tensor1d(groups, 'int32')] as const;
      const positiveLabel = String(yes);
      const [expected, found] = [new GroupFairnessCalibrator(), new GroupFairnessCalibrator()];
      await expected.fit(scores, labels, { groups, positiveLabel });
      await found.fit(given[0], given[1], { groups: given[2], positiveLabel });
      const own = await found.transform(given[0], { groups: given[2] });
      const values = await own.data();
      (await expected.transform(scores, { groups })).forEach((value, row) => {
        expect(values[row]).to.be.closeTo(value, 1e-6);
      });
      tf.dispose([...given, own]);
    });
  }
});

for (const backend of TESTED_BACKENDS) {
  // The logarithm of a GPU has an absolute error of 5e-7.
  const tolerance = backend === 'webgpu' ? 2e-5 : 1e-6;
  const heldOut = backend === 'wasm' ? HELD_OUT : backend === 'webgpu' ? FEW_HELD_OUT.slice(1) : FEW_HELD_OUT;
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
        for (const [title, shape] of backend === 'wasm' ? TABLE : FEW) {
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

        for (const [title, split, shape] of heldOut) {
          it(`calibrates held-out rows as arrays: ${title}`, async () => {
            const rows = drawRows(shape);
            const how = { ...options, ...split };
            const expected = await calibrateHeldOut(rows.scores, rows.y, {
              ...how,
              groups: rows.groups,
              sampleWeight: rows.weights,
            });
            const { scores, y, groups, weights } = toTensors(rows);
            const held = tf.memory().numTensors;
            const found = await calibrateHeldOut(scores, y, { ...how, groups, sampleWeight: weights });
            expect(tf.memory().numTensors).to.equal(held + (found.foldOf === null ? 2 : 3));
            const [calibrated, indices, foldOf] = [
              await found.calibrated.data(),
              await found.rows.data(),
              await found.foldOf?.data(),
            ];
            expect([found.calibrated.dtype, found.rows.dtype]).to.deep.equal(['float32', 'int32']);
            tf.dispose([found.calibrated, found.rows, found.foldOf ?? [], scores, y, groups, weights ?? []]);
            expect([...indices]).to.deep.equal([...expected.rows]);
            expect(foldOf && [...foldOf]).to.deep.equal(expected.foldOf ? [...expected.foldOf] : undefined);
            expected.calibrated.forEach((value, row) => {
              expect(calibrated[row], String(row)).to.be.closeTo(value, tolerance);
            });
            const { folds, trainSize, seed, warnings } = expected;
            expect(found).to.deep.include({ folds, trainSize, seed, warnings });
            expect(found.calibrator.fallbacks).to.deep.equal(expected.calibrator.fallbacks);
            const counts = (calibrator: GroupFairnessCalibrator): unknown => calibrator.describe().toColumns()['n'];
            expect(counts(found.calibrator)).to.deep.equal(counts(expected.calibrator));
          });
        }

        // The other backends would take long, and read the same.
        if (backend !== 'wasm' && backend !== 'node') return;
        it('reads as much for held-out rows of 10,000 rows as of five times as many', async () => {
          const few = drawRows({ rows: 10_000, distinct: 50, groups: 3 });
          const readsOf = async (times: number): Promise<readonly [reads: number, values: number]> => {
            const { scores, y, groups } = toTensors(few);
            const [tiled, labels, codes] = [scores, y, groups].map((column) => column.tile([times])) as [tf.Tensor1D, tf.Tensor1D, tf.Tensor1D]; // prettier-ignore
            const { reads, values } = await countReads(tf, async () => {
              const found = await calibrateHeldOut(tiled, labels, { ...options, folds: 3, groups: codes });
              tf.dispose([found.calibrated, found.rows, found.foldOf ?? []]);
            });
            tf.dispose([scores, y, groups, tiled, labels, codes]);
            return [reads, values];
          };
          const [reads, values] = await readsOf(1);
          const [moreReads, moreValues] = await readsOf(5);
          expect(reads).to.be.below(150);
          expect(values).to.be.below(4000);
          // Each of the four fits may take one or two more steps.
          expect(moreReads).to.be.at.most(reads + 8);
          expect(moreValues).to.be.at.most(1.1 * values);
        });
      });
    }

    describe('held-out rows', () => {
      const rows = drawRows({ rows: 300, groups: 2 });
      const failure = async (promise: Promise<unknown>): Promise<string> =>
        promise.then(
          () => 'no error',
          (error: unknown) => (error as Error).message,
        );

      it('reject what arrays reject, with the same errors', async () => {
        const { scores, y, groups } = toTensors(rows);
        const cases: readonly (readonly [string, tf.Tensor, Float32Array, Partial<CalibrateHeldOutOptions>, RegExp])[] = [
          ['one label', tf.ones([300]), new Float32Array(300).fill(1), {}, /y is 1 in every row/],
          ['more folds than rows', y, rows.y, { folds: 301 }, /301 folds need at least 301 rows; there are 300/],
          ['a train size without training rows', y, rows.y, { trainSize: 0.001 }, /train size of 0.001 leaves no rows to fit on/],
          ['one positive row', tf.tidy(() => tf.oneHot([3], 300).reshape([300])), rows.y.map((_, row) => Number(row === 3)), { folds: 3 }, /Without fold \d of 3, the rows have only one label/],
          ['folds and a train size', y, rows.y, { folds: 2, trainSize: 0.5 }, /folds parameter must be left out/],
        ]; // prettier-ignore
        for (const [title, labels, onHost, options, message] of cases) {
          const found = await failure(calibrateHeldOut(scores, labels, { ...options, groups }));
          expect(found, title).to.match(message);
          expect(await failure(calibrateHeldOut(rows.scores, onHost, { ...options, groups: rows.groups }))).to.equal(
            found,
          );
        }
        tf.dispose([scores, y, groups, ...cases.map(([, labels]) => labels)]);
      });

      it('reject tensors of another shape, disposed tensors and missing values', async () => {
        const { scores, y, groups } = toTensors(rows);
        const wide = y.reshape([300, 1]);
        const missing = tf.tensor1d(rows.scores.map((score, row) => (row === 7 ? NaN : score)));
        const gone = scores.clone();
        gone.dispose();
        expect(await failure(calibrateHeldOut(scores, wide, { groups }))).to.match(/y has shape \[300, 1\]; expected \[300\]/); // prettier-ignore
        expect(await failure(calibrateHeldOut(missing, y, { groups }))).to.match(/scores must lie in \[0, 1\], but holds NaN at index 7/); // prettier-ignore
        expect(await failure(calibrateHeldOut(gone, y, { groups }))).to.match(/scores is a tensor that has been disposed/); // prettier-ignore
        expect(await failure(calibrateHeldOut(scores, y, { groups, sampleWeight: new Float32Array(300) }))).to.match(/sampleWeight is 0 in every row/); // prettier-ignore
        tf.dispose([scores, y, groups, wide, missing]);
      });

      it('accept labels and groups that are arrays, and report progress', async () => {
        const { scores, y, groups } = toTensors(rows);
        const seen: number[] = [];
        const labels = Array.from(rows.groups, (code) => (code === 0 ? 'few' : 'many'));
        const found = await calibrateHeldOut(scores, rows.y, {
          groups: labels,
          onProgress: ({ done, total }) => seen.push(done / total),
        });
        const expected = await calibrateHeldOut(rows.scores, rows.y, { groups: labels });
        const calibrated = await found.calibrated.data();
        expected.calibrated.forEach((value, row) => {
          expect(calibrated[row]).to.be.closeTo(value, tolerance);
        });
        expect([seen.length, seen.at(-1)]).to.deep.equal([6, 1]);
        tf.dispose([scores, y, groups, found.calibrated, found.rows, found.foldOf ?? []]);
      });
    });

    describe('measures of calibration', () => {
      /** On multiples of 2^-14, the histograms of a device are exact. */
      const step = 2 ** -14;
      const onGrid = { ...drawRows({ rows: 5000, isWeighted: true }), scores: drawRows({ rows: 5000 }).scores.map((score) => Math.round(score / step) * step) }; // prettier-ignore

      it('equal those of arrays, and rows with missing values are excluded', async () => {
        const rows = { ...onGrid, scores: onGrid.scores.map((score, row) => (row % 50 === 0 ? NaN : score)) };
        const { scores, y, groups, weights } = toTensors(rows);
        const found = [
          await measureCalibration(scores, y, groups, { sampleWeight: weights }),
          await reliabilityCurve(scores, y, groups, { sampleWeight: weights, bins: 5 }),
        ];
        tf.dispose([scores, y, groups, weights ?? []]);
        const expected = [
          await measureCalibration(rows.scores, rows.y, rows.groups, { sampleWeight: rows.weights }),
          await reliabilityCurve(rows.scores, rows.y, rows.groups, { sampleWeight: rows.weights, bins: 5 }),
        ];
        const [numbers, wanted] = [numbersIn(found), numbersIn(expected)];
        expect(numbers.length).to.equal(wanted.length);
        wanted.forEach((value, index) => {
          expect(numbers[index], String(index)).to.be.closeTo(value, tolerance);
        });
        // Rows without a score, and rows of weight 0.
        const isDropped = (weight: number, row: number): boolean => weight === 0 || row % 50 === 0;
        expect(found[0]?.nDropped).to.equal(rows.weights?.filter(isDropped).length);
      });

      it('reject scores outside [0, 1], and count what they read', async () => {
        const { scores, y, groups, weights } = toTensors(onGrid);
        const above = scores.add<tf.Tensor1D>(1);
        let message = '';
        await measureCalibration(above, y, groups).catch((error: unknown) => (message = (error as Error).message));
        expect(message).to.match(/^scores must lie in \[0, 1\], but holds 1\.\d+\.$/);
        const { reads } = await countReads(tf, () => measureCalibration(scores, y, groups));
        expect(reads).to.be.at.most(12);
        tf.dispose([scores, y, groups, above, weights ?? []]);
      });
    });
  });
}
