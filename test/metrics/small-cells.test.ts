import { expect } from 'chai';

import {
  assertFairness,
  validateCounts,
  validateFile,
  validateRows,
  validateSql,
} from '../../src/integration/index.ts';
import { judge } from '../../src/integration/assertions.ts';
import { createRandom } from '../../src/internal/random.ts';
import { countingSql } from '../../src/io/counting-sql.ts';
import { openDuckDb, writeCsv } from '../../src/io/index.ts';
import { mergeStats, metricOf, reduceClassification } from '../../src/metrics/index.ts';
import { reduceRows } from '../../src/metrics/compute-metric.ts';
import type { ClassificationStats } from '../../src/metrics/statistics/group-stats.ts';
import { withoutSmallCells } from '../../src/metrics/statistics/small-cells.ts';
import { Table } from '../../src/table/index.ts';
import { useTemporaryFolder } from '../helpers/run-cli.ts';

const folder = useTemporaryFolder();

/** Counts of true label and decision: [true negatives, false positives, false negatives, true positives]. */
type Cells = readonly [number, number, number, number];

function rowsOf(groups: Readonly<Record<string, Cells>>): { yTrue: number[]; yPred: number[]; sensitive: string[] } {
  const rows = { yTrue: [] as number[], yPred: [] as number[], sensitive: [] as string[] };
  for (const [label, cells] of Object.entries(groups)) {
    cells.forEach((count, cell) => {
      for (let row = 0; row < count; row++) {
        rows.yTrue.push(cell >> 1);
        rows.yPred.push(cell & 1);
        rows.sensitive.push(label);
      }
    });
  }
  return rows;
}

/** Formulas of the field, on the four counts of each group. */
const FORMULAS: Readonly<Record<string, (groups: readonly Cells[]) => number>> = {
  true_positive_rate_difference: (groups) => gap(groups.map(([, , fn, tp]) => tp / (tp + fn))),
  precision_difference: (groups) => gap(groups.map(([, fp, , tp]) => tp / (tp + fp))),
  accuracy_difference: (groups) => gap(groups.map(([tn, fp, fn, tp]) => (tn + tp) / (tn + fp + fn + tp))),
  f1_difference: (groups) => gap(groups.map(([, fp, fn, tp]) => (2 * tp) / (2 * tp + fp + fn))),
  equalized_odds_difference: (groups) =>
    Math.max(gap(groups.map(([, , fn, tp]) => tp / (tp + fn))), gap(groups.map(([tn, fp]) => fp / (fp + tn)))),
  true_positive_rate_ratio: (groups) => {
    const rates = groups.map(([, , fn, tp]) => tp / (tp + fn));
    return Math.max(...rates) === 0 ? 1 : Math.min(...rates) / Math.max(...rates);
  },
};

const gap = (rates: readonly number[]): number => Math.max(...rates) - Math.min(...rates);

/**
 * Lists the ways in which counts below `minCell` can be replaced by counts from 0 to `minCell` - 1.
 * @yields the counts of all groups
 */
function* completions(groups: readonly Cells[], minCell: number): Generator<Cells[]> {
  const flat = groups.flat();
  const hidden = [...flat.keys()].filter((cell) => (flat[cell] as number) < minCell);
  for (let code = 0; code < minCell ** hidden.length; code++) {
    const own = [...flat];
    hidden.forEach((cell, index) => (own[cell] = Math.floor(code / minCell ** index) % minCell));
    yield groups.map((_, group) => own.slice(4 * group, 4 * group + 4) as unknown as Cells);
  }
}

const OPTIONS = { minGroupSize: 2, withCi: false };

