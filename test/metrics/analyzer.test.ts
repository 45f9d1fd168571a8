import { writeFileSync } from 'node:fs';
import path from 'node:path';

import * as tf from '@tensorflow/tfjs';
import { expect } from 'chai';

import { FairnessToolkitError } from '../../src/exceptions/index.ts';
import { openDuckDb, type SqlEngine } from '../../src/io/index.ts';
import { type BoundAnalyzer, FairnessAnalyzer, type MetricFrame, type MetricResult } from '../../src/metrics/index.ts';
import { loadTensorflow } from '../../src/tensor/index.ts';
import { useTemporaryFolder } from '../helpers/run-cli.ts';

/**
 * Group a has one row of each true label and decision. Group b has 2 true positives, 1 false positive and 1 true
 * negative.
 */
const ROWS = {
  sex: Array.from('aaaabbbb'),
  site: Array.from('xyxyxyxy'),
  truth: [1, 0, 1, 0, 1, 0, 1, 0],
  decision: [1, 0, 0, 1, 1, 1, 1, 0],
  score: [0.9, 0.2, 0.4, 0.6, 0.8, 0.3, 0.7, 0.1],
  amount: [1, 2, 3, 4, 0, 0, 0, 0],
  guess: [2, 2, 3, 2, 1, -1, 2, 2],
  weight: [1, 1, 1, 1, 3, 1, 1, 1],
  person: [1, 1, 2, 2, 3, 3, 4, 4],
};

/** Each method, its metric, its columns, and its value by hand. */
const METHODS = [
  // Selection rates 1/2 and 3/4, true positive rates 1/2 and 1, false positive rates 1/2 and 1/2.
  ['demographicParityDifference', 'demographic_parity_difference', ['decision'], 1 / 4],
  ['demographicParityRatio', 'demographic_parity_ratio', ['decision'], 2 / 3],
  ['equalizedOddsDifference', 'equalized_odds_difference', ['truth', 'decision'], 1 / 2],
  ['equalizedOddsRatio', 'equalized_odds_ratio', ['truth', 'decision'], 1 / 2],
  ['equalOpportunityDifference', 'equal_opportunity_difference', ['truth', 'decision'], 1 / 2],
  ['falsePositiveRateDifference', 'false_positive_rate_difference', ['truth', 'decision'], 0],
  // Precisions 1/2 and 2/3, accuracies 1/2 and 3/4.
  ['predictiveParityDifference', 'predictive_parity_difference', ['truth', 'decision'], 1 / 6],
  ['accuracyParityDifference', 'accuracy_parity_difference', ['truth', 'decision'], 1 / 4],
  // Each row is alone in its bin: (0.1 + 0.2 + 0.6 + 0.6) / 4 and (0.2 + 0.3 + 0.3 + 0.1) / 4.
  ['calibrationDifference', 'calibration_difference', ['truth', 'score'], 0.375 - 0.225],
  // Three of the four pairs of group a are in order, and all of group b.
  ['rocAucDifference', 'roc_auc_difference', ['truth', 'score'], 1 / 4],
  // Errors 1, 0, 0, -2 and 1, -1, 2, 2.
  ['maeParityDifference', 'mae_parity_difference', ['amount', 'guess'], 3 / 2 - 3 / 4],
  ['rmseParityDifference', 'rmse_parity_difference', ['amount', 'guess'], Math.sqrt(5 / 2) - Math.sqrt(5 / 4)],
  ['meanPredictionDifference', 'mean_prediction_difference', ['guess'], 9 / 4 - 1],
] as const;

type Method = (typeof METHODS)[number][0];
type Call = (...given: unknown[]) => Promise<MetricResult>;

/** The options that name the columns of a method. */
function columnsOf(names: readonly string[]): Record<string, string> {
  const predicted = names.at(-1) as string;
  return {
    [predicted === 'score' ? 'yScoreCol' : 'yPredCol']: predicted,
    ...(names.length > 1 ? { yTrueCol: names[0] as string } : {}),
  };
}

