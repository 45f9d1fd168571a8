// The suite of engines on clusters, and on the current ClickHouse. `npm run test:engines` installs them and runs it.
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer as createHttpsServer } from 'node:https';
import { createServer } from 'node:tls';

import { expect } from 'chai';

import { validateSql } from '../../src/integration/index.ts';
import { createSqlEngine, type SqlEngine } from '../../src/io/index.ts';
import { reduceClassificationSource } from '../../src/metrics/reduce/reduce-source.ts';
import { openChdb } from '../helpers/cluster/chdb.ts';
import { cached, until } from '../helpers/cluster/programs.ts';
import { lackingMariaDb, openMariaDb } from '../helpers/cluster/mariadb.ts';
import { SPARK } from '../helpers/cluster/spark.ts';
import { TRINO } from '../helpers/cluster/trino.ts';
import { countsSuite, createHostileRows, engineSuite, errorOf, rowsSuite } from '../helpers/engine-suite.ts';
import { describeWithEngine, ENGINE_PASSWORD, inDoubleQuotes, type RunningEngine } from '../helpers/engines.ts';

const named = { yPred: 'hired', attributes: [['known']] };

/** The options of a server with a certificate that is trusted. */
const certified = (): object => ({ pfx: readFileSync(cached('tls/key.p12')), passphrase: 'changeit' });

const open = ({ url }: { readonly url: string }, options: object = {}): SqlEngine =>
  createSqlEngine(url, { password: ENGINE_PASSWORD, ...options });

/** Checks that numbers of a result are not rounded. `text` is the type of texts. */
function exactSuite(running: () => RunningEngine, text: string): void {
  it('integers, decimals, and columns of the same name arrive exactly', async () => {
    const engine = open(running());
    const values = [
      '9007199254740991',
      '9007199254740993',
      '-9223372036854775807',
      'CAST(0.1 AS DOUBLE) * 3',
      'CAST(5e-324 AS DOUBLE)',
      'CAST(1.7976931348623157E308 AS DOUBLE)',
      "CAST('-Infinity' AS DOUBLE)",
      'CAST(12345678901234567890.25 AS DECIMAL(30, 2))',
      "'9007199254740993'",
      `CAST(NULL AS ${text})`,
    ];
    const { columns, rows } = await engine.query(
      `SELECT ${values.map((value) => `${value} AS \`a.b\``).join(', ')}`.replaceAll(
        '`',
        running().quoted('x').charAt(0),
      ),
    );
    expect(columns).to.deep.equal(values.map(() => 'a.b'));
    expect(rows).to.have.length(1);
    expect(rows[0]?.map((value) => (value === null ? null : String(value)))).to.deep.equal([
      ...['9007199254740991', '9007199254740993', '-9223372036854775807'],
      ...['0.30000000000000004', '5e-324', '1.7976931348623157e+308', '-Infinity', '12345678901234567890.25'],
      ...['9007199254740993', null],
    ]);
    await engine.close();
  });

  it('only statements that read are sent', async () => {
    const engine = open(running());
    for (const sql of [
      'DROP TABLE t',
      'WITH t AS (SELECT 1) SELECT * FROM t',
      '/* */ SELECT 1',
      '-- x\nSELECT 1',
      '',
    ]) {
      expect((await errorOf(engine.query(sql))).message, sql).to.match(/runs only statements that begin with SELECT/);
    }
    for (const sql of ['SELECT 1; SELECT 2', 'SELECT 1 INTO x']) {
      expect((await errorOf(engine.query(sql))).message, sql).to.match(/cannot count/);
    }
    const { rows } = await engine.query('SELECT * FROM (WITH t AS (SELECT 1 AS one) SELECT * FROM t) AS q');
    expect(rows).to.deep.equal([[1]]);
    await engine.close();
  });
}

