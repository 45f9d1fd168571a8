import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { expect } from 'chai';

import { createRandom } from '../../src/internal/random.ts';
import { openTaskQueue } from '../../src/io/queue/redis-task-queue.ts';
import type { TaskQueue } from '../../src/io/queue/task-queue.ts';
import { openRedis } from '../../src/io/redis/open-redis.ts';
import { writeCsv } from '../../src/io/index.ts';
import { Table } from '../../src/table/index.ts';
import { paretoToJson, sweepPareto, type SweepOptions, type TrainingSource } from '../../src/training/index.ts';
import { projectRoot } from '../helpers/project-files.ts';
import { describeWithRedis } from '../helpers/redis-server.ts';
import { runCli, useTemporaryFolder } from '../helpers/run-cli.ts';
import { until } from '../helpers/waiting.ts';

const CLI = path.join(projectRoot, 'dist/cli/main.js');

/** A command that runs in its own process. */
interface RunningCommand {
  readonly child: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
}

/** A line of the log of a worker. */
interface LogLine {
  readonly task: string;
  readonly msg: string;
}

/** The lines of a worker's log that are about tasks. */
function logOf({ stderr }: RunningCommand): LogLine[] {
  const lines = stderr()
    .split('\n')
    .slice(0, -1)
    .filter((line) => line.startsWith('{'));
  return lines.map((line) => JSON.parse(line) as LogLine).filter(({ msg }) => msg.startsWith('Task '));
}

/** The tasks about which a worker's log has a line. */
function tasksWith(worker: RunningCommand, pattern: RegExp): string[] {
  return logOf(worker).flatMap(({ task, msg }) => (pattern.test(msg) ? [task] : []));
}

function makeSource(rows: number): { readonly table: Record<string, (string | number)[]> } {
  const random = createRandom(3);
  const s = Array.from({ length: rows }, (_, row) => (row % 3 === 0 ? 'few' : 'many'));
  const x = s.map((group) => random.normal() + (group === 'many' ? 0.8 : -0.8));
  const y = x.map((value) => Number(value + 0.7 * random.normal() > 0));
  const noise = Object.fromEntries(
    Array.from({ length: 6 }, (_, column) => [`noise${String(column)}`, x.map(() => random.normal())]),
  );
  return { table: { x, ...noise, s, y } };
}

