import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { expect } from 'chai';

import { createRandom } from '../../src/internal/random.ts';
import { type DuckDbEngine, openDuckDb, type QuerySource, writeParquet } from '../../src/io/index.ts';
import { type PipelineConfigInput, runPipeline, weightsSql } from '../../src/pipeline/index.ts';
import { Table, type TableSource } from '../../src/table/index.ts';

const ROWS = 2000;

/** Groups with quotes, missing groups and missing labels. */
function hostileRows() {
  const random = createRandom(3);
  const draw = <Value>(values: readonly Value[]): Value[] =>
    Array.from({ length: ROWS }, () => values[random.integer(values.length)] as Value);
  return {
    'odd "sex"': draw(['f', 'm', "x'; DROP TABLE t; --", 'NA', null, '']),
    race: draw(['a', 'a', 'a', 'b', '\\']),
    hired: draw(['yes', 'yes', 'no', 'NA']),
    serial: Array.from({ length: ROWS }, (_, row) => row),
  };
}

describe('weightsSql', () => {
  let folder: string;
  let engine: DuckDbEngine;

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'evenhand-weights-'));
    engine = openDuckDb();
  });
  after(async () => {
    await engine.close();
    await rm(folder, { recursive: true });
  });

  async function stored(data: TableSource): Promise<QuerySource> {
    const file = path.join(folder, 'rows.parquet');
    await writeParquet(file, Table.from(data));
    return { engine, query: `SELECT * FROM '${file}'` };
  }

  async function failure(work: Promise<unknown>): Promise<string> {
    return work.then(
      () => expect.fail('it did not fail'),
      (error: unknown) => (error as Error).message,
    );
  }

  it('weighted rows have the same share of positive labels in every group, in the database itself', async () => {
    const query =
      "SELECT CASE WHEN i % 3 = 0 THEN 'f' ELSE 'm' END AS sex, CAST(i % 7 < 1 + i % 3 AS INT) AS hired FROM range(5000) t(i)";
    const pipeline = [{ transformer: 'ReweighingTransformer', params: { label: 'hired' } }] as const;
    const { sql, rows, weightColumn } = await weightsSql({ engine, query }, { sensitive: ['sex'], pipeline });
    expect([rows, weightColumn]).to.deep.equal([5000, 'sample_weight']);
    const result = await engine.query(
      `SELECT SUM(sample_weight * hired) / SUM(sample_weight), (SELECT AVG(hired) FROM (${query})), SUM(SUM(sample_weight)) OVER () FROM (${sql}) GROUP BY sex`,
    );
    expect(result.rows).to.have.length(2);
    for (const [share, overall, total] of result.rows) {
      expect(share).to.be.closeTo(overall as number, 1e-12);
      expect(total).to.be.closeTo(5000, 1e-8);
    }
  });

  const configs: Readonly<Record<string, PipelineConfigInput>> = {
    'group and label': {
      sensitive: ['odd "sex"', 'race'],
      pipeline: [{ transformer: 'ReweighingTransformer', params: { label: 'hired', positive_label: 'yes' } }],
    },
    benchmarks: {
      sensitive: ['race'],
      benchmarks: { race: { a: 0.5, b: 0.3, '\\': 0.2 } },
      pipeline: [{ transformer: 'InstanceReweighting' }],
    },
    'two steps': {
      sensitive: ['odd "sex"', 'race'],
      pipeline: [
        { transformer: 'InstanceReweighting', params: { sensitive: ['race'] } },
        { transformer: 'ReweighingTransformer', params: { sensitive: ['odd "sex"'], label: 'hired', max_weight: 2 } },
      ],
    },
  };
  for (const [name, config] of Object.entries(configs)) {
    it(`gives the weights of rows in memory: ${name}`, async () => {
      const data = hostileRows();
      const { result } = await runPipeline(config, data, { detectors: false });
      const { sql, steps } = await weightsSql(await stored(data), config);
      const { rows } = await engine.query(`SELECT sample_weight FROM (${sql}) ORDER BY serial`);
      expect(new Set(result.sampleWeight).size).to.be.above(2);
      rows.forEach(([weight], row) => expect(weight).to.be.closeTo(result.sampleWeight?.[row] ?? NaN, 1e-12));
      expect(steps.map(({ warnings }) => warnings)).to.deep.equal(
        result.metadata.steps.map(({ warnings }) => warnings),
      );
    });
  }

  it('names its column so that no other column has the name', async () => {
    const query = "SELECT 'f' AS sex, 1 AS Sample_Weight UNION ALL SELECT 'm', 1 UNION ALL SELECT 'm', 2";
    const { sql, weightColumn } = await weightsSql(
      { engine, query },
      { sensitive: ['sex'], pipeline: [{ transformer: 'InstanceReweighting' }] },
    );
    expect(weightColumn).to.equal('sample_weight_2');
    expect((await engine.query(sql)).columns).to.deep.equal(['sex', 'Sample_Weight', 'sample_weight_2']);
  });

  it('rejects steps that change rows, unknown columns and too many combinations', async () => {
    const query = "SELECT 'f' || i AS sex, i AS age FROM range(1001) t(i)";
    const weigh = (config: PipelineConfigInput) => failure(weightsSql({ engine, query }, config));
    const reweigh = [{ transformer: 'InstanceReweighting' }] as const;
    expect(await weigh({ sensitive: ['sex'], pipeline: [{ transformer: 'ProxyDropper' }] })).to.match(
      /The step 'ProxyDropper' \(ProxyDropper\) changes rows, and rows stay in the database/,
    );
    expect(await weigh({ sensitive: ['sex'], pipeline: [] })).to.match(/no step/);
    expect(
      await weigh({ sensitive: ['sex'], pipeline: [{ transformer: 'InstanceReweighting', params: { min_count: 2 } }] }),
    ).to.match(/min_count 2; in a database it must be 1/);
    expect(await weigh({ sensitive: ['sexx'], pipeline: reweigh })).to.match(/no column 'sexx'/);
    expect(await weigh({ sensitive: ['sex'], pipeline: reweigh })).to.match(/1,001 combinations .* 1,000/);
  });
});
