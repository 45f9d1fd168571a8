import * as tf from '@tensorflow/tfjs';
import { expect } from 'chai';

import { DataValidationError } from '../../src/exceptions/index.ts';
import { danfoBackend } from '../../src/metrics/backends/danfo-backend.ts';
import { duckDbBackend } from '../../src/metrics/backends/duckdb-backend.ts';
import {
  METRIC_BACKENDS,
  type MetricBackend,
  metricBackend,
  nativeBackend,
} from '../../src/metrics/backends/metric-backend.ts';
import {
  mergeStats,
  metricOf,
  removeStats,
  type ScoreStats,
  statsFromJson,
  statsToJson,
} from '../../src/metrics/index.ts';
import { Table } from '../../src/table/index.ts';
import { columnsOf, makeRows, type Shape } from '../helpers/random-rows.ts';
import {
  assertSameStats,
  defineClassification,
  defineRegression,
  defineScores,
  type PlainRow,
  type Reading,
} from '../helpers/stats.ts';

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

const SHAPES: Readonly<Record<string, Shape & Reading>> = {
  'plain rows': { rows: 300, levels: [['a', 'b', 'c']] },
  'missing values in every column, and weights': {
    rows: 800,
    levels: [['a', 'b', 'c']],
    missing: 0.1,
    isWeighted: true,
  },
  'a group of missing values': { rows: 500, levels: [['a', 'b']], missing: 0.2, nanPolicy: 'include' },
  'crossed attributes': {
    rows: 900,
    levels: [
      ['x', 'y'],
      [1, 2, 3],
      [true, false],
    ],
    missing: 0.05,
    isWeighted: true,
  },
  'crossed attributes with groups of missing values': {
    rows: 600,
    levels: [
      ['x', 'y'],
      ['p', 'q'],
    ],
    missing: 0.1,
    nanPolicy: 'include',
  },
  'no true labels': { rows: 300, levels: [['a', 'b']], missing: 0.1, isWeighted: true, withTruth: false },
  'one row': { rows: 1, levels: [['only']] },
  'one group': { rows: 50, levels: [['only']], isWeighted: true },
  'numbers as groups, in their order': { rows: 400, levels: [[10, 9, 2.5, -1]] },
  'labels with odd characters': {
    rows: 800,
    levels: [['__proto__', 'constructor', '\t', '||', '"', "'; DROP TABLE arrays; --", '0', '-', '🐦', 'a-b', ' ']],
    isWeighted: true,
  },
};

/** More distinct scores than the maximum of exact ones, from -3 to 3. */
const MANY_SCORES: readonly PlainRow[] = numbers(65_537).map((index) => ({
  groups: [index % 2 === 0 ? 'a' : 'b'],
  decision: null,
  label: index % 3 === 0 ? 1 : 0,
  guess: null,
  amount: null,
  score: Math.sin(index) * 3,
  weight: 1 + (index % 5) / 3,
}));

/** 200,000 distinct probabilities, of which 2,000 are multiples of 1e-12. */
const TINY_SCORES = {
  yScore: numbers(200_000).map((row) => (row % 100 === 7 ? ((row + 93) / 100) * 1e-12 : (row + 0.5) / 200_000)),
  yTrue: numbers(200_000).map((row) => Number(row % 3 === 0)),
  sensitive: numbers(200_000).map((row) => (row % 1000 < 700 ? 'a' : 'b')),
  sampleWeight: numbers(200_000).map((row) => 1 + (row % 4) / 2),
};

/**
 * Computes the log loss of each group and its standard error by a plain loop, clipped at float64's epsilon as in
 * scikit-learn.
 */
