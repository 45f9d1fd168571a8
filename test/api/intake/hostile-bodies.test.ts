import { existsSync } from 'node:fs';
import fsPromises, { readdir, stat } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { createGzip } from 'node:zlib';

import { expect } from 'chai';

import { DEFAULT_LIMITS } from '../../../src/api/context/service-context.ts';
import { receiveBody } from '../../../src/api/intake/receive-body.ts';
import { receiveForm } from '../../../src/api/intake/receive-form.ts';
import { receiveTable } from '../../../src/api/intake/receive-table.ts';
import { chunkOf, headOf, type IntakeServer, RawClient, startIntake } from './intake-server.ts';
import { file, form, FORM_TYPE } from './multipart.ts';

const MIB = 2 ** 20;
const limits = { ...DEFAULT_LIMITS, idleMillis: 2000 };

/** Returns the total size of the files in a folder in bytes. */
async function bytesIn(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true });
  const sizes = await Promise.all(
    names.map((name) =>
      stat(path.join(folder, name)).then(
        (found) => found.size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Returns compressed zeros, created piece by piece, because they decompress to a GiB. */
async function packedZeros(mebibytes: number): Promise<Buffer> {
  const gzip = createGzip({ level: 1 });
  const chunks: Buffer[] = [];
  gzip.on('data', (chunk: Buffer) => chunks.push(chunk));
  const zeros = Buffer.alloc(MIB);
  for (let i = 0; i < mebibytes; i += 1) {
    if (!gzip.write(zeros)) await new Promise((resolve) => gzip.once('drain', resolve));
  }
  await new Promise<void>((resolve) => {
    gzip.once('end', resolve).end();
  });
  return Buffer.concat(chunks);
}

describe('hostile bodies', () => {
  let server: IntakeServer;
  before(async () => {
    server = await startIntake(async (request, spoolRoot) => {
      const type = request.headers['content-type'] ?? '';
      if (type.startsWith('multipart/')) {
        const { folder, digest } = await receiveForm(
          request,
          { limits, spoolFolder: spoolRoot },
          { fields: ['config'] },
        );
        await folder.remove();
        return { digest };
      }
      if (type === 'text/csv') {
        const { folder, digest } = await receiveTable(request, { limits, spoolFolder: spoolRoot });
        await folder.remove();
        return { digest };
      }
      const { jsonBytes: maxBytes, inlineBytes, idleMillis } = limits;
      const body = await receiveBody(request, { maxBytes, inlineBytes, idleMillis, spoolRoot });
      if (body.kind === 'file') await body.folder.remove();
      return { kind: body.kind };
    });
  });
  after(() => server.close());
  afterEach(async () => {
    await server.settled();
    expect(await server.leftOnDisk()).to.deep.equal([]);
    // After every case the next request must be answered.
    const client = new RawClient(server.port);
    await client.send(`${headOf({ 'content-length': 2, connection: 'close' })}{}`);
    expect((await client.answer()).json).to.deep.equal({ kind: 'memory' });
  });

  const bodies: readonly [string, Record<string, string>, (bytes: Buffer) => Buffer][] = [
    ['with a Content-Length', { 'content-length': String(100 * MIB) }, (bytes) => bytes],
    ['in chunks', { 'transfer-encoding': 'chunked' }, chunkOf],
  ];
  for (const [title, headers, wrap] of bodies) {
    it(`sends 413 to a client that sends 100 MiB ${title} without reading`, async () => {
      const client = new RawClient(server.port);
      await client.send(headOf(headers));
      const bytes = wrap(Buffer.alloc(MIB));
      for (let sent = 0; sent < 100; sent += 1) expect(await client.send(bytes)).to.equal(true);
      const { status, error, headers: answered } = await client.answer();
      expect([status, error, answered['connection']]).to.deep.equal([413, undefined, 'close']);
    });
  }

  it('sends 422 to a client that sends an invalid form of 100 MiB', async () => {
    const client = new RawClient(server.port);
    await client.send(headOf({ 'content-type': FORM_TYPE, 'content-length': 100 * MIB }));
    await client.send(file('x', 'a.csv', 'other'));
    for (let sent = 0; sent < 99; sent += 1) expect(await client.send(Buffer.alloc(MIB))).to.equal(true);
    const { status, error } = await client.answer();
    expect([status, error]).to.deep.equal([422, undefined]);
  });

  it('answers the client of Node.js, which announces 1 GB, before it has sent it', async () => {
    const answer = await new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
      const request = httpRequest({ port: server.port, method: 'POST', headers: { 'content-length': 1e9 } });
      request.on('response', (response) => {
        let text = '';
        response
          .on('data', (chunk: Buffer) => (text += chunk.toString()))
          .on('end', () => {
            resolve({ status: response.statusCode, text });
            request.destroy();
          });
      });
      request.on('error', reject);
      request.write(Buffer.alloc(MIB));
    });
    expect(answer.status).to.equal(413);
    expect(answer.text).to.include('limit of 32 MiB');
  });

  it('closes the connection of a client that does not stop sending', async function () {
    this.timeout(20_000);
    const client = new RawClient(server.port);
    await client.send(headOf({ 'transfer-encoding': 'chunked' }));
    const bytes = chunkOf(Buffer.alloc(MIB));
    let sent = 0;
    while (sent < 2000 && (await client.send(bytes))) sent += 1;
    // 32 MiB are read and 256 MiB are discarded; the rest is in the buffers of the connection.
    expect(sent).to.be.within(256, 500);
  });

  describe('a compression bomb of a GiB', () => {
    let bomb: Buffer;
    before(async function () {
      this.timeout(30_000);
      // A gzip file may have several members; sixteen are faster to create than one.
      bomb = Buffer.concat(Array<Buffer>(16).fill(await packedZeros(64)));
    });

    const ways: readonly [string, Record<string, string>, (bytes: Buffer) => Buffer][] = [
      ['as a table', { 'content-type': 'text/csv' }, (bytes) => bytes],
      ['as a compressed table', { 'content-type': 'text/csv', 'content-encoding': 'gzip' }, (bytes) => bytes],
      ['as a file in a form', { 'content-type': FORM_TYPE }, (bytes) => form(file(bytes))],
      ['as a compressed form', { 'content-type': FORM_TYPE, 'content-encoding': 'gzip' }, (bytes) => bytes],
    ];
    for (const [title, headers, wrap] of ways) {
      it(`is rejected ${title} after 17 MiB are decompressed`, async () => {
        const body = wrap(bomb);
        expect(body.length).to.be.below(8 * MIB);
        let most = 0;
        const timer = setInterval(
          () => void bytesIn(server.spoolRoot).then((bytes) => (most = Math.max(most, bytes))),
          5,
        );
        const client = new RawClient(server.port);
        await client.send(headOf({ ...headers, 'content-length': body.length, connection: 'close' }));
        await client.send(body);
        const { status, json } = await client.answer();
        clearInterval(timer);
        expect(status).to.equal(413);
        expect(json['detail']).to.match(/looks like a compression bomb/);
        expect(most).to.be.below(17 * MIB);
      });
    }
  });

  it('uses memory for only a part of 200 concurrent bodies of 5 MiB @slow', async function () {
    this.timeout(60_000);
    const bodies = 200;
    const piece = Buffer.alloc(256 * 1024, 'y,s\n1,F\n');
    const before = process.memoryUsage();
    let most = 0;
    const timer = setInterval(() => {
      const { external, arrayBuffers, heapUsed } = process.memoryUsage();
      most = Math.max(
        most,
        external + arrayBuffers + heapUsed - before.external - before.arrayBuffers - before.heapUsed,
      );
    }, 10);
    const answers = await Promise.all(
      Array.from({ length: bodies }, async () => {
        const client = new RawClient(server.port);
        await client.send(
          headOf({ 'content-type': 'text/csv', 'content-length': 20 * piece.length, connection: 'close' }),
        );
        for (let sent = 0; sent < 20; sent += 1) await client.send(piece);
        return client.answer();
      }),
    );
    clearInterval(timer);
    expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([200]));
    expect(new Set(answers.map(({ json }) => json['digest'])).size).to.equal(1);
    expect(most).to.be.below(300 * MIB);
  });

  it('closes 100 connections that stay open without sending, and answers others meanwhile @slow', async () => {
    const clients = await Promise.all(
      Array.from({ length: 100 }, async () => {
        const client = new RawClient(server.port);
        await client.send(headOf({ 'content-type': FORM_TYPE, 'content-length': 1000 }));
        await client.send('--');
        return client;
      }),
    );
    const other = new RawClient(server.port);
    await other.send(`${headOf({ 'content-length': 2, connection: 'close' })}{}`);
    expect((await other.answer()).status).to.equal(200);
    const answers = await Promise.all(clients.map((client) => client.answer()));
    expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([408]));
  });

  describe('a full disk', () => {
    const open = fsPromises.open;
    before(function () {
      if (!existsSync('/dev/full')) {
        console.log('      skipped: this machine has no /dev/full');
        this.skip();
      }
      // Files are written to a device without space, so that the error is the system's own.
      fsPromises.open = (name, ...rest) =>
        open(String(name).startsWith(server.spoolRoot) ? '/dev/full' : name, ...rest);
      syncBuiltinESMExports();
    });
    after(() => {
      fsPromises.open = open;
      syncBuiltinESMExports();
    });

    const table = Buffer.alloc(MIB, 'a,b\n');
    const ways: readonly [string, Record<string, string>, Buffer][] = [
      ['a large body', {}, table],
      ['a table', { 'content-type': 'text/csv' }, table],
      ['a form', { 'content-type': FORM_TYPE }, form(file(table))],
      ['the smallest form', { 'content-type': FORM_TYPE }, form(file('x'))],
    ];
    for (const [title, headers, body] of ways) {
      it(`is answered with 503 and Retry-After for ${title}`, async () => {
        const client = new RawClient(server.port);
        await client.send(headOf({ ...headers, 'content-length': body.length, connection: 'close' }));
        await client.send(body);
        const answer = await client.answer();
        expect(answer.status).to.equal(503);
        expect(answer.headers['retry-after']).to.equal('60');
        expect(answer.json['detail']).to.match(/no room left for uploads/);
      });
    }
  });
});