describe('counts below a number are left out', () => {
  it('bounds contain the value of all counts that could have been left out, and the end farther from parity is such a value', () => {
    const random = createRandom(8);
    for (let round = 0; round < 30; round++) {
      const minCell = 2 + random.integer(3);
      const cell = (): number => (random.next() < 0.3 ? random.integer(minCell) : minCell + random.integer(6));
      const draw = (): Cells => [cell(), cell(), minCell + random.integer(4), minCell + random.integer(4)];
      const groups = { a: draw(), b: draw() };
      const stats = withoutSmallCells(reduceClassification(rowsOf(groups)), minCell);
      for (const [metric, formula] of Object.entries(FORMULAS)) {
        const values = Array.from(completions(Object.values(groups), minCell), formula).filter((v) => !Number.isNaN(v));
        const result = metricOf(metric, stats, OPTIONS);
        const [low, high] = [Math.min(...values), Math.max(...values)];
        const found = result.bounds ?? [NaN, NaN];
        // The end nearer to parity assumes that rates can have every value in their ranges, not only those of whole rows.
        const [far, near] = metric.endsWith('_ratio') ? [found[0], found[1]] : [found[1], found[0]];
        const [farthest, nearest] = metric.endsWith('_ratio') ? [low, high] : [high, low];
        expect(far, metric).to.be.closeTo(farthest, 1e-12);
        expect((nearest - near) * (metric.endsWith('_ratio') ? -1 : 1), metric).to.be.at.least(-1e-12);
        expect(Math.abs(nearest - near), metric).to.be.below(0.35);
        if (found[0] === found[1]) expect(result.value, metric).to.be.closeTo(low, 1e-12);
        else expect(result.value, metric).to.be.NaN;
      }
    }
  });

  it('the value of all rows is within the bounds, and equals it if nothing is left out', () => {
    const groups: Record<string, Cells> = { a: [40, 3, 20, 60], b: [0, 12, 30, 31], c: [15, 25, 4, 90] };
    const complete = reduceClassification(rowsOf(groups));
    for (const minCell of [2, 5, 10, 13]) {
      const stats = withoutSmallCells(complete, minCell);
      for (const metric of Object.keys(FORMULAS)) {
        const { value } = metricOf(metric, complete, OPTIONS);
        const [low, high] = metricOf(metric, stats, OPTIONS).bounds ?? [NaN, NaN];
        expect(value).to.be.within(low - 1e-12, high + 1e-12);
      }
    }
    const large = reduceClassification(rowsOf({ a: [10, 20, 30, 40], b: [40, 30, 20, 10] }));
    const exact = metricOf('true_positive_rate_difference', withoutSmallCells(large, 10), OPTIONS);
    expect([exact.value, exact.undefinedReason]).to.deep.equal([
      metricOf('true_positive_rate_difference', large, OPTIONS).value,
      null,
    ]);
  });

  it('no small count, and no group without a larger count, is in a result', () => {
    const groups: Record<string, Cells> = { a: [40, 3, 20, 60], b: [17, 12, 30, 31], tiny: [3, 7, 1, 6] };
    const stats = withoutSmallCells(reduceClassification(rowsOf(groups)), 10);
    expect(stats.labels).to.deep.equal(['a', 'b']);
    const counts = [stats, stats.undecided, stats.ungrouped].flatMap((tables) => [...tables.counts, ...tables.weights]);
    expect(counts.filter((count) => count !== 0 && count < 10)).to.deep.equal([]);
    const text = JSON.stringify(metricOf('demographic_parity_difference', stats, OPTIONS));
    expect(text).to.not.include('tiny');
    expect(JSON.parse(text)).to.deep.include({ value: null, n_per_group: { a: 120, b: 90 } });
  });

  it('no label with few rows is in the record of how labels were read', () => {
    const of = (label: string | null, count: number): (string | null)[] => Array<string | null>(count).fill(label);
    const yPred = [
      ...of('yes', 12),
      ...of('YES', 3),
      ...of('no', 20),
      ...of('rare', 9),
      ...of('ten', 10),
      ...of('NA', 4),
    ];
    const sensitive = yPred.map((_, row) => (row % 2 === 0 ? 'a' : 'b'));
    const stats = reduceRows('classification', { yPred, sensitive, positiveLabel: 'yes' }, 'selection_rate');
    const [before] = (stats as ClassificationStats).readings ?? [];
    expect({ ...before?.positive, ...before?.negative, ...before?.missing }).to.include({ rare: 9, ten: 10, NA: 4 });
    const [after] = withoutSmallCells(stats as ClassificationStats, 10).readings ?? [];
    expect(after?.positive).to.deep.equal({ yes: 12 });
    expect(after?.negative).to.deep.equal({ no: 20, ten: 10 });
    expect(after?.missing).to.deep.equal({});
  });

  it('counts dropped rows in the cells that remain, of groups and without a group', () => {
    // Eight rows of group a have no decision, and five with a decision have no group.
    const yPred = [...Array<number>(10).fill(1), ...Array<null>(8).fill(null), ...Array<number>(5).fill(0)];
    const sensitive = yPred.map((_, row) => (row < 18 ? 'a' : null));
    const of = (minCell: number): number =>
      withoutSmallCells(reduceClassification({ yPred, sensitive }), minCell).nDropped;
    expect([2, 5, 6, 8, 9].map(of)).to.deep.equal([13, 13, 8, 8, 0]);
  });

  it('weights are rejected, and the statistics cannot be added', () => {
    const rows = rowsOf({ a: [4, 4, 4, 4], b: [4, 4, 4, 4] });
    const weighted = reduceClassification({ ...rows, sampleWeight: rows.yTrue.map(() => 2) });
    expect(() => withoutSmallCells(weighted, 3))
      .to.throw('Small cells can be left out only if rows have no weights.')
      .with.property('context')
      .that.deep.equals({ parameter: 'minCell', value: 3 });
    const stats = withoutSmallCells(reduceClassification(rows), 3);
    expect(() => mergeStats<ClassificationStats>(stats, stats)).to.throw('without small cells cannot be combined');
  });

  it('options without bounds are undefined, with the reason', () => {
    const stats = withoutSmallCells(reduceClassification(rowsOf({ a: [40, 3, 20, 60], b: [17, 12, 30, 31] })), 10);
    const { value, bounds, undefinedReason } = metricOf('selection_rate_difference', stats, {
      ...OPTIONS,
      method: 'to_overall',
    });
    expect([value, bounds]).to.deep.equal([NaN, undefined]);
    expect(undefinedReason).to.equal(
      'counts below 10 are left out, and selection_rate_difference has no bounds with these options',
    );
    const few = metricOf('selection_rate_difference', stats, { ...OPTIONS, minGroupSize: 100 });
    expect(few.undefinedReason).to.match(/^fewer than two groups/);
    expect(few.excluded).to.deep.equal({
      b: {
        n: 90,
        reason: 'fewer than 100 rows in counts that are not left out',
        numerator: null,
        denominator: null,
      },
    });
  });

  it('bounds with a reference group contain the value of all counts that could have been left out', () => {
    const groups = { a: [30, 3, 20, 40], b: [25, 11, 2, 30], c: [10, 12, 30, 31] } as const;
    const stats = withoutSmallCells(reduceClassification(rowsOf(groups)), 4);
    const reference = { ...OPTIONS, method: 'to_reference', referenceGroup: 'b' } as const;
    for (const metric of ['demographic_parity_difference', 'true_positive_rate_ratio', 'equalized_odds_difference']) {
      const values = Array.from(completions(Object.values(groups), 4), ([a, b, c]) =>
        metricOf(metric, reduceClassification(rowsOf({ a: a as Cells, b: b as Cells, c: c as Cells })), reference),
      ).map(({ value }) => value);
      const result = metricOf(metric, stats, reference);
      const [low, high] = result.bounds ?? [NaN, NaN];
      expect(low, metric).to.be.at.most(Math.min(...values) + 1e-12);
      expect(high, metric).to.be.at.least(Math.max(...values) - 1e-12);
      expect(high - low, metric).to.be.below(0.3);
      expect([result.referenceGroup, result.method]).to.deep.equal(['b', 'to_reference']);
    }
    const small = metricOf('selection_rate_difference', stats, { ...reference, referenceGroup: 'b', minGroupSize: 67 });
    expect([small.bounds, Object.keys(small.nPerGroup)]).to.deep.equal([undefined, ['a', 'c']]);
    expect(small.undefinedReason).to.equal(
      'counts below 4 are left out, and selection_rate_difference has no bounds with these options',
    );
  });

  it('a result holds the bounds, what is exact, and no interval or p-value', () => {
    const stats = withoutSmallCells(reduceClassification(rowsOf({ a: [40, 3, 20, 60], b: [10, 10, 30, 30] })), 10);
    const options = { minGroupSize: 80, withPValue: true, withEffectSize: true };
    const of = (metric: string, more: object = {}) => metricOf(metric, stats, { ...options, ...more });
    // Of the 43 rows of group a with true label 0, the 3 positive decisions are left out, so there may be 0 to 9.
    const { perGroup, perGroupBounds, bounds, undefinedReason, ...rest } = of('equalized_odds_difference');
    expect(perGroup).to.deep.equal({
      a: { true_positive_rate: 0.75, false_positive_rate: null },
      b: { true_positive_rate: 0.5, false_positive_rate: 0.5 },
    });
    expect(perGroupBounds).to.deep.equal({
      a: { true_positive_rate: [0.75, 0.75], false_positive_rate: [0, 9 / 49] },
      b: { true_positive_rate: [0.5, 0.5], false_positive_rate: [0.5, 0.5] },
    });
    expect(bounds).to.deep.equal([0.5 - 9 / 49, 0.5]);
    expect(undefinedReason).to.equal('counts below 10 are left out, so that the value is between 0.3163 and 0.5000');
    expect(rest).to.deep.include({
      ...{ value: NaN, ci: null, ciLevel: null, ciMethod: null, pValue: null, pValueMethod: null },
      ...{ effectSize: null, effectSizeName: null, minimumDetectableGap: null, missing: null, seed: null },
      ...{ first: null, second: null, referenceGroup: null, method: 'between_groups', agg: 'worst_case', compat: null },
      ...{ nPerGroup: { a: 120, b: 80 }, excluded: {} },
      warnings: [
        'counts below 10 are left out: rates have bounds, group sizes are those of the other counts, and a group without larger counts does not appear',
      ],
    });
    const exact = of('true_positive_rate_difference');
    expect([exact.value, exact.agg, exact.undefinedReason]).to.deep.equal([0.25, null, null]);
    // The mean of the two gaps: 0.25, and 0.3163 to 0.5.
    const mean = of('equalized_odds_difference', { agg: 'mean' });
    expect(mean.agg).to.equal('mean');
    expect(mean.bounds?.[0]).to.be.closeTo((0.25 + 0.5 - 9 / 49) / 2, 1e-12);
    expect(mean.bounds?.[1]).to.be.closeTo((0.25 + 0.5) / 2, 1e-12);
    const compat = of('demographic_parity_difference', { compat: 'fairlearn' });
    expect(compat.compat).to.equal('fairlearn');
    expect(of('demographic_parity_difference', { compat: 'aif360', referenceGroup: 'a' }).bounds).to.equal(undefined);
  });

  it('a gate passes only if both bounds pass', () => {
    const result = { metric: 'demographic_parity_difference', value: NaN, ci: null, undefinedReason: 'left out' };
    const statusOf = (bounds: readonly [number, number], threshold: number, metric = result.metric): unknown => {
      const { passed, status } = judge({ ...result, metric, bounds }, threshold);
      return [passed, status];
    };
    expect(statusOf([0.02, 0.08], 0.1)).to.deep.equal([true, 'pass']);
    expect(statusOf([0.02, 0.12], 0.1)).to.deep.equal([false, 'undefined']);
    expect(statusOf([0.11, 0.12], 0.1)).to.deep.equal([false, 'fail']);
    expect(statusOf([0.85, 0.9], 0.8, 'demographic_parity_ratio')).to.deep.equal([true, 'pass']);
    expect(statusOf([0.75, 0.9], 0.8, 'demographic_parity_ratio')).to.deep.equal([false, 'undefined']);
    expect(() => {
      assertFairness({ ...result, bounds: [0.02, 0.12] }, 0.1);
    }).to.throw('demographic_parity_difference is between 0.0200 and 0.1200, so that it is not certain to be <= 0.1.');
  });
});

