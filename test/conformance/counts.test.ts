import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { validateCounts, type ValidateCountsInput, validateRows } from '../../src/integration/index.ts';
import { countedLabels, isCounted, readCounts } from '../../src/io/counted-rows.ts';
import { countingSql } from '../../src/io/counting-sql.ts';
import { type DuckDbEngine, openDuckDb } from '../../src/io/index.ts';
import { FairnessAnalyzer } from '../../src/metrics/index.ts';
import { reduceClassification } from '../../src/metrics/reduce/reduce-classification.ts';
import { reduceRegression } from '../../src/metrics/reduce/reduce-regression.ts';
import { reduceScores } from '../../src/metrics/reduce/reduce-scores.ts';
import {
  reduceClassificationSource,
  reduceRegressionSource,
  reduceScoreSource,
  type SourceStats,
} from '../../src/metrics/reduce/reduce-source.ts';
import type { GroupStats } from '../../src/metrics/statistics/group-stats.ts';
import type { CountingInput } from '../../src/schemas/counting.ts';
import { Table, type TableSource } from '../../src/table/index.ts';
import { HOSTILE_ATTRIBUTES, hostileRows } from '../helpers/hostile-rows.ts';
import { useTemporaryFolder } from '../helpers/run-cli.ts';
import { assertSameStats } from '../helpers/stats.ts';

const ATTRIBUTES = HOSTILE_ATTRIBUTES.map((attribute) => [...attribute]);

