import { existsSync, readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { expect } from 'chai';

import {
  childrenOf,
  connectToBoth,
  endServices,
  launch,
  openConnection,
  type ServiceProcess,
  startService,
} from '../api/serve/service-process.ts';
import { runCli, useTemporaryFolder } from '../helpers/run-cli.ts';

const BODY = { y_pred: [1, 1, 1, 0], sensitive: ['a', 'a', 'b', 'b'], min_group_size: 2 };

const KEY = 'a-key-for-tests-0123456789';

/** Enough rows to be processed in a thread. */
function manyRows(count: number): Record<string, unknown> {
  const rows = Array.from({ length: count }, (_, index) => index);
  return {
    ...BODY,
    y_pred: rows.map((row) => Number(row % 3 === 0)),
    sensitive: rows.map((row) => (row % 2 === 0 ? 'a' : 'b')),
    with_ci: true,
    ci_method: 'percentile',
    seed: 1,
  };
}

/** Sends the headers and half of the body of a request; `finish` sends the rest and returns the response. */
async function beginRequest({ port }: ServiceProcess): Promise<{ finish: () => Promise<string> }> {
  const text = JSON.stringify(BODY);
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  socket.on('data', (data) => (answer += data.toString()));
  socket.on('error', () => undefined);
  const closed = new Promise<string>((resolve) => {
    socket.on('close', () => {
      resolve(answer);
    });
  });
  const head = `POST /validate HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: ${String(text.length)}\r\n\r\n`;
  socket.write(head + text.slice(0, 20));
  await pause(200);
  return {
    finish: () => {
      socket.write(text.slice(20));
      return closed;
    },
  };
}

/** Waits until the worker with this name and another one respond. */
async function untilBothAnswer(service: ServiceProcess, name: string): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    const workers = await connectToBoth(service);
    for (const { close } of workers.values()) close();
    if (workers.has(name) && workers.size === 2) return;
    await pause(100);
  }
  expect.fail(`There is no worker ${name}.`);
}