/** Checks that a server that accepts connections and does not answer is an error at the time limit. */
function hangSuite(running: () => RunningEngine & { readonly signal: (signal: 'SIGSTOP' | 'SIGCONT') => void }): void {
  it('a server that hangs is one clear error at the time limit', async () => {
    const engine = open(running(), { timeoutSeconds: 2 });
    const pending = errorOf(validateSql({ engine, query: running().slowQuery }, named));
    await sleep(1000);
    running().signal('SIGSTOP');
    const start = performance.now();
    try {
      expect((await pending).message).to.match(/did not finish counting within 2 seconds|does not answer/);
      await engine.close();
      expect(performance.now() - start).to.be.below(20_000);
    } finally {
      running().signal('SIGCONT');
    }
    await until('no statement runs', async () => (await running().running()) === 0);
  });
}

describeWithEngine(SPARK, 'an engine counts', (running) => {
  engineSuite(running);
  exactSuite(running, 'STRING');
  hangSuite(running);

  it('an executor that ends in the middle: its work is repeated, and the counts are exact @slow', async () => {
    const engine = open(running());
    const count = 600_000_000;
    const query = `SELECT CAST(id % 2 AS INT) AS hired, CASE WHEN id % 3 = 0 THEN 'a' ELSE 'b' END AS known FROM range(0, ${String(count)}, 1, 64)`;
    const before = running().executors();
    const pending = reduceClassificationSource(
      { engine, query },
      { attributes: [['known']], yPred: 'hired', nanPolicy: 'exclude' },
    );
    await until('the statement runs', async () => (await running().running()) === 1);
    await sleep(1000);
    const [victim] = before;
    if (victim === undefined) throw new Error('There is no executor.');
    process.kill(victim, 'SIGKILL');
    expect(await running().running(), 'the statement still runs').to.equal(1);
    const [reduced] = await pending;
    // True label (0, 1, missing) by decision (0, 1) for both groups.
    const [a, b] = [count / 6, count / 3];
    expect([...(reduced?.stats.counts ?? [])]).to.deep.equal([0, 0, 0, 0, a, a, 0, 0, 0, 0, b, b]);
    expect(await running().failedTasks(), 'tasks that were repeated').to.be.above(0);
    await until('there are two executors again', () => Promise.resolve(running().executors().length === 2));
    expect(running().executors()).to.not.include(victim);
    await engine.close();
  });

  it('a damaged file is an error, also if the server is set to ignore such files', async () => {
    const rows = Array.from({ length: 400 }, (_, row) => [row % 2, row % 3 === 0 ? 'a' : 'b']);
    await running().create('damaged', { hired: 'integer', known: 'text' }, rows);
    const engine = open(running());
    const source = { engine, table: 'damaged' };
    expect((await validateSql(source, named)).rows).to.equal(400);
    const [file = ''] = running().files('damaged');
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.subarray(0, bytes.length / 2));
    const again = open(running());
    expect((await errorOf(validateSql({ engine: again, table: 'damaged' }, named))).message).to.match(/cannot count/);
    writeFileSync(file, bytes);
    await Promise.all([engine.close(), again.close()]);
  });

  it('sparks:// uses TLS, and accepts only a certificate that is valid for the host', async () => {
    const { port } = new URL(running().url);
    const server = createServer(certified(), (socket) => {
      const target = createConnection(Number(port), '127.0.0.1');
      for (const side of [socket, target]) side.on('error', () => undefined);
      socket.pipe(target).pipe(socket);
    }).on('tlsClientError', () => undefined);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port: securePort } = server.address() as AddressInfo;
    const at = (host: string): SqlEngine => open({ url: `sparks://tester@${host}:${String(securePort)}/default` });
    expect((await at('127.0.0.1').query('SELECT 1 AS one')).rows).to.deep.equal([[1]]);
    server.close();
    const other = createServer({ pfx: readFileSync(cached('tls/other.p12')), passphrase: 'changeit' });
    other.on('tlsClientError', () => undefined).listen(securePort, '127.0.0.1');
    await once(other, 'listening');
    expect((await errorOf(at('127.0.0.1').query('SELECT 1'))).message).to.match(/does not answer: .*certificate/);
    other.close();
  });
});

