import { expect } from 'chai';

import { openRedis, type Redis } from '../../../src/io/redis/open-redis.ts';
import type { StreamMessage } from '../../../src/monitoring/streams/event-source.ts';
import { OwnedPartitions } from '../../../src/monitoring/streams/owned-partitions.ts';
import { Shard } from '../../../src/monitoring/streams/shard.ts';
import { StreamStore } from '../../../src/monitoring/streams/stream-store.ts';
import { fillTrackerOptions } from '../../../src/monitoring/tracker/tracker-options.ts';
import { describeWithRedis } from '../../helpers/redis-server.ts';

const OPTIONS = fillTrackerOptions({ columns: { yPred: 'p', yTrue: 'y', id: 'id', protected: ['g'] } });

/** Messages with events; the position of a message is its number. */
function messages(from: number, to: number): StreamMessage[] {
  return Array.from({ length: to - from }, (_, index) => {
    const number = from + index;
    return {
      position: String(number),
      next: String(number + 1),
      value: Buffer.from(JSON.stringify({ id: number, p: number % 2, g: 'ab'[(number % 3) % 2] })),
    };
  });
}

describeWithRedis('partitions that are counted by one process at a time', (redisServer) => {
  let redis: Redis;
  let streams = 0;

  before(async () => {
    redis = await openRedis(redisServer().url);
  });
  after(() => redis.close());

  /** A new stream, with as many processes as needed. */
  function newStream(): { store: StreamStore; process: (events?: number) => OwnedPartitions } {
    const store = new StreamStore(redis, 'test', `stream ${String(streams++)}`);
    const policy = (checkpointEvents: number): { checkpointEvents: number; checkpointMillis: number } => ({
      checkpointEvents,
      checkpointMillis: 3_600_000,
    });
    return {
      store,
      process: (events = 1_000_000) =>
        new OwnedPartitions(store, OPTIONS, policy(events), { onRefused: () => undefined }),
    };
  }

  /** The number of events in the saved counts of a partition. */
  async function savedEvents(store: StreamStore, partition = '0'): Promise<number> {
    const saved = await store.stateOf(partition);
    return saved === null ? 0 : Shard.restore(saved.state, null, OPTIONS).stream.events;
  }

  it('continue where their saved counts end, and discard what was not saved', async () => {
    const { store, process } = newStream();
    const first = process();
    expect(await first.claim('0')).to.equal(null);
    expect(await first.count('0', messages(0, 100), '100')).to.equal(true);
    expect(await first.save('0')).to.equal(true);
    expect(await first.count('0', messages(100, 150), '150')).to.equal(true);
    // The process is lost here.
    const second = process();
    expect(await second.claim('0')).to.equal('100');
    expect(await second.count('0', messages(100, 170), '170')).to.equal(true);
    await second.release('0');
    expect(await savedEvents(store)).to.equal(170);
    expect(second.savedPosition('0')).to.equal(null);
    expect(await process().claim('0')).to.equal('170');
  });

  it('refuse the saves of a process that was thought to be lost', async () => {
    const { store, process } = newStream();
    const [paused, other] = [process(), process()];
    await paused.claim('0');
    await paused.count('0', messages(0, 50), '50');
    await other.claim('0');
    await other.count('0', messages(0, 80), '80');
    await other.save('0');
    expect(await paused.save('0')).to.equal(false);
    expect(await paused.count('0', messages(50, 60), '60')).to.equal(false);
    expect(paused.losses).to.equal(1);
    expect(await savedEvents(store)).to.equal(80);
    // It can take the partition over again, and gets the counts of the other process.
    expect(await paused.claim('0')).to.equal('80');
    expect(await paused.count('0', messages(80, 90), '90')).to.equal(true);
    await paused.save('0');
    expect(await other.save('0')).to.equal(true);
    expect(await other.count('0', messages(80, 85), '85')).to.equal(true);
    expect(await other.save('0')).to.equal(false);
    expect(await savedEvents(store)).to.equal(90);
  });

  it('are saved after some messages, with the position of exactly these messages', async () => {
    const { store, process } = newStream();
    const owner = process(1000);
    await owner.claim('0');
    await owner.count('0', messages(0, 999), '999');
    expect(await savedEvents(store)).to.equal(0);
    await owner.count('0', messages(999, 1001), '1001');
    expect(await savedEvents(store)).to.equal(1001);
    expect(owner.savedPosition('0')).to.equal('1001');
  });

  it('are saved in the middle of a large delivery without losing or doubling a message', async () => {
    const { store, process } = newStream();
    const owner = process();
    await owner.claim('0');
    const counting = owner.count('0', messages(0, 30_000), '30000');
    const seen: string[] = [];
    for (let round = 0; round < 10; round++) {
      await owner.save('0');
      const position = owner.savedPosition('0') ?? '0';
      seen.push(position);
      expect(await savedEvents(store), position).to.equal(Number(position));
    }
    expect(await counting).to.equal(true);
    expect(new Set(seen).size).to.be.above(2);
    const next = process();
    const position = Number(await next.claim('0'));
    await next.count('0', messages(position, 30_000), '30000');
    await next.save('0');
    expect(await savedEvents(store)).to.equal(30_000);
  });

  it('keep events that wait for their labels', async () => {
    const { store, process } = newStream();
    const first = process();
    await first.claim('0');
    await first.count('0', messages(0, 20), '20');
    await first.release('0');
    const second = process();
    await second.claim('0');
    const label = (id: number, position: number): StreamMessage => ({
      position: String(position),
      next: String(position + 1),
      value: Buffer.from(JSON.stringify({ id, y: 1 })),
    });
    await second.count('0', [label(3, 20), label(3, 21), label(99, 22), ...messages(5, 6)], '24');
    await second.release('0');
    const saved = await store.stateOf('0');
    const { stream } = Shard.restore((saved as { state: Buffer }).state, null, OPTIONS);
    expect(stream.lateLabels).to.equal(1);
    expect(stream.faults.toJSON()).to.deep.equal({ duplicate_id: 1, unknown_label_id: 1, repeated_label: 1 });
  });

  it('have no effect if a save is repeated because its answer was lost', async () => {
    const { store } = newStream();
    const { epoch } = await store.claim('0');
    const shard = new Shard(OPTIONS);
    for (const { value } of messages(0, 5)) shard.count(value);
    const save = { partition: '0', epoch, version: 0, position: '5', ...shard.encode(), acks: null };
    expect(await store.save(save)).to.equal(0);
    expect(await store.save(save)).to.equal(0);
    expect((await store.partitions())[0]).to.deep.equal({ partition: '0', version: 1, position: '5' });
  });

  it('are taken over again if Redis has lost a save', async () => {
    const { store, process } = newStream();
    const owner = process();
    await owner.claim('0');
    await owner.count('0', messages(0, 10), '10');
    await owner.save('0');
    const key = `${store.root}:partition:0`;
    const before = (await redis.client.callBuffer('DUMP', key)) as Buffer;
    await owner.count('0', messages(10, 20), '20');
    await owner.save('0');
    await redis.client.call('RESTORE', key, 0, before, 'REPLACE');
    await owner.count('0', messages(20, 30), '30');
    expect(await owner.save('0')).to.equal(false);
    expect(await owner.claim('0')).to.equal('10');
  });

  it('are an error if their state is damaged', async () => {
    const { store, process } = newStream();
    const owner = process();
    await owner.claim('0');
    await owner.count('0', messages(0, 10), '10');
    await owner.release('0');
    const key = `${store.root}:partition:0`;
    const state = (await redis.client.callBuffer('HGET', key, 'state')) as Buffer;
    for (const damage of [
      (bytes: Buffer) => bytes.subarray(0, -3),
      (bytes: Buffer) => Buffer.from(bytes).fill(7, 20, 24),
    ]) {
      await redis.client.call('HSET', key, 'state', damage(state));
      const error = await process()
        .claim('0')
        .catch((cause: unknown) => cause);
      expect(error).to.have.property('code', 'invalid-state');
      expect(error)
        .to.have.property('message')
        .that.matches(/^The state of partition 0 of the stream in Redis at .* cannot be read\.$/);
    }
  });

  it('acknowledge any number of entries', async () => {
    const { store } = newStream();
    const [key, group] = [`${store.root}:entries`, 'g'];
    const ids = Array.from({ length: 250_001 }, (_, index) => `1-${String(index + 1)}`);
    for (const id of [ids[0], ids[1000], ids.at(-1)]) await redis.client.call('XADD', key, id as string, 'event', '{}');
    await redis.client.call('XGROUP', 'CREATE', key, group, '0');
    await redis.client.call('XREADGROUP', 'GROUP', group, 'c', 'STREAMS', key, '>');
    const pending = async (): Promise<unknown> => ((await redis.client.call('XPENDING', key, group)) as unknown[])[0];
    expect(await pending()).to.equal(3);
    const { epoch, version } = await store.claim('c');
    const save = { partition: 'c', epoch, version, position: 'x', state: Buffer.from('{}'), waiting: null };
    expect(await store.save({ ...save, acks: { key, group, ids } })).to.equal(0);
    expect(await pending()).to.equal(0);
  });

  it('acknowledge entries of a stream in the same step', async () => {
    const { store, process } = newStream();
    const [key, group] = [`${store.root}:entries`, 'g'];
    await Promise.all(Array.from({ length: 2500 }, () => redis.client.call('XADD', key, '*', 'event', '{}')));
    await redis.client.call('XGROUP', 'CREATE', key, group, '0');
    const read = async (count: number): Promise<StreamMessage[]> => {
      const answer = (await redis.client.call(
        'XREADGROUP',
        'GROUP',
        group,
        'c',
        'COUNT',
        count,
        'STREAMS',
        key,
        '>',
      )) as unknown[];
      const entries = (answer.length === 2 ? answer[1] : (answer[0] as unknown[])[1]) as [string, string[]][];
      return entries.map(([id], index) => ({
        ...(messages(index, index + 1)[0] as StreamMessage),
        position: id,
        next: id,
      }));
    };
    const pending = async (): Promise<unknown> => ((await redis.client.call('XPENDING', key, group)) as unknown[])[0];
    const [paused, other] = [process(), process()];
    await paused.claim('c', { key, group });
    await paused.count('c', await read(2400), 'x');
    expect(await pending()).to.equal(2400);
    await paused.save('c');
    expect(await pending()).to.equal(0);
    await paused.count('c', await read(100), 'y');
    await other.claim('c', { key, group });
    expect(await paused.save('c')).to.equal(false);
    expect(await pending(), 'entries of a refused save').to.equal(100);
  });
});
