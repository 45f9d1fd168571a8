import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import path from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';

import { expect } from 'chai';
import fc from 'fast-check';

import { DEFAULT_LIMITS } from '../../../src/api/context/service-context.ts';
import { receiveForm } from '../../../src/api/intake/receive-form.ts';
import { ServiceProblem } from '../../../src/api/problem/service-problem.ts';
import { headOf, type IntakeServer, noise, RawClient, startIntake } from './intake-server.ts';
import { BOUNDARY, field, file, form, FORM_TYPE, part } from './multipart.ts';

const limits = { ...DEFAULT_LIMITS, uploadBytes: 256 * 1024, fieldBytes: 4096, idleMillis: 300 };
const MANY = Array.from({ length: 105 }, (_, index) => `field_${String(index)}`);
const allowed = ['config', 'random_state', '__proto__'];

const CSV = 'y,sex\n1,F\n0,M\n';
const PARQUET = Buffer.concat([Buffer.from('PAR1'), noise(5000), Buffer.from('PAR1')]);

describe('receiveForm', () => {
  let server: IntakeServer;
  before(async () => {
    server = await startIntake(async (request, spoolRoot) => {
      const fields = request.headers['x-many'] === undefined ? allowed : MANY;
      const received = await receiveForm(request, { limits, spoolFolder: spoolRoot }, { fields });
      const stored = received.files['file'] ?? '';
      const content = await readFile(stored);
      const names = await readdir(received.folder.path);
      await received.folder.remove();
      const { fields: sent, digest } = received;
      const keys = Object.keys(sent);
      return {
        names,
        format: path.extname(stored).slice(1),
        content: content.toString('base64'),
        fields: sent,
        keys,
        digest,
      };
    });
  });
  after(() => server.close());
  afterEach(async () => {
    await server.settled();
    expect(await server.leftOnDisk()).to.deep.equal([]);
  });

  async function send(body: Buffer, headers: Record<string, string | number> = {}) {
    const client = new RawClient(server.port);
    const length = { 'content-type': FORM_TYPE, 'content-length': body.length };
    await client.send(headOf({ connection: 'close', ...length, ...headers }));
    await client.send(body);
    return client.answer();
  }

  const contents: readonly [string, Buffer, Buffer, 'csv' | 'parquet'][] = [
    ['CSV', Buffer.from(CSV), Buffer.from(CSV), 'csv'],
    ['a CSV file of one byte', Buffer.from('y'), Buffer.from('y'), 'csv'],
    ['compressed CSV', gzipSync(CSV), Buffer.from(CSV), 'csv'],
    [
      'compressed CSV in two members',
      Buffer.concat([gzipSync('y,s\n'), gzipSync('1,F\n')]),
      Buffer.from('y,s\n1,F\n'),
      'csv',
    ],
    ['Parquet', PARQUET, PARQUET, 'parquet'],
    ['compressed Parquet', gzipSync(PARQUET), PARQUET, 'parquet'],
    ['a table of the maximum size', noise(limits.uploadBytes), noise(limits.uploadBytes), 'csv'],
  ];
  for (const [title, sent, content, format] of contents) {
    it(`writes ${title} decompressed under a fixed name`, async () => {
      const { status, json } = await send(form(file(sent, 'data.parquet.gz.exe'), field('config', 'a: 1')));
      expect(status).to.equal(200);
      expect(json['names']).to.deep.equal([`upload.${format}`]);
      expect(json['format']).to.equal(format);
      expect(Buffer.from(String(json['content']), 'base64').equals(content)).to.equal(true);
      expect(json['fields']).to.deep.equal({ config: 'a: 1' });
    });
  }

  const names = [
    '../../etc/passwd',
    '..',
    '/etc/passwd',
    'C:\\data.csv',
    '',
    'a\u0000b.csv',
    'ü.csv',
    'x'.repeat(8000),
    '%2e%2e%2fx',
    'a"; name="config',
  ];
  for (const name of names) {
    it(`writes to no other folder for a file named ${JSON.stringify(name.slice(0, 40))}`, async () => {
      const { status, json } = await send(form(file(CSV, name.replaceAll('"', '\\"'))));
      expect(status).to.equal(200);
      expect(json['names']).to.deep.equal(['upload.csv']);
    });
  }

  it('accepts a configuration as text and as a file', async () => {
    const yaml = 'name: Größe\nsteps: []\n';
    for (const config of [field('config', yaml), file(yaml, 'config.yml', 'config')]) {
      const { json } = await send(form(config, file(CSV)));
      expect(json['fields']).to.deep.equal({ config: yaml });
    }
  });

  it('accepts a compressed form', async () => {
    const packed = gzipSync(form(file(CSV)));
    const { status } = await send(packed, { 'content-encoding': 'gzip', 'content-length': packed.length });
    expect(status).to.equal(200);
  });

  it('accepts text before and after the form, an empty field, and a boundary in quotes', async () => {
    const body = Buffer.concat([
      Buffer.from('preamble\r\n'),
      form(file(CSV), field('config', '')),
      Buffer.from('epilogue'),
    ]);
    const { status, json } = await send(body, { 'content-type': `Multipart/Form-Data; x=1; Boundary="${BOUNDARY}"` });
    expect(status).to.equal(200);
    expect(json['fields']).to.deep.equal({ config: '' });
  });

  it('treats a field named __proto__ like any other', async () => {
    const { json } = await send(form(file(CSV), field('__proto__', 'x')));
    expect(json['keys']).to.deep.equal(['__proto__']);
  });

  it('returns the same digest for any order, boundary, file name and compression, and another one for other content', async () => {
    const digest = async (...parts: Buffer[]) => (await send(form(...parts))).json['digest'];
    const config = field('config', 'a: 1');
    const first = await digest(file(CSV), config);
    const sameAgain = [await digest(config, file(CSV, 'other.csv')), await digest(file(gzipSync(CSV)), config)];
    expect(sameAgain).to.deep.equal([first, first]);
    const others = [
      await digest(file(`${CSV}1,F\n`), config),
      await digest(file(CSV), field('config', 'a: 2')),
      await digest(file(CSV)),
    ];
    expect(new Set([first, ...others]).size).to.equal(4);
    // SHA-256 over the fields and the digests of the files, as JSON.
    const ofTable = createHash('sha256').update(CSV).digest('hex');
    const text = `[[["config",["a: 1"]]],[["file","${ofTable}"]]]`;
    expect(first).to.equal(createHash('sha256').update(text).digest('hex'));
  });

  const LONG = 'x'.repeat(limits.fieldBytes + 1);
  const refused: readonly [string, Buffer, number, RegExp, string | undefined][] = [
    ['a form without a file', form(field('config', 'a')), 422, /'file' of the form is missing/, '/file'],
    ['a form without parts', form(), 422, /'file' of the form is missing/, '/file'],
    ['an empty file', form(file('')), 422, /is empty/, '/file'],
    ['an empty compressed file', form(file(gzipSync(''))), 422, /is empty/, '/file'],
    ['a file sent as a text field', form(field('file', CSV)), 422, /is a text field, not a file/, '/file'],
    ['two files', form(file(CSV), file(CSV)), 422, /occurs twice/, '/file'],
    ['a repeated field', form(file(CSV), field('config', 'a'), field('config', 'b')), 422, /occurs twice/, '/config'],
    ['an unknown field', form(file(CSV), field('confg', 'a')), 422, /'confg' of the form is unknown/, '/confg'],
    ['an unknown file', form(file(CSV), file(CSV, 'a.csv', 'fil/e~')), 422, /is unknown/, '/fil~1e~0'],
    ['a name with a null byte', form(file(CSV), field('config\u0000', 'a')), 422, /is unknown/, '/config\u0000'],
    ['a name of Object.prototype', form(file(CSV), field('constructor', 'a')), 422, /is unknown/, '/constructor'],
    ['a very long name', form(field('x'.repeat(5000), 'a')), 400, /longer than 200/, undefined],
    [
      'a part without a name',
      form(part('Content-Disposition: form-data', 'a')),
      400,
      /a part without a name/,
      undefined,
    ],
    ['a part with an empty name', form(field('', 'a')), 400, /a part without a name/, undefined],
    ['a part without a disposition', form(part('X-Other: 1', 'a')), 422, /'file' of the form is missing/, '/file'],
    [
      'a large part without a disposition',
      form(part('X-Other: 1', noise(200_000))),
      422,
      /'file' of the form is missing/,
      '/file',
    ],
    ['a null byte in a field', form(file(CSV), field('config', 'a\u0000b')), 422, /null byte/, '/config'],
    [
      'a field that is not UTF-8',
      form(file(CSV), field('config', Buffer.from([0xff, 0xfe]))),
      422,
      /not UTF-8 text/,
      '/config',
    ],
    [
      'a field that is too large',
      form(file(CSV), field('config', LONG)),
      413,
      /'config' of the form is larger than the limit of 4 KiB/,
      '/config',
    ],
    ['a configuration file that is too large', form(file(LONG, 'c.yml', 'config')), 413, /limit of 4 KiB/, '/config'],
    [
      'a file that is too large',
      form(file(noise(limits.uploadBytes + 1))),
      413,
      /'file' of the form is larger than the limit of 256 KiB/,
      '/file',
    ],
    [
      'a file that decompresses to too much',
      form(file(gzipSync(Buffer.alloc(limits.uploadBytes + 1)))),
      413,
      /limit of 256 KiB/,
      '/file',
    ],
    ['a spreadsheet', form(file(Buffer.from('PK\u0003\u0004....'))), 422, /a ZIP archive or a spreadsheet/, '/file'],
    ['a file compressed twice', form(file(gzipSync(gzipSync(CSV)))), 422, /compressed twice/, '/file'],
    ['a truncated compressed file', form(file(gzipSync(CSV).subarray(0, -4))), 400, /ends too early/, undefined],
    [
      'very long headers before the name',
      form(part(`X-Long: ${LONG.repeat(20)}\r\nContent-Disposition: form-data; name="file"; filename="a"`, CSV)),
      422,
      /is missing/,
      '/file',
    ],
    [
      'very many headers before the name',
      form(part(`${'X-A: 1\r\n'.repeat(40)}Content-Disposition: form-data; name="file"; filename="a"`, CSV)),
      422,
      /is missing/,
      '/file',
    ],
    [
      'unterminated headers',
      Buffer.from(`--${BOUNDARY}\r\nX-Long: ${'y'.repeat(100_000)}`),
      400,
      /ends too early/,
      undefined,
    ],
    ['a body that is not a form', Buffer.from(CSV), 400, /ends too early/, undefined],
    ['a form without bytes', Buffer.alloc(0), 400, /ends too early/, undefined],
    [
      'a form that is truncated in its file',
      form(file(noise(50_000))).subarray(0, 30_000),
      400,
      /ends too early/,
      undefined,
    ],
    [
      'a form that is truncated in a field',
      form(file(CSV), field('config', 'abcdef')).subarray(0, -25),
      400,
      /ends too early/,
      undefined,
    ],
    [
      'a form that is truncated before its last boundary',
      Buffer.concat([file(CSV), field('config', 'a')]),
      400,
      /ends too early/,
      undefined,
    ],
  ];
  for (const [title, body, status, detail, pointer] of refused) {
    it(`answers ${String(status)} for ${title}`, async () => {
      const answer = await send(body);
      expect(answer.json['detail']).to.match(detail);
      expect(answer.status).to.equal(status);
      const errors = answer.json['errors'] as { pointer: string; detail: string }[] | undefined;
      expect(errors?.map((error) => error.pointer)).to.deep.equal(pointer === undefined ? undefined : [pointer]);
      for (const error of errors ?? []) expect(error.detail).to.match(/^[A-Z].*\.$/);
      expect(answer.json['suggestion']).to.be.a('string');
    });
  }

  for (const name of ['csv', 'data', 'CSV', 'dataset', 'table']) {
    it(`suggests the name file for the table in a part named ${name}`, async () => {
      const { json } = await send(form(file(CSV, 'a.csv', name)));
      expect(json['suggestion']).to.match(/^Did you mean 'file'\?/);
    });
  }

  it('suggests the name of a misspelt field', async () => {
    const { json } = await send(form(file(CSV), field('random_sate', '1')));
    expect(json['suggestion']).to.equal("Did you mean 'random_state'?");
  });

  it('accepts at most 100 parts', async () => {
    const fields = (count: number) => MANY.slice(0, count).map((name) => field(name, '1'));
    expect((await send(form(file(CSV), ...fields(99)), { 'x-many': 1 })).status).to.equal(200);
    const { status, json } = await send(form(file(CSV), ...fields(100)), { 'x-many': 1 });
    expect(status).to.equal(400);
    expect(json['detail']).to.equal('The form has more than 100 parts.');
  });

  const types: readonly [string, string, number][] = [
    ['no boundary', 'multipart/form-data', 400],
    ['an empty boundary', 'multipart/form-data; boundary=""', 400],
    ['a boundary that is too long', `multipart/form-data; boundary=${'x'.repeat(300)}`, 400],
    ['another type', 'application/x-www-form-urlencoded', 415],
    ['a type with the accepted type as prefix', `multipart/form-data-x; boundary=${BOUNDARY}`, 415],
    ['another kind of multipart', `multipart/mixed; boundary=${BOUNDARY}`, 415],
  ];
  for (const [title, type, status] of types) {
    it(`answers ${String(status)} for ${title}`, async () => {
      expect((await send(form(file(CSV)), { 'content-type': type })).status).to.equal(status);
    });
  }

  it('copies no text from the form to headers of the answer', async () => {
    const { headers } = await send(form(field('a\r\nX-Evil: 1', 'x'), file(CSV, 'a\r\nX-Evil: 1')));
    expect(headers).not.to.have.property('x-evil');
  });

  it('leaves nothing of a form that stops, or whose client disconnects', async () => {
    const body = form(file(noise(60_000)));
    for (const isReset of [true, false]) {
      const client = new RawClient(server.port);
      await client.send(headOf({ 'content-type': FORM_TYPE, 'content-length': body.length }));
      await client.send(body.subarray(0, 30_000));
      for (let tries = 0; tries < 100 && (await server.leftOnDisk()).length < 2; tries += 1) {
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      expect((await server.leftOnDisk()).map((name) => path.basename(name))).to.include('upload.csv');
      if (isReset) client.socket.resetAndDestroy();
      else expect((await client.answer()).status).to.equal(408);
      await server.settled();
      expect(await server.leftOnDisk()).to.deep.equal([]);
    }
  });

  const kinds: readonly [string, string, number, number][] = [
    ['small', CSV, 1, 200],
    ['large', CSV.repeat(12_000), 3000, 70_000],
  ];
  for (const [size, content, minStep, maxStep] of kinds) {
    it(`answers any ${size} form in any chunks with a form or a 4xx`, async () => {
      const complete = form(file(content), field('config', 'a: 1'), file('b', 'c.yml', 'random_state'));
      const texts = ['\r\n', '--', `--${BOUNDARY}`, `\r\n--${BOUNDARY}--\r\n`, '\0', '"'];
      const added = fc.oneof(
        fc.uint8Array({ maxLength: 20 }),
        fc.constantFrom(...texts.map((text) => Buffer.from(text))),
      );
      // Most edits affect the beginning, where the parser makes most decisions.
      const at = fc.oneof(fc.nat(300), fc.nat(complete.length));
      const edits = fc.record({ at, removed: fc.nat(60), added, step: fc.integer({ min: minStep, max: maxStep }) });
      await fc.assert(
        fc.asyncProperty(edits, async ({ at, removed, added, step }) => {
          const body = Buffer.concat([complete.subarray(0, at), added, complete.subarray(at + removed)]);
          const count = Math.ceil(body.length / step);
          const chunks = Array.from({ length: count }, (_, i) => body.subarray(i * step, (i + 1) * step));
          expect([200, 400, 422]).to.include(await statusOf(chunks));
          expect(await server.leftOnDisk()).to.deep.equal([]);
        }),
        { numRuns: 300, seed: 17 },
      );
    });
  }

  /** Returns the status for a form that arrives in these chunks. */
  async function statusOf(chunks: readonly Buffer[]): Promise<number> {
    const stream = Readable.from(chunks, { objectMode: false });
    const request = Object.assign(stream, { headers: { 'content-type': FORM_TYPE } }) as unknown as IncomingMessage;
    try {
      const received = await receiveForm(request, { limits, spoolFolder: server.spoolRoot }, { fields: allowed });
      await received.folder.remove();
      return 200;
    } catch (error) {
      if (error instanceof ServiceProblem) return error.status;
      throw error;
    }
  }
});
