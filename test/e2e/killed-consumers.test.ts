import { setTimeout as sleep } from 'node:timers/promises';

import { expect } from 'chai';

import { createRandom } from '../../src/internal/random.ts';
import { openRedis } from '../../src/io/redis/open-redis.ts';
import {
  type EventSource,
  FairnessDriftAndAlertEngine,
  followLines,
  followStream,
  KafkaSource,
  RealTimeFairnessTracker,
  RedisStreamSource,
  type TrackerOptions,
} from '../../src/monitoring/index.ts';
import { describeWithKafka } from '../helpers/kafka-server.ts';
import { describeWithRedis } from '../helpers/redis-server.ts';
import { RestartedProcess } from '../helpers/stream-processes.ts';

/** The number of events; a smaller number can be set to try out the test. */
const EVENTS = Number(process.env['EVENHAND_STREAM_EVENTS'] ?? 1_000_000);
const PARTITIONS = 4;
const KILL_MILLIS = 5000;

/** A script of Redis that adds events to a stream. */
const ADD_EVENTS = "for i = 1, #ARGV do redis.call('XADD', KEYS[1], '*', 'event', ARGV[i]) end";

/** The attributes. `sex||region` is their intersection. */
const ATTRIBUTES = ['sex', 'region', 'channel'] as const;
const SENSITIVE = [
  '--sensitive',
  'sex,region',
  '--sensitive',
  'sex',
  '--sensitive',
  'region',
  '--sensitive',
  'channel',
];
const TIMING = ['--lease-seconds', '3', '--checkpoint-seconds', '0.5', '--until-end', '--json'];

type Event = Readonly<Record<(typeof ATTRIBUTES)[number], string>> & { readonly approved: number };

/** Where true labels come from: in the event, or in a later message. */
type Labels = 'same' | 'later';

/**
 * The messages of each partition. From a fifth of the stream on, decisions depend on sex and region: in each attribute,
 * the gap between two groups is far larger than all others, so that it is clear which groups an alarm names. Channels are
 * treated alike. Some messages cannot be read.
 */
function makeMessages(labels: Labels): string[][] {
  const random = createRandom(22);
  const partitions = Array.from({ length: PARTITIONS }, (): string[] => []);
  for (let row = 0; row < EVENTS; row++) {
    const messages = partitions[row % PARTITIONS] as string[];
    const sex = random.next() < 0.5 ? 'f' : 'm';
    const region = random.next() < 0.5 ? 'north' : 'south';
    const channel = ['web', 'phone', 'branch'][random.integer(3)];
    const shift = (sex === 'f' ? -0.13 : 0.13) + (region === 'south' ? -0.13 : 0.13);
    const approved = Number(random.next() < (row < EVENTS / 5 ? 0.5 : 0.5 + shift));
    const repaid = Number(random.next() < 0.7);
    const event = { case: row, approved, sex, region, channel };
    messages.push(JSON.stringify(labels === 'same' ? { ...event, repaid } : event));
    // Some labels arrive later, in the partition of their event.
    const earlier = row - 40 * PARTITIONS;
    if (labels === 'later' && earlier >= 0 && row % 5 === 0) messages.push(JSON.stringify({ case: earlier, repaid }));
    if (row % 50_000 === 7) messages.push('{"approved": 1, ');
  }
  return partitions;
}

/** Counts all events with a plain loop: the number of each group's events by their label and decision. */
function countPlainly(partitions: readonly (readonly string[])[]): Record<string, number> {
  const events = new Map<number, Event & { repaid: number | null }>();
  for (const message of partitions.flat()) {
    if (!message.endsWith('}')) continue;
    const { case: id, repaid = null, ...event } = JSON.parse(message) as Event & { case: number; repaid?: number };
    const known = events.get(id);
    if (known === undefined) events.set(id, { ...event, repaid });
    else known.repaid = repaid;
  }
  const counts: Record<string, number> = {};
  for (const event of events.values()) {
    const groups = ATTRIBUTES.map((name) => `${name} ${event[name]}`);
    for (const group of [...groups, `sex||region ${event.sex}||${event.region}`]) {
      const key = `${group}: ${String(event.repaid)} ${String(event.approved)}`;
      counts[key] = (counts[key] ?? 0) + 1;
    }
  }
  return counts;
}

/** The same counts, from a tracker. */
function countsOf({ stream }: RealTimeFairnessTracker): Record<string, number> {
  const counts: Record<string, number> = {};
  stream.options.attributes.forEach(({ name }, attribute) => {
    const { data, stride } = stream.tables[attribute] as (typeof stream.tables)[number];
    stream.reader.groups[attribute]?.labels.forEach((label, group) => {
      for (let cell = 0; cell < 6; cell++) {
        const count = data[group * stride + cell] as number;
        const truth = cell < 2 ? '0' : cell < 4 ? '1' : 'null';
        if (count > 0) counts[`${name} ${label}: ${truth} ${String(cell % 2)}`] = count;
      }
    });
  });
  return counts;
}

/** What was raised: attribute, metric and the two groups of every alarm. */
function alarmsOf(engine: FairnessDriftAndAlertEngine): string[] {
  return engine.alerts.map(({ alert }) => `${alert.attribute} ${alert.metric} ${alert.groups.join(' over ')}`).sort();
}

/** What a stream must show at its end. */
interface Expected {
  readonly counts: Record<string, number>;
  readonly alarms: string[];
  readonly refused: number;
}

