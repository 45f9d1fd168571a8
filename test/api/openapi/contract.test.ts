import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { expect } from 'chai';

import type { ServiceApp } from '../../../src/api/app/app-options.ts';
import { createApp } from '../../../src/api/app/create-app.ts';
import type { Service } from '../../../src/api/context/service-context.ts';
import { OPERATIONS } from '../../../src/api/openapi/operation-ids.ts';
import {
  CSV_EXAMPLE,
  EVENTS_EXAMPLE,
  LABELS_EXAMPLE,
  LLM_EVAL_EXAMPLES,
  NDJSON_EXAMPLE,
  TABLE_EXAMPLES,
  VALIDATE_EXAMPLES,
} from '../../../src/api/openapi/operations.ts';
import { ServiceProblem, unavailable } from '../../../src/api/problem/service-problem.ts';
import type { Streams } from '../../../src/api/streams/streams.ts';
import { dashboardToHtml } from '../../../src/monitoring/dashboard/dashboard-to-html.ts';
import { listenerOf } from '../../helpers/service.ts';
import { fullView } from '../../monitoring/dashboard/views.ts';
import { ContractKeeper } from './contract-keeper.ts';
import {
  ALL,
  appWith,
  ask,
  askHalf,
  ASYNC,
  CONFIG,
  csv,
  endedRun,
  form,
  GOOD,
  jsonBody,
  lines,
  RESULTS,
  RUNS,
  STREAM_LINES,
  wrongFields,
} from './contract-requests.ts';

/** Documented answers that the tests here cannot produce, each with the reason. */
const NOT_PROVOKED: Readonly<Record<string, string>> = Object.fromEntries(
  [...RUNS, ...STREAM_LINES].map((id) => [
    `${id} 431`,
    'The server answers it before there is a request, without the headers of answers: test/api/serve/http-server.test.ts',
  ]),
);

/** Returns streams that reject every call. */
function streamsThat(problem: () => ServiceProblem): Streams {
  const fail = () => Promise.reject(problem());
  return { append: fail, get: fail, view: fail, list: fail, remove: fail };
}

