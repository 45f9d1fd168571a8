import { utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { DuckDBInstance } from '@duckdb/node-api';
import { expect } from 'chai';

import { DataValidationError } from '../../src/exceptions/index.ts';
import { assertFewGroups } from '../../src/io/assert-few-groups.ts';
import { openDuckDb, withDuckDb } from '../../src/io/duckdb.ts';
import { withDuckDbLimits } from '../../src/io/duckdb-limits.ts';
import { useTemporaryFolder } from '../helpers/run-cli.ts';

const SMALL = { memoryMegabytes: 64, threads: 2 };

async function errorOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe('limits of DuckDB', function () {
  this.timeout(60_000);

  it('apply inside and not outside, and nothing is spilled', async () => {
    const read = (): Promise<unknown[][]> =>
      withDuckDb((session) =>
        session.rows(
          "SELECT current_setting('memory_limit'), current_setting('threads'), current_setting('temp_directory')",
        ),
      );
    const [[memory, threads, spill] = []] = await withDuckDbLimits(SMALL, read);
    expect([memory, Number(threads), spill]).to.deep.equal(['64.0 MiB', 2, '']);
    expect((await read())[0]?.[0]).not.to.equal('64.0 MiB');
  });

  it('reject a query that needs more memory as too large', async () => {
    const sql = 'SELECT count(*) FROM (SELECT DISTINCT hash(range) FROM range(20000000))';
    const error = await errorOf(withDuckDbLimits(SMALL, () => withDuckDb((session) => session.rows(sql))));
    expect(error).to.be.instanceOf(DataValidationError);
    expect(String(error)).to.match(/too large for this service.*64 MiB/);
  });

  it('interrupt a running query, with the reason of the signal', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    setTimeout(() => {
      controller.abort(reason);
    }, 200);
    const sql = 'SELECT sum(a.range * b.range) FROM range(1000000) a, range(1000000) b';
    const limits = { ...SMALL, signal: controller.signal };
    expect(await errorOf(withDuckDbLimits(limits, () => withDuckDb((session) => session.rows(sql))))).to.equal(reason);
  });
});

describe('withDuckDb', () => {
  const folder = useTemporaryFolder();
  const create = DuckDBInstance.create.bind(DuckDBInstance);
  let opened = 0;
  before(() => {
    DuckDBInstance.create = (...given) => {
      opened++;
      return create(...given);
    };
  });
  after(() => {
    DuckDBInstance.create = create;
  });

  it('opens one database for many calls, and each call has its own temporary tables', async () => {
    const count = (values: number[]): Promise<unknown> =>
      withDuckDb(async (session) => {
        await session.createTable('own', { value: Float64Array.from(values) });
        return (await session.rows('SELECT sum(value) FROM own'))[0]?.[0];
      });
    await count([0]);
    opened = 0;
    expect(await Promise.all([count([1, 2]), count([3]), count([4, 5])])).to.deep.equal([3, 3, 9]);
    expect(await count([6])).to.equal(6);
    expect(opened).to.equal(0);
  });

  it('opens a new database after an error, without waiting for other calls', async () => {
    let release = (): void => undefined;
    const other = withDuckDb(async (session) => {
      await new Promise<void>((resolve) => (release = resolve));
      return session.rows('SELECT 7');
    });
    opened = 0;
    expect(String(await errorOf(withDuckDb((session) => session.rows('SELECT none FROM nowhere'))))).to.match(
      /nowhere/,
    );
    expect(await withDuckDb((session) => session.rows('SELECT 8'))).to.deep.equal([[8]]);
    expect(opened).to.equal(1);
    release();
    expect(await other).to.deep.equal([[7]]);
  });

  it('reads a file that was replaced by another of the same size and time', async () => {
    const file = path.join(folder(), 'rows.parquet');
    const write = async (value: number): Promise<void> => {
      await withDuckDb((session) => session.rows(`COPY (SELECT ${String(value)} AS v) TO '${file}' (FORMAT parquet)`));
      utimesSync(file, 1_700_000_000, 1_700_000_000);
    };
    const read = (): Promise<unknown> => withDuckDb((session) => session.rows(`FROM '${file}'`));
    await write(1);
    expect(await read()).to.deep.equal([[1]]);
    await write(2);
    expect(await read()).to.deep.equal([[2]]);
  });
});

describe('assertFewGroups', function () {
  this.timeout(60_000);
  const folder = useTemporaryFolder();

  function groups(count: number, label = (row: number): string => `g${String(row % count)}`): string {
    const file = path.join(folder(), 'groups.csv');
    const rows = Array.from({ length: 3 * count }, (_, row) => `${label(row)},${String(row % 3)}`);
    writeFileSync(file, ['group,other', ...rows, ''].join('\n'));
    return file;
  }
  const check = (file: string, attributes = [['group']], most = 100): Promise<unknown> =>
    errorOf(assertFewGroups(file, attributes, most));

  it('accepts exactly the maximum, and rejects one more and very many', async () => {
    expect(await check(groups(100))).to.equal(undefined);
    for (const count of [101, 5000]) {
      const error = await check(groups(count));
      expect(error).to.be.instanceOf(DataValidationError);
      expect(String(error)).to.match(/'group' has more than 100 groups/);
    }
  });

  it('counts combinations, which outnumber the groups of each attribute', async () => {
    // 40 and 3 are coprime, so all 120 combinations occur.
    const file = groups(40);
    expect(await check(file, [['group'], ['other']])).to.equal(undefined);
    expect(String(await check(file, [['group', 'other']]))).to.match(/'group\|\|other' has more than 100/);
  });

  it('rejects a label of more than 1,000 characters', async () => {
    expect(await check(groups(2, () => 'x'.repeat(1000)))).to.equal(undefined);
    expect(String(await check(groups(2, () => 'x'.repeat(1001))))).to.match(/label of 1,001 characters/);
  });

  it('ignores an unknown column, which is reported later', async () => {
    expect(await check(groups(500), [['nothing']])).to.equal(undefined);
  });

  it('counts 300,000 labels of a query with little memory', async () => {
    const engine = openDuckDb();
    const query = "SELECT 'label ' || range AS label FROM range(300000)";
    const error = await errorOf(withDuckDbLimits(SMALL, () => assertFewGroups({ engine, query }, [['label']], 10_000)));
    await engine.close();
    expect(String(error)).to.match(/more than 10,000 groups/);
  });
});
