import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { expect } from 'chai';

import { createRandom } from '../../../src/internal/random.ts';
import {
  followStream,
  type FollowStreamOptions,
  type FollowStreamResult,
  KafkaSource,
  type KafkaSourceOptions,
} from '../../../src/monitoring/index.ts';
import { describeWithKafka, KAFKA_USER } from '../../helpers/kafka-server.ts';
import { describeWithRedis } from '../../helpers/redis-server.ts';
import { joinLines, useTemporaryFolder } from '../../helpers/run-cli.ts';
import { countPlainly, countsOf, type EndedProcess, StreamProcess } from '../../helpers/stream-processes.ts';

const PARTITIONS = 3;
const COLUMNS = ['--y-pred', 'approved', '--sensitive', 'sex'];

function makeEvents(count: number, seed = 3): string[] {
  const random = createRandom(seed);
  return Array.from({ length: count }, () => {
    const sex = random.next() < 0.5 ? 'f' : 'm';
    return JSON.stringify({ approved: Number(random.next() < (sex === 'f' ? 0.25 : 0.6)), sex });
  });
}

describeWithKafka('a stream', (kafka) => {
  const folder = useTemporaryFolder();
  let topics = 0;

  /** Creates a topic, and returns its name and a function that spreads messages over its partitions. */
  async function newTopic(): Promise<{
    topic: string;
    add: (messages: readonly (string | Buffer)[]) => Promise<void>;
    send: (partition: number, messages: readonly (string | Buffer)[]) => Promise<void>;
  }> {
    const topic = `decisions-${String(topics++)}`;
    const send = await kafka().createTopic(topic, PARTITIONS);
    const add = async (messages: readonly (string | Buffer)[]): Promise<void> => {
      for (let partition = 0; partition < PARTITIONS; partition++) {
        await send(
          partition,
          messages.filter((_, index) => index % PARTITIONS === partition),
        );
      }
    };
    return { topic, add, send };
  }

  function monitor(
    topic: string,
    args: readonly string[] = [],
    env: Readonly<Record<string, string>> = {},
  ): StreamProcess {
    const broker = args.includes('--kafka') ? [] : ['--kafka', kafka().broker];
    const lease = args.includes('--lease-seconds') ? [] : ['--lease-seconds', '2'];
    return new StreamProcess(['monitor', ...broker, '--topic', topic, ...COLUMNS, ...lease, ...args], env);
  }

  async function run(
    topic: string,
    args: readonly string[] = [],
    env: Readonly<Record<string, string>> = {},
  ): Promise<EndedProcess> {
    return monitor(topic, ['--until-end', ...args], env).ended;
  }

  /** The number of approved and of all events by sex in a state file. */
  async function countsIn(state: string): Promise<Record<string, [number, number]>> {
    const { RealTimeFairnessTracker: Tracker } = await import('../../../src/monitoring/index.ts');
    const saved = JSON.parse(readFileSync(state, 'utf8')) as { tracker: Parameters<typeof Tracker.restore>[0] };
    return countsOf(Tracker.restore(saved.tracker));
  }

  describe('that one process counts', () => {
    it('continues at the offsets of its state after SIGKILL, and counts every message once', async () => {
      const { topic, add } = await newTopic();
      const events = makeEvents(60_000);
      const state = path.join(folder(), 'killed.json');
      await add(events.slice(0, 30_000));
      for (let kill = 0; kill < 3; kill++) {
        const killed = monitor(topic, ['--state', state, '--refresh-seconds', '0.1']);
        const before = existsSync(state) ? readFileSync(state, 'utf8') : '';
        while (killed.isRunning && (!existsSync(state) || readFileSync(state, 'utf8') === before)) await sleep(20);
        killed.kill();
        await killed.ended;
        if (kill === 0) await add(events.slice(30_000));
      }
      const { code, stdout, stderr } = await run(topic, ['--state', state]);
      expect(code, stderr).to.equal(1);
      expect(stdout).to.include('60,000 events');
      expect(await countsIn(state)).to.deep.equal(countPlainly(events));
    });

    it('writes its state at SIGINT, leaves the group, and ends with 130', async () => {
      const { topic, add } = await newTopic();
      const events = makeEvents(3000);
      const state = path.join(folder(), 'stopped.json');
      await add(events);
      const stopped = monitor(topic, ['--state', state, '--refresh-seconds', '3600', '--lease-seconds', '30']);
      while (stopped.isRunning && !stopped.output.includes('ALARM')) await sleep(50);
      stopped.kill('SIGINT');
      expect(await stopped.ended).to.have.property('code', 130);
      expect(existsSync(state)).to.equal(true);
      // The next process need not wait until the lease of 30 seconds has expired.
      const start = performance.now();
      expect(await run(topic, ['--state', state])).to.have.property('code', 1);
      expect(performance.now() - start).to.be.below(15_000);
      expect(await countsIn(state)).to.deep.equal(countPlainly(events));
    });

    it('rejects a state of another topic, and one of standard input', async () => {
      const [one, two] = [await newTopic(), await newTopic()];
      const state = path.join(folder(), 'other.json');
      await one.add(makeEvents(200));
      expect(joinLines((await run(one.topic, ['--state', state])).stderr).trim()).to.equal(`Wrote ${state}`);
      const { code, stderr } = await run(two.topic, ['--state', state]);
      expect(code).to.equal(2);
      expect(joinLines(stderr)).to.include(
        `is from a run that read the topic '${one.topic}'; this run reads the topic '${two.topic}'.`,
      );
      const lines = new StreamProcess(['monitor', ...COLUMNS, '--state', state]);
      expect(joinLines((await lines.ended).stderr)).to.include('this run reads standard input or a file.');
    });

    it('needs Redis if another process of its group reads the topic', async () => {
      const { topic, add } = await newTopic();
      await add(makeEvents(300));
      const first = monitor(topic);
      await sleep(2500);
      const second = monitor(topic);
      const [one, two] = await Promise.all([first.ended, second.ended]);
      for (const { code, stderr } of [one, two]) {
        expect(code).to.equal(2);
        expect(joinLines(stderr)).to.match(
          /Another process of the consumer group reads the topic '.*' of Kafka: [012] of 3 partitions are left/,
        );
        expect(joinLines(stderr)).to.include('need --redis');
      }
    });

    it('reports messages that cannot be read with their partition and offset, and goes on', async () => {
      const { topic, send } = await newTopic();
      const huge = JSON.stringify({ approved: 1, sex: 'f', note: 'x'.repeat(2 ** 20) });
      await send(1, ['{"approved": 1, "sex": "f"}', 'no JSON', Buffer.from([0x7b, 0xff, 0x7d]), '']);
      await send(2, [huge, '{"approved": 0, "sex": "m"}', '{"approved": 2, "sex": "m"}']);
      const { code, stderr, stdout } = await run(topic, ['--json']);
      expect(code).to.equal(0);
      for (const line of [
        'Message 1 of partition 1 was not counted: it is not valid JSON',
        'Message 2 of partition 1 was not counted: it is not UTF-8',
        'Message 3 of partition 1 was not counted: it is empty',
        'Message 0 of partition 2 was not counted: it has 1 MiB or more',
      ]) {
        expect(joinLines(stderr)).to.include(line);
      }
      expect(joinLines(stderr)).to.include('5 lines were not counted.');
      expect(JSON.parse(stdout)).to.have.nested.property('metrics.sex.demographic_parity_difference.window_events', 2);
    });
  });

  describe('at a server', () => {
    it('that does not have the topic is an error, with the most similar topic', async () => {
      const { topic } = await newTopic();
      const { code, stderr } = await run(`${topic}x`);
      expect(code).to.equal(2);
      expect(joinLines(stderr)).to.include(`There is no topic '${topic}x' in Kafka at ${kafka().broker}.`);
      expect(stderr).to.include(topic);
    });

    it('that cannot be reached is an error', async () => {
      const { code, stderr } = await run('decisions', ['--kafka', '127.0.0.1:1']);
      expect(code).to.equal(2);
      expect(joinLines(stderr)).to.match(/Kafka at 127\.0\.0\.1:1 does not answer: .*ECONNREFUSED/);
    });

    for (const sasl of ['plain', 'scram-sha-256']) {
      it(`that needs a password is read with ${sasl}, without and with TLS`, async () => {
        const { topic, add } = await newTopic();
        await add(makeEvents(500));
        const env = { EVENHAND_KAFKA_USERNAME: KAFKA_USER.username, EVENHAND_KAFKA_PASSWORD: KAFKA_USER.password };
        const plain = await run(topic, ['--kafka', kafka().saslBroker, '--kafka-sasl', sasl], env);
        expect(plain.code, plain.stderr).to.equal(1);
        const file = path.join(folder(), 'password.txt');
        writeFileSync(file, `${KAFKA_USER.password}\n`);
        const { EVENHAND_KAFKA_PASSWORD: _, ...name } = env;
        const tls = await run(
          topic,
          ['--kafka', kafka().tlsBroker, '--kafka-tls', '--kafka-sasl', sasl, '--consumer-group', 'tls'],
          {
            ...name,
            EVENHAND_KAFKA_PASSWORD_FILE: file,
            NODE_EXTRA_CA_CERTS: kafka().certificate,
          },
        );
        expect(tls.code, tls.stderr).to.equal(1);
        const wrong = await run(topic, ['--kafka', kafka().saslBroker, '--kafka-sasl', sasl], {
          ...env,
          EVENHAND_KAFKA_PASSWORD: 'guessed',
        });
        expect(wrong.code).to.equal(2);
        expect(joinLines(wrong.stderr)).to.include('does not accept the user, the password or the certificate');
        expect(wrong.stderr).not.to.include('guessed');
      });
    }

    it('whose certificate is not trusted, or that expects TLS, is an error', async () => {
      const { topic } = await newTopic();
      const env = { EVENHAND_KAFKA_USERNAME: KAFKA_USER.username, EVENHAND_KAFKA_PASSWORD: KAFKA_USER.password };
      const untrusted = await run(topic, ['--kafka', kafka().tlsBroker, '--kafka-tls'], env);
      expect(untrusted.code).to.equal(2);
      expect(joinLines(untrusted.stderr))
        .to.match(/does not accept .*certificate/)
        .and.include('NODE_EXTRA_CA_CERTS');
      const unencrypted = await run(topic, ['--kafka', kafka().tlsBroker], env);
      expect(unencrypted.code).to.equal(2);
      expect(joinLines(unencrypted.stderr)).to.include('--kafka-tls');
    });
  });

  describeWithRedis('that several processes share', (redis) => {
    function follow(
      source: string | Partial<KafkaSourceOptions>,
      options: Partial<FollowStreamOptions> = {},
    ): Promise<FollowStreamResult> {
      const given = typeof source === 'string' ? { topic: source } : source;
      return followStream(new KafkaSource({ brokers: [kafka().broker], topic: '', ...given }), {
        tracker: { columns: { yPred: 'approved', protected: ['sex'] } },
        redis: redis().url,
        untilEnd: true,
        checkMillis: 100,
        checkpointMillis: 100,
        leaseMillis: 2000,
        ...options,
      });
    }

    it('counts every message once while processes come and go', async () => {
      const { topic, add } = await newTopic();
      const events = makeEvents(40_000);
      await add(events.slice(0, 20_000));
      const ending = new AbortController();
      const staying = follow(topic, { untilEnd: false, signal: ending.signal });
      for (let round = 0; round < 3; round++) {
        const leaving = new AbortController();
        const guest = follow(topic, { untilEnd: false, signal: leaving.signal });
        await sleep(1500);
        if (round === 1) await add(events.slice(20_000));
        leaving.abort();
        await guest;
      }
      ending.abort();
      await staying;
      const { tracker } = await follow(topic);
      expect(countsOf(tracker)).to.deep.equal(countPlainly(events));
    });

    it('continues at its own offsets, even if those of the group are older or newer', async () => {
      const { topic, add } = await newTopic();
      const events = makeEvents(9000);
      await add(events.slice(0, 3000));
      await follow(topic);
      await add(events.slice(3000, 6000));
      const admin = kafka().client().admin();
      await admin.connect();
      for (const offset of ['0', '1900']) {
        const partitions = Array.from({ length: PARTITIONS }, (_, partition) => ({ partition, offset }));
        await admin.setOffsets({ groupId: 'evenhand', topic, partitions });
        const { tracker } = await follow(topic);
        expect(countsOf(tracker)).to.deep.equal(countPlainly(events.slice(0, offset === '0' ? 6000 : 9000)));
        if (offset === '0') await add(events.slice(6000));
      }
      await admin.disconnect();
    });

    it('goes on when Kafka comes back, warns once, and counts every message once', async function () {
      this.timeout(120_000);
      const { topic, add } = await newTopic();
      const events = makeEvents(6000);
      await add(events.slice(0, 3000));
      const warnings: string[] = [];
      const ending = new AbortController();
      let messages = 0;
      const running = follow(topic, {
        untilEnd: false,
        signal: ending.signal,
        onWarning: (warning) => warnings.push(warning),
        onProgress: (count) => (messages = count),
      });
      while (messages < 3000) await sleep(50);
      await kafka().kill();
      await sleep(6000);
      await kafka().start();
      await add(events.slice(3000));
      while (messages < 6000) await sleep(50);
      ending.abort();
      expect(countsOf((await running).tracker)).to.deep.equal(countPlainly(events));
      expect(warnings.map((warning) => warning.replace(/ \(.*/, '').replace(/ does.*/, ' is away'))).to.deep.equal([
        `the topic '${topic}' of Kafka is away`,
        `the topic '${topic}' of Kafka answers again.`,
      ]);
    });

    it('ends with 3 if Kafka is away for too long, and loses nothing', async function () {
      this.timeout(120_000);
      const { topic, add } = await newTopic();
      const events = makeEvents(3000);
      await add(events);
      const running = monitor(topic, ['--redis', redis().url, '--outage-seconds', '2']);
      while (running.isRunning && !running.output.includes('ALARM')) await sleep(50);
      await kafka().kill();
      const { code, stderr } = await running.ended;
      await kafka().start();
      expect(code).to.equal(3);
      expect(joinLines(stderr)).to.match(/of Kafka has not answered for 2 seconds/);
      expect(stderr.match(/does not answer/g)).to.have.length(1);
      const { tracker, counts } = await follow(topic, {
        tracker: { columns: { yPred: 'approved', protected: ['sex'] }, timestampUnit: 'auto' },
      });
      expect(countsOf(tracker)).to.deep.equal(countPlainly(events));
      expect(counts.messages).to.equal(0);
    });

    it('reports messages that Kafka deleted before they were counted', async () => {
      const { topic, add } = await newTopic();
      await add(makeEvents(300));
      await follow(topic);
      await add(makeEvents(300));
      const admin = kafka().client().admin();
      await admin.connect();
      // kafkajs then knows where the partitions are.
      await admin.fetchTopicOffsets(topic);
      await admin.deleteTopicRecords({ topic, partitions: [{ partition: 1, offset: '140' }] });
      await admin.disconnect();
      const warnings: string[] = [];
      const { deleted, tracker } = await follow(topic, { onWarning: (warning) => warnings.push(warning) });
      expect(deleted).to.equal(40);
      expect(tracker.nEvents).to.equal(560);
      expect(warnings).to.deep.equal([
        `40 messages in partition 1 of ${topic} were deleted by Kafka before they were counted. Keep messages longer (retention), or add processes.`,
      ]);
    });

    it('reads past the end of a transaction, and does not count an aborted one', async () => {
      const { topic } = await newTopic();
      const events = makeEvents(50);
      const producer = kafka().client().producer({
        transactionalId: topic,
        maxInFlightRequests: 1,
        idempotent: true,
      });
      await producer.connect();
      for (const isCommitted of [true, false, true, false]) {
        const transaction = await producer.transaction();
        await transaction.send({ topic, messages: events.map((value) => ({ value, partition: 0 })) });
        await (isCommitted ? transaction.commit() : transaction.abort());
      }
      await producer.disconnect();
      const { tracker } = await follow(topic);
      expect(tracker.nEvents).to.equal(100);
    });

    it('is an error if the topic was deleted and created again', async () => {
      const { topic, add } = await newTopic();
      await add(makeEvents(300));
      await follow(topic);
      const shorter = `${topic}-new`;
      const send = await kafka().createTopic(shorter, PARTITIONS);
      await send(0, makeEvents(10));
      // The state of the longer topic, under the name of the shorter one.
      const { openRedis } = await import('../../../src/io/redis/open-redis.ts');
      const writer = await openRedis(redis().url);
      for (const key of (await writer.client.call('KEYS', `evenhand:monitor:kafka:${topic}:*`)) as string[]) {
        await writer.client.call('RENAME', key, key.replace(`kafka:${topic}:`, `kafka:${shorter}:`));
      }
      await writer.close();
      const error = await follow(shorter).catch((cause: unknown) => cause);
      expect(error).to.have.property('code', 'invalid-state');
      expect(error)
        .to.have.property('message')
        .that.matches(/Partition \d of the topic '.*' ends at offset \d+, but messages up to 100 have been counted/);
    });

    it('begins a new group at the end, if that is asked for', async () => {
      const { topic, add } = await newTopic();
      await add(makeEvents(300));
      const ending = new AbortController();
      const late = makeEvents(90, 8);
      let messages = 0;
      const running = follow(
        { topic, group: 'late', from: 'end' },
        { untilEnd: false, signal: ending.signal, onProgress: (count) => (messages = count) },
      );
      await sleep(1500);
      await add(late);
      while (messages < 90) await sleep(50);
      ending.abort();
      expect(countsOf((await running).tracker)).to.deep.equal(countPlainly(late));
    });
  });
});
