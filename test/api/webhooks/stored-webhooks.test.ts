import { createHmac, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { expect } from 'chai';
import { pino } from 'pino';

import { RedisWebhookStore } from '../../../src/api/fleet/redis-webhook-store.ts';
import { unknownRun } from '../../../src/api/problem/service-problem.ts';
import type { RunRecord } from '../../../src/api/runs/runs.ts';
import { FileWebhookStore } from '../../../src/api/webhooks/file-webhook-store.ts';
import { WebhookDeliveries, type WebhookStore } from '../../../src/api/webhooks/webhook-deliveries.ts';
import { openRedis } from '../../../src/io/redis/open-redis.ts';
import { describeWithRedis } from '../../helpers/redis-server.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';
import type { Json } from '../../helpers/service.ts';
import { endServices, type ServiceProcess, startService } from '../serve/service-process.ts';
import { Receiver } from './receiver.ts';

const SECRET = 'a-secret-of-more-than-sixteen';
const ENV = { EVENHAND_WEBHOOK_SECRET: SECRET };
const ROWS = { y_pred: [1, 1, 0, 0], sensitive: ['a', 'a', 'b', 'b'], min_group_size: 2 };

const ENDED: RunRecord = {
  runId: 'r1',
  endpoint: '/train',
  status: 'succeeded',
  createdAt: '2026-01-31T09:30:00.000Z',
  finishedAt: '2026-01-31T09:31:00.000Z',
  body: '{}',
  problem: null,
  lastEventId: 3,
  files: [],
};

/** Expects a signature of SECRET. */
function expectSigned({ headers, body }: Receiver['received'][number]): void {
  const [, seconds = '', mac = ''] = /^t=(\d+),v1=([0-9a-f]+)$/.exec(String(headers['x-evenhand-signature'])) ?? [];
  expect(mac).to.equal(createHmac('sha256', SECRET).update(`${seconds}.${body}`).digest('hex'));
}

/** Starts a run whose end is reported, without waiting for it. */
async function submit(service: ServiceProcess, host: string): Promise<string> {
  const address = `${service.url}/validate?webhook_url=${encodeURIComponent(`http://${host}/hook`)}`;
  const answer = await fetch(address, {
    method: 'POST',
    headers: { 'content-type': 'application/json', prefer: 'respond-async' },
    body: JSON.stringify(ROWS),
  });
  if (!answer.ok) throw new Error(await answer.text());
  const { run_id: id } = (await answer.json()) as { run_id: string };
  for (let tries = 0; tries < 100; tries++) {
    const { status } = (await (await fetch(`${service.url}/results/${id}`)).json()) as Json;
    if (status === 'succeeded') return id;
    await pause(50);
  }
  throw new Error('the run did not end');
}

/** Waits until something is true, for at most 5 seconds. */
async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 100 && !(await isTrue()); tries++) await pause(50);
  expect(await isTrue()).to.equal(true);
}

