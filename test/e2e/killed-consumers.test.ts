import { setTimeout as sleep } from 'node:timers/promises';

import { expect } from 'chai';

import { createRandom } from '../../src/internal/random.ts';
import {
  FairnessDriftAndAlertEngine,
  followLines,
  followStream,
  type FollowStreamResult,
  KafkaSource,
  RealTimeFairnessTracker,
  RedisStreamSource,
} from '../../src/monitoring/index.ts';
import { describeWithKafka } from '../helpers/kafka-server.ts';
import { describeWithRedis, type RunningRedis } from '../helpers/redis-server.ts';
import { RestartedProcess } from '../helpers/stream-processes.ts';

/** The number of events; a smaller number can be set to try out the test. */
const EVENTS = Number(process.env['EVENHAND_STREAM_EVENTS'] ?? 1_000_000);
const PARTITIONS = 4;
const KILL_MILLIS = 5000;

const COLUMNS = { yPred: 'approved', yTrue: 'repaid', id: 'case', protected: ['sex', 'region', 'channel'] };
const TRACKER = { columns: { ...COLUMNS, intersections: [['sex', 'region']] } };
const OPTIONS = ['--y-pred', 'approved', '--y-true', 'repaid', '--id', 'case', '--sensitive', 'sex,region', '--sensitive', 'sex', '--sensitive', 'region', '--sensitive', 'channel']; // prettier-ignore

/**
 * The messages of each partition. From a fifth of the stream on, decisions depend on sex and region: in each attribute,
 * the gap between two groups is far larger than all others, so that it is clear which groups an alarm names. Channels are
 * treated alike.
 */
function makeMessages(): string[][] {
  const random = createRandom(22);
  const partitions = Array.from({ length: PARTITIONS }, (): string[] => []);
  for (let row = 0; row < EVENTS; row++) {
    const messages = partitions[row % PARTITIONS] as string[];
    const sex = random.next() < 0.5 ? 'f' : 'm';
    const region = random.next() < 0.5 ? 'north' : 'south';
    const channel = ['web', 'phone', 'branch'][random.integer(3)];
    const shift = (sex === 'f' ? -0.13 : 0.13) + (region === 'south' ? -0.13 : 0.13);
    const rate = row < EVENTS / 5 ? 0.5 : 0.5 + shift;
    messages.push(JSON.stringify({ case: row, approved: Number(random.next() < rate), sex, region, channel }));
    // Some labels arrive later, in the partition of their event.
    const earlier = row - 40 * PARTITIONS;
    if (earlier >= 0 && row % 5 === 0) {
      messages.push(JSON.stringify({ case: earlier, repaid: Number(random.next() < 0.7) }));
    }
    if (row % 50_000 === 7) messages.push('{"approved": 1, ');
  }
  return partitions;
}

interface Event {
  readonly sex: string;
  readonly region: string;
  readonly channel: string;
  readonly approved: number;
}

