import { expect } from 'chai';

import { parseEvents } from '../../../src/api/client/create-client.ts';
import { createClient, dataOf, type RunEvent, ServiceError } from '../../../src/api/client/index.ts';
import { ValueError } from '../../../src/exceptions/index.ts';
import { type Answer, events, json, ScriptedService } from './scripted-service.ts';

const RUN = {
  run_id: 'r1',
  endpoint: '/workflow',
  status: 'running',
  result: null,
  problem: null,
  created_at: '2026-01-31T09:30:00.000Z',
  finished_at: null,
};
const PROBLEM = {
  type: 'urn:evenhand:problem:invalid-request',
  title: 'The request cannot be processed',
  status: 422,
  detail: 'y_pred has 3 items.',
  suggestion: 'Send 4.',
};

const STATUS = (id: number, status: string) => `id: ${id}\nevent: status\ndata: {"status":"${status}"}\n\n`;
const PROGRESS = (id: number, done: number) =>
  `id: ${id}\nevent: progress\ndata: {"stage":"train","done":${done},"total":3}\n\n`;

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

async function problemOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error('it did not fail');
}

describe('the client', () => {
  const service = new ScriptedService();
  before(() => service.start());
  after(() => service.stop());
  const client = () => createClient({ baseUrl: service.baseUrl, key: 'k1' });

  it('sends its key and returns the data', async () => {
    service.answer(json(200, { run_id: 'r', status: 'success' }));
    const answer = dataOf(await client().POST('/validate', { body: { y_pred: [1, 0], sensitive: ['a', 'b'] } }));
    expect(answer).to.deep.equal({ run_id: 'r', status: 'success' });
    expect(service.asked[0]).to.deep.include({ method: 'POST', url: '/validate' });
    expect(service.asked[0]?.headers).to.include({ authorization: 'Bearer k1', 'content-type': 'application/json' });
  });

  it('sends rows as JSON and files as a form, to the same operation', async () => {
    const later: Answer = (request, response) => {
      request.on('end', () => {
        json(200, { run_id: 'r', status: 'success' })(request, response);
      });
    };
    service.answer(later, later);
    const rows = [{ x: 1, group: 'a' }];
    dataOf(await client().POST('/predict', { body: { model: 'r1', rows, threshold: 0.4 } }));
    const file = new Blob(['x,y\n1,0\n']);
    dataOf(await client().POST('/train', { body: { method: 'reductions', file, features: ['x'], T: 5 } }));
    const [first, second] = service.asked;
    expect(JSON.parse(first?.body ?? '')).to.deep.equal({ model: 'r1', rows, threshold: 0.4 });
    expect(second?.headers['content-type']).to.match(/^multipart\/form-data/);
    expect(second?.body).to.include('name="features"\r\n\r\n["x"]').and.include('name="T"\r\n\r\n5');
  });

  it('returns data of the type in the document', async () => {
    service.answer(json(200, { status: 'ok', version: '0.9.0', timestamp: 't' }));
    const { version } = dataOf(await client().GET('/health'));
    expect(version satisfies string).to.equal('0.9.0');
    // @ts-expect-error -- the path does not exist
    const ask = () => client().GET('/nowhere');
    expect(ask).to.be.a('function');
  });

  it('sends a body with a file as a form with text fields', async () => {
    let form = '';
    service.answer((request, response) => {
      request.on('data', (data: Buffer) => (form += data.toString()));
      request.on('end', () => {
        json(200, {})(request, response);
      });
    });
    const body = { file: new Blob(['a,b\n1,2\n']), config: 'sensitive: [a]', random_state: 7 };
    dataOf(await client().POST('/workflow', { body }));
    expect(service.asked[0]?.headers['content-type']).to.match(/^multipart\/form-data; boundary=/);
    expect(form).to.match(/name="file"; filename="blob"[\s\S]*a,b\n1,2\n[\s\S]*name="config"\r\n\r\nsensitive: \[a\]/);
    expect(form).to.match(/name="random_state"\r\n\r\n7\r\n/);
  });

  it('sends a table unchanged, with its columns in the query', async () => {
    let table = '';
    service.answer((request, response) => {
      request.on('data', (data: Buffer) => (table += data.toString()));
      request.on('end', () => {
        json(200, {})(request, response);
      });
    });
    const params = { query: { sensitive: ['a', 'b'], y_pred: 'c' } };
    dataOf(await client().POST('/validate', { params, body: 'a,b,c\n', headers: { 'content-type': 'text/csv' } }));
    expect(service.asked[0]).to.deep.include({ url: '/validate?sensitive=a&sensitive=b&y_pred=c' });
    expect(service.asked[0]?.headers['content-type']).to.equal('text/csv');
    expect(table).to.equal('a,b,c\n');
  });

  it('accepts only bodies of the document (types)', () => {
    // @ts-expect-error -- decisions must not be a number
    const ask = () => client().POST('/validate', { body: { y_pred: 7, sensitive: ['a'] } });
    expect(ask).to.be.a('function');
  });

  it('throws the problem that was answered instead of data', async () => {
    service.answer(json(422, PROBLEM));
    const result = await client().POST('/validate', { body: { y_pred: [1], sensitive: ['a', 'b'] } });
    expect(() => dataOf(result))
      .to.throw(ServiceError, 'y_pred has 3 items.')
      .that.deep.includes({ status: 422, problem: PROBLEM, suggestion: 'Send 4.' });
  });

  it('throws an error of the same class if the response is not from the service', async () => {
    service.answer((_, response) =>
      response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>'),
    );
    const result = await client().GET('/health');
    expect(() => dataOf(result))
      .to.throw(ServiceError, /answered 502/)
      .that.includes({ status: 502 });
  });

  for (const baseUrl of ['nonsense', '', '/fairness', 'ftp://127.0.0.1', '127.0.0.1:8000']) {
    it(`rejects a base URL that is not a web address: '${baseUrl}'`, () => {
      expect(() => createClient({ baseUrl })).to.throw(ValueError, /The baseUrl parameter must .*http:\/\//);
    });
  }

  it('names the address that did not answer, and the reason', async () => {
    // Nothing listens on port 1 of this machine.
    const unreachable = createClient({ baseUrl: 'http://127.0.0.1:1' });
    for (const work of [unreachable.GET('/health'), unreachable.waitForRun('r1')]) {
      const found = (await problemOf(work)) as ServiceError;
      expect(ServiceError.isInstance(found)).to.equal(true);
      expect(found.message).to.match(/^http:\/\/127\.0\.0\.1:1\/\S+ did not respond: \S/);
      expect(found.suggestion).to.include('http://127.0.0.1:1');
      expect(found.cause).to.be.instanceOf(Error);
    }
  });

  it('does not wrap the error of an abort by the caller', async () => {
    const signal = AbortSignal.abort();
    expect(await problemOf(client().GET('/health', { signal }))).to.have.property('name', 'AbortError');
  });

  it('recognises its errors, also across copies of the package', () => {
    expect(ServiceError.isInstance(new ServiceError(PROBLEM as never))).to.equal(true);
    expect(ServiceError.isInstance({ [Symbol.for('evenhand.ServiceError')]: true })).to.equal(true);
    expect(ServiceError.isInstance(new Error('no'))).to.equal(false);
    expect(ServiceError.isInstance(null)).to.equal(false);
  });

  describe('waiting for a run', () => {
    it('polls until the run has succeeded', async () => {
      const done = { ...RUN, status: 'succeeded', result: { run_id: 'r1', status: 'success' } };
      service.answer(json(200, { ...RUN, status: 'queued' }), json(200, RUN), json(200, done));
      expect(await client().waitForRun('r1', { pollMillis: 5 })).to.deep.equal(done);
      expect(service.asked.map(({ url }) => url)).to.deep.equal(Array(3).fill('/results/r1'));
    });

    it('throws the reason of a failure', async () => {
      service.answer(json(200, { ...RUN, status: 'failed', problem: PROBLEM }));
      expect(await problemOf(client().waitForRun('r1')))
        .to.be.instanceOf(ServiceError)
        .that.deep.includes({ problem: PROBLEM });
    });

    it('throws that the run was cancelled if no reason is given', async () => {
      service.answer(json(200, { ...RUN, status: 'cancelled' }));
      expect(await problemOf(client().waitForRun('r1')))
        .to.be.instanceOf(ServiceError)
        .that.includes({ status: 409 });
    });

    it('throws 404 for an unknown run', async () => {
      service.answer(json(404, { ...PROBLEM, status: 404 }));
      expect(await problemOf(client().waitForRun('r1'))).to.include({ status: 404 });
    });

    for (const retryAfter of ['0', 'Sun, 06 Nov 1994 08:49:37 GMT']) {
      it(`waits as long as Retry-After asks for: '${retryAfter}'`, async () => {
        const done = { ...RUN, status: 'succeeded', result: {} };
        service.answer(json(429, { ...PROBLEM, status: 429 }, { 'retry-after': retryAfter }), json(200, done));
        expect(await client().waitForRun('r1', { pollMillis: 600_000 })).to.deep.equal(done);
      });
    }

    it('ends when the signal is aborted between two polls', async () => {
      service.answer(json(200, RUN));
      const signal = AbortSignal.timeout(100);
      const found = await problemOf(client().waitForRun('r1', { signal, pollMillis: 60_000 }));
      expect(found).to.have.property('name', 'TimeoutError');
    });
  });

  describe('following a run', () => {
    it('returns every event until the final status, for any division of the stream into chunks', async () => {
      const stream = `: still here\n\n${STATUS(1, 'running')}${PROGRESS(2, 1)}${STATUS(3, 'succeeded')}`;
      const reported = [
        { id: 1, type: 'status', status: 'running' },
        { id: 2, type: 'progress', stage: 'train', done: 1, total: 3 },
        { id: 3, type: 'status', status: 'succeeded' },
      ];
      for (const size of [1000, 7, 1]) {
        const chunks = stream.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g')) ?? [];
        service.answer(events(chunks));
        expect(await all(client().followRun('r1')), `${size} characters`).to.deep.equal(reported);
        expect(service.asked[0]?.headers).to.include({ accept: 'text/event-stream', authorization: 'Bearer k1' });
      }
    });

    for (const end of ['end', 'break'] as const) {
      it(`continues after the last event when the connection is lost (${end})`, async () => {
        service.answer(
          events([STATUS(1, 'running'), PROGRESS(2, 1)], end),
          events([PROGRESS(3, 2), 'id: 4\nevent: progr'], end),
          events([PROGRESS(4, 3), STATUS(5, 'succeeded')]),
        );
        const reported = await all(client().followRun('r1', { retryMillis: 5 }));
        expect(reported.map(({ id }) => id)).to.deep.equal([1, 2, 3, 4, 5]);
        expect(service.asked.map(({ headers }) => headers['last-event-id'])).to.deep.equal(['0', '2', '3']);
      });
    }

    it('starts after the given event', async () => {
      service.answer(events([STATUS(8, 'failed')]));
      expect(await all(client().followRun('r1', { lastEventId: 7 }))).to.have.lengthOf(1);
      expect(service.asked[0]?.headers['last-event-id']).to.equal('7');
    });

    it('ends without an event if the service has no more of them', async () => {
      service.answer((_, response) => response.writeHead(204).end());
      expect(await all(client().followRun('r1', { lastEventId: 8 }))).to.deep.equal([]);
      expect(service.asked).to.have.lengthOf(1);
    });

    it('closes the connection when the caller stops iterating', async () => {
      let closed: Promise<unknown> = Promise.resolve();
      service.answer((request, response) => {
        closed = new Promise((resolve) => response.once('close', resolve));
        events([STATUS(1, 'running')], 'stay')(request, response);
      });
      for await (const event of client().followRun('r1')) {
        expect(event.id).to.equal(1);
        break;
      }
      await closed;
    });

    it('gives up if connections break repeatedly', async () => {
      service.answer(...Array.from({ length: 4 }, () => events([], 'break')));
      const found = await problemOf(all(client().followRun('r1', { retryMillis: 1, maxRetries: 3 })));
      expect(found).to.be.instanceOf(Error);
      expect(service.asked).to.have.lengthOf(4);
    });

    it('throws 404 immediately for an unknown run', async () => {
      service.answer(json(404, { ...PROBLEM, status: 404 }));
      expect(await problemOf(all(client().followRun('r1'))))
        .to.be.instanceOf(ServiceError)
        .that.includes({ status: 404 });
      expect(service.asked).to.have.lengthOf(1);
    });

    it('retries if the service is busy', async () => {
      service.answer(json(503, { ...PROBLEM, status: 503 }, { 'retry-after': '0' }), events([STATUS(1, 'cancelled')]));
      expect(await all(client().followRun('r1', { retryMillis: 1 }))).to.have.lengthOf(1);
    });

    it('ends when the signal is aborted', async () => {
      service.answer(events([STATUS(1, 'running')], 'stay'));
      const reported: RunEvent[] = [];
      const work = (async () => {
        for await (const event of client().followRun('r1', { signal: AbortSignal.timeout(200) })) reported.push(event);
      })();
      expect(await problemOf(work)).to.have.property('name', 'TimeoutError');
      expect(reported).to.have.lengthOf(1);
    });
  });

  describe('parsing of event streams', () => {
    const CASES: readonly (readonly [string, string, readonly object[]])[] = [
      ['nothing', '', []],
      ['only comments', ': a\n\n: b\n\n', []],
      ['an event without a type', 'data: x\n\n', [{ id: '', type: 'message', data: 'x' }]],
      ['data of several lines', 'data: x\ndata: y\n\n', [{ id: '', type: 'message', data: 'x\ny' }]],
      ['lines that end with CR LF', 'id: 1\r\ndata: x\r\n\r\n', [{ id: '1', type: 'message', data: 'x' }]],
      [
        'lines that end with CR',
        'id: 1\rdata: x\r\rdata: y\n\n',
        [
          { id: '1', type: 'message', data: 'x' },
          { id: '1', type: 'message', data: 'y' },
        ],
      ],
      ['no space after the colon', 'data:x\n\n', [{ id: '', type: 'message', data: 'x' }]],
      ['an event that is cut off at the end', 'data: x\n\ndata: y\n', [{ id: '', type: 'message', data: 'x' }]],
      ['unknown fields', 'retry: 5\nwhat: y\ndata: x\n\n', [{ id: '', type: 'message', data: 'x' }]],
      ['multi-byte characters', 'data: ä€😀\n\n', [{ id: '', type: 'message', data: 'ä€😀' }]],
    ];
    for (const [name, text, expected] of CASES) {
      it(`follows the standard, in one piece and byte by byte: ${name}`, async () => {
        const bytes = new TextEncoder().encode(text);
        for (const size of [bytes.length + 1, 1]) {
          const stream = new ReadableStream<Uint8Array>({
            start(controller) {
              for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
              controller.close();
            },
          });
          expect(await all(parseEvents(stream))).to.deep.equal(expected);
        }
      });
    }
  });
});
