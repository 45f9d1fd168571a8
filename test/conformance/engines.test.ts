import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { expect } from 'chai';

import { validateRows, validateSql } from '../../src/integration/index.ts';
import { builtFile } from '../../src/internal/packages.ts';
import {
  createSqlEngine,
  type EngineResult,
  openDuckDb,
  type QuerySource,
  type SqlEngine,
} from '../../src/io/index.ts';
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
import { Table } from '../../src/table/index.ts';
import { countWire, describeWithEngine, ENGINE_PASSWORD, type RunningEngine } from '../helpers/engines.ts';
import { HOSTILE_ATTRIBUTES, HOSTILE_COLUMNS, HOSTILE_LABELS, hostileRows } from '../helpers/hostile-rows.ts';
import { joinLines, runCli } from '../helpers/run-cli.ts';
import { assertSameStats } from '../helpers/stats.ts';

const TABLE = 'odd "rows"';
/** How the name is written for --table: a part in double quotes, with doubled quotes inside. */
const TABLE_NAME = '"odd ""rows"""';

function same<Stats extends GroupStats>(reduced: readonly SourceStats<Stats>[], index: number, rows: Stats): void {
  const own = reduced[index]?.stats;
  if (own === undefined) throw new Error(`There is no attribute ${String(index)}.`);
  assertSameStats(own, rows);
}

const PASSWORD = { EVENHAND_SQL_PASSWORD: ENGINE_PASSWORD };

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

async function errorOf(work: Promise<unknown>): Promise<Error> {
  return work.then(
    () => {
      throw new Error('There is no error.');
    },
    (error: unknown) => error as Error,
  );
}