/** Counts all events with a plain loop: the number of each group's events by their label and decision. */
function countPlainly(partitions: readonly (readonly string[])[]): Record<string, number> {
  const events = new Map<number, Event & { repaid: number | null }>();
  for (const message of partitions.flat()) {
    if (!message.endsWith('}')) continue;
    const { case: id, ...fields } = JSON.parse(message) as Event & { case: number; repaid?: number };
    const known = events.get(id);
    if (known === undefined) events.set(id, { ...fields, repaid: null });
    else known.repaid = fields.repaid ?? null;
  }
  const counts: Record<string, number> = {};
  for (const { sex, region, channel, approved, repaid } of events.values()) {
    for (const group of [`sex ${sex}`, `region ${region}`, `channel ${channel}`, `sex||region ${sex}||${region}`]) {
      const key = `${group}: ${String(repaid)} ${String(approved)}`;
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

/** The result of a single process that is never interrupted. */
async function runAlone(partitions: readonly (readonly string[])[]): Promise<{ alarms: string[]; refused: number }> {
  const tracker = new RealTimeFairnessTracker(TRACKER);
  const engine = new FairnessDriftAndAlertEngine({ detectors: [] });
  const mixed = async function* (): AsyncGenerator<string> {
    const longest = Math.max(...partitions.map(({ length }) => length));
    for (let index = 0; index < longest; index++) {
      await Promise.resolve();
      for (const messages of partitions) if (index < messages.length) yield messages[index] as string;
    }
  };
  const { refused } = await followLines(mixed(), { tracker, engine });
  return { alarms: alarmsOf(engine), refused };
}

/** Runs two processes, and kills one of them every few seconds until both have ended. */
async function runKilled(args: readonly string[]): Promise<{ restarts: number; seconds: number; codes: unknown[] }> {
  const start = performance.now();
  const processes = [new RestartedProcess(args), new RestartedProcess(args)];
  const all = Promise.all(processes.map(({ ended }) => ended));
  let isDone = false;
  void all.then(() => (isDone = true));
  for (let turn = 0; !isDone; turn++) {
    await Promise.race([all, sleep(KILL_MILLIS)]);
    if (!isDone) processes[turn % 2]?.kill();
  }
  const ended = await all;
  return {
    restarts: processes.reduce((total, { restarts }) => total + restarts, 0),
    seconds: (performance.now() - start) / 1000,
    codes: ended.map(({ code, stderr }) => (code === 1 ? code : stderr)),
  };
}

describe('a stream whose consumers are killed every 5 seconds @slow', function () {
  this.timeout(900_000);
  const partitions = makeMessages();
  const messages = partitions.reduce((total, { length }) => total + length, 0);
  let expected: { counts: Record<string, number>; alarms: string[]; refused: number };

  before(async () => {
    expected = { counts: countPlainly(partitions), ...(await runAlone(partitions)) };
    expect(expected.alarms.map((alarm) => alarm.split(' ')[0])).to.deep.equal([
      'region',
      'region',
      'sex',
      'sex',
      'sex||region',
      'sex||region',
    ]);
  });

  function assertSame(
    result: FollowStreamResult,
    title: string,
    run: { restarts: number; seconds: number; codes: unknown[] },
  ): void {
    console.log(
      `      ${title}: ${messages.toLocaleString('en-US')} messages, ${String(run.restarts)} kills, ${run.seconds.toFixed(0)} s`,
    );
    expect(run.codes).to.deep.equal([1, 1]);
    expect(result.tracker.nEvents).to.equal(EVENTS);
    expect(result.refused).to.equal(expected.refused);
    expect(countsOf(result.tracker)).to.deep.equal(expected.counts);
    expect(alarmsOf(result.engine)).to.deep.equal(expected.alarms);
  }

  const LIMITS = ['--lease-seconds', '3', '--checkpoint-seconds', '0.5', '--until-end', '--json'];

  describeWithRedis('has the counts and alarms of a single run', (redis) => {
    describeWithKafka('over 4 partitions', (kafka) => {
      it('loses and doubles no event', async () => {
        const send = await kafka().createTopic('decisions', PARTITIONS);
        for (const [partition, own] of partitions.entries()) await send(partition, own);
        const args = ['monitor', '--kafka', kafka().broker, '--topic', 'decisions', '--redis', redis().url, ...OPTIONS, ...LIMITS]; // prettier-ignore
        const run = await runKilled(args);
        const source = new KafkaSource({ brokers: [kafka().broker], topic: 'decisions' });
        assertSame(await endOf(source, redis()), 'Kafka', run);
      });
    });
  });
});

/** Reads the merged stream after its end. */
async function endOf(source: KafkaSource | RedisStreamSource, { url }: RunningRedis): Promise<FollowStreamResult> {
  return followStream(source, {
    redis: url,
    tracker: { ...TRACKER, timestampUnit: 'auto' },
    untilEnd: true,
    leaseMillis: 3000,
  });
}
