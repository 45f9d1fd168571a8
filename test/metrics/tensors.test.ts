import * as tf from '@tensorflow/tfjs';
import { expect } from 'chai';

import { DataValidationError } from '../../src/exceptions/index.ts';
import { createRandom } from '../../src/internal/random.ts';
import { REGRESSION_QUANTITIES, type RegressionStats, sum } from '../../src/metrics/statistics/group-stats.ts';
import { reduceRegression } from '../../src/metrics/reduce/reduce-regression.ts';
import { reduceClassification } from '../../src/metrics/reduce/reduce-classification.ts';
import { reduceScores } from '../../src/metrics/reduce/reduce-scores.ts';
import {
  reduceClassificationTensors,
  reduceRegressionTensors,
  reduceScoreTensors,
} from '../../src/metrics/reduce/reduce-tensors.ts';
import { gridStep, toGrid } from '../../src/metrics/statistics/score-grid.ts';
import type { SensitiveSource } from '../../src/table/index.ts';
import { FairnessAnalyzer } from '../../src/metrics/analyzer/fairness-analyzer.ts';
import { metricFrame } from '../../src/metrics/index.ts';
import { rowReadings } from '../../src/metrics/reduce/row-readings.ts';
import { countReads, loadTensorflow, type TensorBackend } from '../../src/tensor/index.ts';
import { describeOn } from '../helpers/software-gpu.ts';

const BACKENDS: TensorBackend[] = ['cpu', 'wasm', 'node'];

/** The number of values that some work reads back from the device. */
const countRead = async (work: () => Promise<unknown>): Promise<number> => (await countReads(tf, work)).values;

/** Columns of float32 values with missing ones among them, and groups of unequal size. */
function makeColumns(rows: number) {
  const random = createRandom(11);
  const column = (value: () => number, missing = 0.02): Float32Array =>
    Float32Array.from({ length: rows }, () => (random.next() < missing ? NaN : value()));
  const scores = (): number => random.next() ** 2;
  return {
    group: column(() => 3 + Math.floor(5 * random.next() ** 2)),
    other: column(() => random.integer(3) - 1, 0),
    decision: column(() => Number(random.next() < 0.4)),
    label: column(() => Number(random.next() < 0.3)),
    amount: column(() => 5000 + 300 * random.next() ** 4),
    guess: column(() => 5100 + 40 * random.next()),
    score: column(scores),
    weight: column(() => random.next() * 10),
  };
}

async function errorOf(work: () => Promise<unknown>): Promise<DataValidationError> {
  try {
    await work();
  } catch (error) {
    expect(error).to.be.instanceOf(DataValidationError);
    return error as DataValidationError;
  }
  throw new Error('no error');
}

interface Refusal {
  readonly work: () => Promise<unknown>;
  readonly message: RegExp;
  readonly context?: object;
  readonly code?: string;
}

/** Compares relative to the size of the numbers; moments of the third power to that of their standard deviation. */
function assertMomentsClose(actual: RegressionStats, expected: RegressionStats): void {
  for (const name of REGRESSION_QUANTITIES) {
    const [a, b] = [actual.moments[name], expected.moments[name]];
    b.mean.forEach((mean, group) => {
      const weight = expected.weights[group] ?? NaN;
      const spread = Math.sqrt((b.m2[group] ?? NaN) / weight);
      expect(a.mean[group], name).to.be.closeTo(mean, 1e-6 * Math.max(Math.abs(mean), spread));
      expect(a.m2[group], name).to.be.closeTo(b.m2[group] ?? NaN, 1e-4 * (b.m2[group] ?? NaN));
      expect(a.m3[group], name).to.be.closeTo(b.m3[group] ?? NaN, 1e-4 * weight * spread ** 3);
    });
  }
}

