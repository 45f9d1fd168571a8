import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { expect } from 'chai';

import { validateSql } from '../../src/integration/index.ts';
import {
  createSqlEngine,
  type EngineResult,
  openDuckDb,
  type QuerySource,
  type SqlEngine,
} from '../../src/io/index.ts';
import { reduceClassificationSource } from '../../src/metrics/reduce/reduce-source.ts';
import { engineSuite, errorOf } from '../helpers/engine-suite.ts';
import { CLICKHOUSE_SHARDS, describeWithEngine, ENGINE_PASSWORD, POSTGRES } from '../helpers/engines.ts';

describeWithEngine(POSTGRES, 'an engine counts', (running) => {
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

describeWithEngine(CLICKHOUSE_SHARDS, 'an engine counts', (running) => {
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
    expect(() => createSqlEngine('trino://h/c/s/t')).to.throw(/must be a catalog and a schema/);
    expect(() => createSqlEngine('spark://h/d?ssl=true')).to.throw(/'ssl' is not supported; sparks:\/\/ uses TLS/);
    expect(() => createSqlEngine('postgres://h/d', { timeoutSeconds: 0 })).to.throw(/timeoutSeconds must be above 0/);
  });

  it('names the engine without user and password', () => {
    const engine = createSqlEngine('postgres://ana:secret@db.example:5433/shop?sslmode=require');
    expect(engine.name).to.equal('PostgreSQL at db.example:5433/shop');
    expect(engine.dialect).to.equal('postgres');
  });

  it('an address that does not answer is one clear error', async () => {
    const cases = { postgres: 'PostgreSQL', clickhouse: 'ClickHouse', trinos: 'Trino', spark: 'Spark' };
    for (const [scheme, title] of Object.entries(cases)) {
      const engine = createSqlEngine(`${scheme}://ana:secret-password@127.0.0.1:1/shop`);
      const error = await errorOf(engine.query('SELECT 1'));
      expect(error.message).to.match(/^\w+ at 127\.0\.0\.1:1\/shop does not answer: .*ECONNREFUSED/);
      expect(error.message).to.include(title);
      expect(JSON.stringify(error)).to.not.include('secret-password');
      await engine.close();
    }
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

  /** Answers the requests of a statement in Trino with pages, one after the other. */
  async function trinoServer(
    answers: readonly (object | string | number)[],
  ): Promise<{ readonly url: string; readonly asked: string[]; readonly close: () => void }> {
    const asked: string[] = [];
    const remaining = [...answers];
    const server = createServer((request, response) => {
      asked.push(`${request.method ?? ''} ${request.url ?? ''}`);
      const answer = request.method === 'DELETE' ? 204 : (remaining.shift() ?? 500);
      if (typeof answer === 'number') return response.writeHead(answer).end('Some reason');
      if (typeof answer === 'string') return response.end(answer);
      const nextUri = remaining.length === 0 ? undefined : `http://${request.headers.host ?? ''}/next`;
      return response.end(JSON.stringify({ id: 'query-1', nextUri, ...answer }));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    return { url: `trino://ana@127.0.0.1:${String(port)}/c/s`, asked, close: () => server.close() };
  }
  const columns = [{ name: 'n', type: 'bigint' }];
  const [running, finished] = [{ stats: { state: 'RUNNING' } }, { stats: { state: 'FINISHED' } }];
  const lost = { stats: { state: 'FAILED' }, error: { message: 'A worker\nis gone', errorName: 'REMOTE_HOST_GONE' } };
  const TRINO_ANSWERS: readonly (readonly [what: string, answers: (object | string | number)[], found: unknown])[] = [
    ['rows of several pages', [running, { ...running, columns, data: [[1]] }, { ...finished, data: [[2]] }], [[1], [2]]],
    ['an error at once', [{ ...lost, error: { message: 'No table', errorName: 'TABLE_NOT_FOUND' } }], /cannot count: No table\.$/],
    ['an error after the first rows', [{ ...running, columns, data: [[1]] }, { ...lost, error: { message: 'Division by zero', errorName: 'DIVISION_BY_ZERO' } }], /cannot count: Division by zero/],
    ['a lost worker, then rows', [running, lost, running, { ...finished, columns, data: [[3]] }], [[3]]],
    ['a lost worker, twice', [running, lost, running, lost], /lost a connection or a server .* twice: A worker is gone/],
    ['a server that is busy, then rows', [503, { ...finished, columns, data: [[4]] }], [[4]]],
    ['a result that is cut off', [running, { ...running, columns, data: [[1]] }].map((page) => ({ ...page, nextUri: undefined })), /not complete/],
    ['a page without data or state', [{}], /not complete/],
    ['no JSON', ['<html>'], /not complete/],
    ['no JSON later', [running, '<html>', running], /not in JSON/],
    ['an unknown user', [401], /does not accept the user or the password: HTTP 401 Some reason/],
    ['a time limit of the server', [{ ...lost, error: { message: 'Exceeded', errorName: 'EXCEEDED_TIME_LIMIT' } }], /did not finish counting/],
    ['large integers, and texts that look like numbers', ['{"id":"q","columns":[{"name":"n","type":"bigint"}],"stats":{"state":"FINISHED"},"data":[[9007199254740993,-9007199254740993,9007199254740991,1.2345678901234567E-5,"9007199254740993","a\\"12345678901234567,"]]}'], [['9007199254740993', '-9007199254740993', 9007199254740991, Number('1.2345678901234567E-5'), '9007199254740993', 'a"12345678901234567,']]],
  ]; // prettier-ignore
  for (const [what, answers, found] of TRINO_ANSWERS) {
    it(`Trino: ${what}`, async () => {
      const server = await trinoServer(answers);
      const engine = createSqlEngine(server.url, { env: {} });
      const result = engine.query('SELECT 1 AS n');
      if (found instanceof RegExp)
        expect((await errorOf(result)).message)
          .to.match(found)
          .and.not.match(/\n/);
      else expect(await result).to.deep.equal({ columns: ['n'], areNumbers: [true], rows: found });
      await engine.close();
      server.close();
    });
  }

  it('Trino: an aborted statement is stopped in the engine', async () => {
    const server = await trinoServer(Array.from({ length: 1000 }, () => running));
    const engine = createSqlEngine(server.url, { env: {} });
    const error = await errorOf(engine.query('SELECT 1', { signal: AbortSignal.timeout(300) }));
    expect(error.name).to.equal('TimeoutError');
    await engine.close();
    expect(server.asked.at(-1)).to.equal('DELETE /v1/query/query-1');
    server.close();
  });

  it('Spark: a server that ends connections is one clear error', async () => {
    const server = createTcpServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const engine = createSqlEngine(`spark://127.0.0.1:${String(port)}`);
    expect((await errorOf(engine.query('SELECT 1'))).message).to.match(/lost a connection or a server .* twice/);
    await engine.close();
    server.close();
  });

  it('a server that never answers does not keep the engine open', async () => {
    const sockets: Socket[] = [];
    const server = createTcpServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    for (const scheme of ['postgres', 'clickhouse', 'trino', 'spark']) {
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
