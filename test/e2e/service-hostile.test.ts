import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';

import { expect } from 'chai';

import type { RunningService } from '../../src/api/serve/running-service.ts';
import { serve } from '../../src/api/serve/serve.ts';
import { formOf } from '../helpers/service.ts';

/** The upload folder of the services of this process, which must be empty at the end. */
function uploadsLeft(): string[] {
  return readdirSync(tmpdir())
    .filter((name) => name.startsWith(`evenhand-${String(process.pid)}-`))
    .flatMap((name) => {
      const folder = path.join(tmpdir(), name);
      return existsSync(folder) ? readdirSync(folder).filter((entry) => entry !== 'files') : [];
    });
}

describe('a hostile client gets the right response, and the service keeps running', function () {
  this.timeout(120_000);
  let service: RunningService;

  before(async () => {
    service = await serve({
      port: 0,
      keys: [],
      threads: 1,
      limits: { uploadBytes: 64 * 2 ** 20, idleMillis: 1000 },
    });
  });
  after(async () => {
    await service.stop();
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith(`evenhand-${String(process.pid)}-`))).to.deep.equal(
      [],
    );
  });
  afterEach(async () => {
    const health = await fetch(`${service.url}/health`);
    expect(await health.json()).to.include({ status: 'ok' });
    // A broken connection is detected with a short delay.
    for (let tries = 0; tries < 40 && uploadsLeft().length > 0; tries++) await pause(50);
    expect(uploadsLeft(), 'files of uploads').to.deep.equal([]);
  });

  const open = async (): Promise<Socket> => {
    const socket = connect(service.port, '127.0.0.1');
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    return socket;
  };

  /** Sends data and reads until the service closes the connection or sends nothing more. */
  const speak = async (chunks: Iterable<string | Buffer>, quietMillis = 5000): Promise<string> => {
    const socket = await open();
    let answer = '';
    socket.on('data', (data: Buffer) => (answer += data.toString('latin1')));
    const closed = new Promise((resolve) => socket.once('close', resolve));
    for (const chunk of chunks) {
      if (socket.destroyed || answer !== '') break;
      if (!socket.write(chunk))
        await Promise.race([once(socket, 'drain').catch(() => undefined), closed, pause(quietMillis)]);
    }
    await Promise.race([closed, answered(() => answer, quietMillis)]);
    socket.destroy();
    return answer;
  };

  const head = (lines: readonly string[], url = '/validate'): string =>
    [`POST ${url} HTTP/1.1`, `Host: 127.0.0.1`, ...lines, '', ''].join('\r\n');

  const post = async (body: string | Buffer, type = 'application/json', headers: Record<string, string> = {}) => {
    const answer = await fetch(`${service.url}/validate`, {
      method: 'POST',
      headers: { 'content-type': type, ...headers },
      body,
    });
    return { status: answer.status, text: await answer.text() };
  };

  it('a body of 1 GB is rejected by its length, before it is sent', async () => {
    const lines = ['Content-Type: application/json', `Content-Length: ${String(2 ** 30)}`];
    expect(await speak([head(lines), '{"y_pred": [1'])).to.match(/^HTTP\/1.1 413 /);
  });

  it('a chunked body without a length is rejected when it exceeds the limit', async () => {
    const megabyte = Buffer.alloc(2 ** 20, '1');
    const chunks = function* (): Generator<string | Buffer> {
      yield head(['Content-Type: application/json', 'Transfer-Encoding: chunked']);
      for (let sent = 0; sent < 200; sent++) {
        yield `${megabyte.length.toString(16)}\r\n`;
        yield megabyte;
        yield '\r\n';
      }
    };
    expect(await speak(chunks())).to.match(/^HTTP\/1.1 413 /);
  });

  const refused: readonly (readonly [what: string, status: number, body: string | Buffer, type?: string])[] = [
    ['JSON nested 50,000 deep', 400, `{"y_pred": ${'['.repeat(50_000)}${']'.repeat(50_000)}, "sensitive": ["a"]}`],
    ['JSON nested deep and large', 400, `{"y_pred": ${'['.repeat(500_000)}${']'.repeat(500_000)}, "sensitive": ["a"]}`],
    ['brackets that never close', 400, '['.repeat(100_000)],
    ['__proto__', 400, '{"__proto__": {"polluted": 1}, "y_pred": [1], "sensitive": ["a"]}'],
    ['__proto__ in escapes', 400, String.raw`{"\u005f\u005fproto__": {"polluted": 1}}`],
    ['a column __proto__', 400, '{"y_pred": [1], "sensitive": {"__proto__": ["a"]}}'],
    ['NaN', 400, '{"y_pred": [NaN], "sensitive": ["a"]}'],
    ['Infinity as a number too large', 422, '{"y_score": [1e999], "sensitive": ["a"]}'],
    ['an array of six million items', 413, `{"y_pred": [${'1,'.repeat(5_999_999)}1], "sensitive": ["a"]}`],
    ['a wrong content type', 415, 'y_pred=1', 'application/x-www-form-urlencoded'],
    ['no content type', 415, Buffer.from('{}'), ''],
    ['text that is not UTF-8', 422, Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), 'text/csv'],
    ['a table without rows', 422, 'p,s\n', 'text/csv'],
    ['a ragged table', 422, 'p,s\n1,a\n1,a,b,c\n0\n', 'text/csv'],
    ['bytes that are not Parquet', 422, 'PAR1 but not really', 'application/vnd.apache.parquet'],
    ['an invalid form', 400, '--x\r\n', 'multipart/form-data; boundary=x'],
  ];
  for (const [what, status, body, type] of refused) {
    it(`${what}: ${String(status)}`, async () => {
      const answer = await post(body, type).catch((error: unknown) => ({ status: 0, text: String(error) }));
      expect(answer.status, answer.text.slice(0, 500)).to.equal(status);
      expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined);
      expect(answer.text).to.not.match(/node_modules|\.[jt]s:\d|\bat \S+ \(|\/tmp\//);
    });
  }

  it('a compression bomb is rejected long before it is unpacked', async () => {
    const bomb = gzipSync(Buffer.alloc(48 * 2 ** 20, '0'), { level: 9 });
    for (const [body, headers] of [
      [bomb, { 'content-encoding': 'gzip' }],
      [bomb, {}],
    ] as const) {
      const answer = await post(body, 'text/csv', headers);
      expect(answer.status, answer.text).to.equal(413);
    }
    const { type, payload } = formOf({ config: 'sensitive: [s]' }, { name: 'x.csv.gz', content: bomb });
    const answer = await fetch(`${service.url}/pipeline`, {
      method: 'POST',
      headers: { 'content-type': type },
      body: payload,
    });
    expect(answer.status).to.equal(413);
    await answer.arrayBuffer();
  });

  it('path traversal in file names has no effect', async () => {
    const { type, payload } = formOf(
      { config: 'sensitive: [s]' },
      { name: '../../../../tmp/evenhand-climbed.csv', content: 's,a\nx,1\ny,2\n' },
    );
    const answer = await fetch(`${service.url}/pipeline`, {
      method: 'POST',
      headers: { 'content-type': type },
      body: payload,
    });
    expect(answer.status).to.be.oneOf([200, 422]);
    expect(await answer.text()).to.not.contain('climbed');
    expect(existsSync(path.join(tmpdir(), 'evenhand-climbed.csv'))).to.equal(false);
  });

  for (const [what, body] of [
    ['no end', '--b\r\nContent-Disposition: form-data; name="file"; filename="x.csv"\r\n\r\ns,a\nx,1\n'],
    ['a part without a name', '--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--\r\n'],
    ['no fields', '--b--\r\n'],
    ['text of another kind', 'hello'],
  ] as const) {
    it(`a form with ${what}: 4xx`, async () => {
      const answer = await fetch(`${service.url}/pipeline`, {
        method: 'POST',
        headers: { 'content-type': 'multipart/form-data; boundary=b' },
        body,
      });
      expect(answer.status).to.be.oneOf([400, 422]);
      expect(answer.headers.get('content-type')).to.match(/^application\/problem\+json/);
      await answer.arrayBuffer();
    });
  }

  it('a header cannot be injected through the request id', async () => {
    const answer = await speak([
      'GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Request-Id: a\rSet-Cookie: x=1\r\nConnection: close\r\n\r\n',
    ]);
    expect(answer).to.not.match(/^set-cookie/im);
    const encoded = await fetch(`${service.url}/results/${encodeURIComponent('a\r\nSet-Cookie: x=1')}`);
    expect(encoded.status).to.equal(404);
    expect(encoded.headers.get('set-cookie')).to.equal(null);
    await encoded.arrayBuffer();
  });

  for (const [what, text, status] of [
    ['no HTTP', 'hello\r\n\r\n', 400],
    ['headers of 100 KB', `GET /health HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(100_000)}\r\n\r\n`, 431],
    ['two lengths', 'POST /validate HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n', 400],
    [
      'a length and chunks',
      'POST /validate HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
  ] as const) {
    it(`${what}: ${String(status)}`, async () => {
      expect(await speak([text])).to.match(new RegExp(`^HTTP/1.1 ${String(status)} `));
    });
  }

  it('a body that arrives very slowly is aborted: 408', async () => {
    const lines = ['Content-Type: application/json', 'Content-Length: 1000'];
    expect(await speak([head(lines), '{"y_'], 10_000)).to.match(/^HTTP\/1.1 408 /);
  });

  it('a client that disconnects during an upload leaves no files', async () => {
    const socket = await open();
    socket.write(head(['Content-Type: text/csv', 'Content-Length: 50000000']));
    socket.write(Buffer.alloc(2 ** 20, '1,a\n'));
    await pause(200);
    socket.destroy();
  });

  it('500 idle connections do not delay other clients', async () => {
    const sockets = await Promise.all(Array.from({ length: 500 }, open));
    const start = performance.now();
    const health = await fetch(`${service.url}/health`);
    expect(health.status).to.equal(200);
    await health.arrayBuffer();
    expect(performance.now() - start).to.be.below(2000);
    for (const socket of sockets) socket.destroy();
  });
});

function pause(millis: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, millis));
}

/** Waits until a response has arrived and no more data follows for a moment. */
async function answered(text: () => string, maxMillis: number): Promise<void> {
  const end = performance.now() + maxMillis;
  while (performance.now() < end) {
    const before = text();
    await pause(150);
    if (before !== '' && text() === before) return;
  }
}
