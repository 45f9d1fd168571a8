import { createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';
import { pino } from 'pino';

import { createApp } from '../../../src/api/app/create-app.ts';
import type { RunRecord } from '../../../src/api/runs/runs.ts';
import { WebhookDeliveries } from '../../../src/api/webhooks/webhook-deliveries.ts';
import { checkWebhookUrl, signatureOf } from '../../../src/api/webhooks/webhooks.ts';
import { ConfigValidationError } from '../../../src/exceptions/index.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';
import { type Json, useService } from '../../helpers/service.ts';
import { endServices, startService } from '../serve/service-process.ts';
import { Receiver } from './receiver.ts';

const SECRET = 'a-secret-of-more-than-sixteen';
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

describe('the signature of a webhook', () => {
  it('is the HMAC-SHA256 that OpenSSL computes for the time, a dot and the body', () => {
    // Computed with: printf '1700000000.{"a":1}' | openssl dgst -sha256 -hmac secret
    const own = '49f24e537407743fa4a0242bb63b94b9a47ee99cbbe071ccd8a22550ae411686';
    expect(signatureOf('secret', 1_700_000_000, '{"a":1}')).to.equal(`t=1700000000,v1=${own}`);
  });
});

describe('webhooks', function () {
  this.timeout(30_000);
  const receiver = new Receiver();
  const folder = useTemporaryFolder();
  before(() => receiver.start());
  beforeEach(() => {
    receiver.received.length = 0;
    receiver.statuses = [];
    receiver.location = undefined;
  });
  after(() => {
    receiver.stop();
    endServices();
  });
  const lines: string[] = [];
  const webhooksTo = (host: string) =>
    new WebhookDeliveries({
      hosts: [host],
      runs: { wait: () => Promise.resolve(ENDED) },
      store: undefined,
      secret: SECRET,
      basePath: '/fairness',
      clock: () => 1_700_000_000_500,
      logger: pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) }),
      pace: 0.01,
    });

  it('report the run with a signature of time and body', async () => {
    await webhooksTo(receiver.host).add({ runId: 'r1', url: `http://${receiver.host}/done?x=1` });
    const [got] = await receiver.until(1);
    expect(got?.url).to.equal('/done?x=1');
    expect(JSON.parse(got?.body ?? '')).to.deep.equal({
      type: 'run.ended',
      run_id: 'r1',
      endpoint: '/train',
      status: 'succeeded',
      created_at: '2026-01-31T09:30:00.000Z',
      finished_at: '2026-01-31T09:31:00.000Z',
      problem: null,
      result: '/fairness/results/r1',
    });
    const mac = createHmac('sha256', SECRET)
      .update(`1700000000.${got?.body ?? ''}`)
      .digest('hex');
    expect(got?.headers['x-evenhand-signature']).to.equal(`t=1700000000,v1=${mac}`);
  });

  it('are tried again after temporary failures, with the same ID, at most five times', async () => {
    receiver.statuses = [503, 500, 429, 408];
    await webhooksTo(receiver.host).add({ runId: 'r1', url: `http://${receiver.host}/` });
    const got = await receiver.until(5);
    expect(got).to.have.lengthOf(5);
    expect(new Set(got.map(({ headers }) => headers['x-evenhand-delivery'])).size).to.equal(1);
    receiver.received.length = 0;
    receiver.statuses = Array<number>(9).fill(500);
    lines.length = 0;
    const failing = webhooksTo(receiver.host);
    await failing.add({ runId: 'r1', url: `http://${receiver.host}/secret-path` });
    await receiver.until(5);
    await failing.close(2000);
    expect(receiver.received).to.have.lengthOf(5);
    expect(lines.join('')).to.include('could not be delivered').and.not.include('secret-path');
  });

  it('are not tried again after a refusal, and follow no redirect', async () => {
    for (const status of [400, 404, 301, 307]) {
      receiver.received.length = 0;
      receiver.statuses = [status];
      receiver.location = `http://${receiver.host}/elsewhere`;
      const webhooks = webhooksTo(receiver.host);
      await webhooks.add({ runId: 'r1', url: `http://${receiver.host}/` });
      await receiver.until(1);
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(
        receiver.received.map(({ url }) => url),
        String(status),
      ).to.deep.equal(['/']);
    }
  });

  const refused: readonly [string, number][] = [
    ['http://localhost/x', 403],
    ['http://127.0.0.1/x', 403],
    ['http://127.0.0.1:1/x', 403],
    ['http://[::1]/x', 403],
    ['http://2130706433/x', 403],
    ['http://169.254.169.254/latest/meta-data', 403],
    ['https://hooks.example.com.evil.example/x', 403],
    ['https://hooks.example.com:8443/x', 403],
    ['https://hooks.example.com@evil.example/x', 422],
    ['https://user:password@hooks.example.com/x', 422],
    ['file:///etc/passwd', 422],
    ['ftp://hooks.example.com/x', 422],
    ['hooks.example.com', 422],
    ['', 422],
    [`https://hooks.example.com/${'x'.repeat(3000)}`, 422],
  ];
  for (const [url, status] of refused) {
    it(`refuse ${url.slice(0, 50) || 'an empty address'} with ${String(status)}`, () => {
      expect(() => {
        checkWebhookUrl({ hosts: ['hooks.example.com'] }, url);
      })
        .to.throw()
        .with.property('status', status);
    });
  }

  it('accept an allowed host in any case, with its default port', () => {
    for (const url of ['https://hooks.example.com/x', 'https://HOOKS.example.com:443/x', 'http://hooks.example.com']) {
      checkWebhookUrl({ hosts: ['Hooks.Example.com'] }, url);
    }
  });

  it('need hosts that are hosts, and a secret', () => {
    for (const host of ['https://a.example', 'a.example/x', '', 'a b', 'u@a.example']) {
      expect(() => createApp({ keys: [], webhookHosts: [host], webhookSecret: SECRET }), host).to.throw(
        ConfigValidationError,
      );
    }
    expect(() => createApp({ keys: [], webhookHosts: ['a.example'], webhookSecret: 'short' }))
      .to.throw(ConfigValidationError, 'at least 16 characters')
      .and.satisfy((error: Error) => !error.message.includes('short'));
  });

  describe('of a service', () => {
    const service = useService({ webhookHosts: ['127.0.0.1:9', 'localhost'], webhookSecret: SECRET });
    it('are refused before the work, for every kind of request, and leave nothing stored', async () => {
      const query = `webhook_url=${encodeURIComponent('http://internal.example/')}`;
      const csv = { 'content-type': 'text/csv' };
      const answers = [
        await service.post(`/validate?${query}`, ROWS),
        await service.ask({
          method: 'POST',
          url: `/validate?y_pred=d&sensitive=g&${query}`,
          headers: csv,
          payload: 'd,g\n1,a\n',
        }),
        await service.form(
          `/pipeline?${query}`,
          { config: 'sensitive: [g]\n' },
          { name: 'a.csv', content: 'd,g\n1,a\n' },
        ),
        await service.post(`/llm-eval?${query}`, { provider: 'local' }),
        await service.post(`/calibrate?${query}`, { rows: [{ score: 1 }] }),
      ];
      expect(answers.map(({ statusCode }) => statusCode)).to.deep.equal([403, 403, 403, 403, 403]);
      const { results } = (await service.ask({ method: 'GET', url: '/results' })).json<{ results: Json[] }>();
      expect(results).to.deep.equal([]);
    });
  });

  it('of a service report a run that succeeded, failed or was cancelled', async () => {
    const app = createApp({ keys: [], threads: 1, webhookHosts: [receiver.host], webhookSecret: SECRET });
    await app.ready();
    const { askApp } = await import('../../helpers/service.ts');
    const url = `/validate?webhook_url=${encodeURIComponent(`http://${receiver.host}/hook`)}`;
    const post = (body: unknown, headers = {}) =>
      askApp(app, {
        method: 'POST',
        url,
        headers: { 'content-type': 'application/json', ...headers },
        payload: JSON.stringify(body),
      });
    const succeeded = await post(ROWS);
    expect(succeeded.statusCode, succeeded.payload).to.equal(200);
    await post({ ...ROWS, sensitive: ['a', 'a', 'a', 'b'], y_pred: [2, 2, 2, 2] });
    const got = (await receiver.until(2)).map(({ body }) => JSON.parse(body) as Json);
    expect(got[0]).to.include({ run_id: succeeded.json<Json>()['run_id'], status: 'succeeded' });
    expect(got[1]).to.include({ status: 'failed' }).and.have.nested.property('problem.status', 422);
    // The same request again is the same run, which is reported once.
    const key = { 'idempotency-key': 'one' };
    await post(ROWS, key);
    await post(ROWS, key);
    await receiver.until(3);
    await app.close(2000);
    expect(receiver.received).to.have.lengthOf(3);
  });

  it('of a service with several workers report each run once, signed with the secret in a file', async () => {
    const file = path.join(folder(), 'secret');
    writeFileSync(file, `${SECRET}\n`);
    const { url, child, ended } = await startService(['--workers', '2', '--webhook-host', receiver.host], {
      EVENHAND_WEBHOOK_SECRET_FILE: file,
    });
    try {
      const address = `${url}/validate?webhook_url=${encodeURIComponent(`http://${receiver.host}/hook`)}`;
      const ids = await Promise.all(
        Array.from({ length: 8 }, async () => {
          const answer = await fetch(address, {
            method: 'POST',
            headers: { 'content-type': 'application/json', prefer: 'respond-async', connection: 'close' },
            body: JSON.stringify(ROWS),
          });
          expect(answer.status).to.be.oneOf([200, 202]);
          return ((await answer.json()) as Json)['run_id'];
        }),
      );
      const got = (await receiver.until(8)).map(({ body }) => JSON.parse(body) as Json);
      expect(got.map((one) => one['run_id'])).to.have.members(ids);
      expect(got.every(({ status }) => status === 'succeeded')).to.equal(true);
    } finally {
      child.kill('SIGTERM');
      expect(await ended).to.include({ code: 0 });
    }
    expect(receiver.received).to.have.lengthOf(8);
    for (const { body, headers } of receiver.received) {
      const signature = String(headers['x-evenhand-signature']);
      const time = Number(/^t=(\d+)/.exec(signature)?.[1]);
      const own = createHmac('sha256', SECRET)
        .update(`${String(time)}.${body}`)
        .digest('hex');
      expect(signature).to.equal(`t=${String(time)},v1=${own}`);
    }
  });
});
