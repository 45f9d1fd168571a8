import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';

import { expect } from 'chai';

import { openPromptClient } from '../../../src/api/fleet/prompt-client.ts';
import { RedisStreams } from '../../../src/api/fleet/redis-streams.ts';
import { LocalStreams } from '../../../src/api/streams/local-streams.ts';
import type { Streams } from '../../../src/api/streams/streams.ts';
import { openRedis } from '../../../src/io/redis/open-redis.ts';
import { describeWithRedis } from '../../helpers/redis-server.ts';
import type { Json } from '../../helpers/service.ts';
import { createRecorder } from '../runs/runs-fixture.ts';

const OPTIONS = { y_pred: 'approved', sensitive: 'sex', y_true: 'repaid' };
const NAME = { tenant: '', stream: 'credit' };

type Row = Record<string, unknown>;

/** Returns events in which the men get more approvals than the women. */
function eventsOf(count: number, from = 0, idLength = 0): Row[] {
  return Array.from({ length: count }, (_, index) => {
    const id = from + index;
    return {
      id: `e${String(id)}`.padEnd(idLength, '.'),
      approved: id % 2 === 0 ? Number(id % 10 < 4) : Number(id % 10 < 9),
      sex: id % 2 === 0 ? 'f' : 'm',
    };
  });
}

const labelsOf = (events: readonly Row[]) => events.map(({ id }, index) => ({ id, repaid: Number(index % 3 > 0) }));

async function send(streams: Streams, kind: 'events' | 'labels', rows: readonly Row[], name = NAME): Promise<Json> {
  const text = rows.map((row) => JSON.stringify(row)).join('\n');
  return JSON.parse(await streams.append({ ...name, kind, text, options: kind === 'events' ? OPTIONS : {} })) as Json;
}

const stateOf = async (streams: Streams, name = NAME) => JSON.parse(await streams.get(name)) as Json;

async function statusOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => 200,
    (error: unknown) => (error as { status?: unknown }).status,
  );
}

