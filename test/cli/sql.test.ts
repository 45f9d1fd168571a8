import { readFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { runDuckDb } from '../helpers/duckdb.ts';
import { joinLines, runCli, useTemporaryFolder } from '../helpers/run-cli.ts';

const ROWS = `SELECT CASE range % 7 WHEN 0 THEN NULL WHEN 1 THEN 'f' ELSE 'm' END AS sex,
  CASE range % 3 WHEN 0 THEN '01' ELSE '1' END AS region,
  CASE (range * 7) % 5 WHEN 0 THEN 'yes' WHEN 4 THEN 'YES' ELSE 'no' END AS approved,
  (range % 2)::BOOLEAN AS repaid, 1 + range % 4 AS w, (range % 1000) / 1000.0 AS score FROM range(5000)`;

const LABELS = ['--positive-label', 'yes', '--y-true-positive-label', 'true'];

describe('evenhand sql and validate --counts', () => {
  const folder = useTemporaryFolder();
  const file = (name: string): string => path.join(folder(), name);

  /** Runs the statement of `evenhand sql` in DuckDB, and writes its result. */
  async function count(name: string, { query = ROWS }: { query?: string }, ...options: string[]): Promise<string> {
    const given = ['sql', '--dialect', 'duckdb', '--query', query, '--sensitive', 'sex', '--sensitive', 'region'];
    const { stdout, stderr, code } = await runCli([...given, ...options]);
    expect([stderr, code]).to.deep.equal(['', 0]);
    await runDuckDb(`COPY (${stdout}) TO '${file(name)}'${name.endsWith('.ndjson') ? ' (FORMAT json)' : ''}`);
    return file(name);
  }

  /** Returns the JSON of a validation without what names its input. */
  async function resultOf(...options: string[]): Promise<unknown> {
    const { stdout, stderr, code } = await runCli(['validate', '--json', ...options]);
    expect(stderr).to.equal('');
    const { manifest: _, ...result } = JSON.parse(stdout) as Record<string, unknown>;
    return { ...result, code };
  }

  for (const name of ['counts.csv', 'counts.parquet', 'counts.ndjson']) {
    it(`give the result of the rows from ${name}`, async () => {
      await runDuckDb(`COPY (${ROWS}) TO '${file('rows.csv')}'`);
      const counts = await count(name, {}, '--y-pred', 'approved', '--y-true', 'repaid');
      const measured = [
        '--sensitive',
        'sex',
        '--sensitive',
        'sex,region',
        '--metric',
        'equalized_odds_difference<=0.001',
      ];
      const expected = await resultOf(
        ...['--csv', file('rows.csv'), '--y-pred', 'approved', '--y-true', 'repaid', ...measured, ...LABELS],
      );
      expect(await resultOf('--counts', counts, ...measured, ...LABELS)).to.deep.equal(expected);
      expect(JSON.stringify(expected)).to.include('YES').and.include('"code":1');
    });
  }

  it('add the counts of several files, but not one file twice', async () => {
    const part = (name: string, region: string): Promise<string> =>
      count(name, { query: `SELECT * FROM (${ROWS}) WHERE region = '${region}'` }, '--y-pred', 'approved', '--sample-weight', 'w'); // prettier-ignore
    const all = await count('all.csv', {}, '--y-pred', 'approved', '--sample-weight', 'w');
    const [first, second] = [await part('first.csv', '01'), await part('second.csv', '1')];
    const measured = ['--sensitive', 'sex', '--sensitive', 'region', ...LABELS.slice(0, 2)];
    expect(await resultOf('--counts', first, '--counts', second, ...measured)).to.deep.equal(
      await resultOf('--counts', all, ...measured),
    );
    const { stderr, code } = await runCli(['validate', '--counts', first, '--counts', first, ...measured]);
    expect([joinLines(stderr), code]).to.satisfy(([text, own]: [string, number]) => /twice/.test(text) && own === 2);
  });

  it('measure scores at their threshold', async () => {
    const counts = await count('scores.csv', {}, '--score', 'score', '--y-true', 'repaid', '--score-threshold', '0.3');
    const { stdout, code } = await runCli([
      'validate',
      '--counts',
      counts,
      '--sensitive',
      'sex',
      '--metric',
      'roc_auc_difference',
    ]);
    expect([stdout, code]).to.satisfy(
      ([text, own]: [string, number]) => text.includes('ROC AUC difference') && own === 0,
    );
    const other = await runCli(['validate', '--counts', counts, '--sensitive', 'sex', '--score-threshold', '0.5']);
    expect(joinLines(other.stderr)).to.match(/made with a score threshold of 0\.3, not 0\.5/);
  });

  it('print the statement as JSON', async () => {
    const { stdout } = await runCli([
      'sql',
      '--json',
      '--dialect',
      'spark',
      '--table',
      'a.b',
      '--y-pred',
      'd',
      '--sensitive',
      's',
    ]);
    const { dialect, statement } = JSON.parse(stdout) as Record<string, string>;
    expect(dialect).to.equal('spark');
    expect(statement).to.match(/FROM `a`\.`b`/);
  });

  const refused: readonly (readonly [readonly string[], RegExp])[] = [
    [['validate', '--sensitive', 'sex', '--y-pred', 'd'], /Missing: --csv \(or --counts or --sql\)/],
    [['validate', '--counts', 'a.csv', '--csv', 'b.csv', '--sensitive', 'sex'], /only one of them is read/],
    [
      ['validate', '--counts', 'a.csv', '--y-pred', 'd', '--sensitive', 'sex'],
      /Counts have fixed names .*remove --y-pred/,
    ],
    [['validate', '--counts', 'missing.csv', '--sensitive', 'sex'], /missing\.csv/],
    [['sql', '--sensitive', 'sex'], /Missing: --dialect/],
    [
      ['sql', '--dialect', 'trino', '--sensitive', 'sex', '--y-pred', 'd'],
      /Give either a table \(--table\) or a query \(--query\)/,
    ],
    [
      ['sql', '--dialect', 'trino', '--table', 't', '--sensitive', 'truth', '--y-pred', 'd'],
      /'truth' has the name of a column/,
    ],
  ];
  for (const [args, message] of refused) {
    it(`refuse ${args.join(' ')}`, async () => {
      const { stderr, code } = await runCli(args);
      expect(joinLines(stderr)).to.match(message);
      expect(code).to.equal(2);
    });
  }
});

describe('evenhand validate --sql', () => {
  const folder = useTemporaryFolder();
  const measured = ['--y-pred', 'approved', '--y-true', 'repaid', '--sensitive', 'sex', ...LABELS];

  it('gives the result of the rows in files, from a table and from a query', async () => {
    const [csv, database] = ['rows.csv', 'shop.duckdb'].map((name) => path.join(folder(), name)) as [string, string];
    await runDuckDb(
      `COPY (${ROWS}) TO '${csv}'; ATTACH '${database}' AS shop; CREATE TABLE shop.loans AS ${ROWS}; DETACH shop`,
    );
    const bodyOf = async (...data: string[]): Promise<unknown> => {
      const { stdout, stderr, code } = await runCli(['validate', '--json', ...data, ...measured]);
      expect([stderr, code]).to.deep.equal(['', 0]);
      const { manifest: _, ...body } = JSON.parse(stdout) as Record<string, unknown>;
      return body;
    };
    const expected = await bodyOf('--csv', csv);
    const sql = ['--sql', `duckdb:${database}`];
    expect(await bodyOf(...sql, '--table', 'loans')).to.deep.equal(expected);
    expect(await bodyOf(...sql, '--table', 'main.loans')).to.deep.equal(expected);
    expect(await bodyOf(...sql, '--query', 'SELECT * FROM loans')).to.deep.equal(expected);
    const report = path.join(folder(), 'report.md');
    await runCli(['validate', ...sql, '--table', 'loans', '--out', report, ...measured]);
    expect(readFileSync(report, 'utf8')).to.include(`'loans' in DuckDB in '${database}'`);
  });

  const WRONG: readonly (readonly [message: RegExp, ...options: string[]])[] = [
    [/contains a password, which other users/, '--sql', 'postgres://ana:hush@db.example/shop', '--table', 't'],
    [/contains a password, which other users/, '--sql', 'postgres://db.example/shop?password=hush', '--table', 't'],
    [/protocol 'oracle' is not known/, '--sql', 'oracle://db.example/shop', '--table', 't'],
    [/it cannot be parsed/, '--sql', 'postgres://db.example:hush', '--table', 't'],
    [/it has no host/, '--sql', 'postgres:///shop', '--table', 't'],
    [/--sql needs either --table or --query/, '--sql', 'duckdb:'],
    [/--sql needs either --table or --query/, '--sql', 'duckdb:', '--table', 't', '--query', 'SELECT 1'],
    [/--table needs a database: add --sql/, '--csv', 'rows.csv', '--table', 't'],
    [/--csv and --sql are given/, '--csv', 'rows.csv', '--sql', 'duckdb:', '--table', 't'],
    [/--backend is for files/, '--sql', 'duckdb:', '--table', 't', '--backend', 'native'],
    [/percent-encoded/, '--sql', 'postgres://ana:5/hush@db.example/shop', '--table', 't'],
    [/percent-encoded/, '--sql', 'postgres://ana%zz@db.example/shop', '--table', 't'],
    [/the parameter 'host' is not supported/, '--sql', 'postgres://db.example/shop?host=other', '--table', 't'],
    [/the parameter 'secure' is not supported/, '--sql', 'clickhouse://db.example/?secure=true', '--table', 't'],
    [/timeoutSeconds must be above 0|sql-timeout/, '--sql', 'duckdb:', '--table', 't', '--sql-timeout', '0'],
    [/'' is not the name of a table|no_table/, '--sql', 'duckdb:', '--table', 'no_table'],
  ];
  for (const [message, ...options] of WRONG) {
    it(`refuses ${options.join(' ')}`, async () => {
      const csv = path.join(folder(), 'rows.csv');
      const { stderr, stdout, code } = await runCli(['validate', ...options.map((text) => (text === 'rows.csv' ? csv : text)), ...measured]); // prettier-ignore
      expect(joinLines(stderr)).to.match(message).and.not.match(/hush/);
      expect([stdout, code]).to.deep.equal(['', 2]);
    });
  }
});