describe('small counts are left out by every source in the same way', () => {
  const groups: Record<string, Cells> = { a: [140, 3, 120, 160], b: [0, 112, 130, 131], tiny: [3, 7, 1, 6] };
  const rows = rowsOf(groups);
  const request = {
    attributes: [['sex']],
    minCell: 10,
    positiveLabel: "it's yes",
    metric: ['demographic_parity_difference', 'equalized_odds_difference'],
  };
  const label = (values: readonly number[]): string[] => values.map((value) => (value === 1 ? "it's yes" : 'no'));
  const columns = { decided: label(rows.yPred), repaid: label(rows.yTrue), sex: rows.sensitive };
  const named = { ...request, yPred: 'decided', yTrue: 'repaid' };

  it('arrays, files, DuckDB, an engine that counts, and counts in a file', async () => {
    const file = `${folder()}/rows.csv`;
    await writeCsv(file, Table.from(columns));
    const engine = openDuckDb();
    const query = `SELECT * FROM read_csv('${file}', header = true)`;
    const { metric: _metrics, ...columnsAndLabels } = named;
    const sql = countingSql({ dialect: 'duckdb', query, ...columnsAndLabels });
    const { columns: names, rows: counted } = await engine.query(sql);
    const counts = Object.fromEntries(
      names.map((name, index) => [
        name,
        counted.map((row) => (typeof row[index] === 'bigint' ? Number(row[index]) : row[index])),
      ]),
    );
    expect(Math.min(...(counts['n'] as number[]))).to.be.at.least(10);
    expect(counts['sex']).to.not.include('tiny');
    const asked: string[] = [];
    const counting = {
      name: 'an engine',
      dialect: 'duckdb' as const,
      query: async (statement: string) => {
        asked.push(statement);
        return engine.query(statement);
      },
      close: () => Promise.resolve(),
    };
    const { positiveLabel: _, ...ofCounts } = request;
    const { attributes: __, ...ofRows } = request;
    const found = {
      arrays: await validateRows({ ...ofRows, yPred: columns.decided, yTrue: columns.repaid, sensitive: { sex: columns.sex } }), // prettier-ignore
      file: await validateFile(file, named),
      duckdb: await validateSql({ engine, query }, named),
      engine: await validateSql({ engine: counting, query }, named),
      counts: await validateCounts(counts, ofCounts),
    };
    expect(asked.every((statement) => statement.includes('HAVING COUNT(*) >= 10'))).to.equal(true);
    const expected = found.arrays.attributes['sex'];
    expect(expected?.['equalized_odds_difference']?.bounds?.[1]).to.be.above(0.2);
    for (const [source, { attributes }] of Object.entries(found)) {
      for (const metric of request.metric) {
        const { bounds, perGroupBounds, nPerGroup } = attributes['sex']?.[metric] ?? {};
        const { bounds: b, perGroupBounds: p, nPerGroup: n } = expected?.[metric] ?? {};
        expect({ bounds, perGroupBounds, nPerGroup }, `${source} ${metric}`).to.deep.equal({ bounds: b, perGroupBounds: p, nPerGroup: n }); // prettier-ignore
      }
    }
    await engine.close();
  });

  const count = (values: object): object => ({ sex: ['a', 'a', 'b', 'b'], decision: ['0', '1', '0', '1'], n: [50, 60, 70, 80], min_cell: [10, 10, 10, 10], ...values }); // prettier-ignore

  it('counts that were divided by true labels keep their bounds if only decisions are compared', async () => {
    const divided = { sex: ['a', 'a', 'b', 'b'], truth: ['1', '1', '1', '0'], decision: ['0', '1', '0', '1'] };
    const { attributes } = await validateCounts(count(divided) as never, { attributes: [['sex']], minGroupSize: 2 });
    // Of group a, the cells of true label 0 may have up to 9 rows each, and those without a label too.
    const [low, high] = attributes['sex']?.['demographic_parity_difference']?.perGroupBounds?.['a']?.['selection_rate'] ?? []; // prettier-ignore
    expect([low, high]).to.deep.equal([60 / (110 + 18), (60 + 18) / (110 + 18)]);
  });

  const WRONG: readonly (readonly [what: string, counts: object, message: RegExp])[] = [
    [
      'a count below the number',
      count({ n: [50, 60, 9, 80] }),
      /Row 3 of the table of counts must have the same min_cell/,
    ],
    [
      'different numbers',
      count({ min_cell: [10, 10, 5, 10] }),
      /Row 3 of the table of counts must have the same min_cell/,
    ],
    ['the same rows twice', count({ sex: ['a', 'a', 'b', 'a'] }), /counts the same rows twice/],
    [
      'another attribute',
      count({ site: ['x', 'y', 'x', 'y'] }),
      /also has the column 'site', which is not part of 'sex'/,
    ],
  ];
  for (const [what, counts, message] of WRONG) {
    it(`${what} is one clear error`, async () => {
      const error = await validateCounts(counts as never, { attributes: [['sex']] }).then(
        () => undefined,
        (cause: unknown) => cause as Error,
      );
      expect(error?.name).to.equal('DataValidationError');
      expect(error?.message).to.match(message);
    });
  }

  it('requests without bounds are errors', async () => {
    const given = { yPred: rows.yPred, yTrue: rows.yTrue, sensitive: rows.sensitive, minCell: 10 };
    const messageOf = (more: object): Promise<string> =>
      validateRows({ ...given, ...more }).then(
        () => 'no error',
        (error: unknown) => (error as Error).message,
      );
    expect(await messageOf({ control: rows.sensitive })).to.equal('minCell cannot be combined with control.');
    expect(await messageOf({ measures: ['precision'] })).to.equal('minCell cannot be combined with measures.');
    expect(await messageOf({ metric: 'mae_parity_difference' })).to.equal(
      'minCell cannot be combined with mae_parity_difference.',
    );
    expect(await messageOf({ sampleWeight: rows.yTrue.map(() => 2) })).to.match(/only if rows have no weights/);
    expect(() => countingSql({ dialect: 'postgres', table: 't', yPred: 'd', attributes: [['a'], ['b']], minCell: 10 })).to.throw(/one of attributes with minCell/); // prettier-ignore
    expect(() => countingSql({ dialect: 'postgres', table: 't', yPred: 'd', attributes: [['a']], sampleWeight: 'w', minCell: 10 })).to.throw(/remove control, sampleWeight/); // prettier-ignore
    expect(() => countingSql({ dialect: 'redshift', table: 't', yPred: 'd', attributes: [['a']], positiveLabel: 'a\\b', minCell: 10 })).to.throw(/has a backslash/); // prettier-ignore
  });
});