describe('stored webhooks', function () {
  this.timeout(60_000);
  const root = useTemporaryFolder();
  const receiver = new Receiver();
  before(() => receiver.start());
  beforeEach(() => {
    receiver.received.length = 0;
    receiver.statuses = [];
  });
  after(() => {
    receiver.stop();
    endServices();
  });
  const lines: string[] = [];
  const logger = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
  const ends: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0)) await end();
  });
  const deliveriesOf = (store: WebhookStore, wait = (): Promise<RunRecord> => Promise.resolve(ENDED)) => {
    const hosts = [receiver.host];
    const made = new WebhookDeliveries({ hosts, secret: SECRET, basePath: '', clock: () => 1.7e12, logger, pace: 0.01, runs: { wait }, store }); // prettier-ignore
    ends.push(() => made.close(100));
    return made;
  };
  const never = () => new Promise<RunRecord>(() => undefined);
  const to = (runId: string) => ({ runId, url: `http://${receiver.host}/${runId}` });

  const laws = (open: () => Promise<{ readonly store: WebhookStore; readonly left: () => Promise<number> }>) => {
    it('are delivered by the next process if this one ends first, with the same ID, and then removed', async () => {
      const { store, left } = await open();
      await deliveriesOf(store, never).add(to('r1'));
      expect(await left()).to.equal(1);
      const next = deliveriesOf(store);
      await until(async () => {
        await next.start();
        return receiver.received.length > 0;
      });
      await until(async () => (await left()) === 0);
      await deliveriesOf(store).start();
      await pause(100);
      expect(receiver.received).to.have.lengthOf(1);
      expectSigned(receiver.received[0] ?? expect.fail());
      expect(receiver.received[0]?.headers['x-evenhand-delivery']).to.match(/^[0-9a-f-]{36}$/);
    });

    it('are removed when they are delivered, refused or given up', async () => {
      for (const statuses of [[200], [404], [500, 500, 500, 500, 500]]) {
        const { store, left } = await open();
        receiver.statuses = [...statuses];
        receiver.received.length = 0;
        await deliveriesOf(store).add(to('r1'));
        await receiver.until(statuses.length);
        await until(async () => (await left()) === 0);
        expect(receiver.received).to.have.lengthOf(statuses.length);
      }
    });

    it('stay if the service ends between two attempts', async () => {
      const { store, left } = await open();
      receiver.statuses = [500];
      const slow = new WebhookDeliveries({ hosts: [receiver.host], secret: SECRET, basePath: '', clock: () => 1.7e12, logger, runs: { wait: () => Promise.resolve(ENDED) }, store }); // prettier-ignore
      await slow.add(to('r1'));
      await receiver.until(1);
      await pause(50);
      await slow.close(500);
      expect(await left()).to.equal(1);
    });

    it('of a run that does not exist any more, or to a host that is no longer allowed, are given up with a warning', async () => {
      const { store, left } = await open();
      for (const [webhook, wait] of [
        [to('r1'), () => Promise.reject(unknownRun('r1'))],
        [{ runId: 'r2', url: 'http://elsewhere.example/' }, undefined],
      ] as const) {
        lines.length = 0;
        await deliveriesOf(store, wait).add(webhook);
        await until(async () => lines.length > 0 && (await left()) === 0);
        expect(lines.join('')).to.include('could not be delivered').and.include(webhook.runId);
      }
      expect(receiver.received).to.deep.equal([]);
    });
  };

  describe('in files', () => {
    let folder = '';
    const open = () => {
      folder = path.join(root(), randomUUID());
      const store = new FileWebhookStore(folder, logger);
      return Promise.resolve({ store, left: () => Promise.resolve(readdirSync(folder).length) });
    };
    laws(open);

    it('are not delivered if their file was changed', async () => {
      const { store } = await open();
      await deliveriesOf(store, never).add(to('r1'));
      const file = path.join(folder, 'r1.json');
      writeFileSync(file, readFileSync(file, 'utf8').replace('/r1"', '/r2"'));
      lines.length = 0;
      await deliveriesOf(store).start();
      await pause(100);
      expect(receiver.received).to.deep.equal([]);
      expect(lines.join('')).to.include('damaged');
    });

    for (const workers of ['1', '2']) {
      it(`are sent after kill -9 between the end of the run and the delivery, with --workers ${workers} @slow`, async () => {
        const args = [
          '--store',
          path.join(root(), randomUUID()),
          '--workers',
          workers,
          '--webhook-host',
          receiver.host,
        ];
        // The receiver is down for the first two attempts.
        receiver.statuses = [503, 503];
        const first = await startService(args, ENV);
        const id = await submit(first, receiver.host);
        await receiver.until(1);
        first.child.kill('SIGKILL');
        await first.ended;
        const delivery = receiver.received[0]?.headers['x-evenhand-delivery'];
        const second = await startService(args, ENV);
        const received = await receiver.until(3);
        for (const one of received) {
          expectSigned(one);
          expect(one.headers['x-evenhand-delivery']).to.equal(delivery);
          expect(JSON.parse(one.body)).to.include({ run_id: id, status: 'succeeded' });
        }
        // It was delivered, so that another start sends nothing.
        await pause(200);
        second.child.kill('SIGTERM');
        await second.ended;
        const third = await startService(args, ENV);
        await pause(500);
        third.child.kill('SIGTERM');
        expect((await third.ended).code).to.equal(0);
        expect(receiver.received).to.have.lengthOf(3);
      });
    }

    it('report a run that was interrupted as failed @slow', async () => {
      const args = ['--store', path.join(root(), randomUUID()), '--webhook-host', receiver.host];
      const first = await startService(args, ENV);
      const rows = Array.from({ length: 4000 }, (_, index) => ({
        x: index % 7,
        y: index % 2,
        s: index % 3 ? 'a' : 'b',
      }));
      const address = `${first.url}/train?webhook_url=${encodeURIComponent(`http://${receiver.host}/`)}`;
      const body = JSON.stringify({ rows, y_true: 'y', sensitive: 's', method: 'lagrangian', epochs: 100_000 });
      const answer = await fetch(address, { method: 'POST', headers: { 'content-type': 'application/json', prefer: 'respond-async' }, body }); // prettier-ignore
      expect(answer.status, await answer.clone().text()).to.equal(202);
      const { run_id: id } = (await answer.json()) as Json;
      first.child.kill('SIGKILL');
      await first.ended;
      const second = await startService(args, ENV);
      const [got] = await receiver.until(1);
      expect(JSON.parse(got?.body ?? '{}')).to.include({ run_id: id, status: 'failed' });
      second.child.kill('SIGTERM');
      await second.ended;
    });
  });

  describeWithRedis('of several hosts', (redis) => {
    const open = async () => {
      const connection = await openRedis(redis().url);
      ends.push(() => connection.close());
      const prefix = `test-${randomUUID()}`;
      const { client } = connection;
      const store = new RedisWebhookStore({ client: { call: (...args) => client.call(...args) }, prefix, leaseMillis: 300, keepSeconds: 1000, logger }); // prettier-ignore
      const left = async () =>
        Math.max(
          Number(await client.call('HLEN', `${prefix}:webhooks`)),
          Number(await client.call('ZCARD', `${prefix}:webhooks:due`)),
        );
      return { store, left };
    };
    laws(open);

    it('are delivered by one host while it lives', async () => {
      const { store, left } = await open();
      let end: ((record: RunRecord) => void) | undefined;
      const first = deliveriesOf(store, () => new Promise((resolve) => (end = resolve)));
      const second = deliveriesOf(store);
      await Promise.all([first.start(), second.start()]);
      await first.add(to('r1'));
      await pause(1000);
      expect(receiver.received, 'the first host renews its lease').to.deep.equal([]);
      end?.(ENDED);
      await receiver.until(1);
      await until(async () => (await left()) === 0);
      await pause(500);
      expect(receiver.received).to.have.lengthOf(1);
    });

    it('are sent by the other host after kill -9 between the end of the run and the delivery @slow', async () => {
      const args = ['--redis', redis().url, '--redis-prefix', `test-${randomUUID()}`, '--webhook-host', receiver.host];
      const [first, second] = [await startService(args, ENV), await startService(args, ENV)];
      receiver.statuses = [503];
      const id = await submit(first, receiver.host);
      await receiver.until(1);
      first.child.kill('SIGKILL');
      await first.ended;
      // The lease of the first host ends after 15 seconds.
      for (let tries = 0; tries < 300 && receiver.received.length < 2; tries++) await pause(100);
      expect(receiver.received).to.have.lengthOf(2);
      const [one, other] = receiver.received;
      expect(other?.headers['x-evenhand-delivery']).to.equal(one?.headers['x-evenhand-delivery']);
      expect(JSON.parse(other?.body ?? '{}')).to.include({ run_id: id, status: 'succeeded' });
      expectSigned(other ?? expect.fail());
      second.child.kill('SIGTERM');
      await second.ended;
    });
  });
});
