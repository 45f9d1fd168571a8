import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { clusterStatements, countingSql, factsStatement, weightedRowsStatement } from '../../src/io/counting-sql.ts';
import { type DuckDbEngine, openDuckDb } from '../../src/io/index.ts';
import { type CountingInput, SQL_DIALECTS, type SqlDialect } from '../../src/schemas/counting.ts';
import { projectRoot } from '../helpers/project-files.ts';

type Request = Omit<CountingInput, 'dialect'>;

const REQUESTS: Readonly<Record<string, Request>> = {
  decisions: { table: 'shop.loans', yPred: 'approved', yTrue: 'repaid', attributes: [['sex'], ['race', 'sex']] },
  'weighted decisions of a query': {
    query: 'SELECT * FROM shop.loans WHERE 1 = 1; ',
    yPred: 'approved',
    attributes: [['sex']],
    control: ['race'],
    sampleWeight: 'w',
  },
  scores: { table: 'shop.loans', score: 'score', yTrue: 'repaid', attributes: [['sex']], scoreThreshold: 0.25 },
  'exact scores': { table: 'shop.loans', score: 'score', attributes: [['sex']], exactScores: true },
  regression: {
    table: 'shop.loans',
    yPred: 'p',
    yTrue: 't',
    attributes: [['sex']],
    regression: true,
    sampleWeight: 'w',
  },
};

const SOURCE = { table: 'shop.loans' };

/** The statements that a database may run, by name. */
const STATEMENTS: Readonly<Record<string, (dialect: SqlDialect) => string>> = {
  ...Object.fromEntries(
    Object.entries(REQUESTS).map(([name, request]) => [name, (dialect) => countingSql({ dialect, ...request })]),
  ),
  'facts about columns': (dialect) =>
    factsStatement(dialect, SOURCE, [
      { name: 'sex', facts: 'texts' },
      { name: 't', facts: 'numbers' },
      { name: 'w', facts: 'identifiers' },
    ]),
  ...Object.fromEntries(
    (['missing', 'groups', 'pairs', 'strata'] as const).map((part) => [
      `clusters: ${part}`,
      (dialect) =>
        clusterStatements({
          ...{ dialect, ...SOURCE, yPred: 'approved', yTrue: 'repaid', attribute: ['sex', 'race'], cluster: 'p' },
          ...{ strata: 't', sampleWeight: 'w', exactScores: false, decisionsOnly: false },
        })[part],
    ]),
  ),
  'clusters: groups with two texts': (dialect) =>
    clusterStatements({
      ...{
        dialect,
        ...SOURCE,
        yPred: 'approved',
        attribute: ['sex'],
        cluster: 'p',
        spellings: [new Map([["it's", 'F']])],
      },
      ...{ exactScores: false, decisionsOnly: false },
    }).groups,
  'weighted rows': (dialect) =>
    weightedRowsStatement(
      dialect,
      SOURCE,
      ['sex', 'approved'],
      [
        { texts: ["it's", '1'], weight: 0.5 },
        { texts: [null, '0'], weight: 1.25 },
      ],
      'sample_weight',
    ),
};

const GOLDEN = path.join(projectRoot, 'test/golden/counting-sql.txt');

const python = process.env['EVENHAND_PYTHON'] ?? 'python3';

/** Translates statements to DuckDB's dialect with sqlglot, which parses them in their own dialect. */
const TRANSLATE = `
import json, sys
import sqlglot
given = json.load(sys.stdin)
read = lambda one: sqlglot.transpile(one['sql'], read=one['dialect'], write='duckdb', error_level=sqlglot.ErrorLevel.RAISE)
json.dump([read(one) for one in given], sys.stdout)`;

const hasSqlglot = (): boolean => spawnSync(python, ['-c', 'import sqlglot'], { timeout: 60_000 }).status === 0;

/** Returns the rows of a result in a fixed order, with numbers as numbers. */
function comparable(rows: readonly (readonly unknown[])[]): string[] {
  const plain = (value: unknown): unknown =>
    typeof value === 'bigint' ? Number(value) : typeof value === 'number' ? Number(value.toPrecision(12)) : value;
  return rows.map((row) => JSON.stringify(row.map(plain))).sort();
}