/** Checks that an engine gives the statistics of the same rows in arrays. */
function engineSuite(running: () => RunningEngine): void {
  const table = hostileRows();
  const columns = table.toColumns();
  const column = (name: string) => columns[name] ?? [];
  const attributes = HOSTILE_ATTRIBUTES;
  const sensitive = [column('eh_k0'), { known: column('known'), level: column('level') }, column('level')];
  let engine: SqlEngine;
  let source: QuerySource;

  before(async () => {
    const rows = table.toRecords().map((row) => Object.values<unknown>(row) as (string | number | null)[]);
    await running().create(TABLE, HOSTILE_COLUMNS, rows);
    engine = createSqlEngine(running().url, { password: ENGINE_PASSWORD });
    source = { engine, table: TABLE_NAME };
  });
  after(() => engine.close());

  for (const nanPolicy of ['exclude', 'include'] as const) {
    for (const sampleWeight of [undefined, 'w']) {
      const request = { attributes, nanPolicy, sampleWeight };
      const rows = { nanPolicy, sampleWeight: sampleWeight === undefined ? undefined : column(sampleWeight) };
      const how = `${nanPolicy} missing groups${sampleWeight === undefined ? '' : ', weighted'}`;

      it(`decisions, labels, scores and numbers, ${how}`, async () => {
        const decisions = await reduceClassificationSource(source, { ...request, yPred: 'hired', yTrue: 'y' });
        const labels = await reduceClassificationSource(source, {
          ...request,
          yPred: 'class "x"',
          positiveLabel: 'yes',
        });
        const decided = await reduceClassificationSource(source, { ...request, yPred: 'score', scoreThreshold: 0.3 });
        const scores = await reduceScoreSource(source, { ...request, yScore: 'exact', yTrue: 'y' });
        const numbers = await reduceRegressionSource(source, { ...request, yPred: 'p', yTrue: 't' });
        const atThreshold = column('score').map((score) => (score === null ? null : Number(Number(score) >= 0.3)));
        sensitive.forEach((own, index) => {
          const given = { ...rows, sensitive: own };
          same(decisions, index, reduceClassification({ ...given, yPred: column('hired'), yTrue: column('y') }));
          const positiveLabel = 'yes';
          same(labels, index, reduceClassification({ ...given, yPred: column('class "x"'), positiveLabel }));
          same(decided, index, reduceClassification({ ...given, yPred: atThreshold }));
          // The scores are multiples of 2^-14, so bins do not round them.
          const exact = reduceScores({ ...given, yScore: column('exact'), yTrue: column('y') });
          const own0 = scores[index]?.stats;
          expect(own0?.labels).to.deep.equal(exact.labels);
          expect(own0?.nDropped).to.deep.equal(exact.nDropped);
          same(numbers, index, reduceRegression({ ...given, yPred: column('p'), yTrue: column('t') }));
        });
      });
    }
  }

  it('a validation with gates, a control feature and warnings about labels equals that of the rows', async () => {
    const given = {
      metric: ['demographic_parity_difference<=0.5', 'equalized_odds_ratio'],
      minGroupSize: 5,
      seed: 3,
      positiveLabel: 'yes',
      yTruePositiveLabel: '1',
    };
    const names = { yPred: 'class "x"', yTrue: 'y', attributes: [['level']], control: ['known'] };
    const found = await validateSql(source, { ...given, ...names });
    const expected = await validateRows({
      ...given,
      yPred: column('class "x"'),
      yTrue: column('y'),
      sensitive: { level: column('level') },
      control: { known: column('known') },
    });
    expect(plain(found)).to.deep.equal(plain(expected));
    expect(JSON.stringify(found.labels)).to.include('YES');
  });

  it('classes of decisions, and metrics of scores', async () => {
    const options = { sensitiveCol: 'level', minGroupSize: 5 };
    const bound = FairnessAnalyzer.fromSql(
      engine,
      { table: TABLE_NAME },
      {
        ...options,
        yPredCol: 'class "x"',
        yScoreCol: 'score',
        yTrueCol: 'y',
      },
    );
    const rows = FairnessAnalyzer.fromDataFrame(table, {
      ...options,
      yPredCol: 'class "x"',
      yScoreCol: 'score',
      yTrueCol: 'y',
    });
    const macro = { average: 'macro' } as const;
    const [own, expected] = await Promise.all([
      bound.demographicParityDifference(macro),
      rows.demographicParityDifference(macro),
    ]);
    expect(own.value).to.be.closeTo(expected.value, 1e-14);
    for (const metric of ['roc_auc_difference', 'log_loss_difference']) {
      const [binned, exact] = await Promise.all([bound.metric(metric), rows.metric(metric)]);
      expect(binned.value, metric).to.be.closeTo(exact.value, metric.startsWith('log') ? 1e-12 : 1e-4);
      expect(exact.value, metric).to.be.above(0);
    }
  });

  it('a query is one statement that reads', async () => {
    const named = { yPred: 'hired', attributes: [['known']] };
    const query = `SELECT * FROM ${running().quoted(TABLE)} WHERE known = 'a'`;
    const { rows } = await validateSql({ engine, query: `${query};` }, named);
    expect(rows).to.equal(column('known').filter((value) => value === 'a').length);
    const hostile = [
      `${query}) AS q; DROP TABLE ${running().quoted(TABLE)}; --`,
      `SELECT 1 AS hired, 1 AS known) AS q GROUP BY 1; CREATE TABLE made_here (x integer); SELECT (1`,
      'DROP TABLE t',
      'SELECT * FROM no_such_table',
      'SELECT 1 AS other',
      '',
    ];
    for (const text of hostile) {
      const error = await errorOf(validateSql({ engine, query: text }, named));
      expect(error.name, text).to.be.oneOf(['DataValidationError', 'ConfigValidationError']);
    }
    expect((await validateSql(source, named)).rows).to.equal(table.rowCount);
    expect(String(await errorOf(engine.query('SELECT * FROM made_here')))).to.match(/made_here/);
  });

  it('hostile names of columns are names', async () => {
    const odd = HOSTILE_LABELS.filter((name) => !name.includes('__proto__'));
    const types = Object.fromEntries([...odd.map((name) => [name, 'text'] as const), ['hired', 'integer'] as const]);
    const rows = Array.from({ length: 40 }, (_, row) => [
      ...odd.map((name) => (row % 2 === 0 ? name : 'other')),
      row % 4 < 2 ? 1 : 0,
    ]);
    await running().create('odd names', types, rows);
    const given = Table.from(
      rows.map((row) => Object.fromEntries(Object.keys(types).map((name, index) => [name, row[index] ?? null]))),
    );
    for (const name of odd) {
      const reduced = await reduceClassificationSource(
        { engine, table: 'odd names' },
        { attributes: [[name]], yPred: 'hired', nanPolicy: 'exclude' },
      );
      const own = given.toColumns();
      same(reduced, 0, reduceClassification({ yPred: own['hired'] ?? [], sensitive: own[name] ?? [] }));
    }
  });

  it('stops a statement at a signal, and at its time limit', async () => {
    const slow = running().slowQuery;
    const controller = new AbortController();
    setTimeout(() => {
      controller.abort();
    }, 300);
    const start = performance.now();
    const aborted = await errorOf(engine.query(slow, { signal: controller.signal }));
    expect(aborted.name).to.equal('AbortError');
    expect(performance.now() - start).to.be.below(10_000);
    const hurried = createSqlEngine(running().url, { password: ENGINE_PASSWORD, timeoutSeconds: 1 });
    const late = await errorOf(hurried.query(slow));
    expect(late.message, late.stack).to.match(/did not finish counting within 1 second/);
    await hurried.close();
    for (let attempt = 0; attempt < 50 && (await running().running()) > 0; attempt++) await sleep(100);
    expect(await running().running(), 'statements that still run').to.equal(0);
  });

  const measured = ['--y-pred', 'hired', '--sensitive', 'known'];

  it('the command line: the result of the rows, and no password in it', async () => {
    const data = ['--sql', running().url, '--table', TABLE_NAME, '--json', '--verbose'];
    const { stdout, stderr, code } = await runCli(['validate', ...data, ...measured], { env: PASSWORD });
    expect(code, stderr).to.equal(0);
    const { attributes } = await validateSql(source, { yPred: 'hired', attributes: [['known']] });
    const value = attributes['known']?.['demographic_parity_difference']?.value;
    expect(stdout).to.include(`"value": ${String(value)}`);
    expect(stdout + stderr).to.not.include('hush');
    const wrong = await runCli(['validate', ...data, ...measured], { env: { EVENHAND_SQL_PASSWORD: 'wrong-one' } });
    expect([wrong.code, wrong.stdout]).to.deep.equal([2, '']);
    expect(joinLines(wrong.stderr))
      .to.match(/does not accept the user or the password/)
      .and.not.match(/wrong-one/);
  });

  it('the command line: Ctrl-C stops the statement', async () => {
    const args = ['validate', '--sql', running().url, '--query', running().slowQuery, ...measured];
    const child = spawn(process.execPath, [builtFile('cli/main.js'), ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...PASSWORD },
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (output += String(part)));
    for (let attempt = 0; attempt < 200 && (await running().running()) === 0; attempt++) await sleep(50);
    expect(await running().running(), output).to.equal(1);
    child.kill('SIGINT');
    const [code] = (await once(child, 'exit')) as [number];
    expect([code, output]).to.satisfy(() => code === 130 && /^Interrupted|^warning: Interrupted/i.test(output), output);
    for (let attempt = 0; attempt < 50 && (await running().running()) > 0; attempt++) await sleep(100);
    expect(await running().running(), 'statements that still run').to.equal(0);
  });

  it('5 million rows: counts exactly, sums to 1e-12, and under 100 kB from the engine @slow', async function () {
    this.timeout(600_000);
    const count = 5_000_000;
    const { literal } = running();
    const labels = HOSTILE_LABELS.slice(0, 8);
    const pick = (column: string, values: readonly string[]): string =>
      `CASE ${values.map((value, code) => `WHEN ${column} = ${String(code)} THEN ${literal(value)}`).join(' ')} END`;
    // Group 8 and level 5 are missing values, as every 101st weight is.
    await running().createSeries(
      'many rows',
      { g: 'text', level: 'text', hired: 'integer', y: 'integer', w: 'double' },
      count,
      [
        pick('(i * 7919 + 13) % 9', labels),
        pick('(i * 104729 + 7) % 6', ['a', 'b', 'c', 'd', 'e']),
        '(i * 31 + 5) % 97 % 2',
        'CASE WHEN i % 13 = 0 THEN NULL ELSE (i * 17 + 3) % 89 % 2 END',
        'CASE WHEN i % 101 = 0 THEN NULL ELSE (i % 997) * 0.001e0 END',
      ],
    );
    const column = <T>(make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
    const g = column((i) => labels[(i * 7919 + 13) % 9] ?? null);
    const level = column((i) => ['a', 'b', 'c', 'd', 'e'][(i * 104729 + 7) % 6] ?? null);
    const given = {
      yPred: column((i) => ((i * 31 + 5) % 97) % 2),
      yTrue: column((i) => (i % 13 === 0 ? null : ((i * 17 + 3) % 89) % 2)),
      sampleWeight: column((i) => (i % 101 === 0 ? null : (i % 997) * 0.001)),
    };
    const wire = await countWire(running().url);
    const counting = createSqlEngine(wire.url, { password: ENGINE_PASSWORD });
    for (const sampleWeight of [undefined, 'w']) {
      const reduced = await reduceClassificationSource(
        { engine: counting, table: 'many rows' },
        { attributes: [['g', 'level'], ['g']], yPred: 'hired', yTrue: 'y', sampleWeight, nanPolicy: 'exclude' },
      );
      const rows = { ...given, sampleWeight: sampleWeight === undefined ? undefined : given.sampleWeight };
      same(reduced, 0, reduceClassification({ ...rows, sensitive: { g, level } }));
      same(reduced, 1, reduceClassification({ ...rows, sensitive: g }));
    }
    await counting.close();
    wire.close();
    expect(wire.bytes()).to.be.within(1000, 100_000);
  });

  it('an engine that ends in the middle: one clear error, and no result', async () => {
    const pending = errorOf(
      validateSql({ engine, query: running().slowOver(TABLE) }, { yPred: 'hired', attributes: [['known']] }),
    );
    await sleep(700);
    await running().kill();
    const error = await pending;
    expect(error.name).to.equal('DataValidationError');
    expect(error.message).to.match(/closed the connection|does not answer|cannot count/);
    expect(error.message).to.not.match(/undefined|\n/);
    await running().start();
    expect((await validateSql(source, { yPred: 'hired', attributes: [['known']] })).rows).to.equal(table.rowCount);
  });
}

describeWithEngine('postgres', 'an engine counts', (running) => {
  engineSuite(running);

  const open = (user?: string): SqlEngine => {
    const url = new URL(running().url);
    if (user !== undefined) url.username = user;
    return createSqlEngine(url.href, { password: ENGINE_PASSWORD });
  };
  const named = { yPred: 'd', attributes: [['g']] };
  const labelsOf = async (source: QuerySource, more: object = {}): Promise<readonly string[]> => {
    const [reduced] = await reduceClassificationSource(source, { ...named, nanPolicy: 'exclude', ...more });
    return reduced?.stats.labels ?? [];
  };

  it('texts that a collation makes equal stay different', async () => {
    const collation = "CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false)";
    const rows = "SELECT CASE i % 2 WHEN 0 THEN 'YES' ELSE 'yes' END, CASE i / 300 WHEN 0 THEN 'F' ELSE 'f' END";
    const table = 'CREATE TABLE collated (d text COLLATE ci, g text COLLATE ci)';
    await running().write(collation, table, `INSERT INTO collated ${rows} FROM generate_series(0, 599) AS s(i)`);
    const source = { engine: open(), table: 'collated' };
    const { attributes } = await validateSql(source, { ...named, positiveLabel: 'yes' });
    expect(attributes['g']?.['demographic_parity_difference']?.value).to.equal(0);
    expect(await labelsOf(source, { positiveLabel: 'yes' })).to.deep.equal(['F', 'f']);
  });

  it('numbers are one label, however they are written, and texts do not depend on settings of the user', async () => {
    const role = `CREATE ROLE short LOGIN PASSWORD '${ENGINE_PASSWORD.replaceAll("'", "''")}'`;
    const decisions = 'CASE i % 4 WHEN 0 THEN 1 WHEN 1 THEN 1.0 WHEN 2 THEN 0.00 ELSE 0 END';
    const close = `CASE i % 3 WHEN 0 THEN 0.1e0 ELSE ${String(0.1 + 2 ** -56)}e0 END`;
    await running().write(
      `${role}; ALTER ROLE short SET extra_float_digits = 0; GRANT pg_read_all_data TO short`,
      'CREATE TABLE numbers (d numeric, m numeric(5, 2), g double precision)',
      `INSERT INTO numbers SELECT ${decisions}, i % 2, ${close} FROM generate_series(0, 599) AS s(i)`,
    );
    for (const user of [undefined, 'short']) {
      const source = { engine: open(user), table: 'numbers' };
      expect(await labelsOf(source), user).to.deep.equal(['0.1', String(0.1 + 2 ** -56)]);
      for (const given of [named, { ...named, positiveLabel: '1' }, { ...named, yPred: 'm', positiveLabel: '1' }]) {
        const { attributes } = await validateSql(source, given);
        expect(attributes['g']?.['demographic_parity_difference']?.value).to.equal(0);
      }
    }
  });

  it('a statement is stopped also if the user has no further connection', async () => {
    const role = `CREATE ROLE alone LOGIN CONNECTION LIMIT 1 PASSWORD '${ENGINE_PASSWORD.replaceAll("'", "''")}'`;
    await running().write(role);
    const controller = new AbortController();
    setTimeout(() => {
      controller.abort();
    }, 500);
    const engine = open('alone');
    expect((await errorOf(engine.query(running().slowQuery, { signal: controller.signal }))).name).to.equal(
      'AbortError',
    );
    await engine.close();
    for (let attempt = 0; attempt < 50 && (await running().running()) > 0; attempt++) await sleep(100);
    expect(await running().running()).to.equal(0);
  });

  it('errors of the statement are not taken for lost connections', async () => {
    const engine = open();
    for (const query of ["SELECT 'a AS d, 1 AS g", 'SELECT $1 AS d, 1 AS g', 'SELECT nextval(1) AS d, 1 AS g']) {
      expect((await errorOf(validateSql({ engine, query }, named))).message, query).to.match(/cannot count: /);
    }
  });
});

describeWithEngine('clickhouse', 'an engine counts', (running) => {
  engineSuite(running);

  it('limits of the user are errors, also if the server would return a part of the rows', async () => {
    const url = new URL(running().url);
    url.username = 'breaking';
    const engine = createSqlEngine(url.href, { password: ENGINE_PASSWORD, timeoutSeconds: 1 });
    const named = { yPred: 'd', attributes: [['g']] };
    const groups = 'SELECT number % 2 AS d, number % 3 AS g FROM (SELECT number FROM numbers(600))';
    expect((await errorOf(validateSql({ engine, query: groups }, named))).message).to.match(
      /Limit for rows to GROUP BY/,
    );
    const long = 'SELECT number % 2 AS d, 1 AS g FROM (SELECT number FROM system.numbers LIMIT 20000000000)';
    expect((await errorOf(validateSql({ engine, query: long }, named))).message).to.match(/within 1 second/);
    await engine.close();
  });
});

describe('createSqlEngine', () => {
  it('rejects what is not an address, without showing it', () => {
    const cases = ['', 'loans', 'mongo://ana:secret@host/db', 'postgres:///db', 'http://ana:secret@host'];
    for (const url of cases) {
      expect(() => createSqlEngine(url), url)
        .to.throw(/URL of the SQL engine is not valid/)
        .and.not.match(/secret/);
    }
    expect(() => createSqlEngine('postgres://h/d', { timeoutSeconds: 0 })).to.throw(/timeoutSeconds must be above 0/);
  });

  it('names the engine without user and password', () => {
    const engine = createSqlEngine('postgres://ana:secret@db.example:5433/shop?sslmode=require');
    expect(engine.name).to.equal('PostgreSQL at db.example:5433/shop');
    expect(engine.dialect).to.equal('postgres');
  });

  it('an address that does not answer is one clear error', async () => {
    const engine = createSqlEngine('postgres://ana:secret-password@127.0.0.1:1/shop');
    const error = await errorOf(engine.query('SELECT 1'));
    expect(error.message).to.match(/^PostgreSQL at 127\.0\.0\.1:1\/shop does not answer: .*ECONNREFUSED/);
    expect(JSON.stringify(error)).to.not.include('secret-password');
  });

  const ownEngine = (columns: readonly string[], rows: EngineResult['rows']): SqlEngine => ({
    name: 'my engine',
    dialect: 'bigquery',
    query: () => Promise.resolve({ columns, rows }),
    close: () => Promise.resolve(),
  });
  const names = ['sex', 'decision', 'n'] as const;

  it('takes engines of users, with counts as numbers, texts or bigint', async () => {
    const rows = [['f', 'true', 600n], ['f', 'false', '400'], ['m', 'true', 500], ['m', 'false', '500']]; // prettier-ignore
    const engine = ownEngine(names, rows);
    const { attributes } = await validateSql({ engine, table: 'loans' }, { yPred: 'approved', attributes: [['sex']] });
    expect(attributes['sex']?.['demographic_parity_difference']?.value).to.be.closeTo(0.1, 1e-15);
  });

  const WRONG: readonly (readonly [what: string, rows: EngineResult['rows'], message: RegExp])[] = [
    [
      'a label that is not UTF-8',
      [['caf\uFFFD', '1', 1]],
      /label in column 'sex' that is not valid UTF-8: 'caf\uFFFD'/,
    ],
    ['text for a count', [['f', '1', 'many']], /returned 'many' where a number was expected, in column 'n'/],
    ['a rounded count', [['f', '1', 2 ** 53]], /holds 9007199254740992/],
    ['an infinite count', [['f', '1', Infinity]], /'loans' in my engine must be a whole number .*Infinity/],
    ['no count', [['f', '1', null]], /holds nothing/],
    [
      'a label that is neither 0 nor 1',
      [['f', 'maybe', 1]],
      /approved must be 0 or 1, but holds 'maybe' in 'loans' in my engine/,
    ],
    ['no row', [], /no row|No row|empty/i],
  ];
  for (const [what, rows, message] of WRONG) {
    it(`${what} is one clear error`, async () => {
      const source = { engine: ownEngine(names, rows), table: 'loans' };
      const error = await errorOf(validateSql(source, { yPred: 'approved', attributes: [['sex']] }));
      expect(error.name).to.equal('DataValidationError');
      expect(error.message).to.match(message);
    });
  }

  it('an error after the first rows of a result is an error', async () => {
    const body = { meta: [{ name: 'n' }], data: [[1]], rows: 1 };
    const bodies = [
      { ...body, exception: 'Code: 241. DB::Exception: Memory limit exceeded' },
      { ...body, rows: 2 },
    ];
    for (const [index, message] of [/Memory limit exceeded/, /not complete/].entries()) {
      const server = createServer((_, response) => response.end(JSON.stringify(bodies[index]))).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const engine = createSqlEngine(`clickhouse://127.0.0.1:${String(port)}`);
      expect((await errorOf(engine.query('SELECT 1'))).message).to.match(message);
      await engine.close();
      server.close();
    }
  });

  it('a server that never answers does not keep the engine open', async () => {
    const sockets: Socket[] = [];
    const server = createTcpServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    for (const scheme of ['postgres', 'clickhouse']) {
      const engine = createSqlEngine(`${scheme}://127.0.0.1:${String(port)}/x`);
      const pending = errorOf(engine.query('SELECT 1', { signal: AbortSignal.timeout(200) }));
      expect((await pending).name).to.equal('TimeoutError');
      const start = performance.now();
      await engine.close();
      expect(performance.now() - start).to.be.below(6000);
    }
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  it('a time limit with a fraction', async () => {
    const engine = createSqlEngine('postgres://127.0.0.1:1/shop', { timeoutSeconds: 0.56 });
    expect((await errorOf(engine.query('SELECT 1'))).message).to.match(/does not answer/);
  });

  it('an intersection after its parts has its own limit', async () => {
    const crossed = Array.from({ length: 20_001 }, (_, row) => [`g${String(row)}`, 'a', String(row % 2), 50]);
    const engine: SqlEngine = {
      ...ownEngine(names, []),
      query: (sql) =>
        Promise.resolve(
          sql.includes('`a`') && sql.includes('`b`')
            ? { columns: ['a', 'b', 'decision', 'n'], rows: crossed }
            : { columns: [sql.includes('`a`') ? 'a' : 'b', 'decision', 'n'], rows: [['x', '1', 50], ['y', '0', 50]] }, // prettier-ignore
        ),
    };
    const reduced = await reduceClassificationSource(
      { engine, table: 'loans' },
      { attributes: [['a', 'b'], ['a'], ['b']], yPred: 'approved', nanPolicy: 'exclude' },
    );
    expect(reduced.map(({ stats }) => stats.labels.length)).to.deep.equal([20_001, 2, 2]);
  });

  it('a result that is too large is one clear error; crossed attributes are then counted apart', async () => {
    const many = Array.from({ length: 20_001 }, (_, row) => [`g${String(row)}`, 'a', '1', 1]);
    const asked: string[] = [];
    const engine: SqlEngine = {
      ...ownEngine(names, []),
      query(sql) {
        asked.push(sql);
        const isCrossed = sql.includes('`sex`') && sql.includes('`region`');
        return Promise.resolve(
          isCrossed
            ? { columns: ['sex', 'region', 'decision', 'n'], rows: many }
            : { columns: [sql.includes('`sex`') ? 'sex' : 'region', 'decision', 'n'], rows: [['a', '1', 50], ['b', '0', 50]] }, // prettier-ignore
        );
      },
    };
    const request = { yPred: 'approved', attributes: [['sex'], ['region']] };
    const { attributes } = await validateSql({ engine, table: 'loans' }, request);
    expect(Object.keys(attributes)).to.deep.equal(['sex', 'region']);
    expect(asked.map((sql) => /LIMIT \d+/.exec(sql)?.[0])).to.deep.equal([
      'LIMIT 20001',
      'LIMIT 1000001',
      'LIMIT 1000001',
    ]);
  });

  it('opens DuckDB', async () => {
    const engine = createSqlEngine('duckdb:');
    expect(await engine.query('SELECT 6 * 7 AS answer')).to.deep.equal({ columns: ['answer'], rows: [[42]] });
    await engine.close();
    expect(engine.name).to.equal(openDuckDb().name);
  });
});
