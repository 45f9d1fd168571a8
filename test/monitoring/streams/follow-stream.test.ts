import { setTimeout as sleep } from 'node:timers/promises';

import { expect } from 'chai';

import { createRandom } from '../../../src/internal/random.ts';
import { openRedis, type Redis } from '../../../src/io/redis/open-redis.ts';
import {
  type AlertSink,
  type AlertTransition,
  followStream,
  type FollowStreamOptions,
  type FollowStreamResult,
  type RedisStreamOptions,
  RedisStreamSource,
} from '../../../src/monitoring/index.ts';
import { MergedMonitor } from '../../../src/monitoring/streams/merged-monitor.ts';
import { planOf } from '../../../src/monitoring/streams/stream-options.ts';
import { StreamStore } from '../../../src/monitoring/streams/stream-store.ts';
import { describeWithRedis } from '../../helpers/redis-server.ts';
import { countPlainly, countsOf, StreamProcess } from '../../helpers/stream-processes.ts';

const COLUMNS = { yPred: 'approved', protected: ['sex'] };

/** Events as JSON; from some event on, women are approved less often. */
function makeEvents(count: number, gapFrom = 0, seed = 3): string[] {
  const random = createRandom(seed);
  return Array.from({ length: count }, (_, row) => {
    const sex = random.next() < 0.5 ? 'f' : 'm';
    const rate = row >= gapFrom && sex === 'f' ? 0.25 : 0.6;
    return JSON.stringify({ approved: Number(random.next() < rate), sex });
  });
}

function collector(): { sink: AlertSink; sent: string[] } {
  const sent: string[] = [];
  const sink: AlertSink = {
    name: 'test',
    failures: 0,
    send: ({ change, alert }: AlertTransition) => sent.push(`${change} ${alert.id}`),
    close: () => Promise.resolve(),
  };
  return { sink, sent };
}