describeWithRedis('evenhand worker', (redis) => {
  const folder = useTemporaryFolder();
  const running: RunningCommand[] = [];
  let database = 0;
  let url = '';
  let queue: TaskQueue;

  function start(args: readonly string[]): RunningCommand {
    const env = { ...process.env, EVENHAND_LOG_LEVEL: 'info', EVENHAND_JSON_LOGS: '1', EVENHAND_TF_BACKEND: 'wasm' };
    const child = spawn(process.execPath, [CLI, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const texts = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const)
      child[name].on('data', (data: Buffer) => (texts[name] += data.toString()));
    const command = { child, stdout: () => texts.stdout, stderr: () => texts.stderr };
    running.push(command);
    return command;
  }
  async function startWorkers(
    count: number,
    lockSeconds: number,
    ...args: readonly string[]
  ): Promise<RunningCommand[]> {
    const workers = Array.from({ length: count }, () =>
      start(['worker', '--redis', url, '--concurrency', '1', '--lock-seconds', String(lockSeconds), ...args]),
    );
    await until(() => workers.every(({ stdout }) => stdout().includes('\n')), 60);
    return workers;
  }

  beforeEach(async () => {
    url = `${redis().url}/${String(database++)}`;
    queue = await openTaskQueue({ redis: url, pollMillis: 200 });
  });
  afterEach(async () => {
    await queue.close();
    for (const { child } of running.splice(0)) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
  });

  describe('with four processes and a sweep of 32 etas @slow', function () {
    this.timeout(300_000);
    const etas = Array.from({ length: 32 }, (_, index) => index / 4);
    const options: SweepOptions = { etas, epochs: 60, patience: 60, lr: 0.01, batchSize: 50, backend: 'wasm' };
    const source: TrainingSource = makeSource(4000);
    let here: Record<string, unknown>;
    before(async () => {
      here = paretoToJson(await sweepPareto(source, { ...options, threads: 2 }));
      expect((here['points'] as { eta: number }[]).map(({ eta }) => eta)).to.deep.equal(etas);
    });

    /** Starts the sweep on four workers, and waits until each is in the middle of a shard. */
    async function startSweep(
      lockSeconds: number,
    ): Promise<{ workers: RunningCommand[]; sweep: Promise<unknown>; done: () => number }> {
      const workers = await startWorkers(4, lockSeconds);
      let done = 0;
      const onProgress: SweepOptions['onProgress'] = (event) => {
        done = event.done;
      };
      const sweep = sweepPareto(source, { ...options, queue, onProgress }).then(paretoToJson);
      sweep.catch(() => undefined);
      await until(() => workers.every((worker) => tasksWith(worker, /started/).length === 1), 60);
      await until(() => done >= 8, 60);
      expect(workers.flatMap((worker) => tasksWith(worker, /done/))).to.deep.equal([]);
      return { workers, sweep, done: () => done };
    }

    it('gives 32 points once each, equal to those of one process, if two workers are killed in the middle', async () => {
      const { workers, sweep } = await startSweep(10);
      const [killed, left] = [workers.slice(0, 2), workers.slice(2)];
      for (const { child } of killed) child.kill('SIGKILL');
      await Promise.all(killed.map(({ child }) => once(child, 'exit')));
      const lost = killed.flatMap((worker) => tasksWith(worker, /started/));
      expect(killed.flatMap((worker) => tasksWith(worker, /done/))).to.deep.equal([]);
      expect(await sweep).to.deep.equal(here);
      // The other two did the four shards, and so those of the killed ones. A line of a log may arrive after the output.
      await until(async () => (await queue.counts()).running === 0);
      await sleep(200);
      const done = left.flatMap((worker) => tasksWith(worker, /done/));
      expect(done).to.have.length(4);
      expect(new Set(done).size).to.equal(4);
      expect(done).to.include.members(lost);
      expect(await queue.counts()).to.deep.equal({ queued: 0, running: 0 });
    });

    it('gives 32 points once each, equal to those of one process, if Redis is restarted in the middle', async () => {
      const { workers, sweep, done: epochs } = await startSweep(20);
      const before = epochs();
      await redis().kill();
      await sleep(1000);
      expect(workers.flatMap((worker) => tasksWith(worker, /done/))).to.deep.equal([]);
      await redis().start();
      expect(await sweep).to.deep.equal(here);
      expect(before).to.be.below(4 * 60);
      await until(async () => (await queue.counts()).running === 0);
      await sleep(200);
      const done = workers.flatMap((worker) => tasksWith(worker, /done/));
      expect(done).to.have.length(4);
      expect(new Set(done).size).to.equal(4);
      expect(workers.every(({ child }) => child.exitCode === null)).to.equal(true);
      // A second sweep finds the outputs, and trains nothing.
      expect(paretoToJson(await sweepPareto(source, { ...options, queue }))).to.deep.equal(here);
      expect(workers.flatMap((worker) => tasksWith(worker, /started/))).to.have.length(4);
    });
  });

  it('says what it does, finishes its tasks at SIGTERM and exits with 0 @slow', async () => {
    const [worker, ready] = [
      start(['worker', '--redis', url, '--json', '--kinds', 'train-shard', '--concurrency', '3']),
      60,
    ];
    await until(() => worker.stdout().includes('\n'), ready);
    const position = JSON.parse(worker.stdout()) as Record<string, unknown>;
    expect(position).to.include({
      redis: `Redis at ${url.slice('redis://'.length).replace(/\/0$/, '')}`,
      pid: worker.child.pid,
      concurrency: 3,
    });
    expect(position['kinds']).to.deep.equal(['train-shard']);
    const csv = path.join(folder(), 'rows.csv');
    await writeCsv(csv, Table.from(makeSource(1000).table));
    const args = ['--csv', csv, '--etas', '0,1,2', '--epochs', '20', '--backend', 'wasm', '--json', '--quiet'];
    const sweep = start(['train-regularized', ...args, '--queue', url]);
    await until(() => tasksWith(worker, /started/).length === 1, 60);
    worker.child.kill('SIGTERM');
    const exits = await Promise.all([once(worker.child, 'exit'), once(sweep.child, 'exit')]);
    expect(exits).to.deep.equal([
      [0, null],
      [0, null],
    ]);
    expect(tasksWith(worker, /done after \d+\.\d s$/)).to.have.length(1);
    expect(worker.stderr()).to.contain('Stopping: running tasks have 30 s to finish.');
    const here = await runCli(['train-regularized', ...args]);
    const { seconds: _, ...expected } = JSON.parse(here.stdout) as Record<string, unknown>;
    const { seconds: __, ...got } = JSON.parse(sweep.stdout()) as Record<string, unknown>;
    expect(got).to.deep.equal(expected);
  });

  it('stops a task that Ctrl-C of the caller cancels @slow', async () => {
    const [worker] = await startWorkers(1, 5);
    const csv = path.join(folder(), 'long.csv');
    await writeCsv(csv, Table.from(makeSource(1000).table));
    const args = ['--csv', csv, '--etas', '0,1', '--epochs', '100000', '--patience', '100000', '--backend', 'wasm'];
    const sweep = start(['train-regularized', ...args, '--queue', url]);
    await until(() => tasksWith(worker as RunningCommand, /started/).length === 1, 60);
    sweep.child.kill('SIGINT');
    expect(await once(sweep.child, 'exit')).to.deep.equal([130, null]);
    expect(sweep.stderr()).to.match(/^Interrupted, nothing was written\./m);
    await until(() => tasksWith(worker as RunningCommand, /cancelled after/).length === 1, 20);
    await until(async () => (await queue.counts()).running === 0, 20);
  });

  it('gives a running task back if it does not finish in time @slow', async () => {
    const [first, second] = await startWorkers(2, 5, '--drain-seconds', '0');
    const options: SweepOptions = { etas: [0, 1], epochs: 100_000, patience: 100_000, backend: 'wasm' };
    const controller = new AbortController();
    const sweep = sweepPareto(makeSource(1000), { ...options, queue, signal: controller.signal });
    sweep.catch(() => undefined);
    const all = [first, second] as RunningCommand[];
    await until(() => all.flatMap((worker) => tasksWith(worker, /started/)).length === 1, 60);
    const [busy, idle] = tasksWith(all[0] as RunningCommand, /started/).length === 1 ? all : all.reverse();
    busy?.child.kill('SIGTERM');
    expect(await once((busy as RunningCommand).child, 'exit')).to.deep.equal([0, null]);
    expect(tasksWith(busy as RunningCommand, /given back to the queue after/)).to.have.length(1);
    await until(() => tasksWith(idle as RunningCommand, /started/).length === 1, 20);
    controller.abort();
    await until(() => tasksWith(idle as RunningCommand, /cancelled after/).length === 1, 20);
  });

  it('ends at once at a second Ctrl-C; another worker takes its task over @slow', async () => {
    const [first] = (await startWorkers(1, 5)) as [RunningCommand];
    const sweep = sweepPareto(makeSource(1000), {
      ...{ etas: [0, 1], epochs: 40, patience: 40 },
      backend: 'wasm',
      queue,
    });
    await until(() => tasksWith(first, /started/).length === 1, 60);
    first.child.kill('SIGINT');
    await until(() => first.stderr().includes('Press Ctrl-C again to end at once.'));
    first.child.kill('SIGINT');
    expect(await once(first.child, 'exit')).to.deep.equal([null, 'SIGINT']);
    expect(tasksWith(first, /done|given back/)).to.deep.equal([]);
    const [second] = (await startWorkers(1, 5)) as [RunningCommand];
    expect((await sweep).map(({ eta }) => eta)).to.deep.equal([0, 1]);
    await until(() => tasksWith(second, /done/).length === 1);
  });

  it('rejects a password on the command line, an unknown kind, and a server that does not answer', async () => {
    const secret = url.replace('redis://', 'redis://:hunter2@');
    for (const args of [
      ['worker', '--redis', secret],
      ['train-regularized', '--csv', path.join(folder(), 'none.csv'), '--queue', secret],
    ]) {
      if (args[0] === 'train-regularized')
        await writeCsv(path.join(folder(), 'none.csv'), Table.from(makeSource(200).table));
      const { code, stderr } = await runCli(args);
      expect(code).to.equal(2);
      expect(stderr).to.match(/^error: The URL of --(redis|queue) contains a password, which other users/);
      expect(stderr).to.contain('EVENHAND_REDIS_PASSWORD').and.not.contain('hunter2');
    }
    const kind = await runCli(['worker', '--redis', url, '--kinds', 'train-shart']);
    expect([kind.code, kind.stderr]).to.deep.equal([
      2,
      "error: --kinds must be one of train-shard, service-job, service-llm-job. Got 'train-shart' instead. Did you mean 'train-shard'?\n",
    ]);
    const none = await runCli(['worker', '--redis', 'redis://127.0.0.1:1']);
    expect(none.code).to.equal(2);
    expect(none.stderr).to.match(/^error: Redis at 127\.0\.0\.1:1 does not answer: .*ECONNREFUSED.* Check the host/);
    const bad = await runCli(['worker', '--redis', 'localhost:6379']);
    expect(bad.code).to.equal(2);
    expect(bad.stderr).to.match(/^error: The URL of Redis is not valid: its protocol is 'localhost'/);
  });

  it('reads the password from a file', async () => {
    const admin = await openRedis(redis().url);
    await admin.client.call('ACL', 'SETUSER', 'worker', 'on', '>hunter2', '~*', '&*', '+@all');
    const withUser = url.replace('redis://', 'redis://worker@');
    const { code, stderr } = await runCli(['worker', '--redis', withUser], {
      env: { EVENHAND_REDIS_PASSWORD: 'wrong' },
    });
    expect([code, stderr]).to.satisfy(() => code === 2 && /does not accept the user or the password/.test(stderr));
    const own = await openTaskQueue({ redis: withUser, env: { EVENHAND_REDIS_PASSWORD: 'hunter2' } });
    expect(own.name).to.not.contain('hunter2');
    expect(await own.counts()).to.deep.equal({ queued: 0, running: 0 });
    await own.close();
    await admin.close();
  });
});
