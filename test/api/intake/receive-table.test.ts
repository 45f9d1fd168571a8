import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';

import { expect } from 'chai';

import { DEFAULT_LIMITS } from '../../../src/api/context/service-context.ts';
import { receiveTable, TABLE_TYPES } from '../../../src/api/intake/receive-table.ts';
import { headOf, type IntakeServer, noise, RawClient, startIntake } from './intake-server.ts';

const limits = { ...DEFAULT_LIMITS, uploadBytes: 64 * 1024, idleMillis: 300 };
const CSV = Buffer.from('y,sex\n1,F\n0,M\n');
const NDJSON = Buffer.from('{"y":1,"sex":"F"}\n');
const PARQUET = Buffer.concat([Buffer.from('PAR1'), noise(500), Buffer.from('PAR1')]);

describe('receiveTable', () => {
  let server: IntakeServer;
  before(async () => {
    server = await startIntake(async (request, spoolRoot) => {
      const table = await receiveTable(request, { limits, spoolFolder: spoolRoot });
      const content = await readFile(table.path);
      const name = path.relative(table.folder.path, table.path);
      await table.folder.remove();
      return { name, format: table.format, content: content.toString('base64'), digest: table.digest };
    });
  });
  after(() => server.close());
  afterEach(async () => {
    await server.settled();
    expect(await server.leftOnDisk()).to.deep.equal([]);
  });

  async function send(body: Buffer, headers: Record<string, string | number>) {
    const client = new RawClient(server.port);
    await client.send(headOf({ connection: 'close', 'content-length': body.length, ...headers }));
    await client.send(body);
    return client.answer();
  }

  const tables: readonly [string, Buffer, string][] = [
    ['text/csv', CSV, 'csv'],
    ['Text/CSV; charset=UTF-8; header=present', CSV, 'csv'],
    ['text/tab-separated-values', Buffer.from('y\tsex\n1\tF\n'), 'csv'],
    ['application/x-ndjson', NDJSON, 'ndjson'],
    ['application/ndjson', NDJSON, 'ndjson'],
    ['application/jsonl', NDJSON, 'ndjson'],
    ['application/vnd.apache.parquet', PARQUET, 'parquet'],
  ];
  for (const [type, body, format] of tables) {
    for (const [sending, sent, headers] of [
      ['unchanged', body, {}],
      ['compressed, with Content-Encoding', gzipSync(body), { 'content-encoding': 'gzip' }],
      ['compressed, as a file', gzipSync(body), {}],
    ] as const) {
      it(`writes ${type}, sent ${sending}, to table.${format} with the digest of its bytes`, async () => {
        const { status, json } = await send(sent, { 'content-type': type, ...headers });
        expect(status).to.equal(200);
        const digest = createHash('sha256').update(body).digest('hex');
        expect(json).to.deep.equal({ name: `table.${format}`, format, content: body.toString('base64'), digest });
      });
    }
  }

  it('lists the accepted types', () => {
    expect(TABLE_TYPES).to.have.members(
      tables.map(([type]) => type.toLowerCase()).filter((type) => !type.includes(';')),
    );
  });

  const refused: readonly [string, Buffer, Record<string, string>, number, RegExp][] = [
    [
      'another type',
      CSV,
      { 'content-type': 'application/vnd.ms-excel' },
      415,
      /text\/csv, .* or application\/vnd\.apache\.parquet/,
    ],
    ['no type', CSV, {}, 415, /Got none/],
    ['another charset', CSV, { 'content-type': 'text/csv; charset=utf-16' }, 415, /must be UTF-8/],
    ['no bytes', Buffer.alloc(0), { 'content-type': 'text/csv' }, 422, /^The body is empty/],
    [
      'Parquet sent as CSV',
      PARQUET,
      { 'content-type': 'text/csv' },
      422,
      /is a Parquet file, but the Content-Type is text\/csv/,
    ],
    ['CSV sent as Parquet', CSV, { 'content-type': 'application/vnd.apache.parquet' }, 422, /is not a Parquet file/],
    [
      'a spreadsheet',
      Buffer.from('PK\u0003\u0004...'),
      { 'content-type': 'text/csv' },
      422,
      /^The body is a ZIP archive/,
    ],
    [
      'too many bytes',
      noise(limits.uploadBytes + 1),
      { 'content-type': 'text/csv' },
      413,
      /^The body is larger than the limit of 64 KiB/,
    ],
    [
      'too many compressed bytes',
      gzipSync(Buffer.alloc(limits.uploadBytes + 1)),
      { 'content-type': 'text/csv' },
      413,
      /^The body is larger than the limit of 64 KiB/,
    ],
    [
      'truncated compressed bytes',
      gzipSync(CSV).subarray(0, -3),
      { 'content-type': 'text/csv' },
      400,
      /ends too early/,
    ],
  ];
  for (const [title, body, headers, status, detail] of refused) {
    it(`answers ${String(status)} for ${title}`, async () => {
      const answer = await send(body, headers);
      expect(answer.json['detail']).to.match(detail);
      expect(answer.status).to.equal(status);
    });
  }
});
