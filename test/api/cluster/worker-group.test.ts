import { setTimeout as pause } from 'node:timers/promises';

import { expect } from 'chai';

import { type Channel, createChannel } from '../../../src/api/cluster/channel.ts';
import type { Exit, ForkedWorker, Handlers, PrimaryMethods, WorkerMethods } from '../../../src/api/cluster/protocol.ts';
import {
  type AfterDeath,
  createRestartPolicy,
  createWorkerGroup,
  type WorkerGroup,
} from '../../../src/api/cluster/worker-group.ts';
import { createLogger } from '../../../src/internal/logger.ts';
import { createLinePair } from './lines.ts';

/** What a fake worker process does when it is started. */
type Life = (worker: Stub) => void;

interface Stub {
  readonly number: number;
  readonly channel: Channel<PrimaryMethods>;
  readonly die: (exit?: Exit) => void;
}

interface Bench {
  readonly group: WorkerGroup;
  readonly born: Stub[];
  readonly buried: string[];
  /** The process IDs of the ended workers. */
  readonly pids: (number | undefined)[];
  /** The time in milliseconds. */
  readonly clock: { now: number };
  readonly drained: number[];
}

function openBench(count: number, life: Life, afterDeath?: (livedMillis: number) => AfterDeath): Bench {
  const born: Stub[] = [];
  const buried: string[] = [];
  const pids: (number | undefined)[] = [];
  const drained: number[] = [];
  const clock = { now: 0 };
  const fork = (): ForkedWorker => {
    const pair = createLinePair();
    const exits: ((exit: Exit) => void)[] = [];
    const number = born.length + 1;
    let isAlive = true;
    const die = (exit: Exit = { code: null, signal: 'SIGKILL' }): void => {
      if (!isAlive) return;
      isAlive = false;
      pair.close();
      for (const listener of exits) listener(exit);
    };
    const handlers: Handlers<WorkerMethods> = {
      metrics: () => [{ name: 'n', type: 'counter', number }],
      refuseWork: () => undefined,
      drain: () => void drained.push(number),
      end: () => {
        die({ code: 0, signal: null });
        return undefined;
      },
    };
    const channel = createChannel<PrimaryMethods, WorkerMethods>(pair.right, handlers);
    const worker = { number, channel, die };
    born.push(worker);
    setImmediate(() => {
      life(worker);
    });
    return {
      pid: 4000 + number,
      give: () => undefined,
      onTook: () => undefined,
      line: pair.left,
      onExit: (listener) => exits.push(listener),
      kill: () => {
        die();
      },
    };
  };
  const group = createWorkerGroup({
    count,
    fork,
    handlersOf: () => ({}) as never,
    onExit: (name, pid) => {
      buried.push(name);
      pids.push(pid);
    },
    logger: createLogger({ EVENHAND_LOG_LEVEL: 'silent' }),
    clock: () => clock.now,
    ...(afterDeath === undefined ? {} : { afterDeath }),
  });
  return { group, born, buried, pids, clock, drained };
}

const listen: Life = ({ channel }) => void channel.call('ready', undefined);

async function rejection(promise: Promise<unknown>): Promise<Error> {
  return promise.then(
    () => expect.fail('It should have been rejected.'),
    (error: unknown) => error as Error,
  );
}

describe('createWorkerGroup', () => {
  it('has started when all workers accept connections', async () => {
    const { group, born } = openBench(3, listen);
    await group.started;
    expect(born).to.have.length(3);
    await group.end();
  });

  it('replaces a worker that ends by one with a new name', async () => {
    const { group, born, buried, pids, clock } = openBench(2, listen);
    await group.started;
    clock.now = 60_000;
    born[0]?.die();
    await pause(10);
    expect(born).to.have.length(3);
    expect(buried).to.deep.equal(['1']);
    expect(pids).to.deep.equal([4001]);
    expect([...(await group.metrics()).keys()]).to.have.members(['2', '3']);
    await group.end();
  });

  it('gives up after ten early ends in a row, and reports how the last worker ended', async () => {
    const policy = createRestartPolicy();
    const { group, born } = openBench(
      1,
      ({ die }) => {
        die({ code: 7, signal: null });
      },
      (lived) => ({ ...policy(lived), pauseMillis: 1 }),
    );
    const error = await rejection(group.started);
    expect(error.message).to.equal(
      'The workers of the service ended 10 consecutive times soon after they started. The last one ended with exit code 7.',
    );
    expect(await rejection(group.failed)).to.equal(error);
    expect(born).to.have.length(10);
    await group.end();
  });

  it('drains and ends its workers without replacing them', async () => {
    const { group, born, drained } = openBench(2, listen);
    await group.started;
    await group.drain();
    expect(drained).to.have.members([1, 2]);
    await group.end();
    await pause(10);
    expect(born).to.have.length(2);
  });
});

describe('createRestartPolicy', () => {
  it('replaces workers after pauses that double up to two seconds, and gives up after ten early ends', () => {
    const after = createRestartPolicy();
    const pauses = Array.from({ length: 10 }, () => after(10)).map((next) =>
      next.kind === 'replace' ? next.pauseMillis : 'give-up',
    );
    expect(pauses).to.deep.equal([0, 100, 200, 400, 800, 1600, 2000, 2000, 2000, 'give-up']);
  });

  it('starts over after a worker with a normal lifetime', () => {
    const after = createRestartPolicy();
    for (let death = 0; death < 9; death++) after(10);
    expect(after(5_000)).to.deep.equal({ kind: 'replace', pauseMillis: 0 });
    expect(after(10)).to.deep.equal({ kind: 'replace', pauseMillis: 0 });
    expect(after(10)).to.deep.equal({ kind: 'replace', pauseMillis: 100 });
  });
});