for (const backend of BACKENDS) {
  describeOn(backend, `statistics of tensors on ${backend}`, () => {
    before(async () => {
      await loadTensorflow({ backend });
    });

    let made: tf.Tensor[] = [];
    let before_ = 0;
    const tensor = (values: ArrayLike<number>, dtype: 'float32' | 'int32' | 'bool' = 'float32'): tf.Tensor1D => {
      const built = tf.tensor1d(Array.from(values), dtype);
      made.push(built);
      return built;
    };
    beforeEach(() => {
      made = [];
      before_ = tf.memory().numTensors;
    });
    afterEach('leaves no tensor behind, and disposes of none of the caller', () => {
      for (const one of made) expect(one.isDisposed).to.equal(false);
      tf.dispose(made);
      expect(tf.memory().numTensors).to.equal(before_);
    });

    const small = makeColumns(5000);

    it('counts of decisions equal those of arrays, with and without labels, and with either nanPolicy', async () => {
      const [yPred, yTrue, sensitive] = [tensor(small.decision), tensor(small.label), tensor(small.group)];
      const host = { yPred: small.decision, sensitive: small.group };
      expect(await reduceClassificationTensors({ yPred, yTrue, sensitive })).to.deep.equal(
        reduceClassification({ ...host, yTrue: small.label }),
      );
      expect(await reduceClassificationTensors({ yPred, sensitive, nanPolicy: 'include' })).to.deep.equal(
        reduceClassification({ ...host, nanPolicy: 'include' }),
      );
    });

    it('sums of weights of decisions equal those of arrays', async () => {
      const device = await reduceClassificationTensors({
        yPred: tensor(small.decision),
        yTrue: tensor(small.label),
        sensitive: tensor(small.group),
        sampleWeight: tensor(small.weight),
      });
      const host = reduceClassification({
        yPred: small.decision,
        yTrue: small.label,
        sensitive: small.group,
        sampleWeight: small.weight,
      });
      expect(device.counts).to.deep.equal(host.counts);
      expect(device.ungrouped.counts).to.deep.equal(host.ungrouped.counts);
      expect(device.nDropped).to.equal(host.nDropped);
      for (const table of ['weights', 'squaredWeights'] as const) {
        host[table].forEach((value, cell) => {
          expect(device[table][cell]).to.be.closeTo(value, 1e-6 * value);
        });
      }
    });

    it('weights too large to be squared in float32', async () => {
      const { weights, squaredWeights } = await reduceClassificationTensors({
        yPred: tensor([1, 1]),
        sensitive: ['a', 'a'],
        sampleWeight: tensor([2 ** 100, 2 ** 99]),
      });
      expect(sum(weights)).to.equal(1.5 * 2 ** 100);
      expect(sum(squaredWeights)).to.equal(1.25 * 2 ** 200);
    });

    for (const weighted of [false, true]) {
      it(`moments of numbers equal those of arrays${weighted ? ', weighted' : ''}`, async () => {
        const device = await reduceRegressionTensors({
          yPred: tensor(small.guess),
          yTrue: tensor(small.amount),
          sensitive: tensor(small.group),
          ...(weighted ? { sampleWeight: tensor(small.weight) } : {}),
        });
        const host = reduceRegression({
          yPred: small.guess,
          yTrue: small.amount,
          sensitive: small.group,
          ...(weighted ? { sampleWeight: small.weight } : {}),
        });
        expect(device.counts).to.deep.equal(host.counts);
        expect(device.nDropped).to.equal(host.nDropped);
        expect(device.labels).to.deep.equal(host.labels);
        assertMomentsClose(device, host);
      });
    }

    it('moments of predictions alone, and zeros for the others', async () => {
      const device = await reduceRegressionTensors({ yPred: tensor(small.guess), sensitive: tensor(small.group) });
      const host = reduceRegression({ yPred: small.guess, sensitive: small.group });
      expect(device.hasTruth).to.equal(false);
      expect(device.counts).to.deep.equal(host.counts);
      assertMomentsClose(device, host);
    });

    it('moments of errors whose squares overflow float32, and of one group a million times smaller than the other', async () => {
      for (const factor of [1e25, 1e-25]) {
        const scaleOf = [factor, factor * 1e-6];
        const sensitive = small.other.map((_, row) => row % 2);
        const yPred = small.guess.map((value, row) => (value - 5000) * (scaleOf[row % 2] ?? NaN));
        const yTrue = small.amount.map((value, row) => (value - 5000) * (scaleOf[row % 2] ?? NaN));
        const device = await reduceRegressionTensors({
          yPred: tensor(yPred),
          yTrue: tensor(yTrue),
          sensitive: tensor(sensitive),
        });
        const host = reduceRegression({ yPred, yTrue, sensitive });
        assertMomentsClose(device, host);
      }
    });

    it('scores equal those of arrays on the grid of the largest score', async () => {
      for (const scale of [1, -40]) {
        const scores = small.score.map((score) => scale * (score - 0.25));
        const device = await reduceScoreTensors({
          yScore: tensor(scores),
          yTrue: tensor(small.label),
          sensitive: tensor(small.group),
        });
        const known = small.label.map((label, row) => (Number.isNaN(label + (small.group[row] ?? NaN)) ? 0 : 1));
        const step = gridStep(
          scores.reduce((most, score, row) => (known[row] === 1 ? Math.max(most, Math.abs(score) || 0) : most), 0),
        );
        const host = reduceScores({
          yScore: Float64Array.from(scores, (score) => toGrid(score, step)),
          yTrue: small.label,
          sensitive: small.group,
        });
        expect(device.step).to.equal(step);
        expect({ ...device, step: 0, losses: null }).to.deep.equal(host);
      }
    });

    it('scores with weights, with labels by name, and a group of one score', async () => {
      const yTrue = Array.from(small.label, (label) => (Number.isNaN(label) ? null : label === 1 ? 'yes' : 'no'));
      const scores = small.score.map((score, row) => ((small.group[row] ?? 0) === 3 ? 0.5 : Math.round(8 * score) / 8));
      const rows = { yTrue, positiveLabel: 'yes', sensitive: small.group };
      const device = await reduceScoreTensors({
        ...rows,
        yScore: tensor(scores),
        sampleWeight: tensor(small.weight),
      });
      const host = reduceScores({ ...rows, yScore: scores, sampleWeight: small.weight });
      expect([...device.scores]).to.deep.equal([...host.scores]);
      expect(device.counts).to.deep.equal(host.counts);
      host.weights.forEach((value, cell) => {
        expect(device.weights[cell]).to.be.closeTo(value, 1e-6 * value);
      });
    });

    it('log losses of scores equal those of the exact scores, with and without weights', async () => {
      for (const weight of [undefined, small.weight]) {
        const stats = await reduceScoreTensors({
          yScore: tensor(small.score),
          yTrue: tensor(small.label),
          sensitive: tensor(small.group),
          sampleWeight: weight === undefined ? undefined : tensor(weight),
        });
        stats.labels.forEach((label, group) => {
          const terms = Array.from(small.score, (score, row) => {
            const [truth = NaN, share = NaN] = [small.label[row], weight === undefined ? 1 : weight[row]];
            const isUsed = String(small.group[row]) === label && !Number.isNaN(score + truth + share);
            return isUsed ? ([share, -Math.log(truth === 1 ? score : 1 - score)] as const) : ([0, 0] as const);
          });
          const sumOf = (power: number): number =>
            terms.reduce((total, [share, loss]) => total + share * loss ** power, 0);
          expect(stats.losses?.sums[group], label).to.be.closeTo(sumOf(1), 2e-5 * sumOf(1));
          expect(stats.losses?.squares[group], label).to.be.closeTo(sumOf(2), 2e-5 * sumOf(2));
        });
      }
    });

    it('scores that are all 0 have no grid', async () => {
      const stats = await reduceScoreTensors({
        yScore: tensor([0, 0, -0]),
        yTrue: tensor([0, 1, 1]),
        sensitive: tensor([1, 1, 1]),
      });
      expect(stats.step).to.equal(0);
      expect([...stats.scores]).to.deep.equal([0]);
      expect([...stats.counts]).to.deep.equal([1, 2]);
    });

    it('thousands of groups make the grid of scores coarser to bound the memory @slow', async () => {
      const random = createRandom(5);
      const rows = 20_000;
      const stats = await reduceScoreTensors({
        yScore: tensor(Float32Array.from({ length: rows }, () => random.next())),
        yTrue: tensor(Float32Array.from({ length: rows }, () => random.integer(2))),
        sensitive: tensor(
          Int32Array.from({ length: rows }, (_, row) => row % 2000),
          'int32',
        ),
      });
      expect(stats.labels).to.have.length(2000);
      // 2 x 2,000 x (2^11 + 1) cells are the most below 2^23.
      expect(stats.step).to.equal(2 ** -11);
      expect(sum(stats.counts)).to.equal(rows);
    });

    /** Sensitive attributes as tensors, and the same attributes as arrays. */
    const attributes: Record<string, () => { device: SensitiveSource; host: SensitiveSource; read?: number }> = {
      'integers including negative ones': () => ({ device: tensor(small.other), host: small.other }),
      'int32 beyond what float32 holds': () => {
        const codes = Int32Array.from(small.other, (code) => 2_000_000_000 + 2 * code);
        return { device: tensor(codes, 'int32'), host: codes };
      },
      booleans: () => {
        const codes = Uint8Array.from(small.other, (code) => Number(code > 0));
        return { device: tensor(codes, 'bool'), host: codes };
      },
      'no number at all': () => ({ device: tensor(small.other.fill(NaN, 0, 0)), host: small.other }),
      'an object of tensors': () => ({
        device: { group: tensor(small.group), other: tensor(small.other) },
        host: { group: small.group, other: small.other },
      }),
      'an object of a tensor and names': () => {
        const names = Array.from(small.other, (code) => ['x||y', 'x', null][code + 1]);
        return { device: { group: tensor(small.group), names }, host: { group: small.group, names } };
      },
      'a tensor of two columns': () => {
        const rows = Array.from(small.group, (code, row) => [code, small.other[row] ?? NaN]);
        const device = tf.tensor2d(rows);
        made.push(device);
        return { device: device, host: { a: small.group, b: small.other } };
      },
      'fractions, which are read': () => {
        const codes = small.group.map((code) => code / 2);
        return { device: tensor(codes), host: codes, read: codes.length };
      },
      'numbers in a wide range, which are read': () => {
        const codes = small.group.map((code) => code * 5000);
        return { device: tensor(codes), host: codes, read: codes.length };
      },
      'infinities, which are read': () => {
        const codes = small.group.map((code) => (code === 3 ? -Infinity : code));
        return { device: tensor(codes), host: codes, read: codes.length };
      },
      'attributes of very many groups together, which are read': () => {
        const left = Float32Array.from(small.group, (_, row) => row % 400);
        const right = Float32Array.from(small.group, (_, row) => (7 * row) % 300);
        return { device: { a: tensor(left), b: tensor(right) }, host: { a: left, b: right }, read: 2 * left.length };
      },
    };

    for (const [title, make] of Object.entries(attributes)) {
      it(`groups from ${title}`, async () => {
        const { device, host, read = 0 } = make();
        for (const nanPolicy of ['exclude', 'include'] as const) {
          const expected = reduceClassification({ yPred: small.decision, sensitive: host, nanPolicy });
          const yPred = tensor(small.decision);
          let actual: unknown;
          const elements = await countRead(async () => {
            actual = await reduceClassificationTensors({ yPred, sensitive: device, nanPolicy });
          });
          expect(actual).to.deep.equal(expected);
          const tables = 16 * (expected.labels.length + 1);
          expect(elements).to.be.at.least(read + tables);
          expect(elements).to.be.below(read + tables + 1000);
        }
      });
    }

    /** The labels of `small`, with other numbers for 0 and 1 and a code for missing ones. */
    const recoded = (values: Float32Array, no: number, yes: number, missing: number): Float32Array =>
      values.map((value) => (Number.isNaN(value) ? missing : value === 1 ? yes : no));

    for (const [no, yes, dtype] of [
      [1, 2, 'float32'],
      [1, 2, 'int32'],
      [-1, 1, 'float32'],
      [1, 0, 'int32'],
      [0, 1, 'bool'],
      [0.25, 0.75, 'float32'],
    ] as const) {
      it(`labels ${String(no)} and ${String(yes)} (${dtype}) by a positive label equal those of 0 and 1`, async () => {
        const known = (values: Float32Array): Float32Array => values.map((value) => (Number.isNaN(value) ? 0 : value));
        const [decision, label] = [known(small.decision), known(small.label)];
        const codes = (values: Float32Array): tf.Tensor1D => tensor(recoded(values, no, yes, NaN), dtype);
        const { readings, ...device } = await reduceClassificationTensors({
          yPred: codes(decision),
          yTrue: codes(label),
          sensitive: tensor(small.group),
          positiveLabel: String(yes),
        });
        expect(device).to.deep.equal(reduceClassification({ yPred: decision, yTrue: label, sensitive: small.group }));
        const ones = sum(decision);
        expect(readings?.[0]).to.deep.include({
          role: 'predictions',
          positive: { [String(yes)]: ones },
          negative: { [String(no)]: decision.length - ones },
        });
      });
    }

    it('numbers of naValues count as missing in labels, groups, weights, scores and numbers', async () => {
      const coded = {
        decision: recoded(small.decision, -1, 1, -9),
        label: recoded(small.label, 1, 2, -9),
        group: small.group.map((code) => (Number.isNaN(code) ? -9 : code)),
        weight: small.weight.map((weight) => (Number.isNaN(weight) ? -9 : weight)),
        score: small.score.map((score) => (Number.isNaN(score) ? -9 : score)),
        amount: small.amount.map((amount) => (Number.isNaN(amount) ? -9 : amount)),
      };
      const labels = { positiveLabel: '1', yTruePositiveLabel: '2', naValues: ['-9'] };
      for (const nanPolicy of ['exclude', 'include'] as const) {
        const { readings, ...device } = await reduceClassificationTensors({
          yPred: tensor(coded.decision),
          yTrue: tensor(coded.label, 'int32'),
          sensitive: tensor(coded.group),
          ...labels,
          nanPolicy,
        });
        expect(device).to.deep.equal(
          reduceClassification({ yPred: small.decision, yTrue: small.label, sensitive: small.group, nanPolicy }),
        );
        const lost = (values: Float32Array): number => values.filter((value) => Number.isNaN(value)).length;
        const missing = new Map(readings?.map(({ role, missing: counts }) => [role, counts]));
        expect(missing.get('predictions')).to.deep.equal({ '-9': lost(small.decision) });
        expect(missing.get('groups')).to.deep.equal({ '-9': lost(small.group) });
      }
      const scores = await reduceScoreTensors({
        yScore: tensor(coded.score),
        yTrue: tensor(coded.label),
        sensitive: tensor(coded.group),
        sampleWeight: tensor(coded.weight),
        ...labels,
      });
      const plain = await reduceScoreTensors({
        yScore: tensor(small.score),
        yTrue: tensor(small.label),
        sensitive: tensor(small.group),
        sampleWeight: tensor(small.weight),
      });
      expect({ ...scores, readings: undefined }).to.deep.equal({ ...plain, readings: undefined });
      expect(scores.readings?.map(({ role }) => role)).to.have.members(['groups', 'scores', 'true labels', 'weights']);
      const numbers = await reduceRegressionTensors({
        yPred: tensor(coded.amount),
        sensitive: tensor(coded.group),
        naValues: ['-9'],
      });
      const { nDropped } = reduceRegression({ yPred: small.amount, sensitive: small.group });
      expect(numbers.nDropped).to.equal(nDropped);
    });

    // The table of labels that look alike in docs/measuring.md: in columns of numbers they are compared by value.
    for (const text of ['1', '1.0', '1e0', ' 1', '01', '+1', '0x1']) {
      it(`'${text}' means the number 1, as for arrays`, async () => {
        const rows = { yPred: [2, 1, 2, 3], sensitive: [0, 0, 1, 1] };
        const device = { yPred: tensor(rows.yPred), sensitive: tensor(rows.sensitive) };
        for (const options of [{ positiveLabel: text }, { positiveLabel: '2', naValues: [text] }]) {
          const { readings, ...stats } = await reduceClassificationTensors({ ...device, ...options });
          expect(stats).to.deep.equal(reduceClassification({ ...rows, ...options }));
          const ofLabels = rowReadings('classification', { ...rows, ...options }).filter(
            ({ role }) => role !== 'groups',
          );
          expect(readings?.filter(({ role }) => role !== 'groups')).to.deep.equal(ofLabels);
        }
      });
    }

    it('labels and numbers of naValues are computed without reading rows', async () => {
      const options = { positiveLabel: '1', naValues: ['-9'] };
      const rows = { yPred: tensor(small.decision), yTrue: tensor(small.label), sensitive: tensor(small.group) };
      const read = await countRead(() => reduceClassificationTensors({ ...rows, ...options }));
      expect(read).to.be.below(500);
    });

    it('metrics, frames and averages over classes equal those of arrays, with their warnings', async () => {
      const random = createRandom(3);
      const column = (values: number): number[] => Array.from({ length: 600 }, () => random.integer(values));
      const host = { yPred: column(3), yTrue: column(3), sensitive: column(3) };
      const device = { yPred: tensor(host.yPred), yTrue: tensor(host.yTrue), sensitive: tensor(host.sensitive) };
      const analyzer = new FairnessAnalyzer();
      const results = await Promise.all(
        [host, device].map(async ({ yPred, yTrue, sensitive }) => {
          const labels = { positiveLabel: '2', naValues: ['0'] };
          const frame = await analyzer.metricFrame({
            yPred,
            yTrue,
            sensitive,
            ...labels,
            metrics: ['true_positive_rate'],
          });
          return {
            metric: await analyzer.equalizedOddsDifference(yTrue, yPred, sensitive, { ...labels, withCi: false }),
            macro: await analyzer.equalizedOddsDifference(yTrue, yPred, sensitive, { average: 'macro', withCi: false }),
            frame: [frame.byGroup, frame.warnings],
            alone: metricFrame({ yPred, yTrue, sensitive, ...labels, metrics: ['true_positive_rate'] }).warnings,
          };
        }),
      );
      expect(results[1]).to.deep.equal(results[0]);
      expect(results[1]?.metric.warnings.join()).to.include("'0' (").and.to.include('na-values');
    });

    it('frames of very many groups within levels, which are read, equal those of arrays @slow', async () => {
      const host = {
        yPred: small.decision,
        sensitive: Float32Array.from(small.group, (_, row) => row % 400),
        control: Float32Array.from(small.group, (_, row) => (7 * row) % 300),
        metrics: ['selection_rate', 'count'],
        naValues: ['0'],
      };
      const device = {
        ...host,
        yPred: tensor(host.yPred),
        sensitive: tensor(host.sensitive),
        control: tensor(host.control),
      };
      const analyzer = new FairnessAnalyzer({ minGroupSize: 1 });
      const [onHost, onDevice] = [await analyzer.metricFrame(host), await analyzer.metricFrame(device)];
      // As texts, because the comparison of 120,000 objects takes half a minute.
      expect(JSON.stringify(onDevice) === JSON.stringify(onHost)).to.equal(true);
    });

    it('does not read rows back: as few numbers for 100,000 rows as for 10,000 @slow', async () => {
      const readFor = async (rows: number): Promise<number[]> => {
        const columns = makeColumns(rows);
        const [yPred, yTrue, weight] = [tensor(columns.decision), tensor(columns.label), tensor(columns.weight)];
        const [amount, guess, score] = [tensor(columns.amount), tensor(columns.guess), tensor(columns.score)];
        const sensitive = { group: tensor(columns.group), other: tensor(columns.other) };
        const counted: number[] = [];
        for (const sampleWeight of [undefined, weight]) {
          const bound = { sensitive, sampleWeight };
          counted.push(
            await countRead(() => reduceClassificationTensors({ ...bound, yPred })),
            await countRead(() => reduceClassificationTensors({ ...bound, yPred, yTrue })),
            await countRead(() => reduceRegressionTensors({ ...bound, yPred: guess, yTrue: amount })),
            await countRead(() => reduceScoreTensors({ ...bound, yScore: score, yTrue })),
          );
        }
        return counted;
      };
      const [few, many] = [await readFor(10_000), await readFor(100_000)];
      // Demographic parity, equalized odds, mean absolute error and the area under the curve, each also with weights.
      const [dpd, eod, mae, auc, weightedDpd, weightedEod, weightedMae, weightedAuc] = many as [number, ...number[]];
      const groups = 5 * 3;
      for (const count of [dpd, eod, mae]) expect(count).to.be.below(25 * (groups + 1));
      for (const count of [weightedDpd, weightedEod, weightedMae]) expect(count).to.be.below(15 * 16 * (groups + 1));
      const table = groups * 2 * (2 ** 14 + 1);
      expect(auc).to.be.below(table + 100);
      expect(weightedAuc).to.be.below(21 * table + 100);
      many.forEach((count, index) => {
        expect(count).to.be.closeTo(few[index] ?? NaN, index % 4 === 3 ? 0.2 * count : 0);
      });
    });

    /** Invalid inputs with their errors. */
    const refusals: Record<string, Refusal> = {
      'a decision that is a score': {
        work: () => reduceClassificationTensors({ yPred: tensor([1, 0, 0.25]), sensitive: tensor([0, 1, 1]) }),
        message: /^yPred must be 0 or 1, but holds 0.25 at index 2/,
      },
      'a decision that is a score, in a row without a weight': {
        work: () =>
          reduceClassificationTensors({
            yPred: tensor([1, 2]),
            sensitive: tensor([0, 1]),
            sampleWeight: tensor([1, NaN]),
          }),
        message: /^yPred must be 0 or 1, but holds 2 at index 1/,
      },
      'a label that is 3': {
        work: () => reduceScoreTensors({ yScore: tensor([0.1, 0.2]), yTrue: tensor([3, 1]), sensitive: [1, 2] }),
        message: /^yTrue must be 0 or 1, but holds 3 at index 0/,
      },
      'an infinite score': {
        work: () => reduceScoreTensors({ yScore: tensor([1, -Infinity]), yTrue: [1, 0], sensitive: tensor([1, 2]) }),
        message: /^yScore must be finite, but holds -Infinity at index 1/,
      },
      'an infinite prediction': {
        work: () => reduceRegressionTensors({ yPred: tensor([NaN, Infinity]), yTrue: [1, 0], sensitive: [1, 2] }),
        message: /^yPred must be finite, but holds Infinity at index 1/,
      },
      'an infinite true value in a row without a group': {
        work: () =>
          reduceRegressionTensors({
            yPred: tensor([1, 1]),
            yTrue: tensor([1, Infinity]),
            sensitive: tensor([1, NaN]),
          }),
        message: /^yTrue must be finite, but holds Infinity at index 1/,
      },
      'errors beyond float32': {
        work: () => reduceRegressionTensors({ yPred: tensor([3e38]), yTrue: tensor([-3e38]), sensitive: [1] }),
        message: /too large for float32/,
        code: 'data-too-large',
      },
      'a negative weight': {
        work: () =>
          reduceClassificationTensors({ yPred: tensor([1, 1]), sensitive: [1, 1], sampleWeight: tensor([2, -1]) }),
        message: /^sampleWeight must be 0 or more, but holds -1 at index 1/,
      },
      'different lengths': {
        work: () => reduceRegressionTensors({ yPred: tensor([1, 2]), sensitive: tensor([1]) }),
        message: /^yPred and sensitive differ in length: 2 and 1/,
      },
      'attributes of different lengths': {
        work: () =>
          reduceClassificationTensors({ yPred: tensor([1, 0]), sensitive: { a: tensor([1, 2]), b: tensor([1]) } }),
        message: /^The sensitive attributes differ in length: 2 and 1/,
      },
      'a positive label of a tensor': {
        work: () =>
          reduceScoreTensors({ yScore: tensor([1]), yTrue: tensor([1]), sensitive: [1], positiveLabel: 'yes' }),
        message: /^yTrue is a tensor, which holds numbers, but its positive label 'yes' is text/,
        context: { argument: 'yTrue', positiveLabel: 'yes' },
      },
      'a positive label of a tensor that no row has': {
        work: () =>
          reduceClassificationTensors({ yPred: tensor([1, 2]), sensitive: tensor([1, 2]), positiveLabel: '3' }),
        message: /^No row of yPred holds the positive label '3'/,
      },
      'a text of naValues that no tensor holds': {
        work: () =>
          reduceClassificationTensors({ yPred: tensor([1, 0]), sensitive: tensor([1, 2]), naValues: ['-9', 'NA'] }),
        message: /^naValues contains the text 'NA', but all columns are tensors/,
        context: { argument: 'naValues', value: 'NA' },
      },
      'a positive label that no row has': {
        work: () => reduceScoreTensors({ yScore: tensor([1]), yTrue: ['no'], sensitive: [1], positiveLabel: 'yes' }),
        message: /^No row of yTrue holds the positive label 'yes'/,
      },
      'only missing scores': {
        work: () => reduceScoreTensors({ yScore: tensor([NaN]), yTrue: tensor([1]), sensitive: tensor([1]) }),
        message: /^All 1 rows lack/,
      },
      'groups that are all missing': {
        work: () => reduceRegressionTensors({ yPred: tensor([1, 2]), sensitive: tensor([NaN, NaN]) }),
        message: /^All 2 rows lack/,
      },
      'no rows': {
        work: () => reduceScoreTensors({ yScore: tensor([]), yTrue: tensor([]), sensitive: tensor([]) }),
        message: /^There are no rows/,
      },
      'a tensor of another shape': {
        work: () => {
          const yPred = tf.ones([2, 2]);
          made.push(yPred);
          return reduceRegressionTensors({ yPred, sensitive: [1, 2] });
        },
        message: /^yPred must be a 1-D tensor; got shape \[2, 2\]/,
        context: { argument: 'yPred', shape: [2, 2] },
      },
    };

    for (const [title, { work, message, context, code }] of Object.entries(refusals)) {
      it(`rejects ${title}`, async () => {
        const error = await errorOf(work);
        expect(error.message).to.match(message);
        if (context !== undefined) expect([error.code, error.context]).to.deep.equal(['invalid-value', context]);
        if (code !== undefined) expect(error.code).to.equal(code);
      });
    }
  });
}