describe('counting statements', () => {
  let engine: DuckDbEngine;
  before(async () => {
    engine = openDuckDb();
    await engine.run(async (session) => {
      await session.rows('CREATE SCHEMA shop');
      await session.rows(`CREATE TABLE shop.loans AS SELECT
        CASE range % 7 WHEN 0 THEN NULL WHEN 1 THEN 'f' WHEN 2 THEN 'F' ELSE 'it''s' END AS sex,
        CASE range % 5 WHEN 0 THEN 'a' WHEN 1 THEN '' ELSE 'b' END AS race,
        range % 2 AS approved,
        CASE range % 11 WHEN 0 THEN NULL ELSE range % 3 = 0 END AS repaid,
        CASE range % 13 WHEN 0 THEN NULL ELSE (range % 17) / 16.0 END::DOUBLE AS score,
        (range % 5)::DOUBLE AS w, (range % 101)::DOUBLE AS p, CASE range % 19 WHEN 0 THEN NULL ELSE range % 97 END::DOUBLE AS t
        FROM range(1000)`);
    });
  });
  after(() => engine.close());

  it('have the golden texts in every dialect', () => {
    const text = SQL_DIALECTS.flatMap((dialect) =>
      Object.entries(STATEMENTS).map(([name, write]) => `-- ${dialect}: ${name}\n${write(dialect)}\n`),
    ).join('\n');
    if (process.env['EVENHAND_WRITE_SCREENS'] === '1') writeFileSync(GOLDEN, text);
    expect(text).to.equal(readFileSync(GOLDEN, 'utf8'));
  });

  it('are parsed by sqlglot in every dialect, and count the same when translated to DuckDB', async function () {
    if (!hasSqlglot()) {
      if (process.env['EVENHAND_REQUIRE_MLFLOW'] === '1') throw new Error(`${python} has no sqlglot.`);
      console.log(`    skipped: ${python} has no sqlglot`);
      this.skip();
    }
    const given = SQL_DIALECTS.flatMap((dialect) =>
      Object.entries(STATEMENTS).map(([name, write]) => ({ dialect, name, sql: write(dialect) })),
    );
    const run = spawnSync(python, ['-c', TRANSLATE], {
      input: JSON.stringify(given),
      encoding: 'utf8',
      timeout: 60_000,
    });
    expect(run.stderr).to.equal('');
    const translated = JSON.parse(run.stdout) as string[][];
    await engine.run(async (session) => {
      for (const [index, { dialect, name }] of given.entries()) {
        expect(translated[index], dialect).to.have.length(1);
        const own = (STATEMENTS[name] as (dialect: SqlDialect) => string)('duckdb');
        const [expected, found] = [await session.rows(own), await session.rows(translated[index]?.[0] ?? '')];
        expect(comparable(found), `${dialect}: ${name}`).to.deep.equal(comparable(expected));
      }
    });
  });

  it('count rows with numbers that are not finite, and with negative weights', async () => {
    const query = "SELECT 'f' AS sex, 1 AS d, unnest([1.0, -1.0, 'NaN'::DOUBLE, 'inf'::DOUBLE, NULL]) AS w";
    const sql = countingSql({ dialect: 'duckdb', query, yPred: 'd', sampleWeight: 'w', attributes: [['sex']] });
    const rows = await engine.run((session) =>
      session.rows(`SELECT n::INT, invalid::INT, weight FROM (${sql}) ORDER BY n`),
    );
    expect(rows).to.deep.equal([
      [1, 0, 1],
      [4, 3, null],
    ]);
  });

  const hostile = [
    '"',
    "'",
    '`',
    '\\',
    '\\"',
    ';--',
    '/*',
    '*/ x',
    '""',
    'a"b`c\\',
    'ＡＢ',
    'x'.repeat(9000),
    '${x}',
    'eh_k0',
  ];
  for (const name of hostile) {
    it(`quote the name ${JSON.stringify(name.slice(0, 12))}, and do not change rows`, async () => {
      const quoted = `"${name.replaceAll('"', '""')}"`;
      await engine.run(async (session) => {
        await session.rows(
          `CREATE OR REPLACE TABLE hostile AS SELECT 1 AS d, '${name.replaceAll("'", "''")}' AS ${quoted}`,
        );
        const sql = countingSql({ dialect: 'duckdb', table: 'hostile', yPred: 'd', attributes: [[name]] });
        expect((await session.rows(`DESCRIBE ${sql}`)).map(([column]) => column)).to.include(name);
        expect((await session.rows(sql))[0]?.[0]).to.equal(name);
        expect(Number((await session.rows('SELECT count(*) FROM hostile'))[0]?.[0])).to.equal(1);
      });
    });
  }

  const refused: readonly (readonly [Partial<CountingInput>, RegExp])[] = [
    [{ table: undefined }, /Give either a table/],
    [{ query: 'SELECT 1' }, /Give either a table/],
    [{ yPred: undefined }, /Give either decisions/],
    [{ scoreThreshold: 0.5 }, /needs scores/],
    [{ exactScores: true }, /need scores/],
    [{ attributes: [['n']] }, /'n' has the name of a column of counts/],
    [{ attributes: [['a\0b']] }, /contains a NUL character/],
    [{ table: 'a..b' }, /'a\.\.b' is not the name of a table/],
    [{ table: '"open' }, /is not the name of a table/],
    [{ dialect: 'oracle' as never }, /dialect/],
    [{ tabel: 'x' } as never, /tabel/],
  ];
  for (const [change, message] of refused) {
    it(`refuse ${JSON.stringify(change)}`, () => {
      const request = {
        dialect: 'postgres',
        table: 't',
        yPred: 'd',
        attributes: [['sex']],
        ...change,
      } as CountingInput;
      expect(() => countingSql(request)).to.throw(message);
    });
  }

  it('take a table in a schema, and parts in double quotes', () => {
    const of = (table: string): string => countingSql({ dialect: 'mysql', table, yPred: 'd', attributes: [['s']] });
    expect(of('a.b.c')).to.include('FROM `a`.`b`.`c`');
    expect(of('"a.b"."c""d"')).to.include('FROM `a.b`.`c"d`');
  });
});