describe('counts give the statistics of the rows that were counted', () => {
  const table = hostileRows();
  const columns = table.toColumns();
  const column = (name: string) => columns[name] ?? [];
  const sensitive = [column('eh_k0'), { known: column('known'), level: column('level') }, column('level')];
  let engine: DuckDbEngine;

  before(async () => {
    engine = openDuckDb();
    const quoted = (text: string, mark: string): string => `${mark}${text.replaceAll(mark, mark + mark)}${mark}`;
    const literal = (value: string | number | null): string =>
      typeof value === 'string' ? quoted(value, "'") : String(value);
    const rows = table.toRecords().map((row) => `(${Object.values(row).map(literal).join(', ')})`);
    const names = table.columnNames.map((name) => quoted(name, '"'));
    const values = `(VALUES ${rows.join(', ')}) AS v(${names.join(', ')})`;
    await engine.run((session) => session.rows(`CREATE TABLE "the.rows" AS SELECT * FROM ${values}`));
  });
  after(() => engine.close());

  /** Runs the statement, and returns its result as columns. */
  async function count(input: Omit<CountingInput, 'dialect' | 'table' | 'attributes'>): Promise<TableSource> {
    const sql = countingSql({ dialect: 'duckdb', table: '"the.rows"', attributes: ATTRIBUTES, ...input });
    return engine.run(async (session) => {
      const names = (await session.rows(`DESCRIBE ${sql}`)).map(([name]) => String(name));
      const rows = await session.rows(sql);
      return Object.fromEntries(
        names.map((name, index) => [
          name,
          rows.map((row) => row[index]).map((value) => (typeof value === 'bigint' ? Number(value) : value)),
        ]),
      );
    });
  }

  const same = <Stats extends GroupStats>(reduced: readonly SourceStats<Stats>[], index: number, rows: Stats): void => {
    const own = reduced[index]?.stats;
    if (own === undefined) throw new Error(`There is no attribute ${String(index)}.`);
    assertSameStats(own, rows);
  };

  for (const nanPolicy of ['exclude', 'include'] as const) {
    for (const sampleWeight of [undefined, 'w']) {
      const how = `${nanPolicy} missing groups${sampleWeight === undefined ? '' : ', weighted'}`;
      const request = {
        attributes: ATTRIBUTES,
        nanPolicy,
        sampleWeight: sampleWeight === undefined ? undefined : 'weight',
      };
      const rows = { nanPolicy, sampleWeight: sampleWeight === undefined ? undefined : column(sampleWeight) };

      it(`decisions, ${how}`, async () => {
        const counts = await readCounts(await count({ yPred: 'hired', yTrue: 'y', sampleWeight }));
        const reduced = await reduceClassificationSource(counts, { ...request, yPred: 'decision', yTrue: 'truth' });
        const without = await reduceClassificationSource(counts, { ...request, yPred: 'decision' });
        sensitive.forEach((own, index) => {
          const given = { ...rows, sensitive: own, yPred: column('hired') };
          same(reduced, index, reduceClassification({ ...given, yTrue: column('y') }));
          same(without, index, reduceClassification(given));
        });
      });

      it(`labels with a positive one, ${how}`, async () => {
        const counts = await readCounts(await count({ yPred: 'class "x"', sampleWeight }));
        const reduced = await reduceClassificationSource(counts, {
          ...request,
          yPred: 'decision',
          positiveLabel: 'yes',
        });
        sensitive.forEach((own, index) => {
          const given = { ...rows, sensitive: own, yPred: column('class "x"'), positiveLabel: 'yes' };
          same(reduced, index, reduceClassification(given));
        });
      });

      it(`numbers, ${how}`, async () => {
        const counts = await readCounts(await count({ yPred: 'p', yTrue: 't', sampleWeight, regression: true }));
        const reduced = await reduceRegressionSource(counts, { ...request, yPred: 'prediction', yTrue: 'truth' });
        const without = await reduceRegressionSource(counts, { ...request, yPred: 'prediction' });
        sensitive.forEach((own, index) => {
          const given = { ...rows, sensitive: own, yPred: column('p') };
          same(reduced, index, reduceRegression({ ...given, yTrue: column('t') }));
          same(without, index, reduceRegression(given));
        });
      });

      it(`exact scores, ${how}`, async () => {
        const counts = await readCounts(await count({ score: 'exact', yTrue: 'y', sampleWeight, exactScores: true }));
        const reduced = await reduceScoreSource(counts, { ...request, yScore: 'score', yTrue: 'truth' });
        sensitive.forEach((own, index) => {
          const given = { ...rows, sensitive: own, yScore: column('exact'), yTrue: column('y') };
          same(reduced, index, reduceScores(given));
        });
      });

      it(`decisions from scores, ${how}`, async () => {
        const counts = await readCounts(await count({ score: 'score', scoreThreshold: 0.3, yTrue: 'y', sampleWeight }));
        const named = { yPred: 'decision', yTrue: 'truth', scoreThreshold: 0.3 };
        const reduced = await reduceClassificationSource(counts, { ...request, ...named });
        const decided = column('score').map((score) => (score === null ? null : Number(Number(score) >= 0.3)));
        sensitive.forEach((own, index) => {
          same(reduced, index, reduceClassification({ ...rows, sensitive: own, yPred: decided, yTrue: column('y') }));
        });
      });
    }
  }

  it('scores in bins, within the effect of their rounding; the log loss is exact', async () => {
    const options = { sensitiveCol: 'level', minGroupSize: 5 };
    const bound = await FairnessAnalyzer.fromCounts(await count({ score: 'score', yTrue: 'y' }), options);
    const rows = FairnessAnalyzer.fromDataFrame(table, { ...options, yScoreCol: 'score', yTrueCol: 'y' });
    for (const metric of ['roc_auc_difference', 'calibration_difference', 'log_loss_difference']) {
      const [binned, exact] = await Promise.all([bound.metric(metric), rows.metric(metric)]);
      expect(binned.value, metric).to.be.closeTo(exact.value, metric.startsWith('log') ? 1e-12 : 1e-4);
      expect(exact.value, metric).to.be.above(0);
    }
  });

  it('a validation with gates, a control feature, and warnings about labels', async () => {
    const given = {
      metric: ['demographic_parity_difference<=0.5', 'equalized_odds_ratio'],
      minGroupSize: 5,
      seed: 3,
      positiveLabel: 'yes',
      yTruePositiveLabel: '1',
    };
    const counted = await count({ yPred: 'class "x"', yTrue: 'y', control: ['known'] });
    const found = await validateCounts(counted, { ...given, attributes: [['level']], control: ['known'] });
    const expected = await validateRows({
      ...given,
      yPred: column('class "x"'),
      yTrue: column('y'),
      sensitive: { level: column('level') },
      control: { known: column('known') },
    });
    const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
    expect(plain(found)).to.deep.equal(plain(expected));
    expect(JSON.stringify(found.labels)).to.include('YES');
  });

  it('files whose counts are added, and classes of decisions', async () => {
    const counted = Table.from(await count({ yPred: 'class "x"' }));
    const half = Math.floor(counted.rowCount / 2);
    const rows = Int32Array.from({ length: counted.rowCount }, (_, row) => row);
    const twice = Table.from([...counted.take(rows.subarray(half)).toRecords(), ...counted.take(rows.subarray(0, half)).toRecords()]); // prettier-ignore
    const request: ValidateCountsInput = { attributes: [['level']], average: 'macro', minGroupSize: 5 };
    const expected = await validateRows({
      yPred: column('class "x"'),
      sensitive: { level: column('level') },
      average: 'macro',
      minGroupSize: 5,
    });
    const metric = (validation: typeof expected) => validation.attributes['level']?.['demographic_parity_difference'];
    expect(metric(await validateCounts(twice.toColumns(), request))?.value).to.be.closeTo(
      metric(expected)?.value ?? NaN,
      1e-15,
    );
  });
});