describe('evenhand serve', function () {
  this.timeout(90_000);
  const folder = useTemporaryFolder();
  afterEach(endServices);

  describe('with two workers', () => {
    it('returns any run from either, and drops the least recently used beyond 500 @slow', async () => {
      const service = await startService(['--workers', '2']);
      const workers = [...(await connectToBoth(service)).values()];
      expect(workers).to.have.length(2);
      const [first, second] = workers as [(typeof workers)[0], (typeof workers)[0]];
      const runIds: string[] = [];
      for (let index = 0; index < 250; index++) {
        for (const { status, json, text } of await Promise.all(
          workers.map(({ ask }) => ask('POST', '/validate', BODY)),
        )) {
          expect(status, text).to.equal(200);
          runIds.push(String(json['run_id']));
        }
      }
      expect(new Set(runIds).size).to.equal(500);
      for (const runId of runIds) {
        const [one, other] = await Promise.all([first, second].map(({ ask }) => ask('GET', `/results/${runId}`)));
        expect(one?.status).to.equal(200);
        expect(other?.text).to.equal(one?.text);
        expect(other?.headers['x-evenhand-worker']).to.not.equal(one?.headers['x-evenhand-worker']);
      }
      const [oldest = '', nextOldest = '', ...others] = runIds;
      const { json } = await first.ask('POST', '/validate', BODY);
      expect((await second.ask('GET', `/results/${oldest}`)).status).to.equal(404);
      for (const runId of [nextOldest, others.at(-1), String(json['run_id'])]) {
        expect((await second.ask('GET', `/results/${String(runId)}`)).status).to.equal(200);
      }
      const list = (await first.ask('GET', '/results')).json['results'];
      expect(list).to.have.length(500);
    });

    it('replaces a killed worker without losing results or counts', async () => {
      const service = await startService(['--workers', '2']);
      const before = await connectToBoth(service);
      const runIds: string[] = [];
      for (const { ask } of before.values()) {
        runIds.push(String((await ask('POST', '/validate', BODY)).json['run_id']));
      }
      const counted = async (): Promise<number> => {
        const connection = openConnection(service);
        const { text } = await connection.ask('GET', '/metrics');
        connection.close();
        return Number(/^evenhand_http_requests_total\{[^}]*"\/validate"[^}]*\} (\d+)$/m.exec(text)?.[1]);
      };
      expect(await counted()).to.equal(2);
      const pids = childrenOf(service);
      expect(pids).to.have.length(2);
      for (const [index, pid] of pids.entries()) {
        process.kill(pid, 'SIGKILL');
        // A connection that arrives while a worker dies is served by another.
        expect((await openConnection(service).ask('GET', '/health')).status).to.equal(200);
        await untilBothAnswer(service, String(index + 3));
      }
      expect(childrenOf(service)).to.have.length(2).and.not.include.members(pids);
      const after = await connectToBoth(service);
      expect([...after.keys()]).to.have.members(['3', '4']);
      for (const { ask } of after.values()) {
        for (const runId of runIds) expect((await ask('GET', `/results/${runId}`)).status).to.equal(200);
      }
      expect(await counted()).to.equal(2);
      service.child.kill('SIGTERM');
      const { code, stderr } = await service.ended;
      expect(code).to.equal(0);
      expect(stderr).to.include('a worker has ended').and.include('SIGKILL');
    });

    it('checks keys and counts requests over all workers', async () => {
      const service = await startService(['--workers', '2', '--rate-limit', '5'], { EVENHAND_API_KEYS: KEY });
      const workers = [...(await connectToBoth(service)).values()];
      expect((await workers[0]?.ask('GET', '/results'))?.status).to.equal(401);
      const headers = { authorization: `Bearer ${KEY}` };
      const statuses: number[] = [];
      for (let index = 0; index < 8; index++) {
        const answer = await workers[index % 2]?.ask('GET', '/results', undefined, headers);
        statuses.push(answer?.status ?? 0);
      }
      expect(statuses).to.deep.equal([200, 200, 200, 200, 200, 429, 429, 429]);
    });

    it('ends at Ctrl-C in its terminal, which all its processes receive', async () => {
      const service = await startService(['--workers', '2']);
      for (const pid of childrenOf(service)) process.kill(pid, 'SIGINT');
      service.child.kill('SIGINT');
      expect(await service.ended).to.include({ code: 0, signal: null });
    });
  });

  for (const workers of ['1', '2']) {
    describe(`with --workers ${workers}${workers === '1' ? ' @slow' : ''}`, () => {
      it('answers a running request at SIGTERM, accepts no other, and exits with 0', async () => {
        const service = await startService(['--workers', workers]);
        const { finish } = await beginRequest(service);
        service.child.kill('SIGTERM');
        await pause(500);
        const refused = await openConnection(service)
          .ask('GET', '/health')
          .catch((error: unknown) => error);
        expect(refused).to.have.property('code', 'ECONNREFUSED');
        const answer = await finish();
        expect(answer)
          .to.match(/^HTTP\/1.1 200 OK/)
          .and.match(/^connection: close/im);
        expect(await service.ended).to.include({ code: 0, signal: null });
      });

      it('ends immediately at the second Ctrl-C, by the signal (130 in a shell)', async () => {
        const service = await startService(['--workers', workers]);
        await beginRequest(service);
        service.child.kill('SIGINT');
        await pause(300);
        service.child.kill('SIGINT');
        expect(await service.ended).to.include({ code: null, signal: 'SIGINT' });
      });

      it('aborts requests that do not end within --drain-seconds', async () => {
        const service = await startService(['--workers', workers, '--drain-seconds', '0.2']);
        await beginRequest(service);
        service.child.kill('SIGTERM');
        expect((await service.ended).code).to.equal(0);
      });

      it('answers results, cancellations and readiness (503) until its last run has ended, and refuses new work', async () => {
        const service = await startService(['--workers', workers, '--threads', '1']);
        const { ask, close } = openConnection(service);
        const slow = { method: 'lagrangian', epochs: 4000, patience: 4000, backend: 'cpu', min_group_size: 2 };
        const rows = Array.from({ length: 200 }, (_, row) => ({ x: row % 10, y: row % 3 === 0 ? 1 : 0, s: row % 2 }));
        const run = await ask('POST', '/train', { ...slow, rows }, { prefer: 'respond-async' });
        const url = `/results/${String(run.json['run_id'])}`;
        while ((await ask('GET', url)).json['status'] !== 'running') await pause(50);
        service.child.kill('SIGTERM');
        await pause(500);
        // New connections too: a load balancer opens one for each check.
        const later = openConnection(service);
        for (const connection of [ask, later.ask]) {
          expect((await connection('GET', '/ready')).status).to.equal(503);
          expect((await connection('GET', '/health')).status).to.equal(200);
          expect((await connection('GET', url)).json).to.include({ status: 'running' });
          expect((await connection('GET', '/results')).status).to.equal(200);
          const refused = await connection('POST', '/validate', BODY);
          expect(refused.status).to.equal(503);
          expect(refused.headers['retry-after']).to.match(/^\d+$/);
        }
        expect((await ask('DELETE', url)).json).to.include({ status: 'cancelled' });
        expect((await later.ask('GET', url)).json).to.include({ status: 'cancelled' });
        expect(await service.ended).to.include({ code: 0, signal: null });
        close();
        later.close();
      });

      it('lets a run end at SIGTERM; with --store the next process finds all runs', async () => {
        const store = path.join(folder(), `store-${workers}`);
        const service = await startService(['--workers', workers, '--store', store]);
        const { ask, close } = openConnection(service);
        const kept = await ask('POST', '/validate', BODY);
        const run = await ask('POST', '/validate', manyRows(50_000), { prefer: 'respond-async' });
        expect(run.status, run.text).to.equal(202);
        service.child.kill('SIGTERM');
        expect(await service.ended).to.include({ code: 0, signal: null });
        close();
        const next = openConnection(await startService(['--workers', workers, '--store', store]));
        for (const answer of [kept, run]) {
          const { json } = await next.ask('GET', `/results/${String(answer.json['run_id'])}`);
          expect(json, JSON.stringify(json['problem'])).to.include({
            run_id: answer.json['run_id'],
            status: 'succeeded',
          });
        }
      });

      it('reports a port that is in use, and exits with 2', async () => {
        const other = createServer().listen(0, '127.0.0.1');
        await new Promise((resolve) => other.once('listening', resolve));
        const { port } = other.address() as { port: number };
        const [, ended] = launch(['--port', String(port), '--workers', workers]);
        const { code, stderr, stdout } = await ended;
        other.close();
        expect(code).to.equal(2);
        expect(stderr).to.equal(
          `error: Port ${String(port)} of 127.0.0.1 is in use by another program. Stop that program, or choose another port with --port.\n`,
        );
        expect(stdout).to.equal('');
      });
    });
  }

  it('prints its address', async () => {
    const [child, ended] = launch(['--port', '0']);
    child.stdout?.once('data', () => child.kill('SIGTERM'));
    const { code, stdout } = await ended;
    expect(code).to.equal(0);
    expect(stdout).to.match(
      /^evenhand \S+ listens on http:\/\/127\.0\.0\.1:\d+ \(documentation: \/docs; stop with Ctrl-C\)\n$/,
    );
  });

  it('prints the public address unchanged, and a working local address with --json', async () => {
    const keys = { EVENHAND_API_KEYS: KEY };
    const [child, ended] = launch(['--port', '0', '--host', '0.0.0.0', '--drain-seconds', '0'], keys);
    child.stdout?.once('data', () => child.kill('SIGTERM'));
    expect((await ended).stdout).to.match(/ listens on http:\/\/0\.0\.0\.0:\d+, reachable from other machines \(/);
    const service = await startService(['--host', '0.0.0.0'], keys);
    expect((await fetch(`${service.url}/health`)).status).to.equal(200);
  });

  for (const [what, args, env, isReported] of [
    ['no requests without a terminal', [], {}, false],
    ['each request to a named file', [], { EVENHAND_LOG_FILE: 'FILE' }, true],
    ['each request as JSON', [], { EVENHAND_JSON_LOGS: '1' }, true],
    ['no requests with --quiet', ['--quiet'], { EVENHAND_LOG_FILE: 'FILE' }, false],
    ['no requests at the level warn', [], { EVENHAND_LOG_FILE: 'FILE', EVENHAND_LOG_LEVEL: 'warn' }, false],
    ['each of them at the level info', [], { EVENHAND_LOG_LEVEL: 'info' }, true],
  ] as const) {
    it(`logs ${what}${what === 'each request as JSON' ? '' : ' @slow'}`, async () => {
      const file = path.join(folder(), `${what.replaceAll(/\W/g, '-')}.log`);
      const named = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value.replace('FILE', file)]));
      const service = await startService([...args], { EVENHAND_LOG_LEVEL: undefined, ...named });
      await openConnection(service).ask('GET', '/results');
      service.child.kill('SIGTERM');
      const { stderr } = await service.ended;
      const log = existsSync(file) ? readFileSync(file, 'utf8') : stderr;
      const isJson = 'EVENHAND_JSON_LOGS' in env;
      expect(log.includes(isJson ? '"path":"/results"' : ' path=/results ')).to.equal(isReported, log);
    });
  }

  for (const [what, args, words] of [
    ['a store in a folder that cannot be created', ['--store', '/proc/x/y'], "'/proc/x/y' cannot be created"],
    ['an --llm-dir that does not exist', ['--llm-dir', '/no/such'], "'/no/such'"],
    ['a --monitor that is a file', ['--monitor', import.meta.filename], 'is not a folder'],
  ] as const) {
    it(`rejects ${what} with one line, and exits with 2`, async () => {
      const { code, stderr } = await runCli(['serve', '--port', '0', ...args]);
      expect([code, stderr.trim().split('\n').length]).to.deep.equal([2, 1]);
      expect(stderr).to.include(words);
    });
  }

  it('warns about a --monitor that does not exist yet, and serves', async () => {
    const later = path.join(folder(), 'later');
    const service = await startService(['--monitor', later], { EVENHAND_LOG_LEVEL: 'warn' });
    expect((await openConnection(service).ask('GET', '/dashboard')).status).to.equal(200);
    service.child.kill('SIGTERM');
    expect((await service.ended).stderr).to.include(`The folder '${later}' does not exist yet`);
  });

  it('responds without keys only for local and allowed host names', async () => {
    const { ask } = openConnection(await startService(['--allowed-host', 'audit.example.com']));
    const statuses: Record<string, number> = {};
    for (const host of ['localhost', '[::1]:80', 'audit.example.com', 'evil.example.com']) {
      statuses[host] = (await ask('GET', '/results', undefined, { host })).status;
    }
    expect(statuses).to.deep.equal({
      localhost: 200,
      '[::1]:80': 200,
      'audit.example.com': 200,
      'evil.example.com': 403,
    });
  });

  const refusals: [title: string, args: string[], env: Record<string, string> | undefined, words: RegExp][] = [
    ['a public address without keys', ['--host', '0.0.0.0'], undefined, /EVENHAND_API_KEYS.*--insecure/],
    ['a key with a space in it', [], { EVENHAND_API_KEYS: 'not one word' }, /printable ASCII/],
    ['a port that there is not', ['--port', '70000'], undefined, /--port must be at most 65535/],
    ['--reload with several workers', ['--reload', '--workers', '2'], undefined, /--reload works only with one worker/],
    ['a store that is a file', ['--store', '/dev/null'], undefined, /\/dev\/null/],
    [
      'an address of another machine',
      ['--host', '192.0.2.1', '--insecure'],
      undefined,
      /not an address of this machine/,
    ],
  ];
  for (const [title, args, env, words] of refusals) {
    it(`rejects ${title} with exit code 2, in one line`, async () => {
      const { code, stderr } = await runCli(['serve', ...args], env === undefined ? {} : { env });
      expect(code).to.equal(2);
      expect(stderr)
        .to.match(words)
        .and.match(/^error: [^\n]*\n$/);
    });
  }
});