describe('the methods of an analyzer', () => {
  const folder = useTemporaryFolder();
  const bare = { withCi: false };

  /** The analyzers of the same rows, with columns for a method. */
  function boundTo(names: readonly string[]): Record<string, BoundAnalyzer> {
    const file = path.join(folder(), 'rows.csv');
    const header = Object.keys(ROWS) as (keyof typeof ROWS)[];
    const lines = ROWS.sex.map((_, row) => header.map((name) => ROWS[name][row]).join());
    writeFileSync(file, [header.join(), ...lines, ''].join('\n'));
    const columns = { sensitiveCol: 'sex', minGroupSize: 1, ...columnsOf(names) };
    return {
      table: FairnessAnalyzer.fromDataFrame(ROWS, columns),
      file: FairnessAnalyzer.fromFile(file, columns),
      danfo: FairnessAnalyzer.fromDataFrame(ROWS, { ...columns, backend: 'danfo' }),
    };
  }

  for (const [method, metric, names, expected] of METHODS) {
    it(`${method} is ${metric}, for arrays, tables and files`, async () => {
      const analyzer = new FairnessAnalyzer({ minGroupSize: 1 }) as unknown as Record<Method, Call>;
      const ofArrays = await analyzer[method](...names.map((name) => ROWS[name]), ROWS.sex, bare);
      const found: Record<string, MetricResult> = { arrays: ofArrays };
      for (const [source, bound] of Object.entries(boundTo(names))) {
        found[source] = await (bound as unknown as Record<Method, Call>)[method](bare);
      }
      for (const [source, result] of Object.entries(found)) {
        expect(result.metric, source).to.equal(metric);
        expect(result.value, source).to.be.closeTo(expected, 1e-12);
        expect(result.ci, source).to.equal(null);
        expect(result.nPerGroup, source).to.deep.equal({ a: 4, b: 4 });
      }
    });
  }

  it('take the defaults of the analyzer; an option of the call replaces its default, unless it is undefined', async () => {
    const analyzer = new FairnessAnalyzer({ minGroupSize: 5, seed: 7 });
    const rows = [ROWS.decision, ROWS.sex] as const;
    expect((await analyzer.demographicParityDifference(...rows)).value).to.be.NaN;
    expect((await analyzer.demographicParityDifference(...rows, { minGroupSize: undefined })).value).to.be.NaN;
    expect((await analyzer.demographicParityDifference(...rows, { minGroupSize: 4 })).value).to.equal(1 / 4);
    const random = { minGroupSize: 1, ciMethod: 'percentile', ciSamples: 10 } as const;
    expect((await analyzer.demographicParityDifference(...rows, random)).seed).to.equal(7);
    expect((await analyzer.demographicParityDifference(...rows, { ...random, seed: 8 })).seed).to.equal(8);
    const bound = FairnessAnalyzer.fromDataFrame(ROWS, { yPredCol: 'decision', sensitiveCol: 'sex', minGroupSize: 5 });
    expect((await bound.metric('selection_rate_difference')).value).to.be.NaN;
    expect((await bound.metric('selection_rate_difference', { minGroupSize: 4 })).value).to.equal(1 / 4);
    const metrics = ['selection_rate'];
    const gapOf = (frame: MetricFrame): number | null | undefined => frame.difference()['selection_rate'];
    expect(gapOf(await bound.metricFrame({ metrics, minGroupSize: 4 }))).to.equal(1 / 4);
    expect(gapOf(await bound.metricFrame({ metrics }))).to.be.NaN;
    const given = { yPred: ROWS.decision, sensitive: ROWS.sex, metrics };
    expect(gapOf(await analyzer.metricFrame(given, { minGroupSize: 4 }))).to.equal(1 / 4);
    expect(gapOf(await analyzer.metricFrame(given))).to.be.NaN;
  });

  it('use the treatment of missing groups of the analyzer, unless the rows have their own', async () => {
    const analyzer = new FairnessAnalyzer({ minGroupSize: 1, nanPolicy: 'include' });
    const rows = { yPred: [1, 0, 1], sensitive: ['a', 'a', null] };
    expect((await analyzer.metric('selection_rate_difference', rows)).nPerGroup).to.have.keys('a', '(missing)');
    const own = await analyzer.metric('selection_rate_difference', { ...rows, nanPolicy: 'exclude' });
    expect(own.nPerGroup).to.deep.equal({ a: 2 });
  });

  it('use weights, by hand', async () => {
    // Of group b, rows with 3 + 1 + 1 of 6 are selected.
    for (const [source, bound] of Object.entries({
      table: FairnessAnalyzer.fromDataFrame(ROWS, { yPredCol: 'decision', sensitiveCol: 'sex', sampleWeightCol: 'weight', minGroupSize: 1 }),
      file: FairnessAnalyzer.fromFile((boundTo(['decision']), path.join(folder(), 'rows.csv')), { yPredCol: 'decision', sensitiveCol: 'sex', sampleWeightCol: 'weight', minGroupSize: 1 }),
    })) {
      const { perGroup } = await bound.demographicParityDifference(bare);
      expect(perGroup['b']?.selection_rate, source).to.be.closeTo(5 / 6, 1e-12);
    } // prettier-ignore
  });

  it('compare groups within the levels of a control feature', async () => {
    // At x: rows 1 and 3 of each group; at y: rows 2 and 4.
    const expected = { x: { a: 1 / 2, b: 1 }, y: { a: 1 / 2, b: 1 / 2 } };
    const ofRows = await new FairnessAnalyzer({ minGroupSize: 1 }).metricFrame({
      ...{ yPred: ROWS.decision, sensitive: ROWS.sex, control: ROWS.site, metrics: ['selection_rate'] },
    });
    const frames = { arrays: ofRows };
    for (const [source, bound] of Object.entries(boundTo(['decision']))) {
      for (const controlCol of ['site', ['site']]) {
        const frame = await bound.metricFrame({ metrics: ['selection_rate'], controlCol });
        Object.assign(frames, { [`${source} ${typeof controlCol}`]: frame });
      }
    }
    for (const [source, frame] of Object.entries(frames)) {
      const found = Object.entries(frame.byLevel).map(([level, { byGroup }]) => [
        level,
        Object.fromEntries(Object.entries(byGroup).map(([group, own]) => [group, own['selection_rate']])),
      ]);
      expect(Object.fromEntries(found), source).to.deep.equal(expected);
    }
  });

  it('count the rows once for each kind of statistics, and keep them', async () => {
    const statements: string[] = [];
    const duckdb = openDuckDb();
    const engine: SqlEngine = {
      name: 'an engine',
      dialect: 'duckdb',
      query: (sql) => {
        statements.push(sql);
        return duckdb.query(sql);
      },
      close: () => Promise.resolve(),
    };
    const query = `SELECT * FROM (VALUES (1, 1, 'a'), (0, 1, 'a'), (1, 0, 'b'), (1, 1, 'b')) AS t(decision, truth, sex)`;
    const columns = { yPredCol: 'decision', yTrueCol: 'truth', sensitiveCol: 'sex', minGroupSize: 1 };
    const bound = FairnessAnalyzer.fromSql(engine, query, columns);
    const added = async (metric: string): Promise<number> => {
      const before = statements.length;
      await bound.metric(metric, bare);
      return statements.length - before;
    };
    expect(await added('accuracy_difference')).to.be.above(0);
    expect(await added('equalized_odds_ratio')).to.equal(0);
    // Without true labels, rows without a label are counted too.
    expect(await added('demographic_parity_difference')).to.be.above(0);
    expect(await added('selection_rate_ratio')).to.equal(0);
    expect(await added('mean_prediction_difference')).to.be.above(0);
    await duckdb.close();
  });

  const REFUSED: readonly (readonly [metric: string, names: readonly string[], column: string, text: RegExp])[] = [
    ['accuracy_difference', ['decision'], 'yTrue', /accuracy_difference needs true labels, but none were given/],
    ['selection_rate_difference', ['score'], 'yPred', /selection_rate_difference needs predictions/],
    ['mean_prediction_difference', ['score'], 'yPred', /mean_prediction_difference needs predictions/],
    ['roc_auc_difference', ['truth', 'decision'], 'yScore', /roc_auc_difference needs scores/],
    ['roc_auc_difference', ['score'], 'yTrue', /roc_auc_difference needs true labels/],
    ['mae_parity_difference', ['guess'], 'yTrue', /mae_parity_difference needs true labels/],
  ];
  for (const [metric, names, column, text] of REFUSED) {
    it(`name the column that ${metric} misses: ${column}`, async () => {
      for (const [source, bound] of Object.entries(boundTo(names))) {
        const error = await bound.metric(metric).then(
          () => expect.fail(`${source} gave a value`),
          (reason: unknown) => reason as FairnessToolkitError,
        );
        expect(FairnessToolkitError.isInstance(error), source).to.equal(true);
        expect(error.message, source).to.match(text);
        const argument = source === 'file' ? `${column}Col` : column;
        expect(error.context, source).to.deep.include({ metric, argument });
      }
    });
  }

  it('name a backend that does not exist, a column that does not exist, and a number out of range', () => {
    const columns = { yPredCol: 'decision', sensitiveCol: 'sex' };
    for (const create of [
      () => new FairnessAnalyzer({ backend: 'ducks' }),
      () => FairnessAnalyzer.fromDataFrame(ROWS, { ...columns, backend: 'ducks' }),
      () => FairnessAnalyzer.fromFile('rows.csv', { ...columns, backend: 'ducks' }),
      () => FairnessAnalyzer.fromSql(openDuckDb(), 'SELECT 1', { ...columns, backend: 'ducks' }),
    ])
      expect(create).to.throw(FairnessToolkitError as never, /ducks/);
    for (const create of [
      () => new FairnessAnalyzer({ minGroupSize: 0 }),
      () => FairnessAnalyzer.fromDataFrame(ROWS, { ...columns, minGroupSize: 0 }),
      () => FairnessAnalyzer.fromFile('rows.csv', { ...columns, minGroupSize: 0 }),
    ])
      expect(create).to.throw(/minGroupSize/);
    expect(() => FairnessAnalyzer.fromDataFrame(ROWS, { ...columns, yTrueCol: 'label' })).to.throw(/label/);
  });

  it('read counts by the names of their columns, by hand', async () => {
    const sex = ['a', 'a', 'b', 'b'];
    const ofCounts = async (counts: Record<string, (string | number)[]>, metric: string): Promise<number> => {
      const bound = await FairnessAnalyzer.fromCounts({ sex, ...counts }, { sensitiveCol: 'sex', minGroupSize: 1 });
      return (await bound.metric(metric, bare)).value;
    };
    const decision = [0, 1, 0, 1];
    // Selection rates 1/4 and 3/4; with weights 2/4 and 9/10.
    expect(await ofCounts({ decision, n: [3, 1, 1, 3] }, 'selection_rate_difference')).to.equal(1 / 2);
    const weights = { weight: [2, 2, 1, 9], weight_squared: [2, 4, 1, 27] };
    expect(await ofCounts({ decision, n: [3, 1, 1, 3], ...weights }, 'selection_rate_difference')).to.be.closeTo(0.4, 1e-12); // prettier-ignore
    // True positive rates of group a 1/4, and of group b 3/4, since all labels are positive.
    const truth = [1, 1, 1, 1];
    expect(await ofCounts({ decision, truth, n: [3, 1, 1, 3] }, 'true_positive_rate_difference')).to.equal(1 / 2);
    // Half of the pairs of group a are ties, and all positives of group b have the larger score.
    const scores = { truth: [0, 1, 0, 1], score: [0.5, 0.5, 0.25, 0.75], n: [1, 1, 2, 2] };
    expect(await ofCounts(scores, 'roc_auc_difference')).to.equal(1 / 2);
  });

  it('name themselves in the error for an unknown option', async () => {
    const analyzer = new FairnessAnalyzer();
    const columns = { yPredCol: 'decision', sensitiveCol: 'sex' };
    const bound = FairnessAnalyzer.fromDataFrame(ROWS, columns);
    const rows = { yPred: ROWS.decision, sensitive: ROWS.sex };
    const unknown = { minGroupSze: 1 } as object;
    const engine = openDuckDb();
    const calls: readonly (readonly [owner: string, call: () => unknown])[] = [
      ['FairnessAnalyzer', () => new FairnessAnalyzer(unknown)],
      ['FairnessAnalyzer.metric', () => analyzer.metric('count_difference', rows, unknown)],
      ['FairnessAnalyzer.metric', () => analyzer.metric('count_difference', { ...rows, ...unknown })],
      ['FairnessAnalyzer.metricFrame', () => analyzer.metricFrame({ ...rows, metrics: ['count'] }, unknown)],
      ['FairnessAnalyzer.metricFrame', () => analyzer.metricFrame({ ...rows, metrics: ['count'], ...unknown })],
      ['FairnessAnalyzer.fromDataFrame', () => FairnessAnalyzer.fromDataFrame(ROWS, { ...columns, ...unknown })],
      ['FairnessAnalyzer.fromFile', () => FairnessAnalyzer.fromFile('rows.csv', { ...columns, ...unknown })],
      ['FairnessAnalyzer.fromSql', () => FairnessAnalyzer.fromSql(engine, 'SELECT 1', { ...columns, ...unknown })],
      [
        'FairnessAnalyzer.fromCounts',
        () => FairnessAnalyzer.fromCounts({ n: [1] }, { sensitiveCol: 'sex', ...unknown }),
      ],
      ['BoundAnalyzer.metric', () => bound.metric('count_difference', unknown)],
      ['BoundAnalyzer.metricFrame', () => bound.metricFrame({ metrics: ['count'], ...unknown })],
    ];
    for (const [owner, call] of calls) {
      const error = await new Promise((resolve) => {
        resolve(call());
      }).then(
        () => expect.fail(`${owner} accepted it`),
        (reason: unknown) => reason as FairnessToolkitError,
      );
      expect(error.code).to.equal('unknown-option');
      expect(error.context).to.deep.include({ owner, parameter: 'minGroupSze' });
    }
    expect(() => FairnessAnalyzer.fromFile('rows.csv', { ...columns, decimal: ',' })).to.not.throw();
    await engine.close();
  });

  it('average over the classes of every source, by hand', async () => {
    // Selection rates of x: 1/2 and 2/3; of y: 1/2 and 0; of z: 0 and 1/3. A question mark is a missing value.
    const table = {
      sex: Array.from('aaabbb'),
      decision: ['x', 'y', '?', 'x', 'x', 'z'],
      truth: ['x', 'y', 'w', 'x', 'x', 'z'],
    };
    const file = path.join(folder(), 'classes.csv');
    const rows = table.sex.map((sex, row) => [sex, table.decision[row], table.truth[row]].join());
    writeFileSync(file, ['sex,decision,truth', ...rows, ''].join('\n'));
    const columns = { yPredCol: 'decision', yTrueCol: 'truth', sensitiveCol: 'sex', minGroupSize: 1, naValues: ['?'] };
    const sources = {
      table: (more: object) => FairnessAnalyzer.fromDataFrame(table, { ...columns, ...more }),
      danfo: (more: object) => FairnessAnalyzer.fromDataFrame(table, { ...columns, backend: 'danfo', ...more }),
      file: (more: object) => FairnessAnalyzer.fromFile(file, { ...columns, ...more }),
    };
    const macro = { average: 'macro', withCi: false } as const;
    const messageOf = (work: Promise<unknown>): Promise<string> =>
      work.then(
        () => 'no error',
        (error: unknown) => (error as Error).message,
      );
    for (const [source, create] of Object.entries(sources)) {
      const selected = await create({}).metric('selection_rate_difference', macro);
      expect(selected.value, source).to.be.closeTo((1 / 6 + 1 / 2 + 1 / 3) / 3, 1e-12);
      const classes = (result: MetricResult): string[] => Object.keys(result.perGroup['a'] ?? {});
      const rates = ['x', 'y', 'z'].map((label) => `selection_rate of '${label}'`);
      expect(classes(selected), source).to.deep.equal(rates);
      // The class w is only a true label.
      const accuracy = await create({}).metric('accuracy_difference', macro);
      expect(classes(accuracy), source).to.deep.equal(['w', 'x', 'y', 'z'].map((label) => `accuracy of '${label}'`));
      for (const label of [{ positiveLabel: 'x' }, { yTruePositiveLabel: 'x' }])
        expect(await messageOf(create(label).metric('accuracy_difference', macro)), source).to.match(/positiveLabel/);
      expect(await messageOf(create({}).metric('mean_prediction_difference', macro))).to.match(/metric of numbers/);
      const micro = { average: 'micro' } as never;
      expect(await messageOf(create({}).metric('accuracy_difference', micro)), source).to.match(
        /average.*macro.*micro/,
      );
      const one = create({ yPredCol: 'sex', naValues: ['b'] }).metric('selection_rate_difference', macro);
      expect(await messageOf(one), source).to.match(/at least two classes, but the outcome has 1/);
    }
  });

  it('name what counts do not contain, and read sums of numbers, by hand', async () => {
    const sex = ['a', 'b'];
    const create = (counts: Record<string, (string | number)[]>): Promise<BoundAnalyzer> =>
      FairnessAnalyzer.fromCounts({ sex, ...counts }, { sensitiveCol: 'sex', minGroupSize: 1 });
    const messageOf = async (counts: Record<string, (string | number)[]>, metric: string): Promise<string> =>
      (await create(counts)).metric(metric).then(
        () => 'no error',
        (error: unknown) => (error as Error).message,
      );
    const decisions = { decision: [1, 1], n: [1, 1] };
    expect(await messageOf(decisions, 'accuracy_difference')).to.match(/accuracy_difference needs true labels/);
    expect(await messageOf(decisions, 'roc_auc_difference')).to.match(/roc_auc_difference needs (scores|true labels)/);
    // Predictions 1, 3 in group a and 2, 4 in group b; the true values are 1, 1 and 4, 4.
    const predictions = {
      ...{ n: [2, 2], pivot: [0, 0], invalid: [0, 0] },
      ...{ prediction_sum: [4, 6], prediction_squared: [10, 20], prediction_cubed: [28, 72] },
    };
    expect((await (await create(predictions)).metric('mean_prediction_difference', bare)).value).to.equal(1);
    const errors = {
      ...{ truth_sum: [2, 8], truth_squared: [2, 32], truth_cubed: [2, 128], error_sum: [2, -2], error_cubed: [8, -8] },
      ...{ absolute_error: [2, 2], absolute_error_cubed: [8, 8], squared_error: [4, 4] },
      ...{ error_fourth: [16, 16], error_sixth: [64, 64] },
    };
    // Errors 0, 2 and -2, 0.
    const bound = await create({ ...predictions, ...errors });
    expect((await bound.metric('mean_error_difference', bare)).value).to.equal(2);
    expect((await bound.metric('mae_parity_difference', bare)).value).to.equal(0);
  });

  it('count clusters and strata with every backend', async () => {
    const rows = { yPred: ROWS.decision, sensitive: ROWS.sex };
    const columns = { yPredCol: 'decision', sensitiveCol: 'sex', minGroupSize: 1 };
    for (const backend of ['native', 'danfo']) {
      const analyzer = new FairnessAnalyzer({ backend, minGroupSize: 1 });
      const metric = 'selection_rate_difference';
      const clusters = async (more: object): Promise<unknown> =>
        (await analyzer.metric(metric, { ...rows, ...more })).nClusters;
      expect(await clusters({}), backend).to.equal(undefined);
      expect(await clusters({ cluster: ROWS.person }), backend).to.deep.equal({ a: 2, b: 2 });
      // Without clusters, each row of a stratum is one.
      expect(await clusters({ strata: ROWS.site }), backend).to.deep.equal({ a: 4, b: 4 });
      const bound = FairnessAnalyzer.fromDataFrame(ROWS, { ...columns, backend, clusterCol: 'person' });
      expect((await bound.metric(metric)).nClusters, backend).to.deep.equal({ a: 2, b: 2 });
      const strata = FairnessAnalyzer.fromDataFrame(ROWS, { ...columns, backend, strataCol: 'site' });
      expect((await strata.metric(metric)).nClusters, backend).to.deep.equal({ a: 4, b: 4 });
    }
  });

  it('read the classes of tensors', async () => {
    await loadTensorflow({ backend: 'cpu' });
    const analyzer = new FairnessAnalyzer({ minGroupSize: 1 });
    const options = { average: 'macro', withCi: false } as const;
    const rows = { yTrue: [2, 1, 0, 2], yPred: [2, 1, 1, 1], sensitive: Array.from('aabb') };
    const device = { yTrue: tf.tensor1d(rows.yTrue), yPred: tf.tensor1d(rows.yPred) };
    const results = await Promise.all(
      [rows, { ...rows, ...device }, { ...rows, yPred: device.yPred }, { ...rows, yTrue: device.yTrue }].map((given) =>
        analyzer.metric('accuracy_difference', given, options),
      ),
    );
    // Class 0: accuracies 1 and 1/2; class 1: 1 and 0; class 2: 1 and 1/2.
    for (const { value, perGroup } of results) {
      expect(value).to.be.closeTo(2 / 3, 1e-12);
      expect(Object.keys(perGroup['a'] ?? {})).to.have.length(3);
    }
    tf.dispose(device);
  });
});