describe('counts in files', () => {
  const folder = useTemporaryFolder();
  const write = (name: string, lines: readonly string[]): string => {
    const file = path.join(folder(), name);
    writeFileSync(file, `${lines.join('\n')}\n`);
    return file;
  };
  const options = { attributes: [['sex']], minGroupSize: 1 };

  it('are added, and a number is one label however it is written', async () => {
    const june = write('june.csv', ['sex,decision,n', 'f,1,10', 'f,0,30', 'm,1.0,25', 'm,NA,7']);
    const july = write('july.csv', ['sex,decision,n', 'm,0.00,25', 'f,1.00,20']);
    const { attributes } = await validateCounts([june, july], options);
    const result = attributes['sex']?.['demographic_parity_difference'];
    expect(result?.perGroup).to.deep.equal({ f: { selection_rate: 0.5 }, m: { selection_rate: 0.5 } });
    expect(result?.nPerGroup).to.deep.equal({ f: 60, m: 50 });
    expect(result?.nDropped).to.equal(7);
    const one = await validateCounts(june, options);
    expect(one.attributes['sex']?.['demographic_parity_difference']?.perGroup).to.deep.equal({
      f: { selection_rate: 0.25 },
      m: { selection_rate: 1 },
    });
  });

  it('are named in errors', async () => {
    const good = write('good.csv', ['sex,decision,n', 'f,1,10', 'm,0,10']);
    const bad = write('bad.csv', ['sex,decision,n', 'f,1,-1', 'm,0,10']);
    const messageOf = (source: string | string[]): Promise<string> =>
      validateCounts(source, options).then(String, String);
    expect(await messageOf(bad)).to.match(/Row 1 of '.*bad\.csv' must be a whole number/);
    expect(await messageOf([good, bad])).to.match(
      /Row 3 of 2 files: '.*good\.csv', '.*bad\.csv' must be a whole number/,
    );
  });

  it('give labels in order, without those of missing values', () => {
    const counted = Table.from({
      decision: ['yes', 'no', '', null],
      truth: ['bad', 'yes', '', 'good'],
      n: [1, 2, 3, 4],
    });
    const counts = { counted, title: 'counts' };
    expect(countedLabels(counts, ['decision', 'truth'])).to.deep.equal(['bad', 'good', 'no', 'yes']);
    expect(countedLabels(counts, ['decision'])).to.deep.equal(['no', 'yes']);
  });

  it('are counts only with a title and a table', () => {
    const counted = Table.from({ n: [1] });
    expect(isCounted({ counted, title: 'counts' })).to.equal(true);
    for (const other of [
      undefined,
      null,
      'counts.csv',
      { counted },
      { title: 'counts' },
      { counted: [1], title: ['x'] },
    ]) {
      expect(isCounted(other)).to.equal(false);
    }
  });
});