describeWithRedis('monitored streams that hosts share', (redis) => {
  let prefix = '';
  const ends: (() => Promise<void>)[] = [];
  const open = async (clock = (): number => 1_700_000_000_000) => {
    const { logged, logger } = createRecorder();
    const connection = await openRedis(redis().url);
    const prompt = await openPromptClient(connection, logger);
    const streams = new RedisStreams({ prompt, prefix, maxStreams: 5, clock, createId: randomUUID, logger });
    ends.push(async () => {
      await streams.close();
      prompt.close();
      await connection.close();
    });
    return Object.assign(streams, { logged: logged });
  };
  let commands: Awaited<ReturnType<typeof openRedis>>;
  const call = (command: string, ...args: readonly (string | number)[]) => commands.client.call(command, ...args);
  const keysOf = async (pattern: string) => ((await call('KEYS', `${prefix}:${pattern}`)) as string[]).sort();
  beforeEach(async () => {
    prefix = `test-${randomUUID()}`;
    commands = await openRedis(redis().url);
    ends.push(() => commands.close());
  });
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  it('have the state, the alarms and the dashboard of one host, whichever host gets the lines and is asked', async () => {
    const [first, second] = [await open(), await open()];
    const { logger } = createRecorder();
    const alone = new LocalStreams({
      folder: undefined,
      clock: () => 1_700_000_000_000,
      createId: randomUUID,
      logger,
      maxStreams: 1,
    });
    const events = eventsOf(2000);
    for (let from = 0, turn = 0; from < events.length; from += 400, turn++) {
      const part = events.slice(from, from + 400);
      const [host, other] = turn % 2 === 0 ? [first, second] : [second, first];
      const answer = await send(host, 'events', part);
      expect(answer).to.deep.equal(await send(alone, 'events', part));
      const labels = labelsOf(part.slice(0, 100));
      expect(await send(other, 'labels', labels)).to.deep.equal(await send(alone, 'labels', labels));
    }
    const expected = await stateOf(alone);
    expect(expected).to.include({ n_events: 2000, n_labels: 500 });
    expect(expected['alerts']).not.to.deep.equal([]);
    // A host that starts later reads everything from Redis.
    for (const host of [first, second, await open()]) {
      expect(await stateOf(host)).to.deep.equal(expected);
      expect(await host.view(NAME)).to.deep.equal(await alone.view(NAME));
    }
  });

  it('count each event once if all hosts get the same ones at the same time', async () => {
    const hosts = [await open(), await open(), await open()] as const;
    await send(hosts[0], 'events', eventsOf(1));
    const events = eventsOf(300, 1);
    const requests = hosts.flatMap((host) =>
      Array.from({ length: 30 }, (_, part) => send(host, 'events', events.slice(10 * part, 10 * part + 10))),
    );
    const answers = await Promise.all(requests);
    const sumOf = (field: string) => answers.reduce((sum, answer) => sum + Number(answer[field]), 0);
    expect([sumOf('accepted'), sumOf('repeated')]).to.deep.equal([300, 600]);
    const states = await Promise.all(hosts.map((host) => stateOf(host)));
    expect(states[0]).to.include({ n_events: 301 }).and.to.deep.include({ faults: {} });
    for (const state of states) expect(state).to.deep.equal(states[0]);
  });

  it('let every host write, also while another one writes all the time', async () => {
    const [first, second] = [await open(), await open()];
    await send(first, 'events', eventsOf(1));
    const ending = new AbortController();
    const busy = (async () => {
      for (let from = 1; !ending.signal.aborted; from += 50) await send(first, 'events', eventsOf(50, from));
    })();
    for (let turn = 0; turn < 5; turn++) {
      const start = performance.now();
      await send(second, 'events', eventsOf(20, 1_000_000 + 20 * turn));
      expect(performance.now() - start).to.be.below(5000);
    }
    ending.abort();
    await busy;
  });

  it('do not wait for long for a host that was lost while it was its turn', async () => {
    const host = await open();
    await send(host, 'events', eventsOf(1));
    const [key] = await keysOf('stream:*:log');
    await call('SET', String(key).replace(/:log$/, ':turn'), 'a lost host', 'PX', 300);
    const start = performance.now();
    expect(await send(host, 'events', eventsOf(2))).to.include({ accepted: 1 });
    expect(performance.now() - start).to.be.within(200, 5000);
  });

  it('save their state when there are many entries, and go on from it on every host', async function () {
    this.timeout(120_000);
    const [first, second] = [await open(), await open()];
    // Each request has 1 MB.
    for (let part = 0; part < 10; part++) {
      const events = eventsOf(250, 250 * part, 4000);
      expect(await send(part % 2 === 0 ? first : second, 'events', events)).to.include({ accepted: 250 });
    }
    const [key] = await keysOf('stream:*:log');
    expect(await call('LLEN', String(key)), 'the entries before the state are removed').to.be.below(10);
    const base = String(key).slice(0, -':log'.length);
    const states = await keysOf(`${base.slice(prefix.length + 1)}:state:*`);
    expect(states).not.to.deep.equal([]);
    for (const state of states) expect(await call('TTL', state)).to.equal(-1);
    const third = await open();
    expect(await send(third, 'events', eventsOf(251, 2250, 4000))).to.include({ accepted: 1, repeated: 250 });
    const expected = await stateOf(third);
    expect(expected).to.include({ n_events: 2501 });
    for (const host of [first, second]) expect(await stateOf(host)).to.deep.equal(expected);
    // An idle host reads the state instead of the entries that are gone.
    for (let part = 0; part < 9; part++) await send(third, 'events', eventsOf(250, 10_000 + 250 * part, 4000));
    expect(await stateOf(first)).to.deep.equal(await stateOf(third));
    expect((await keysOf('stream:*:state:*')).length).to.be.at.most(states.length + 1);
    await second.remove(NAME);
    expect(await keysOf('stream*')).to.deep.equal([]);
    expect([first, second, third].flatMap(({ logged }) => logged)).to.deep.equal([]);
  });

  it('are deleted and created again on any host, by tenant', async () => {
    const [first, second] = [await open(), await open()];
    const others = { tenant: 'other', stream: 'credit' };
    await send(first, 'events', eventsOf(10));
    await send(second, 'events', eventsOf(3), others);
    expect((await second.list('')).map(({ stream, options }) => [stream, options])).to.deep.equal([
      ['credit', OPTIONS],
    ]);
    await second.remove(NAME);
    expect(await statusOf(first.get(NAME))).to.equal(404);
    expect(await statusOf(first.remove(NAME))).to.equal(404);
    expect(await first.list('')).to.deep.equal([]);
    expect(await send(second, 'events', eventsOf(4))).to.include({ accepted: 4, n_events: 4 });
    expect(await send(first, 'events', eventsOf(5))).to.include({ accepted: 1, n_events: 5 });
    expect(await stateOf(first, others)).to.include({ n_events: 3 });
  });

  it('have the options of the first events, also if two hosts get first events at the same time', async () => {
    const [first, second] = [await open(), await open()];
    const text = JSON.stringify(eventsOf(1)[0]);
    const attempts = [first, second].map((host, index) =>
      host.append({ ...NAME, kind: 'events', text, options: { ...OPTIONS, limit: `0.${String(index + 1)}` } }),
    );
    expect((await Promise.all(attempts.map(statusOf))).sort()).to.deep.equal([200, 422]);
    expect(await stateOf(first)).to.include({ n_events: 1 });
  });

  it('are as many as the limit, over all hosts', async () => {
    const hosts = [await open(), await open()];
    const statuses: unknown[] = [];
    for (let index = 0; index < 7; index++) {
      const name = { tenant: '', stream: `s${String(index)}` };
      statuses.push(await statusOf(send(hosts[index % 2] as Streams, 'events', eventsOf(1), name)));
    }
    expect(statuses).to.deep.equal([200, 200, 200, 200, 200, 503, 503]);
  });

  it('reject labels of an unknown stream, invalid lines and names, and store nothing', async () => {
    const host = await open();
    expect(await statusOf(send(host, 'labels', [{ id: 1, repaid: 1 }]))).to.equal(404);
    expect(await statusOf(send(host, 'events', [...eventsOf(2), { id: 'x', sex: 'f' }]))).to.equal(422);
    expect(await statusOf(send(host, 'events', eventsOf(1), { tenant: '', stream: '../x' }))).to.equal(422);
    expect(await keysOf('stream*')).to.deep.equal([]);
    await send(host, 'events', eventsOf(2));
    expect(await statusOf(send(host, 'events', [...eventsOf(2, 2), { id: 'x', sex: 'f' }]))).to.equal(422);
    expect(await stateOf(host)).to.include({ n_events: 2 });
  });

  it('never use an entry that was changed, and report it', async () => {
    const host = await open();
    await send(host, 'events', eventsOf(10));
    await send(host, 'events', eventsOf(20, 10));
    const [key] = await keysOf('stream:*:log');
    const entry = String(await call('LINDEX', String(key), 0));
    await call('LSET', String(key), 0, entry.replace('"approved":1', '"approved":0'));
    const other = await open();
    expect(await statusOf(other.get(NAME))).to.equal(500);
    expect(other.logged.at(-1)?.text).to.include('damaged');
    await call('LSET', String(key), 0, entry);
    expect(await stateOf(other)).to.include({ n_events: 30 });
  });

  it('are read again by a host that knows entries that Redis has lost', async () => {
    const [first, second] = [await open(), await open()];
    await send(first, 'events', eventsOf(10));
    const [key] = await keysOf('stream:*:log');
    const meta = String(key).slice(0, -':log'.length);
    const before = (await call('HMGET', meta, 'sequence', 'check', 'bytes')) as string[];
    await send(first, 'events', eventsOf(5, 10));
    // A Redis without appendfsync always loses its last commands when its machine fails.
    await call('RPOP', String(key));
    const [sequence = '', check = '', bytes = ''] = before;
    await call('HSET', meta, 'sequence', sequence, 'check', check, 'bytes', bytes);
    expect(await send(second, 'events', eventsOf(7, 100))).to.include({ accepted: 7, n_events: 17 });
    expect(await stateOf(first)).to.deep.equal(await stateOf(second));
    expect(first.logged.at(-1)?.text).to.include('read again from Redis');
  });

  it('number times of arrival so that they never decrease, although the clocks of hosts differ', async () => {
    const [ahead, late] = [await open(() => 2_000_000), await open(() => 1_000_000)];
    await send(ahead, 'events', eventsOf(1));
    await send(late, 'events', eventsOf(1, 1));
    for (const host of [ahead, late]) {
      expect(await stateOf(host)).to.include({ timestamp: new Date(2_000_000).toISOString() });
      expect(await stateOf(host)).to.deep.include({ faults: {} });
    }
  });

  it('answer 503 while Redis is away, and then have everything that was confirmed', async function () {
    this.timeout(60_000);
    const host = await open();
    await send(host, 'events', eventsOf(100));
    await redis().kill();
    const start = performance.now();
    expect(await statusOf(send(host, 'events', eventsOf(5, 100)))).to.equal(503);
    expect(await statusOf(host.get(NAME))).to.equal(503);
    expect(performance.now() - start).to.be.below(10_000);
    await redis().start();
    for (let tries = 0; (await statusOf(host.get(NAME))) !== 200 && tries < 100; tries++) await pause(100);
    expect(await send(host, 'events', eventsOf(105))).to.include({ accepted: 5, repeated: 100, n_events: 105 });
    const other = await open();
    expect(await stateOf(other)).to.deep.equal(await stateOf(host));
  });

  it('answer 503 when Redis is full, and count nothing', async () => {
    const host = await open();
    await send(host, 'events', eventsOf(10));
    await call('CONFIG', 'SET', 'maxmemory', 1);
    try {
      expect(await statusOf(send(host, 'events', eventsOf(5, 10)))).to.equal(503);
      expect(await stateOf(host)).to.include({ n_events: 10 });
    } finally {
      await call('CONFIG', 'SET', 'maxmemory', 0);
    }
    expect(await send(host, 'events', eventsOf(5, 10))).to.include({ accepted: 5 });
  });
});