function logLossByLoop({ yScore, yTrue, sensitive, sampleWeight }: typeof TINY_SCORES, group: string) {
  let [total, squaredTotal, sum] = [0, 0, 0];
  const losses = yScore.map((score, row) => {
    const ofTruth = yTrue[row] === 1 ? score : 1 - score;
    return -Math.log(Math.min(1 - 2 ** -52, Math.max(2 ** -52, ofTruth)));
  });
  const own = numbers(yScore.length).filter((row) => sensitive[row] === group);
  for (const row of own) {
    const weight = sampleWeight[row] ?? NaN;
    total += weight;
    squaredTotal += weight * weight;
    sum += weight * (losses[row] ?? NaN);
  }
  const value = sum / total;
  let squares = 0;
  for (const row of own) squares += (sampleWeight[row] ?? NaN) * ((losses[row] ?? NaN) - value) ** 2;
  return { value, standardError: Math.sqrt(squares / total / (total ** 2 / squaredTotal - 1)) };
}

/** Compares values and intervals with the loop; an interval is the value ± 1.96 standard errors. */
function assertLogLoss(stats: ScoreStats, rows: typeof TINY_SCORES, tolerance: number): void {
  const { perGroup, perGroupCi, warnings } = metricOf('log_loss_difference', stats);
  for (const group of ['a', 'b']) {
    const { value, standardError } = logLossByLoop(rows, group);
    expect(perGroup[group]?.['log_loss']).to.be.closeTo(value, tolerance * value);
    const [low = NaN, high = NaN] = perGroupCi?.[group]?.['log_loss'] ?? [];
    expect((high - low) / 2).to.be.closeTo(1.959_964 * standardError, 1e-4 * standardError);
  }
  expect(warnings.join()).to.not.include('rounded');
}

const defined = new Map<number, ScoreStats>();

/** Computed once for all backends. */
function definitionOfMany(count: number): ScoreStats {
  const stats = defined.get(count) ?? defineScores(MANY_SCORES.slice(0, count), {});
  defined.set(count, stats);
  return stats;
}

// Imported dynamically, so that classes are identical even if the test runner loads modules differently.
const LOADED: Readonly<Record<string, MetricBackend>> = { danfo: danfoBackend, duckdb: duckDbBackend };

it('the native backend reads tensors with clusters, and adds the same clusters as for arrays', async () => {
  const bits = [0, 1, 1, 0, 1, 1, 0, 1];
  const [sensitive, cluster] = [Array.from('aaaabbbb'), Array.from('ppqqrrss')];
  const loaded = nativeBackend;
  const tensor = tf.tensor1d(bits, 'int32');
  const float = tf.tensor1d(bits);
  const [decided, numbered, scored] = [
    [
      { yPred: tensor, yTrue: tensor },
      { yPred: bits, yTrue: bits },
    ],
    [
      { yPred: float, yTrue: float },
      { yPred: bits, yTrue: bits },
    ],
    [
      { yScore: float, yTrue: tensor },
      { yScore: bits, yTrue: bits },
    ],
  ] as const;
  const given = { sensitive, cluster };
  const pairs = [
    await Promise.all(decided.map((rows) => loaded.classification({ ...rows, ...given }))),
    await Promise.all(numbered.map((rows) => loaded.regression({ ...rows, ...given }))),
    await Promise.all(scored.map((rows) => loaded.scores({ ...rows, ...given }))),
  ];
  tf.dispose([tensor, float]);
  for (const [ofTensors, ofArrays] of pairs) {
    expect(Array.from(ofTensors?.clusters?.clusters ?? [])).to.deep.equal([2, 2]);
    expect(ofTensors).to.deep.equal(ofArrays);
  }
});

it('a backend with an unknown name is an error that lists all backends', () => {
  expect(() => metricBackend('pandas'))
    .to.throw("There is no metric backend named 'pandas'.")
    .that.includes({ suggestion: "The backends are 'native', 'danfo' and 'duckdb'." })
    .with.deep.property('context', { backend: 'pandas' });
});