describe('counts that cannot be used', () => {
  const OK = { sex: ['f', 'm'], decision: [0, 1], n: [10, 20] };
  const cases: readonly (readonly [name: string, counts: Record<string, unknown[]>, message: RegExp])[] = [
    ['a fraction of rows', { ...OK, n: [10.5, 1] }, /Row 1 .* holds 10\.5/],
    ['a missing n', { ...OK, n: [10, null] }, /Row 2 .* holds nothing/],
    ['more rows than float64 counts', { ...OK, n: [2 ** 53, 1] }, /9007199254740992/],
    ['text for n', { ...OK, n: ['ten', 1] }, /'n'.*'ten'/],
    ['negative weights', { ...OK, weight: [-1, 20], weight_squared: [1, 20] }, /must be 0 or more, or empty/],
    ['a label that is not 0 or 1', { ...OK, decision: ['a', 'b'] }, /decision must be 0 or 1, but holds 'a'/],
    ['no attribute', { decision: [0, 1], n: [1, 2] }, /no column 'sex'/],
  ];
  for (const [name, counts, message] of cases) {
    it(`${name}: one clear error`, async () => {
      const error = await validateCounts(counts as never, { attributes: [['sex']] }).then(
        () => undefined,
        (reason: unknown) => reason,
      );
      expect((error as Error).name).to.equal('DataValidationError');
      expect(String(error)).to.match(message);
    });
  }

  const ADD_SQUARES = 'Add the sum of squared weights, which intervals need.';
  const CHECK_SUMS = 'Check that weight is the sum of the weights, and weight_squared the sum of their squares.';
  const SAME_BINS = 'Count all scores with bins of the same width.';
  const bins = (steps: unknown[]): Record<string, unknown[]> => ({
    ...{ sex: ['f', 'm'], truth: [0, 1], decision: [0, 1], n: [10, 20], score_bin: [1, 2], score_step: steps },
    ...{ loss_positive: [0, 1], loss_positive_squared: [0, 1], loss_negative: [1, 0], loss_negative_squared: [1, 0] },
  });
  const without = (counts: object, column: string): object =>
    Object.fromEntries(Object.entries(counts).filter(([name]) => name !== column));
  const fixes: readonly (readonly [name: string, counts: object, expected: object, more?: object])[] = [
    [
      'no n',
      { sex: ['f'], decision: [1] },
      {
        message: /^The table of counts has no column 'n' \(number of rows\)/,
        code: 'unknown-column',
        context: { column: 'n', columns: ['sex', 'decision'] },
        suggestion: 'Count with the statement that `evenhand sql` prints, or add a column n.',
      },
    ],
    [
      'a negative n',
      { ...OK, n: [10, -1] },
      {
        message: /^Row 2 of the table of counts must be a whole number .* in column 'n', but holds -1/,
        ...{ code: 'invalid-value', context: { row: 2 }, suggestion: 'Correct the number.' },
      },
    ],
    [
      'no sum of squared weights',
      { ...OK, weight: [1, 2] },
      {
        code: 'unknown-column',
        context: { column: 'weight_squared', columns: ['sex', 'decision', 'n', 'weight'] },
        suggestion: ADD_SQUARES,
      },
    ],
    [
      'squares that are too large',
      { ...OK, weight: [10, 20], weight_squared: [20, 401] },
      {
        message:
          'Row 2 of the table of counts has 20 rows with a sum of weights of 20 and a sum of squared weights of 401, which no weights have.',
        context: { row: 2 },
        suggestion: CHECK_SUMS,
      },
    ],
    [
      'squares that are too small',
      { ...OK, weight: [10, 20], weight_squared: [9.9, 20] },
      {
        message:
          'Row 1 of the table of counts has 10 rows with a sum of weights of 10 and a sum of squared weights of 9.9, which no weights have.',
      },
    ],
    [
      'squares without a weight',
      { ...OK, weight: [null, 20], weight_squared: [1, 20] },
      { context: { row: 1 }, suggestion: CHECK_SUMS },
    ],
    [
      'an infinite sum',
      { ...OK, weight: [Infinity, 20], weight_squared: [1, 20] },
      {
        message: "Row 1 of the table of counts must be finite, or empty in column 'weight', but holds Infinity.",
        context: { row: 1 },
      },
    ],
    [
      'invalid rows',
      { ...OK, invalid: [1200, 3] },
      {
        message:
          '1,203 of the rows counted in the table of counts hold a number that is not finite, or a negative weight.',
        ...{ code: 'invalid-value', context: { rows: 1203 } },
        suggestion: 'Exclude these rows before counting, or replace the numbers by NULL, which means missing.',
      },
    ],
    [
      'a min_cell below 1',
      { ...OK, min_cell: [0, 0] },
      {
        message:
          'Row 1 of the table of counts must have the same min_cell as the other rows, and a count that is not smaller.',
        suggestion: 'Count all rows with one statement. The numbers of suppressed counts cannot be added.',
      },
    ],
    [
      'counts of the same rows, with small counts left out',
      { sex: ['f', 'f', 'm'], decision: [1, 1, 0], n: [10, 20, 30], min_cell: [10, 10, 10] },
      {
        code: 'invalid-data',
        context: { columns: ['sex', 'decision', 'n', 'min_cell'] },
        suggestion: 'Counts that were left out cannot be added. Count all rows with one statement.',
      },
    ],
    [
      'a column that divides counts further, with small counts left out',
      { ...OK, site: ['x', 'y'], min_cell: [10, 10] },
      {
        code: 'invalid-data',
        context: { column: 'site', attribute: ['sex'] },
        suggestion: 'Count each attribute with a statement of its own (evenhand sql --min-cell, with one --sensitive).',
      },
    ],
    [
      'another threshold than that of the decisions',
      { ...bins([0.5, 0.5]), score_threshold: [0.3, 0.3] },
      {
        code: 'invalid-value',
        context: { parameter: 'scoreThreshold', expected: 0.3, received: 0.5 },
        suggestion: 'Use the threshold 0.3, or count again with the other threshold.',
      },
      { scoreThreshold: 0.5 },
    ],
    [
      'no decisions',
      { sex: ['f', 'm'], n: [1, 2] },
      { code: 'unknown-column', suggestion: 'Count predictions: use `evenhand sql` with --y-pred.' },
    ],
    [
      'no true labels',
      without(bins([0.5, 0.5]), 'truth'),
      { name: 'ValueError', message: 'roc_auc_difference needs true labels.' },
      { metric: ['roc_auc_difference'] },
    ],
    [
      'no width of bins',
      without(bins([0.5, 0.5]), 'score_step'),
      { code: 'unknown-column', suggestion: 'Count scores: use `evenhand sql` with --score.' },
      { metric: ['roc_auc_difference'] },
    ],
    [
      'a score threshold for decisions',
      OK,
      {
        name: 'ValueError',
        message: 'scoreThreshold has no effect, because the table of counts holds no scores.',
        context: { parameter: 'scoreThreshold' },
        suggestion: 'Leave it out, or count scores: use `evenhand sql` with --score.',
      },
      { scoreThreshold: 0.5 },
    ],
    [
      'no sums of numbers',
      { sex: ['f', 'm'], n: [1, 2] },
      { code: 'unknown-column', suggestion: 'Count numbers: use `evenhand sql` with --regression.' },
      { metric: ['mean_prediction_difference'] },
    ],
    [
      'bins of two widths',
      bins([0.5, 0.25]),
      {
        message:
          "Row 2 of the table of counts must hold one power of two above 0 in column 'score_step', but holds 0.25.",
        ...{ code: 'invalid-value', context: { row: 2 }, suggestion: SAME_BINS },
      },
      { metric: ['roc_auc_difference'] },
    ],
    ...[0, -0.5, 0.3].map(
      (step) =>
        [
          `bins of width ${String(step)}`,
          bins([step, step]),
          { context: { row: 1 }, suggestion: SAME_BINS },
          { metric: ['roc_auc_difference'] },
        ] as const,
    ),
    [
      'a positive label that does not occur',
      { ...OK, decision: ['no', 'yes'] },
      {
        message: "No row of the table of counts holds the positive label 'maybe' in column 'decision'.",
        context: { column: 'decision', labels: ['no', 'yes'], positiveLabel: 'maybe' },
      },
      { positiveLabel: 'maybe' },
    ],
    [
      'a label that is not binary',
      { ...OK, decision: [0, 2] },
      { message: /decision must be 0 or 1, but holds 2 in row 2 of the table of counts/ },
    ],
  ];
  for (const [name, counts, { message, ...expected }, more] of fixes as readonly (readonly [
    string,
    object,
    { message?: string | RegExp },
    object?,
  ])[]) {
    // prettier-ignore
    it(`${name}: the error has a code, names the place, and says how to fix it`, async () => {
      const error = await validateCounts(counts as never, { attributes: [['sex']], minGroupSize: 1, ...more }).then(
        () => undefined,
        (reason: unknown) => reason as Error & { context: object },
      );
      expect(error, String(error)).to.deep.include({ name: 'DataValidationError', ...expected });
      if (typeof message === 'string') expect(error?.message).to.equal(message);
      if (message instanceof RegExp) expect(error?.message).to.match(message);
    });
  }

  it('a threshold other than that of the decisions', async () => {
    const counts = { ...OK, score_bin: [1, 2], score_step: [0.5, 0.5], score_threshold: [0.3, 0.3] };
    const error = await validateCounts(counts, { attributes: [['sex']], scoreThreshold: 0.5 }).then(String, String);
    expect(error).to.match(/made with a score threshold of 0\.3, not 0\.5/);
  });
});
