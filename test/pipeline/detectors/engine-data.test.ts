import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { expect } from 'chai';

import { createRandom } from '../../../src/internal/random.ts';
import { openDuckDb, type QuerySource, sampleData, type SqlEngine, writeParquet } from '../../../src/io/index.ts';
import { type DetectorConfig, runDetectors, runPipeline } from '../../../src/pipeline/index.ts';
import { Table, type TableSource } from '../../../src/table/index.ts';
import { assertSameReport } from '../../helpers/stats.ts';
import { golden } from '../../stats/association/detectors-golden.ts';

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('the detectors, on a database', () => {
  let folder: string;
  let engine: SqlEngine;
  const statements: string[] = [];

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'evenhand-detectors-'));
    const duckDb = openDuckDb();
    engine = {
      name: duckDb.name,
      dialect: duckDb.dialect,
      query: async (sql, options) => {
        statements.push(sql);
        return duckDb.query(sql, options);
      },
      close: () => duckDb.close(),
    };
  });
  after(async () => {
    await engine.close();
    await rm(folder, { recursive: true });
  });

  async function stored(name: string, data: TableSource): Promise<QuerySource> {
    const file = path.join(folder, `${name}.parquet`);
    await writeParquet(file, Table.from(data));
    return { engine, query: `SELECT * FROM '${file}'` };
  }

  it("match SciPy's tests and statsmodels' adjustment of p-values", async () => {
    const { groups, columns, tests } = golden.table;
    const source = await stored('golden', { ...columns, group: groups });
    const { body } = await runDetectors(source, { sensitive: ['group'] });
    expect(body.disparities.map(({ column }) => column)).to.have.members(tests.map(({ name }) => name));
    for (const expected of tests) {
      const found = body.disparities.find(({ column }) => column === expected.name);
      const near = (actual: number | undefined, value: number) => {
        expect(actual).to.be.closeTo(value, 1e-9 * Math.abs(value));
      };
      near(found?.statistic, expected.statistic);
      near(found?.pValue, expected.p_value);
      near(found?.adjustedPValue, expected.adjusted_p_value);
      expect(found?.effectSize).to.be.closeTo(expected.cramers_v ?? expected.eta_squared ?? NaN, 1e-12);
      expect(found?.degrees).to.deep.equal([expected.degrees].flat());
    }
  });

  it('report the same as for rows in memory: intersections, benchmarks, missing values and columns not tested', async () => {
    const random = createRandom(7);
    const rows = 3000;
    const draw = <Value>(values: readonly Value[], missing = 0): (Value | null)[] =>
      Array.from({ length: rows }, () =>
        random.next() < missing ? null : (values[random.integer(values.length)] as Value),
      );
    const sex = draw(['f', 'm', "x'; DROP TABLE t; --"], 0.02);
    const data = {
      sex,
      race: draw(['a', 'b||c', 'NA', ''], 0.05),
      region: draw([1, 2, 3]),
      job: sex.map((own) => (random.next() < 0.3 ? 'cook' : own === 'f' ? 'nurse' : random.next() < 0.1 ? null : 'NA')),
      wage: sex.map((own) => (random.next() < 0.1 ? null : 1e6 + 20 * random.normal() + (own === 'f' ? 5 : 0))),
      children: draw([0, 1, 2], 0.1),
      'odd "name"': draw(['yes', 'no']),
      hired: draw([0, 1]),
      customer_id: Array.from({ length: rows }, (_, row) => 17 * row),
      serial: Array.from({ length: rows }, (_, row) => 1000 + row),
      note: Array.from({ length: rows }, (_, row) => `note ${String(row)}`),
      constant: Array<number>(rows).fill(3.5),
      level: Array<string>(rows).fill('all'),
      empty: Array<number>(rows).fill(NaN),
    };
    const config: DetectorConfig = {
      sensitive: ['sex', 'race', 'region'],
      intersections: [['sex', 'race']],
      benchmarks: { sex: { f: 0.5, m: 0.4, "x'; DROP TABLE t; --": 0.1 } },
      training: { targetColumn: 'hired' },
    };
    const found = await runDetectors(await stored('mixed', data), config);
    const training = { targetColumn: 'hired', method: 'reductions' } as const;
    const { report } = await runPipeline({ ...config, training, pipeline: [] }, data);
    assertSameReport(plain(found), plain(report));
    expect(found.meta.skipped.map(({ column }) => column)).to.deep.equal([
      'customer_id',
      'serial',
      'note',
      'constant',
      'level',
      'empty',
    ]);
    expect(found.body.disparities.filter(({ flagged }) => flagged).map(({ column }) => column)).to.include.members([
      'job',
      'wage',
    ]);
  });

  it('report the same for real data', async () => {
    const config = { sensitive: ['gender', 'race'], intersections: [['gender', 'race']] };
    const table = sampleData('cps-wages');
    const { report } = await runPipeline({ ...config, pipeline: [] }, table);
    assertSameReport(plain(await runDetectors(await stored('wages', table), config)), plain(report));
  });

  it('read one statement for each column, and no rows', async () => {
    const source = await stored('wages', sampleData('cps-wages'));
    statements.length = 0;
    const { meta } = await runDetectors(source, { sensitive: ['gender', 'race'] });
    expect(statements.filter((sql) => !/COUNT\(/.test(sql))).to.have.length(1);
    expect(statements.length).to.be.at.most(meta.columnsTested.length + 5);
  });

  it('do not test a column of many texts, or of numbers that are not finite, and say why', async () => {
    const query = `SELECT i % 2 AS sex, 'text ' || (i % 11000) AS text, CASE WHEN i % 3 = 0 THEN 'nan'::DOUBLE ELSE i END AS number
      FROM range(30000) t(i)`;
    const { meta } = await runDetectors({ engine, query }, { sensitive: ['sex'] });
    expect(meta.skipped.map(({ reason }) => reason)).to.deep.equal([
      'it has 11,000 distinct values, and a database counts at most 10,000',
      'it holds 10,000 values that are NaN or infinite',
    ]);
  });

  it('name a column that does not exist, and a source without rows', async () => {
    const message = async (query: string, sensitive: string) =>
      runDetectors({ engine, query }, { sensitive: [sensitive] }).then(
        () => expect.fail('it did not fail'),
        (error: unknown) => (error as Error).message,
      );
    expect(await message('SELECT 1 AS gender', 'gendr')).to.match(/^The query in DuckDB has no column 'gendr'/);
    expect(await message('SELECT 1 AS sex WHERE false', 'sex')).to.match(/no rows/);
    expect(await message('SELECT 1 AS sex FROM missing', 'sex')).to.match(/missing/);
  });
});