for (const name of METRIC_BACKENDS) {
  describe(`the ${name} backend`, () => {
    const backend = async () => LOADED[name] ?? metricBackend(name)();

    it('is found by its name', async () => {
      expect((await metricBackend(name)()).name).to.equal(name);
    });

    for (const [title, shape] of Object.entries(SHAPES)) {
      it(`returns statistics that match their definition: ${title}`, async () => {
        const rows = makeRows(shape);
        const { decision, label, guess, amount, score, weight, sensitive } = columnsOf(rows);
        const common = { sensitive, sampleWeight: weight, nanPolicy: shape.nanPolicy };
        const truth = shape.withTruth ?? true;
        const loaded = await backend();
        assertSameStats(
          await loaded.classification({ ...common, yPred: decision, yTrue: truth ? label : undefined }),
          defineClassification(rows, shape),
        );
        assertSameStats(
          await loaded.regression({ ...common, yPred: guess, yTrue: truth ? amount : undefined }),
          defineRegression(rows, shape),
        );
        if (truth) {
          assertSameStats(await loaded.scores({ ...common, yScore: score, yTrue: label }), defineScores(rows, shape));
        }
      });
    }

    it('counts 5,000 groups', async () => {
      const codes = Array.from({ length: 20_000 }, (_, row) => (row * 7919) % 5000);
      const bits = codes.map((code) => code % 2);
      const sensitive = codes.map((code) => `group ${String(code).padStart(4, '0')}`);
      const loaded = await backend();
      const decided = await loaded.classification({ yPred: bits, yTrue: bits, sensitive });
      expect(decided.labels).to.have.length(5000);
      // An even group has 4 rows of truth and decision 0, an odd one 4 of 1.
      const cells = [...decided.counts.slice(0, 12)];
      expect(cells).to.deep.equal([4, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0]);
      expect(decided.counts.reduce((sum, count) => sum + count, 0)).to.equal(20_000);
      const summed = await loaded.regression({ yPred: codes, sensitive });
      expect([...summed.moments.prediction.mean]).to.deep.equal(numbers(5000));
      expect(Math.max(...summed.moments.prediction.m2)).to.equal(0);
      const scored = await loaded.scores({ yScore: codes, yTrue: bits, sensitive });
      expect([...scored.scores]).to.deep.equal(numbers(5000));
    });

    for (const count of [65_536, 65_537]) {
      it(`${count === 65_536 ? 'keeps' : 'rounds to the grid'} ${count} distinct scores @slow`, async () => {
        const { score, label, weight, sensitive } = columnsOf(MANY_SCORES.slice(0, count));
        const loaded = await backend();
        const stats = await loaded.scores({ yScore: score, yTrue: label, sensitive, sampleWeight: weight });
        expect(stats.step).to.equal(count === 65_536 ? 0 : 4 / 16_384);
        assertSameStats(stats, definitionOfMany(count));
      });
    }

    it('has the exact log loss of 200,000 distinct scores, including tiny ones, for any merge of parts @slow', async () => {
      const loaded = await backend();
      const of = (from: number, to: number) => {
        const part = (values: readonly unknown[]) => values.slice(from, to);
        return loaded.scores({
          yScore: part(TINY_SCORES.yScore),
          yTrue: part(TINY_SCORES.yTrue),
          sensitive: part(TINY_SCORES.sensitive),
          sampleWeight: part(TINY_SCORES.sampleWeight),
        });
      };
      const complete = await of(0, 200_000);
      expect(complete.step).to.equal(2 ** -14);
      assertLogLoss(complete, TINY_SCORES, 1e-12);
      assertLogLoss(statsFromJson(JSON.parse(JSON.stringify(statsToJson(complete)))) as ScoreStats, TINY_SCORES, 1e-12);
      // 40,000 scores are kept exact; 160,000 are on the grid.
      const [few, many] = [await of(0, 40_000), await of(40_000, 200_000)];
      expect([few.step, many.step]).to.deep.equal([0, 2 ** -14]);
      assertLogLoss(mergeStats(few, many), TINY_SCORES, 1e-12);
      const rest = Object.fromEntries(
        Object.entries(TINY_SCORES).map(([name, values]) => [name, values.slice(40_000)]),
      ) as unknown as typeof TINY_SCORES;
      assertLogLoss(removeStats(complete, few), rest, 1e-11);
    });

    it('has the log loss of 200,000 distinct scores as tensors, to float32 precision @slow', async () => {
      await tf.setBackend('cpu');
      const rows = { ...TINY_SCORES, yScore: [...Float32Array.from(TINY_SCORES.yScore)] };
      const device = { yScore: tf.tensor1d(rows.yScore), yTrue: tf.tensor1d(rows.yTrue, 'int32') };
      const before = tf.memory().numTensors;
      const { sensitive, sampleWeight } = rows;
      assertLogLoss(await (await backend()).scores({ ...device, sensitive, sampleWeight }), rows, 1e-6);
      expect(tf.memory().numTensors).to.equal(before);
      tf.dispose(device);
    });

    it('keeps the variance of errors of 1e9 with a spread of 1', async () => {
      const count = 20_000;
      const truth = numbers(count).map((index) => index % 100);
      const yPred = truth.map((value, index) => value + 1e9 + (index % 2 === 0 ? 1 : -1));
      const sampleWeight = numbers(count).map((index) => (index % 4 < 2 ? 1 : 2.5));
      const sensitive = numbers(count).map((index) => (index % 20 < 10 ? 'a' : 'b'));
      const loaded = await backend();
      for (const weights of [undefined, sampleWeight]) {
        const { moments, weights: total } = await loaded.regression({
          yPred,
          yTrue: truth,
          sensitive,
          sampleWeight: weights,
        });
        for (const group of [0, 1]) {
          // Errors 1e9 + 1 and 1e9 - 1 at equal weights: mean 1e9, variance 1.
          expect(moments.error.mean[group]).to.equal(1e9);
          const variance = (moments.error.m2[group] ?? NaN) / (total[group] ?? NaN);
          expect(variance).to.be.closeTo(1, 1e-9);
        }
      }
    });

    it('reads booleans, labels with a positive one, typed arrays, columns, tables and records', async () => {
      const rows = makeRows({
        rows: 200,
        levels: [
          ['a', 'b'],
          ['x', 'y'],
        ],
        seed: 5,
      });
      const { decision, label, sensitive } = columnsOf(rows);
      const expected = defineClassification(rows, {});
      const table = Table.from(sensitive as Record<string, string[]>);
      const sources = [
        { yPred: decision.map((bit) => bit === 1), yTrue: label.map(String), sensitive },
        {
          yPred: Uint8Array.from(decision, Number),
          yTrue: BigInt64Array.from(label, (bit) => BigInt(bit ?? 0)),
          sensitive: table,
        },
        { yPred: Table.from({ d: decision }).column('d'), yTrue: label, sensitive: table.toRecords() },
        {
          yPred: decision.map((bit) => (bit === 1 ? 'hired' : 'passed over')),
          yTrue: label.map((bit) => (bit === 1 ? 'hired' : 'no answer')),
          positiveLabel: 'hired',
          sensitive: await table.toDanfo(),
        },
      ];
      const loaded = await backend();
      for (const source of sources) assertSameStats(await loaded.classification(source), expected);
    });

    it('reads tensors, with fractions to float32 precision', async () => {
      await tf.setBackend('cpu');
      const rows = makeRows({ rows: 200, levels: [[0, 1, 2]], seed: 6, isWeighted: true }).map((row) => ({
        ...row,
        guess: Math.fround(row.guess ?? 0),
        amount: Math.fround(row.amount ?? 0),
        weight: Math.fround(row.weight ?? 0),
      }));
      const given = columnsOf(rows);
      const tensor = (values: unknown, dtype: 'float32' | 'int32' = 'float32') =>
        tf.tensor1d(values as number[], dtype);
      const device = {
        decision: tensor(given.decision, 'int32'),
        label: tensor(given.label, 'int32'),
        guess: tensor(given.guess),
        amount: tensor(given.amount),
        weight: tensor(given.weight),
        groups: tensor(given.sensitive, 'int32'),
      };
      const before = tf.memory().numTensors;
      const loaded = await backend();
      const common = { sensitive: device.groups, sampleWeight: device.weight };
      assertSameStats(
        await loaded.classification({ ...common, yPred: device.decision, yTrue: device.label }),
        defineClassification(rows, {}),
        1e-6,
      );
      const summed = await loaded.regression({ ...common, yPred: device.guess, yTrue: device.amount });
      assertSameStats(summed, defineRegression(rows, {}), 1e-4);
      expect(tf.memory().numTensors).to.equal(before);
      tf.dispose(device);
    });

    it('lists a group whose rows were all dropped, with counts of 0', async () => {
      const loaded = await backend();
      const sensitive = ['a', 'a', 'empty'];
      const decided = await loaded.classification({ yPred: [1, 0, null], sensitive });
      const summed = await loaded.regression({ yPred: [1, 0, null], sensitive });
      const scored = await loaded.scores({ yScore: [1, 0.5, null], yTrue: [1, 0, 1], sensitive });
      for (const stats of [decided, summed, scored]) {
        expect([...stats.labels]).to.deep.equal(['a', 'empty']);
        expect(stats.nDropped).to.equal(1);
      }
      expect([...decided.counts.slice(6)]).to.deep.equal([0, 0, 0, 0, 0, 0]);
      expect(summed.counts[1]).to.equal(0);
    });

    const refused: [string, () => Promise<unknown>, string][] = [
      [
        'rows that all lack something',
        async () => (await backend()).classification({ yPred: [null, 1], sensitive: ['a', null] }),
        'All 2 rows lack a prediction, a true value, a group or a weight, so nothing can be measured.',
      ],
      [
        'numbers that all lack something',
        async () => (await backend()).regression({ yPred: [1, 2], yTrue: [null, null], sensitive: ['a', 'b'] }),
        'All 2 rows lack a prediction, a true value, a group or a weight, so nothing can be measured.',
      ],
      [
        'scores that all lack something',
        async () =>
          (await backend()).scores({ yScore: [1, 2], yTrue: [1, 0], sensitive: ['a', 'b'], sampleWeight: [NaN, NaN] }),
        'All 2 rows lack a prediction, a true value, a group or a weight, so nothing can be measured.',
      ],
      [
        'no rows',
        async () => (await backend()).classification({ yPred: [], sensitive: [] }),
        'There are no rows to measure.',
      ],
      [
        'a score where a decision should stand',
        async () => (await backend()).classification({ yPred: [1, 0.3], sensitive: ['a', 'b'] }),
        'yPred must be 0 or 1, but holds 0.3 at index 1.',
      ],
      [
        'an infinite prediction',
        async () => (await backend()).regression({ yPred: [1, Infinity], yTrue: [1, 1], sensitive: ['a', 'b'] }),
        'yPred must be finite, but holds Infinity at index 1.',
      ],
      [
        'a negative weight',
        async () =>
          (await backend()).scores({ yScore: [1, 2], yTrue: [1, 0], sensitive: ['a', 'b'], sampleWeight: [1, -1] }),
        'sampleWeight must be 0 or more, but holds -1 at index 1.',
      ],
      [
        'columns of different lengths',
        async () => (await backend()).classification({ yPred: [1, 0], sensitive: ['a'] }),
        'yPred and sensitive differ in length: 2 and 1.',
      ],
    ];
    for (const [title, run, message] of refused) {
      it(`rejects ${title}, with the same message as every other backend`, async () => {
        let caught: unknown;
        await run().catch((error: unknown) => (caught = error));
        expect(caught).to.be.instanceOf(DataValidationError);
        expect((caught as Error).message).to.equal(message);
      });
    }
  });
}
