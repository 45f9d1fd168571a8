import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage, RequestListener } from 'node:http';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';

import { expect } from 'chai';
import { inject } from 'light-my-request';

import { receiveBody } from '../../../src/api/intake/receive-body.ts';
import type { ServiceProblem } from '../../../src/api/problem/service-problem.ts';
import { type IntakeServer, RawClient, chunkOf, headOf, noise, startIntake } from './intake-server.ts';

const MOST = 64 * 1024;
const INLINE = 1000;
const IDLE = 250;

describe('receiveBody', () => {
  let server: IntakeServer;
  before(async () => {
    server = await startIntake(async (request, spoolRoot) => {
      const withDigest = request.headers['x-digest'] !== undefined;
      const limits = { maxBytes: MOST, inlineBytes: INLINE, idleMillis: IDLE, spoolRoot, withDigest };
      const body = await receiveBody(request, limits);
      const bytes = body.kind === 'memory' ? body.bytes : await readFile(body.path);
      if (body.kind === 'file') await body.folder.remove();
      return { kind: body.kind, bytes: bytes.toString('base64'), digest: body.digest };
    });
  });
  after(() => server.close());
  afterEach(async () => {
    await server.settled();
    expect(await server.leftOnDisk()).to.deep.equal([]);
  });

  async function send(headers: Record<string, string | number>, ...chunks: readonly (string | Buffer)[]) {
    const client = new RawClient(server.port);
    await client.send(headOf({ connection: 'close', ...headers }));
    for (const chunk of chunks) await client.send(chunk);
    return client.answer();
  }

  const complete = (body: Buffer) => [{ 'content-length': body.length }, body] as const;
  const LAST_CHUNK = chunkOf(Buffer.alloc(0));
  const chunked = (body: Buffer) =>
    [{ 'transfer-encoding': 'chunked' }, body.length === 0 ? body : chunkOf(body), LAST_CHUNK] as const;

  const sizes: readonly [number, 'memory' | 'file'][] = [
    [0, 'memory'],
    [1, 'memory'],
    [INLINE, 'memory'],
    [INLINE + 1, 'file'],
    [MOST, 'file'],
  ];
  for (const [size, kind] of sizes) {
    const body = Buffer.alloc(size, 'äbc');
    for (const [sending, [headers, ...chunks]] of [
      ['with Content-Length', complete(body)],
      ['in chunks', chunked(body)],
    ] as const) {
      it(`returns ${String(size)} bytes, sent ${sending}, in ${kind}, unchanged`, async () => {
        const { status, json } = await send(headers, ...chunks.filter((chunk) => chunk.length > 0));
        expect(status).to.equal(200);
        expect(json).to.deep.equal({ kind, bytes: body.toString('base64') });
      });
    }
    it(`returns ${String(size)} bytes that were sent compressed in ${kind}, decompressed`, async () => {
      const packed = gzipSync(body);
      const { json } = await send({ 'content-encoding': 'gzip', 'content-length': packed.length }, packed);
      expect(json).to.deep.equal({ kind, bytes: body.toString('base64') });
    });
  }

  it('returns the digest of the decompressed content for every encoding', async () => {
    for (const text of ['abc', 'x'.repeat(5000)]) {
      const body = Buffer.from(text);
      const digest = createHash('sha256').update(text).digest('hex');
      const packed = gzipSync(body);
      const answers = [
        await send({ 'x-digest': 1, 'content-length': body.length }, body),
        await send({ 'x-digest': 1, 'transfer-encoding': 'chunked' }, chunkOf(body), LAST_CHUNK),
        await send({ 'x-digest': 1, 'content-encoding': 'gzip', 'content-length': packed.length }, packed),
      ];
      expect(answers.map(({ json }) => json['digest'])).to.deep.equal([digest, digest, digest]);
    }
  });

  const packed = gzipSync(Buffer.from('a'.repeat(5000)));
  const gzip = { 'content-encoding': 'gzip' };
  const refused: readonly [string, number, RegExp, Record<string, string | number>, (string | Buffer)[]][] = [
    ['a length above the limit', 413, /limit of 64 KiB/, { 'content-length': MOST + 1 }, []],
    [
      'chunks above the limit',
      413,
      /limit of 64 KiB/,
      { 'transfer-encoding': 'chunked' },
      [chunkOf(Buffer.alloc(MOST + 1))],
    ],
    [
      'data that decompress to more than the limit',
      413,
      /limit of 64 KiB/,
      { ...gzip, 'content-length': gzipSync(Buffer.alloc(MOST + 1)).length },
      [gzipSync(Buffer.alloc(MOST + 1))],
    ],
    [
      'endless gzip members without content',
      413,
      /limit of 64 KiB/,
      { ...gzip, 'transfer-encoding': 'chunked' },
      Array.from({ length: 70 }, () => chunkOf(Buffer.concat(Array.from({ length: 50 }, () => gzipSync(''))))),
    ],
    [
      'gzip data that ends too early',
      400,
      /ends too early/,
      { ...gzip, 'content-length': packed.length - 9 },
      [packed.subarray(0, -9)],
    ],
    ['gzip data without bytes', 400, /ends too early/, { ...gzip, 'content-length': 0 }, []],
    ['data that are not gzip', 400, /gzip data is broken/, { ...gzip, 'content-length': 5 }, ['hello']],
    [
      'gzip data with a wrong checksum',
      400,
      /gzip data is broken/,
      { ...gzip, 'content-length': packed.length },
      [Buffer.concat([packed.subarray(0, -8), Buffer.alloc(8)])],
    ],
    [
      'another coding',
      415,
      /must be gzip or identity\. Got 'br'/,
      { 'content-encoding': 'br', 'content-length': 1 },
      ['x'],
    ],
    ['two codings', 415, /Got 'gzip, gzip'/, { 'content-encoding': 'gzip, gzip', 'content-length': 1 }, ['x']],
    ['a body that does not arrive', 408, /arrived within 0\.25 seconds/, { 'content-length': 10 }, []],
    ['a large body that stops', 408, /arrived within 0\.25 seconds/, { 'content-length': 5000 }, [Buffer.alloc(4000)]],
    [
      'a compressed body that stops',
      408,
      /arrived within 0\.25 seconds/,
      { ...gzip, 'content-length': packed.length },
      [packed.subarray(0, 20)],
    ],
  ];
  for (const [title, status, detail, headers, chunks] of refused) {
    it(`answers ${String(status)} for ${title}`, async () => {
      const answer = await send(headers, ...chunks);
      expect(answer.status).to.equal(status);
      expect(answer.json['detail']).to.match(detail);
      expect(answer.json['suggestion']).to.be.a('string');
    });
  }

  it('reads nothing if the Content-Length is above the limit', async () => {
    const client = new RawClient(server.port);
    await client.send(headOf({ 'content-length': 2 ** 30 }));
    const { status, headers } = await client.answer();
    expect(status).to.equal(413);
    expect(headers['connection']).to.equal('close');
  });

  it('rejects a body that arrives too slowly', async () => {
    const client = new RawClient(server.port);
    await client.send(headOf({ 'content-length': 5000 }));
    const timer = setInterval(() => client.socket.destroyed || client.socket.write('x'), 20);
    const { status } = await client.answer();
    clearInterval(timer);
    expect(status).to.equal(408);
  });

  it('waits for a slow body that continues', async () => {
    const client = new RawClient(server.port);
    await client.send(headOf({ 'content-length': 12_000, connection: 'close' }));
    for (let sent = 0; sent < 12_000; sent += 2000) {
      await client.send(Buffer.alloc(2000));
      await new Promise((resolve) => setTimeout(resolve, IDLE / 3));
    }
    expect((await client.answer()).status).to.equal(200);
  });

  for (const [title, headers] of [
    ['plain', {}],
    ['packed', gzip],
  ] as const) {
    it(`leaves nothing of a ${title} body whose client disconnects`, async () => {
      const client = new RawClient(server.port);
      const body = title === 'plain' ? noise(30_000) : gzipSync(noise(30_000)).subarray(0, -500);
      await client.send(headOf({ ...headers, 'content-length': 60_000 }));
      await client.send(body);
      for (let tries = 0; tries < 100 && (await server.leftOnDisk()).length < 2; tries += 1) {
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      expect(await server.leftOnDisk()).to.have.length(2);
      client.socket.resetAndDestroy();
      for (let tries = 0; tries < 100 && (await server.leftOnDisk()).length > 0; tries += 1) {
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    });
  }

  it('receives an injected request without a connection', async () => {
    const dispatch: RequestListener = (request, response) => {
      const limits = { maxBytes: MOST, inlineBytes: INLINE, idleMillis: IDLE, spoolRoot: server.spoolRoot };
      receiveBody(request, limits).then(
        async (body) => {
          if (body.kind === 'file') await body.folder.remove();
          response.end(body.kind);
        },
        (error: unknown) => response.end(String((error as ServiceProblem).status)),
      );
    };
    const bodies = [undefined, 'abc', 'x'.repeat(5000), Readable.from(['abc']), 'x'.repeat(MOST + 1)];
    const payloads = [];
    for (const payload of bodies) {
      const request = { method: 'POST', url: '/', ...(payload === undefined ? {} : { payload }) } as const;
      payloads.push((await inject(dispatch, request)).payload);
    }
    expect(payloads).to.deep.equal(['memory', 'memory', 'file', 'memory', '413']);
  });

  it('reports a body that was already read', async () => {
    const request = Object.assign(Readable.from([]), { headers: {} }) as unknown as IncomingMessage;
    await request.toArray();
    const limits = { maxBytes: MOST, inlineBytes: INLINE, idleMillis: IDLE, spoolRoot: server.spoolRoot };
    const error: unknown = await receiveBody(request, limits).catch((cause: unknown) => cause);
    expect(String(error)).to.match(/The body was already read/);
  });

  it('keeps a connection for the next request if the rejected body was already received', async () => {
    const client = new RawClient(server.port);
    await client.send(headOf({ ...gzip, 'content-length': 5 }));
    await client.send('hello');
    await new Promise((resolve) => setTimeout(resolve, 50));
    await client.send(`${headOf({ 'content-length': 3, connection: 'close' })}abc`);
    const text = await client.text();
    expect(text).to.match(/^HTTP\/1\.1 400 .*HTTP\/1\.1 200 /s);
  });
});