/** Counts the messages in a single process that is never interrupted, and with a plain loop. */
async function runAlone(partitions: readonly (readonly string[])[], options: TrackerOptions): Promise<Expected> {
  const tracker = new RealTimeFairnessTracker(options);
  const engine = new FairnessDriftAndAlertEngine({ detectors: [] });
  const mixed = async function* (): AsyncGenerator<string> {
    const longest = Math.max(...partitions.map(({ length }) => length));
    for (let index = 0; index < longest; index++) {
      if (index % 100 === 0) await Promise.resolve();
      for (const messages of partitions) if (index < messages.length) yield messages[index] as string;
    }
  };
  const { refused } = await followLines(mixed(), { tracker, engine });
  return { counts: countPlainly(partitions), alarms: alarmsOf(engine), refused };
}

interface KilledRun {
  readonly kills: number;
  readonly seconds: number;
  /** The exit codes, or what was printed about an unexpected one. */
  readonly codes: readonly unknown[];
}

/** Runs two processes, and kills one of them every few seconds until both have ended. */
async function runKilled(args: readonly string[]): Promise<KilledRun> {
  const start = performance.now();
  const processes = [new RestartedProcess(args), new RestartedProcess(args)];
  const all = Promise.all(processes.map(({ ended }) => ended));
  for (let turn = 0; processes.some(({ hasEnded }) => !hasEnded); turn++) {
    await Promise.race([all, sleep(KILL_MILLIS)]);
    processes[turn % 2]?.kill();
  }
  return {
    kills: processes.reduce((total, { restarts }) => total + restarts, 0),
    seconds: (performance.now() - start) / 1000,
    codes: (await all).map(({ code, stderr }) => (code === 1 ? code : stderr)),
  };
}

describe('a stream with two consumers, one of which is killed every 5 seconds @study', function () {
  this.timeout(900_000);

  /** Checks the state that the processes have left. */
  async function assertSame(
    source: EventSource,
    redis: string,
    tracker: TrackerOptions,
    expected: Expected,
  ): Promise<void> {
    const result = await followStream(source, { redis, tracker, untilEnd: true, leaseMillis: 3000 });
    expect(result.tracker.nEvents).to.equal(EVENTS);
    expect(result.refused).to.equal(expected.refused);
    expect(countsOf(result.tracker)).to.deep.equal(expected.counts);
    expect(alarmsOf(result.engine)).to.deep.equal(expected.alarms);
    expect(expected.alarms.map((alarm) => alarm.split(' ')[0])).to.deep.equal(
      ['region', 'region', 'sex', 'sex', 'sex||region', 'sex||region'],
    ); // prettier-ignore
  }

  function report(broker: string, partitions: readonly (readonly string[])[], { kills, seconds }: KilledRun): void {
    const messages = partitions.reduce((total, { length }) => total + length, 0).toLocaleString('en-US');
    console.log(`      ${broker}: ${messages} messages, ${String(kills)} kills, ${seconds.toFixed(0)} s`);
  }

  describeWithRedis('has the counts and alarms of a single run', (redis) => {
    describeWithKafka('4 partitions, and labels that arrive later', (kafka) => {
      it('loses and doubles no event', async () => {
        const columns = { yPred: 'approved', yTrue: 'repaid', id: 'case', protected: ATTRIBUTES };
        const tracker: TrackerOptions = {
          columns: { ...columns, intersections: [['sex', 'region']] },
          timestampUnit: 'auto',
        };
        const partitions = makeMessages('later');
        const expected = await runAlone(partitions, tracker);
        const send = await kafka().createTopic('decisions', PARTITIONS);
        for (const [partition, own] of partitions.entries()) await send(partition, own);
        const from = ['--kafka', kafka().broker, '--topic', 'decisions', '--redis', redis().url];
        const names = ['--y-pred', 'approved', '--y-true', 'repaid', '--id', 'case'];
        const run = await runKilled(['monitor', ...from, ...names, ...SENSITIVE, ...TIMING]);
        report('Kafka', partitions, run);
        expect(run.codes).to.deep.equal([1, 1]);
        await assertSame(
          new KafkaSource({ brokers: [kafka().broker], topic: 'decisions' }),
          redis().url,
          tracker,
          expected,
        );
      });
    });

    describe('a stream in Redis', () => {
      it('loses and doubles no event', async () => {
        const columns = { yPred: 'approved', yTrue: 'repaid', protected: ATTRIBUTES };
        const tracker: TrackerOptions = {
          columns: { ...columns, intersections: [['sex', 'region']] },
          timestampUnit: 'auto',
        };
        const partitions = makeMessages('same');
        const expected = await runAlone(partitions, tracker);
        const writer = await openRedis(redis().url);
        const all = partitions.flat();
        for (let index = 0; index < all.length; index += 2000) {
          await writer.client.call('EVAL', ADD_EVENTS, 1, 'decisions', ...all.slice(index, index + 2000));
        }
        await writer.close();
        const from = ['--redis-stream', 'decisions', '--redis', redis().url];
        const names = ['--y-pred', 'approved', '--y-true', 'repaid'];
        const run = await runKilled(['monitor', ...from, ...names, ...SENSITIVE, ...TIMING]);
        report('Redis', partitions, run);
        expect(run.codes).to.deep.equal([1, 1]);
        await assertSame(new RedisStreamSource({ key: 'decisions' }), redis().url, tracker, expected);
      });
    });
  });
});
