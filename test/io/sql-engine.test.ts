import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { DataValidationError } from '../../src/exceptions/index.ts';
import { openDuckDb } from '../../src/io/index.ts';
import {
  reduceClassificationSource,
  reduceRegressionSource,
  reduceScoreSource,
} from '../../src/metrics/reduce/reduce-source.ts';
import { useTemporaryFolder } from '../helpers/run-cli.ts';

const folder = useTemporaryFolder();

async function errorOf(work: () => unknown): Promise<DataValidationError> {
  let caught: unknown;
  try {
    await work();
  } catch (error) {
    caught = error;
  }
  expect(caught).to.be.instanceOf(DataValidationError);
  return caught as DataValidationError;
}

describe('openDuckDb', () => {
  it('keeps tables between runs, in memory', async () => {
    const engine = openDuckDb();
    await engine.run((session) => session.rows('CREATE TABLE t AS SELECT 7 AS x'));
    expect(await engine.run((session) => session.rows('SELECT x FROM t'))).to.deep.equal([[7]]);
    await engine.close();
  });

  it('rejects a missing file, a folder, and a file that is not a database', async () => {
    const missing = path.join(folder(), 'none.duckdb');
    expect((await errorOf(() => openDuckDb(missing))).message).to.equal(
      `Cannot open the database '${missing}': there is no such file.`,
    );
    expect((await errorOf(() => openDuckDb(folder()))).message).to.match(/it is not a file\.$/);
    const text = path.join(folder(), 'text.duckdb');
    writeFileSync(text, 'no database '.repeat(1000));
    const engine = openDuckDb(text);
    const error = await errorOf(() => engine.run((session) => session.rows('SELECT 1')));
    expect(error.message).to.match(/^Cannot open the database '.*text\.duckdb': .*not a valid DuckDB database file!$/);
    await engine.close();
  });

  it('does not write to a file that is opened read-only', async () => {
    const file = path.join(folder(), 'read.duckdb');
    const writer = openDuckDb(file, { readOnly: false });
    await writer.run((session) => session.rows('CREATE TABLE t AS SELECT 1 AS x'));
    await writer.close();
    const reader = openDuckDb(file);
    let caught: unknown;
    await reader.run((session) => session.rows('DROP TABLE t')).catch((error: unknown) => (caught = error));
    expect(String(caught)).to.match(/read-only/);
    expect(await reader.run((session) => session.rows('SELECT x FROM t'))).to.deep.equal([[1]]);
    await reader.close();
  });

  it('closes after the running work, can be closed twice or unused, and reports that it is closed', async () => {
    const engine = openDuckDb();
    const working = engine.run((session) => session.rows('SELECT sum(i)::DOUBLE FROM range(1000000) r(i)'));
    await Promise.all([engine.close(), engine.close()]);
    expect(await working).to.deep.equal([[499999500000]]);
    await engine.close();
    await openDuckDb().close();
    const error = await errorOf(() => engine.run((session) => session.rows('SELECT 1')));
    expect(error.message).to.equal("The database ':memory:' is closed.");
  });

  it('can be used again after a failed run', async () => {
    const engine = openDuckDb();
    let caught: unknown;
    await engine.run(() => Promise.reject(new TypeError('mine'))).catch((error: unknown) => (caught = error));
    expect(caught).to.be.instanceOf(TypeError);
    expect(await engine.run((session) => session.rows('SELECT 1'))).to.deep.equal([[1]]);
    await engine.close();
  });

  it('restores the number of threads after ordered sums, also if they are concurrent and fail', async () => {
    const engine = openDuckDb();
    const threads = () => engine.run((session) => session.rows("SELECT current_setting('threads')"));
    await engine.run((session) => session.rows('SET threads = 3'));
    const before = await threads();
    const ordered = (sql: string) => engine.run((session) => session.rows(sql, { ordered: true }));
    const settled = await Promise.allSettled([ordered('SELECT 1'), ordered('SELECT nothing'), ordered('SELECT 2')]);
    expect(settled.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected', 'fulfilled']);
    expect(await threads()).to.deep.equal(before);
    await engine.close();
  });
});

describe('a query as a source', () => {
  const engine = openDuckDb();
  before(() =>
    engine.run((session) =>
      session.rows("CREATE TABLE t AS SELECT 1 AS p, 0 AS y, 'a' AS s, 0.5 AS w, unnest([1, 2]) AS n"),
    ),
  );
  after(() => engine.close());
  const request = { attributes: [['s']], yPred: 'p', yTrue: 'y', nanPolicy: 'exclude' } as const;
  const reduce = (query: string) => reduceClassificationSource({ engine, query }, request);

  const accepted = [
    'SELECT * FROM t',
    'SELECT * FROM t;',
    'SELECT * FROM t ; ; ',
    'SELECT * FROM t -- every row; all',
    'SELECT * FROM t; /* done */',
    'FROM t',
    'WITH own AS (FROM t) SELECT * FROM own ORDER BY n LIMIT 2',
    "SELECT *, ';' AS semicolon, '--' AS dashes FROM t",
    '(SELECT * FROM t)',
    'SELECT 1 AS p, 0 AS y, s, n AS a_1 FROM t',
  ];
  for (const query of accepted) {
    it(`accepts ${query}`, async () => {
      expect((await reduce(query))[0]?.stats.counts[1]).to.equal(2);
    });
  }

  const refused: [string, RegExp][] = [
    ['SELEC * FROM t', /^The query cannot be run: Parser Error: syntax error at or near "SELEC"\.$/],
    ['SELECT * FROM nowhere', /^The query cannot be run: Catalog Error: Table with name nowhere does not exist!/],
    ['SELECT nothing FROM t', /^The query cannot be run: Binder Error: .*"nothing" not found/],
    ['SELECT * FROM t; SELECT * FROM t', /^The query cannot be run: .*Expected a single SELECT statement\.$/],
    ['SELECT * FROM t; DROP TABLE t', /Expected a single SELECT statement/],
    ['SELECT * FROM t) ; DROP TABLE t; SELECT (1', /syntax error at or near "\)"/],
    ["SELECT * FROM t'); DROP TABLE t; --", /^The query cannot be run: Parser Error: unterminated quoted string/],
    ['DROP TABLE t', /Expected a single SELECT statement/],
    ['', /Expected a single SELECT statement/],
    ["SELECT ('x' || s)::INTEGER AS p, y, s FROM t", /Conversion Error: Could not convert string 'xa' to INT32\.$/],
    ['SELECT 1 AS q, y, s FROM t', /^The query has no column 'p'\.$/],
    ['SELECT p, p, y, s FROM t', /^The query has more than one column 'p' /],
    ['SELECT p, P, y, s FROM t', /^The query has more than one column 'p' /],
    ['SELECT p + 1 AS p, y, s FROM t', /^Column 'p' must be 0 or 1, but holds 2 in row 1\.$/],
    ['SELECT * FROM t WHERE false', /^There are no rows to measure\.$/],
  ];
  for (const [query, message] of refused) {
    it(`rejects ${query === '' ? 'an empty text' : query}`, async () => {
      const error = await errorOf(() => reduce(query));
      expect(error.message).to.match(message).and.not.include('\n');
      expect((await engine.run((session) => session.rows('SELECT count(*)::INTEGER FROM t')))[0]).to.deep.equal([2]);
    });
  }

  it('reports a positive label that does not occur, and the labels that do', async () => {
    const error = await errorOf(() =>
      reduceClassificationSource(
        { engine, query: 'FROM t' },
        { ...request, yPred: 's', yTrue: undefined, positiveLabel: 'b' },
      ),
    );
    expect(error.message).to.equal("No row of the query holds the positive label 'b' in column 's'.");
    expect(error.suggestion).to.equal("The labels of 's' are 'a'.");
  });

  it('accepts one class of several that does not occur', async () => {
    const [reduced] = await reduceClassificationSource(
      { engine, query: 'FROM t' },
      { ...request, yPred: 's', yTrue: undefined, positiveLabel: 'b', isOneOfMany: true },
    );
    expect([...(reduced?.stats.counts ?? [])]).to.deep.equal([0, 0, 0, 0, 2, 0]);
  });

  const problems: [string, string, () => Promise<unknown>, string][] = [
    [
      'text among numbers',
      "SELECT s, unnest(['1', 'x']) AS v, 1 AS y, 1 AS w FROM t",
      () => reduceRegressionSource(source(), { ...columns, yPred: 'v' }),
      "Column 'v' should hold numbers, but row 2 holds 'x'.",
    ],
    [
      'an infinite score',
      "SELECT s, unnest([1, 'inf'::DOUBLE]) AS v, 1 AS y, 1 AS w FROM t",
      () => reduceScoreSource(source(), { ...columns, yScore: 'v', yTrue: 'y' }),
      "Column 'v' should hold finite numbers, but row 2 holds 'inf'.",
    ],
    [
      'a true label of 2 with scores',
      'SELECT s, 0.5 AS v, 2 AS y, 1 AS w FROM t',
      () => reduceScoreSource(source(), { ...columns, yScore: 'v', yTrue: 'y' }),
      "Column 'y' must be 0 or 1, but holds 2 in row 1.",
    ],
    [
      'a negative weight',
      'SELECT s, 1 AS v, 1 AS y, -w AS w FROM t',
      () => reduceClassificationSource(source(), { ...columns, yPred: 'v' }),
      "Column 'w' must hold weights of 0 or more, but row 1 holds -0.5.",
    ],
    [
      'a decision of 3, though its row has no weight',
      'SELECT s, 3 AS v, 1 AS y, NULL::DOUBLE AS w FROM t',
      () => reduceClassificationSource(source(), { ...columns, yPred: 'v' }),
      "Column 'v' must be 0 or 1, but holds 3 in row 1.",
    ],
  ];
  let current = '';
  const source = () => ({ engine, query: current });
  const columns = { attributes: [['s']], sampleWeight: 'w', nanPolicy: 'exclude' } as const;
  for (const [title, query, run, message] of problems) {
    it(`finds the first row with ${title}`, async () => {
      current = query;
      expect((await errorOf(run)).message).to.equal(message);
    });
  }
});