describeWithRedis('a stream in Redis', (redisServer) => {
  let redis: Redis;
  let keys = 0;

  before(async () => {
    redis = await openRedis(redisServer().url);
  });
  after(() => redis.close());

  const newKey = (): string => `decisions ${String(keys++)}`;

  async function add(key: string, events: readonly (string | Buffer)[], field = 'event'): Promise<void> {
    for (let from = 0; from < events.length; from += 2000) {
      const part = events.slice(from, from + 2000);
      await Promise.all(part.map((event) => redis.client.call('XADD', key, '*', field, event)));
    }
  }

  function follow(
    source: string | RedisStreamOptions,
    options: Partial<FollowStreamOptions> = {},
  ): Promise<FollowStreamResult> {
    return followStream(new RedisStreamSource(typeof source === 'string' ? { key: source } : source), {
      tracker: { columns: COLUMNS },
      redis: redisServer().url,
      untilEnd: true,
      checkMillis: 50,
      checkpointMillis: 50,
      leaseMillis: 1000,
      ...options,
    });
  }

  it('is shared by several processes, and counts every entry once', async () => {
    const key = newKey();
    const events = makeEvents(12_000);
    await add(key, events);
    const results = await Promise.all([follow(key), follow(key), follow(key)]);
    for (const { tracker, states, alerts } of results) {
      expect(countsOf(tracker)).to.deep.equal(countPlainly(events));
      expect(states).to.deep.equal({ sex: { demographic_parity_difference: 'breach' } });
      expect(new Set(alerts.map(({ id }) => id))).to.deep.equal(new Set(['sex:demographic_parity_difference:1']));
    }
    expect(results.reduce((sum, { counts }) => sum + counts.events, 0)).to.equal(12_000);
    expect(results.filter(({ counts }) => counts.events > 0).length).to.be.above(1);
  });

  it('continues in a later run, and raises no alarm twice', async () => {
    const key = newKey();
    const events = makeEvents(9000, 4000);
    const { sink, sent } = collector();
    await add(key, events.slice(0, 3000));
    const first = await follow(key, { engine: { sinks: [sink] } });
    expect(first.states).to.have.nested.property('sex.demographic_parity_difference').that.does.not.equal('breach');
    expect(first.alerts).to.deep.equal([]);
    await add(key, events.slice(3000, 8000));
    const second = await follow(key, { engine: { sinks: [sink] } });
    // How many checks there are depends on time. A check that finds the open alarm more severe reports it again.
    const [alert, ...repeated] = second.alerts.map(({ id, groups }) => [id, groups]);
    expect(alert).to.deep.equal(['sex:demographic_parity_difference:1', ['m', 'f']]);
    for (const later of repeated) expect(later).to.deep.equal(alert);
    await add(key, events.slice(8000));
    const third = await follow(key, { engine: { sinks: [sink] } });
    expect(third.counts.events).to.equal(1000);
    expect(countsOf(third.tracker)).to.deep.equal(countPlainly(events));
    expect(third.engine.alerts.filter(({ isOpen }) => isOpen)).to.have.length(1);
    expect(sent.filter((change) => change.startsWith('raised'))).to.deep.equal([
      'raised sex:demographic_parity_difference:1',
    ]);
  });

  it('sends each change of an alert to the sinks of one process, and reports it in all', async () => {
    const key = newKey();
    const [one, two] = [collector(), collector()];
    const reported: string[] = [];
    await add(key, makeEvents(3000));
    await Promise.all(
      [one, two].map(({ sink }) =>
        follow(key, {
          engine: { sinks: [sink] },
          onAlert: ({ change, alert }) => reported.push(`${change} ${alert.id}`),
        }),
      ),
    );
    expect([...one.sent, ...two.sent].filter((change) => change.startsWith('raised'))).to.have.length(1);
    expect(reported.filter((change) => change.startsWith('raised'))).to.have.length(2);
  });

  it('reports an alarm that another process raises just before the last view', async () => {
    const key = newKey();
    const events = makeEvents(4000);
    await add(key, events);
    const source = new RedisStreamSource({ key });
    const options = { tracker: { columns: COLUMNS }, redis: redisServer().url };
    const plan = planOf(source, options);
    const store = new StreamStore(redis, plan.prefix, source.stream);
    const leader = new MergedMonitor(store, {
      tracker: plan.shards,
      engine: plan.engine,
      restartEvery: plan.restartEvery,
    });
    const epoch = (await store.lead('other process', 60_000)) as string;
    // The follower has reported all changes, and then views the stream: the leader checks between the two.
    // eslint-disable-next-line @typescript-eslint/unbound-method -- called with the monitor
    const view = MergedMonitor.prototype.view;
    MergedMonitor.prototype.view = async function (this: MergedMonitor) {
      await leader.check(epoch, () => Promise.resolve());
      return view.call(this);
    };
    try {
      const reported: string[] = [];
      const { alerts, states } = await follow(key, { onAlert: ({ alert }) => reported.push(alert.id) });
      expect(states).to.deep.equal({ sex: { demographic_parity_difference: 'breach' } });
      expect(alerts.map(({ id }) => id)).to.deep.equal(['sex:demographic_parity_difference:1']);
      expect(reported).to.deep.equal(alerts.map(({ id }) => id));
    } finally {
      MergedMonitor.prototype.view = view;
      await store.resign('other process');
    }
  });

  it('counts what cannot be read as refused, with the id of the entry, and goes on', async () => {
    const key = newKey();
    const huge = JSON.stringify({ approved: 1, sex: 'f', note: 'x'.repeat(2 ** 20) });
    await add(key, ['{"approved": 1, "sex": "f"}', '{"approved": 1', '[1]', '{"approved": 7, "sex": "f"}', huge]);
    await add(key, [Buffer.from([0x7b, 0xff, 0x7d]), '', '{"approved": 1, "approved": 0, "sex": "m"}']);
    await redis.client.call('XADD', key, '*', 'approved', '1', 'sex', 'f');
    await add(key, ['{"approved": 0, "sex": "m"}'], 'payload');
    const refused: string[] = [];
    const options = {
      onRefused: (_: string, position: string, reason: string) => refused.push(`${position} ${reason}`),
    };
    const { tracker, refused: total, counts } = await follow(key, options);
    expect(countsOf(tracker)).to.deep.equal({ f: [1, 1], m: [0, 1] });
    expect({ total, refused: counts.refused, messages: counts.messages }).to.deep.equal({
      total: 8,
      refused: 8,
      messages: 10,
    });
    expect(refused.map((reason) => reason.replace(/^\d+-\d+ /, '').replace(/; .*/, ''))).to.deep.equal([
      'it is not valid JSON',
      'it is not a JSON object',
      "The field 'approved' must be a decision 0 or 1, or a score from 0 to 1",
      'it has 1 MiB or more',
      'it is not UTF-8',
      'it is empty',
      '/approved occurs twice, so that one of its values would be ignored',
      'it is empty',
    ]);
    // A later run knows the total.
    expect((await follow(key)).refused).to.equal(8);
  });

  it('counts the entries that a lost process had received', async () => {
    const key = newKey();
    const events = makeEvents(5000);
    await add(key, events);
    const args = ['--redis-stream', key, '--redis', redisServer().url, '--y-pred', 'approved', '--sensitive', 'sex'];
    // It receives entries, but does not save before it is killed.
    const lost = new StreamProcess(['monitor', ...args, '--checkpoint-events', '1000000', '--checkpoint-seconds', '600', '--lease-seconds', '1']); // prettier-ignore
    const pending = async (): Promise<number> => Number(((await redis.client.call('XPENDING', key, 'evenhand').catch(() => [0])) as number[])[0]); // prettier-ignore
    while ((await pending()) === 0) await sleep(50);
    lost.kill();
    await lost.ended;
    expect(await pending()).to.be.above(0);
    const { tracker } = await follow(key, { tracker: { columns: COLUMNS, timestampUnit: 'auto' } });
    expect(countsOf(tracker)).to.deep.equal(countPlainly(events));
    expect(await pending()).to.equal(0);
  });

  it('waits for the lease of a lost process that had the same name, and rejects the name of a running one', async () => {
    const key = newKey();
    const events = makeEvents(2000);
    await add(key, events.slice(0, 1000));
    const ending = new AbortController();
    const running = follow({ key, consumer: 'a' }, { untilEnd: false, signal: ending.signal });
    await sleep(300);
    const error = await follow({ key, consumer: 'a' }, { untilEnd: false }).catch((cause: unknown) => cause);
    expect(error).to.have.property(
      'message',
      `Another process reads the stream '${key}' of Redis as the consumer 'a'.`,
    );
    ending.abort();
    await running;
    await add(key, events.slice(1000));
    await redis.client.call(
      'SET',
      `evenhand:monitor:redis:${encodeURIComponent(key)}:evenhand:lease:a`,
      'lost',
      'PX',
      700,
    );
    const { tracker } = await follow({ key, consumer: 'a' });
    expect(countsOf(tracker)).to.deep.equal(countPlainly(events));
  });

  it('reports entries that were deleted before they were counted', async () => {
    const key = newKey();
    const warnings: string[] = [];
    await redis.client.call('XGROUP', 'CREATE', key, 'evenhand', '0', 'MKSTREAM');
    await add(key, makeEvents(10));
    await redis.client.call('XREADGROUP', 'GROUP', 'evenhand', 'consumer-1', 'COUNT', 4, 'STREAMS', key, '>');
    await redis.client.call('XTRIM', key, 'MAXLEN', 8);
    const { tracker, deleted } = await follow(key, { onWarning: (warning) => warnings.push(warning) });
    expect(tracker.nEvents).to.equal(8);
    expect(deleted).to.equal(2);
    expect(warnings).to.deep.equal([
      `2 entries of the stream '${key}' of Redis were deleted before they were counted. Keep entries longer (MAXLEN), or add processes.`,
    ]);
  });

  it('begins a new group at the end, if that is asked for', async () => {
    const key = newKey();
    await add(key, makeEvents(500));
    const late = makeEvents(300, 0, 9);
    const source = { key, group: 'late', from: 'end' } as const;
    expect((await follow(source)).tracker.nEvents).to.equal(0);
    await add(key, late);
    expect(countsOf((await follow(source)).tracker)).to.deep.equal(countPlainly(late));
    expect((await follow(key)).tracker.nEvents).to.equal(800);
  });

  it('saves everything when it is stopped', async () => {
    const key = newKey();
    const events = makeEvents(4000);
    await add(key, events);
    const ending = new AbortController();
    let messages = 0;
    const running = follow(key, {
      untilEnd: false,
      signal: ending.signal,
      checkpointMillis: 3_600_000,
      onProgress: (count) => (messages = count),
    });
    while (messages < 4000) await sleep(20);
    ending.abort();
    const { tracker, preview } = await running;
    expect(countsOf(tracker)).to.deep.equal(countPlainly(events));
    expect(preview).to.equal(null);
    expect((await follow(key)).counts.messages).to.equal(0);
  });

  it('is an error if it was started with other options', async () => {
    const key = newKey();
    await add(key, makeEvents(100));
    await follow(key, { engine: { alpha: 0.05 } });
    const change = { engine: { alpha: 0.01, limits: { demographic_parity_difference: 0.2 } } };
    const error = await follow(key, change).catch((cause: unknown) => cause);
    expect(error).to.have.property('code', 'invalid-state');
    expect(error).to.have.property('message').that.includes(
      'was started with other options: alpha was 0.05 and is 0.01; demographic_parity_difference was 0.1 and is 0.2.',
    ); // prettier-ignore
    expect((await follow(key, { engine: { persistence: 5, cooldownMillis: 1 } })).tracker.nEvents).to.equal(100);
  });

  it('keeps its records and its history over processes', async () => {
    const key = newKey();
    const rows: number[] = [];
    const store = {
      append: (records: readonly unknown[]) => rows.push(records.length),
      status: () => ({ written: 0, pending: 0, dropped: 0, problem: null }),
      close: () => undefined,
    };
    const tracker = { columns: COLUMNS, recordEvery: 500, store };
    await add(key, makeEvents(2000));
    await follow(key, { tracker });
    const before = rows.length;
    await add(key, makeEvents(2000, 0, 5));
    const { tracker: merged } = await follow(key, { tracker });
    expect(before).to.be.above(0);
    expect(rows.length).to.be.above(before);
    expect(merged.history.length).to.equal(rows.reduce((sum, count) => sum + count, 0));
  });

  it('ends at the end of an empty stream', async () => {
    const { tracker, states, alerts } = await follow(newKey());
    expect([tracker.nEvents, states, alerts]).to.deep.equal([
      0,
      { sex: { demographic_parity_difference: 'unknown' } },
      [],
    ]);
  });

  it('rejects a key that is not a stream, drift detectors and windows that cannot be merged', async () => {
    const key = newKey();
    await redis.client.call('SET', key, 'text');
    const fail = (options: object): Promise<unknown> => follow(key, options).catch((error: unknown) => error);
    expect(await fail({}))
      .to.have.property('message')
      .that.includes(`Cannot read the stream '${key}' of Redis: WRONGTYPE`);
    expect(await fail({ engine: { detectors: ['adwin'] } }))
      .to.have.property('message')
      .that.includes("'detectors'");
    expect(await fail({ engine: { windows: 'cumulative' } }))
      .to.have.property('message')
      .that.includes("'windows'");
    expect(await fail({ leaseMillis: 10 }))
      .to.have.property('message')
      .that.includes('leaseMillis');
    expect(await fail({ prefix: 'a b' }))
      .to.have.property('message')
      .that.includes('prefix');
    expect(await fail({ chekMillis: 10 }))
      .to.have.property('message')
      .that.includes('chekMillis');
  });

  describe('whose server is restarted', () => {
    it('goes on, warns once, and counts every entry once', async () => {
      const key = newKey();
      const events = makeEvents(6000);
      await add(key, events.slice(0, 3000));
      const warnings: string[] = [];
      const ending = new AbortController();
      let messages = 0;
      const running = [1, 2].map(() =>
        follow(key, {
          untilEnd: false,
          signal: ending.signal,
          onWarning: (warning) => warnings.push(warning),
          onProgress: () => messages++,
        }),
      );
      await sleep(700);
      await redisServer().kill();
      await sleep(1200);
      await redisServer().start();
      await add(key, events.slice(3000));
      const before = messages;
      while (messages < before + 4) await sleep(50);
      ending.abort();
      await Promise.all(running);
      const { tracker } = await follow(key);
      expect(countsOf(tracker)).to.deep.equal(countPlainly(events));
      expect(warnings.filter((warning) => warning.includes('does not answer'))).to.have.length(2);
      expect(warnings.filter((warning) => warning.includes('answers again'))).to.have.length(2);
      expect(messages).to.be.above(0);
    });

    it('is an error if the server is away for too long, and nothing is lost', async () => {
      const key = newKey();
      const events = makeEvents(3000);
      await add(key, events);
      const running = follow(key, { untilEnd: false, outageMillis: 600 }).catch((error: unknown) => error);
      await sleep(600);
      await redisServer().kill();
      const error = await running;
      await redisServer().start();
      expect(error).to.have.property('name', 'FairnessToolkitError');
      expect(error).to.have.property('code', 'broker-lost');
      expect(error)
        .to.have.property('message')
        .that.matches(/^Redis at 127\.0\.0\.1:\d+ has not answered for 1 seconds: /);
      expect(countsOf((await follow(key)).tracker)).to.deep.equal(countPlainly(events));
    });
  });
});