describe('the service follows its OpenAPI document', function () {
  this.timeout(120_000);
  const keeper = new ContractKeeper();
  let folder = '';
  let app: ServiceApp;
  let small: ServiceApp;
  let server: Server;

  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'evenhand-contract-'));
    writeFileSync(path.join(folder, 'dashboard.html'), await dashboardToHtml(fullView()));
    app = createApp({ keys: [], threads: 1, monitorFolder: folder });
    small = createApp({
      keys: [],
      threads: 1,
      limits: { jsonBytes: 1000, uploadBytes: 1000, fieldBytes: 200, idleMillis: 200 },
    });
    await Promise.all([app.ready(), small.ready()]);
    server = createServer(listenerOf(app));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });

  after(async () => {
    server.closeAllConnections();
    server.close();
    await Promise.all([app.close(1000), small.close(1000)]);
    rmSync(folder, { recursive: true, force: true });
  });

  const portOf = (own: Server) => (own.address() as AddressInfo).port;

  describe('with results', () => {
    for (const id of [
      'getHealth',
      'getReadiness',
      'getMetrics',
      'getOpenApi',
      'getDocs',
      'getRedoc',
      'listResults',
    ] as const) {
      it(`answers ${id} with 200`, async () => {
        keeper.check(id, 200, await ask(app, id));
      });
    }

    for (const id of ['getDashboard', 'getDashboardPage'] as const) {
      it(`answers ${id} with 200`, async () => {
        keeper.check(id, 200, await ask(app, id));
      });
    }

    it('answers followDashboard with 200, and continues', async () => {
      const leave = new AbortController();
      const answer = await fetch(`http://127.0.0.1:${portOf(server)}/dashboard/events`, { signal: leave.signal });
      keeper.check('followDashboard', 200, {
        statusCode: answer.status,
        headers: Object.fromEntries(answer.headers),
        payload: '',
      });
      leave.abort();
    });

    for (const [name, { value }] of Object.entries(VALIDATE_EXAMPLES)) {
      it(`answers the example of validate with 200: ${name}`, async () => {
        expect(keeper.bodyProblems('validate', value)).to.deep.equal([]);
        keeper.check('validate', 200, await ask(app, 'validate', jsonBody(value)));
      });
    }

    for (const [name, { value }] of Object.entries(LLM_EVAL_EXAMPLES)) {
      it(`answers the example of evaluateLlm with 200: ${name}`, async () => {
        expect(keeper.bodyProblems('evaluateLlm', value)).to.deep.equal([]);
        keeper.check('evaluateLlm', 200, await ask(app, 'evaluateLlm', jsonBody(value)));
      });
    }

    for (const [id, { value }] of Object.entries(TABLE_EXAMPLES)) {
      it(`has a valid example of ${id}`, () => {
        expect(keeper.bodyProblems(id as keyof typeof TABLE_EXAMPLES, value)).to.deep.equal([]);
      });
    }

    for (const [type, body] of [
      ['text/csv', CSV_EXAMPLE],
      ['application/x-ndjson', NDJSON_EXAMPLE],
      ['text/tab-separated-values', CSV_EXAMPLE.replaceAll(',', '\t')],
    ] as const) {
      it(`answers the example of a table with 200: ${type}`, async () => {
        const query = 'sensitive=group&y_pred=decision&min_group_size=1';
        keeper.check('validate', 200, await ask(app, 'validate', { query, headers: { 'content-type': type }, body }));
      });
    }

    it('answers several attributes with 200', async () => {
      const value = {
        y_pred: [1, 0, 1, 0],
        sensitive: { sex: ['f', 'm', 'f', 'm'], race: ['a', 'a', 'b', 'b'] },
        min_group_size: 1,
        control: ['x', 'x', 'y', 'y'],
      };
      expect(keeper.bodyProblems('validate', value)).to.deep.equal([]);
      keeper.check('validate', 200, await ask(app, 'validate', jsonBody(value)));
    });

    for (const id of RUNS) {
      it(`answers ${id} with 200, and asynchronous ${id} with 202, whose progress and result are available`, async () => {
        keeper.check(id, 200, await ask(app, id, GOOD[id]));
        const accepted = await ask(app, id, { ...GOOD[id], headers: { ...GOOD[id].headers, ...ASYNC } });
        keeper.check(id, 202, accepted);
        const { run_id: runId } = accepted.json<{ run_id: string }>();
        const followed = await ask(app, 'followResult', { runId });
        keeper.check('followResult', 200, followed);
        expect(followed.payload).to.match(/event: status\ndata: \{"status":"succeeded"\}\n\n$/);
        keeper.check('getResult', 200, await ask(app, 'getResult', { runId }));
        keeper.check('getResult', 200, await ask(app, 'getResult', { runId, headers: { accept: 'text/html' } }));
        keeper.check('getResult', 200, await ask(app, 'getResult', { runId, headers: { accept: 'text/markdown' } }));
        keeper.check('getResult', 406, await ask(app, 'getResult', { runId, headers: { accept: 'image/png' } }));
        if (id === 'runPipeline') {
          keeper.check('getResultData', 200, await ask(app, 'getResultData', { runId }));
          keeper.check('getResultData', 200, await ask(app, 'getResultData', { runId, query: 'format=parquet' }));
          keeper.check(
            'getResultData',
            406,
            await ask(app, 'getResultData', { runId, headers: { accept: 'image/png' } }),
          );
          keeper.check('getResultData', 422, await ask(app, 'getResultData', { runId, query: 'format=xlsx' }));
        }
        if (id === 'train' || id === 'calibrate') {
          keeper.check('getResultModel', 200, await ask(app, 'getResultModel', { runId }));
          keeper.check('getResultModel', 422, await ask(app, 'getResultModel', { runId, query: 'surprise=1' }));
        }
        keeper.check('getResult', 422, await ask(app, 'getResult', { runId, query: 'surprise=1' }));
        keeper.check(
          'followResult',
          204,
          await ask(app, 'followResult', { runId, headers: { 'last-event-id': '999' } }),
        );
        keeper.check('listResults', 200, await ask(app, 'listResults'));
        const filtered = await ask(app, 'listResults', { query: 'status=succeeded&endpoint=/validate&limit=1' });
        keeper.check('listResults', 200, filtered);
        expect(filtered.json<{ results: unknown[] }>().results).to.have.lengthOf(1);
        keeper.check('listResults', 422, await ask(app, 'listResults', { query: 'limit=0' }));
        keeper.check('deleteResult', 204, await ask(app, 'deleteResult', { runId }));
        keeper.check('getResult', 404, await ask(app, 'getResult', { runId }));
      });
    }

    it('answers the operations of a stream with 200, and its deletion with 204', async () => {
      const stream = 'contract';
      const query = 'y_pred=flagged&sensitive=sex&y_true=fraud';
      keeper.check('addEvents', 200, await ask(app, 'addEvents', { stream, query, ...lines(EVENTS_EXAMPLE) }));
      keeper.check('addLabels', 200, await ask(app, 'addLabels', { stream, ...lines(LABELS_EXAMPLE) }));
      const many = Array.from({ length: 1000 }, (_, id) =>
        JSON.stringify({ id, flagged: Number(id % 2 === 0 && id % 3 > 0), sex: id % 2 === 0 ? 'f' : 'm' }),
      );
      const alarming = await ask(app, 'addEvents', { stream, ...lines(many.join('\n')) });
      keeper.check('addEvents', 200, alarming);
      expect(alarming.json<{ alerts: unknown[] }>().alerts).to.not.deep.equal([]);
      keeper.check('getStream', 200, await ask(app, 'getStream', { stream }));
      keeper.check('listStreams', 200, await ask(app, 'listStreams'));
      for (const accept of ['text/html', 'text/markdown']) {
        keeper.check('getStreamDashboard', 200, await ask(app, 'getStreamDashboard', { stream, headers: { accept } }));
      }
      const picture = { stream, headers: { accept: 'image/png' } };
      keeper.check('getStreamDashboard', 406, await ask(app, 'getStreamDashboard', picture));
      keeper.check('deleteStream', 204, await ask(app, 'deleteStream', { stream }));
    });

    it('cancels a waiting run: deleteResult with 200, and the waiting client with 409', async () => {
      const runs = (id: (typeof RUNS)[number]) => ({
        submit: () => Promise.resolve({ runId: 'r', isReplay: false }),
        wait: () => Promise.resolve(endedRun(OPERATIONS[id][1], 'cancelled')),
        get: () => Promise.resolve(endedRun(OPERATIONS[id][1], 'cancelled')),
        remove: () => Promise.resolve('cancelled'),
      });
      for (const id of RUNS) {
        const stub = appWith({ runs: runs(id) as unknown as Service['runs'], spoolFolder: folder });
        const asked = id === 'validate' ? { query: 'sensitive=group&y_pred=d', ...csv(CSV_EXAMPLE) } : GOOD[id];
        keeper.check(id, 409, await ask(stub, id, asked));
        keeper.check('deleteResult', 200, await ask(stub, 'deleteResult'));
      }
    });
  });

  describe('with problems', () => {
    for (const id of ALL) {
      if (id !== 'getHealth') {
        it(`answers ${id} without a key by 401`, async () => {
          keeper.check(id, 401, await ask(appWith({ keys: ['a-key-of-more-than-sixteen'] }), id));
        });
      }

      it(`answers ${id} with another host name by 403`, async () => {
        keeper.check(id, 403, await ask(appWith({ allowedHosts: ['elsewhere.example'] }), id));
      });
    }

    for (const id of ALL.filter((name) => !['getHealth', 'getReadiness', 'getMetrics'].includes(name))) {
      it(`answers ${id} by 429 above the rate limit, and by 500 if the limiter fails`, async () => {
        const none = { isAllowed: false, limit: 1, remaining: 0, resetSeconds: 29.5 };
        keeper.check(id, 429, await ask(appWith({ limiter: { take: () => Promise.resolve(none) } }), id));
        const broken = appWith({ limiter: { take: () => Promise.reject(new Error('secret cause')) } });
        const answer = await ask(broken, id);
        keeper.check(id, 500, answer);
        expect(answer.payload).to.not.include('secret cause');
      });
    }

    it('answers getHealth, getReadiness and getMetrics by 500 after an internal error', async () => {
      const fail = () => {
        throw new Error('secret cause');
      };
      keeper.check('getReadiness', 500, await ask(appWith({ notReady: fail }), 'getReadiness'));
      keeper.check('getMetrics', 500, await ask(appWith({ renderMetrics: fail }), 'getMetrics'));
      keeper.check('getHealth', 500, await ask(appWith({ clock: fail }), 'getHealth'));
    });

    for (const id of RUNS) {
      it(`answers ${id} with an invalid body by 400, another type by 415, and invalid fields by 422`, async () => {
        const { headers } = GOOD[id];
        keeper.check(id, 400, await ask(app, id, { headers: headers ?? {}, body: '{"y_pred": [1,' }));
        keeper.check(id, 415, await ask(app, id, { headers: { 'content-type': 'image/png' }, body: 'x' }));
        keeper.check(id, 422, await ask(app, id, wrongFields(id)));
      });

      it(`answers ${id} with a large body by 413`, async () => {
        const large =
          id === 'runPipeline' || id === 'runWorkflow' || id === 'predict'
            ? form('a,b\n1,2\n'.repeat(1000), id === 'predict' ? {} : { config: CONFIG })
            : jsonBody({ y_pred: Array(6000).fill(1) });
        const body = id === 'evaluateLlm' ? jsonBody({ config: 'x'.repeat(2000) }) : large;
        keeper.check(id, 413, await ask(small, id, body));
      });

      it(`answers ${id} by 408 if the body stops arriving`, async () => {
        const slow = createServer(listenerOf(small));
        await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve));
        const type = (GOOD[id].headers ?? {})['content-type'] ?? '';
        keeper.check(id, 408, await askHalf(portOf(slow), OPERATIONS[id][1], type));
        slow.closeAllConnections();
        slow.close();
      });

      it(`answers ${id} by 503 if the queue is full`, async () => {
        const full = () =>
          Promise.reject(new ServiceProblem(503, { detail: 'Full.', headers: { 'Retry-After': '5' } }));
        const stub = appWith({ runs: { submit: full } as unknown as Service['runs'], spoolFolder: folder });
        const asked = id === 'validate' ? { query: 'sensitive=group&y_pred=d', ...csv(CSV_EXAMPLE) } : GOOD[id];
        keeper.check(id, 503, await ask(stub, id, asked));
      });
    }

    it('answers evaluateLlm by 403 if live calls are not allowed, and by 502 if the provider fails', async () => {
      const live = { ...LLM_EVAL_EXAMPLES.dry_run.value, dry_run: false, provider: 'openai', model: 'gpt-4o-mini' };
      keeper.check('evaluateLlm', 403, await ask(app, 'evaluateLlm', jsonBody(live)));
      const runs = {
        submit: () => Promise.resolve({ runId: 'r', isReplay: false }),
        wait: () => Promise.resolve(endedRun('/llm-eval', 'failed')),
      };
      const stub = appWith({ runs: runs as unknown as Service['runs'], spoolFolder: folder });
      keeper.check('evaluateLlm', 502, await ask(stub, 'evaluateLlm', GOOD.evaluateLlm));
    });

    it('answers predict with an unknown model by 404', async () => {
      keeper.check('predict', 404, await ask(app, 'predict', jsonBody({ model: 'no-run', rows: [{ x: 1 }] })));
    });

    for (const id of STREAM_LINES) {
      it(`answers ${id} with invalid lines by 400, 413, 415 and 422, slow lines by 408, and an unknown stream by 404`, async () => {
        const stream = 'problems';
        const query = 'y_pred=flagged&sensitive=sex&y_true=fraud';
        await ask(app, 'addEvents', { stream, query, ...lines(EVENTS_EXAMPLE) });
        const bytes = { ...lines(''), body: Buffer.from([0x7b, 0xff, 0x7d]) };
        keeper.check(id, 400, await ask(app, id, { stream, ...bytes }));
        keeper.check(id, 413, await ask(small, id, { stream, ...lines(EVENTS_EXAMPLE.repeat(100)) }));
        keeper.check(id, 415, await ask(app, id, { stream, ...jsonBody({}) }));
        keeper.check(id, 422, await ask(app, id, { stream, ...lines('{}') }));
        const none = appWith({ streams: streamsThat(() => new ServiceProblem(404, { detail: 'None.' })) });
        keeper.check(id, 404, await ask(none, id, { stream, ...lines(EVENTS_EXAMPLE) }));
        const full = appWith({ streams: streamsThat(() => unavailable('Full.', 'Wait.', 5)) });
        keeper.check(id, 503, await ask(full, id, { stream, ...lines(EVENTS_EXAMPLE) }));
        const slow = createServer(listenerOf(small));
        await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve));
        const path = OPERATIONS[id][1].replace('{stream}', stream);
        keeper.check(id, 408, await askHalf(portOf(slow), path, 'application/x-ndjson'));
        slow.closeAllConnections();
        slow.close();
      });
    }

    it('answers the operations of an unknown stream by 404, and an unknown parameter by 422', async () => {
      for (const id of ['getStream', 'deleteStream', 'getStreamDashboard'] as const) {
        keeper.check(id, 404, await ask(app, id));
        if (id !== 'deleteStream') keeper.check(id, 422, await ask(app, id, { query: 'surprise=1' }));
      }
      keeper.check('listStreams', 422, await ask(app, 'listStreams', { query: 'surprise=1' }));
      const away = streamsThat(() => unavailable('Away.', 'Wait.', 5));
      for (const id of ['listStreams', 'getStream', 'deleteStream'] as const) {
        keeper.check(id, 503, await ask(appWith({ streams: away }), id));
      }
      const work = () => Promise.reject(unavailable('Full.', 'Wait.', 5));
      const view = () => Promise.resolve(fullView());
      const busy = appWith({ streams: { ...away, view }, runs: { work } as unknown as Service['runs'] });
      keeper.check('getStreamDashboard', 503, await ask(busy, 'getStreamDashboard'));
    });

    for (const id of RESULTS) {
      it(`answers ${id} of an unknown run by 404`, async () => {
        keeper.check(id, 404, await ask(app, id));
      });
    }

    for (const id of ['getDashboard', 'getDashboardPage', 'followDashboard'] as const) {
      it(`answers ${id} by 404 if there is nothing to show`, async () => {
        keeper.check(id, 404, await ask(small, id));
      });
    }

    it('answers getReadiness by 503 while the service is ending, and followResult if the limit of followers is reached', async () => {
      keeper.check(
        'getReadiness',
        503,
        await ask(appWith({ notReady: () => 'The service is shutting down.' }), 'getReadiness'),
      );
      const follow = () => Promise.reject(new ServiceProblem(503, { detail: 'No.', headers: { 'Retry-After': '30' } }));
      const get = () => Promise.resolve({ ...endedRun('/validate', 'failed'), status: 'running' });
      keeper.check(
        'followResult',
        503,
        await ask(appWith({ runs: { get, follow } as unknown as Service['runs'] }), 'followResult'),
      );
    });

    it('answers followDashboard by 503 if the limit of followers is reached', async () => {
      const leave = new AbortController();
      const url = `http://127.0.0.1:${portOf(server)}/dashboard/events`;
      try {
        for (let followers = 0; followers <= 100; followers += 1) {
          const answer = await fetch(url, { signal: leave.signal });
          if (answer.status === 200) continue;
          keeper.check('followDashboard', 503, {
            statusCode: answer.status,
            headers: Object.fromEntries(answer.headers),
            payload: await answer.text(),
          });
          return;
        }
      } finally {
        leave.abort();
      }
    });
  });

  describe('overall', () => {
    it('has produced every documented status, except those listed here with a reason', () => {
      expect(keeper.notSeen()).to.have.members(Object.keys(NOT_PROVOKED));
    });
  });
});