describeWithEngine(TRINO, 'an engine counts', (running) => {
  engineSuite(running);
  exactSuite(running, 'VARCHAR');
  hangSuite(running);

  it('without a password, the user is named only; a password is not sent without TLS', async () => {
    const engine = createSqlEngine(running().plainUrl, { env: {} });
    expect((await engine.query('SELECT current_user')).rows).to.deep.equal([['tester']]);
    await engine.close();
    expect(() => open({ url: running().plainUrl })).to.throw(/unencrypted/);
  });

  it('a server that continues without TLS is not followed', async () => {
    const page = { id: 'q', nextUri: 'http://127.0.0.1:1/next', stats: { state: 'QUEUED' } };
    const server = createHttpsServer(certified(), (_, response) => response.end(JSON.stringify(page)));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const engine = open({ url: `trinos://tester@127.0.0.1:${String(port)}/memory/default` });
    expect((await errorOf(engine.query('SELECT 1'))).message).to.match(/continues without TLS/);
    await engine.close();
    server.closeAllConnections();
    server.close();
  });

  it('a worker that ends in the middle: a repeated statement, or one clear error and no result @slow', async function () {
    this.timeout(400_000);
    const engine = open(running());
    const start = performance.now();
    const after = (): string => `${((performance.now() - start) / 1000).toFixed(1)} s`;
    // The rows of this table are in the memory of the worker.
    const lost = errorOf(validateSql({ engine, query: running().slowOver('odd "rows"') }, named));
    const count = 180_000_000;
    const series = `SELECT CAST(n % 2 AS INTEGER) AS hired, CASE WHEN n % 3 = 0 THEN 'a' ELSE 'b' END AS known FROM TABLE(sequence(0, ${String(count - 1)})) AS s(n)`;
    const repeated = reduceClassificationSource(
      { engine, query: series },
      { attributes: [['known']], yPred: 'hired', nanPolicy: 'exclude' },
    );
    await until('both workers count', async () => (await running().busyWorkers()) === 2);
    await running().killWorker();
    const killed = after();
    const error = await lost;
    console.log(`      worker killed after ${killed}; error after ${after()}: ${error.message}`);
    expect(error.name).to.equal('DataValidationError');
    expect(error.message).to.match(/lost a connection or a server before the result arrived, twice/);
    expect(error.message).to.not.match(/undefined|\n/);
    const [reduced] = await repeated;
    console.log(`      rows of a function counted after ${after()}`);
    const [a, b] = [count / 6, count / 3];
    expect([...(reduced?.stats.counts ?? [])]).to.deep.equal([0, 0, 0, 0, a, a, 0, 0, 0, 0, b, b]);
    expect(await running().failures('sequence(0,'), 'the statement failed once').to.have.length(1);
    await engine.close();
    await running().start();
  });
});

describe('an engine counts: ClickHouse, current version (chdb)', () => {
  let engine: ReturnType<typeof openChdb>;
  before(async () => {
    engine = openChdb();
    await createHostileRows(engine, 'odd "rows"');
  });
  after(() => engine.close());

  rowsSuite(() => ({ engine, table: inDoubleQuotes('odd "rows"') }));
});

describe('an engine counts: MariaDB, by its own client', () => {
  let engine: Awaited<ReturnType<typeof openMariaDb>>;
  let folder = '';
  const reason = lackingMariaDb();
  if (reason !== undefined) {
    it(`needs MariaDB: ${reason}`, function () {
      this.skip();
    });
    return;
  }
  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'evenhand-engine-'));
    engine = await openMariaDb(folder);
    await createHostileRows(engine, 'odd "rows"');
  });
  after(async () => {
    await engine.close();
    rmSync(folder, { recursive: true, force: true });
  });

  // Its client prints all values as texts, without their types.
  countsSuite(() => ({ engine, table: inDoubleQuotes('odd "rows"') }));
});
