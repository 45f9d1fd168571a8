import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, request as forward } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { gzipSync } from 'node:zlib';

import { expect } from 'chai';

import { DataValidationError, DependencyError } from '../../src/exceptions/index.ts';
import { loadData, writeParquet } from '../../src/io/index.ts';
import { openDuckDb } from '../../src/io/duckdb.ts';
import { openRemote } from '../../src/io/remote-files.ts';
import { FairnessAnalyzer } from '../../src/metrics/index.ts';
import { errorOf } from '../helpers/engine-suite.ts';
import { hostileRows } from '../helpers/hostile-rows.ts';
import { joinLines, runCli, useTemporaryFolder } from '../helpers/run-cli.ts';
import { describeWithS3, S3_SECRETS } from '../helpers/s3-server.ts';

/** Sets environment variables while a suite runs. */
function useEnvironment(variables: () => Readonly<Record<string, string>>): void {
  let earlier: Record<string, string | undefined> = {};
  before(() => {
    earlier = Object.fromEntries(Object.keys(variables()).map((name) => [name, process.env[name]]));
    Object.assign(process.env, variables());
  });
  after(() => {
    for (const [name, value] of Object.entries(earlier)) {
      if (value === undefined) Reflect.deleteProperty(process.env, name);
      else process.env[name] = value;
    }
  });
}

/** Asserts that no credential is in a text. */
function assertNoSecret(text: string): void {
  for (const secret of Object.values(S3_SECRETS)) expect(text).to.not.include(secret);
  expect(text).to.not.match(/hush/i);
}

const CSV = 'sex,hired\nf,1\nf,0\nm,0\nm,1\nm,1\n';

describeWithS3('files are read from', (s3) => {
  const folder = useTemporaryFolder();
  useEnvironment(() => s3().env);

  it('CSV and Parquet files give the tables of the same files on disk', async () => {
    const table = hostileRows();
    const file = path.join(folder(), 'rows.parquet');
    await writeParquet(file, table);
    await s3().put('rows.parquet', readFileSync(file));
    expect((await loadData('s3://data/rows.parquet')).toColumns()).to.deep.equal((await loadData(file)).toColumns());
    const texts: Record<string, string> = {
      'plain.csv': CSV,
      'semicolons.csv': 'id;wage\n007;1.5\n1e3;2\n',
      "it's [1] *ü&.tsv": '"two\nlines"\t"b ""q"""\nx\t1\n\ty\n',
      'mark.csv': '\uFEFFa,b\n1,x\n2,\n',
      'no newline.csv': 'a,b\n1,2',
    };
    for (const [name, text] of Object.entries(texts)) {
      const local = path.join(folder(), name);
      writeFileSync(local, text);
      await s3().put(`odd/${name}`, text);
      const expected = await loadData(local);
      expect((await loadData(`s3://data/odd/${name}`)).toColumns(), name).to.deep.equal(expected.toColumns());
    }
    await s3().put('lines.ndjson', '{"sex":"f","hired":1}\n{"sex":"m","hired":0}\n');
    expect((await loadData('s3://data/lines.ndjson')).rowCount).to.equal(2);
  });

  it('globs and folders with partitions', async () => {
    for (const year of [2023, 2024]) {
      await s3().put(`loans/year=${String(year)}/part 1.csv`, `sex,hired\nf,${String(year % 2)}\n`);
    }
    await s3().put('loans/_tmp/part.csv', 'other\n1\n');
    await s3().put('loans/.hidden.csv', 'other\n1\n');
    await s3().put('loans/readme.txt', 'other\n1\n');
    for (const source of ['s3://data/loans/', 's3://data/loans/year=*/*.csv', 's3://data/loans/*/part [1-9].csv']) {
      const table = await loadData(source);
      expect(table.columnNames, source).to.deep.equal(['sex', 'hired', 'year']);
      expect(table.toRecords(), source).to.deep.equal([
        { sex: 'f', hired: 1, year: 2023 },
        { sex: 'f', hired: 0, year: 2024 },
      ]);
    }
    expect((await errorOf(loadData('s3://data/loans/*.parquet'))).message).to.match(/no file matches it/);
    expect((await errorOf(loadData('s3://data/nothing/'))).message).to.match(/has no CSV or Parquet file/);
  });

  it('validate gives the result of the file on disk; its report computes no checksum, and shows no credential', async () => {
    const csv = `sex,hired\n${Array.from({ length: 400 }, (_, row) => `${row % 2 === 0 ? 'f' : 'm'},${String(Number(row % 5 < 2 + (row % 2)))}`).join('\n')}\n`;
    await s3().put('hired.csv', csv);
    writeFileSync(path.join(folder(), 'hired.csv'), csv);
    const args = [
      '--y-pred',
      'hired',
      '--sensitive',
      'sex',
      '--metric',
      'demographic_parity_difference<=0.5',
      '--json',
    ];
    const [remote, local] = await Promise.all(
      ['s3://data/hired.csv', 'hired.csv'].map((file) =>
        runCli(['validate', '--csv', file, ...args, '--out', 'report.md', '--verbose'], {
          cwd: folder(),
          env: s3().env,
        }),
      ),
    );
    expect(remote?.code, remote?.stderr).to.equal(0);
    const parsed = [remote, local].map((run) => JSON.parse(run?.stdout ?? '') as Record<string, unknown>);
    expect(parsed[0]?.['attributes']).to.deep.equal(parsed[1]?.['attributes']);
    const inputs = (parsed[0]?.['manifest'] as { inputs: unknown }).inputs;
    expect(inputs).to.deep.equal([{ path: 's3://data/hired.csv', bytes: null, sha256: null }]);
    const out = await runCli(['validate', '--csv', 's3://data/hired.csv', ...args, '--out', 'remote.md'], { cwd: folder(), env: s3().env }); // prettier-ignore
    const report = readFileSync(path.join(folder(), 'remote.md'), 'utf8');
    expect(report).to.match(/SHA-256 of s3:\/\/data\/hired\.csv.*not computed: the file is not on this computer/);
    assertNoSecret(JSON.stringify([remote, out]) + report);
    const bound = FairnessAnalyzer.fromFile('s3://data/hired.csv', { yPredCol: 'hired', sensitiveCol: 'sex' });
    expect((await bound.demographicParityDifference()).value).to.be.closeTo(0.2, 1e-12);
  });

  it('what cannot be read is one clear error', async () => {
    await s3().put('empty.csv', '');
    await s3().put('blank.csv', '\nsex,hired\nf,1\n');
    await s3().put('utf16.csv', Buffer.from('\uFEFFsex,hired\nf,1\n', 'utf16le'));
    await s3().put('nul.csv', 'sex\0,hired\nf,1\n');
    await s3().put('ragged.csv', 'sex,hired\nf,1\nm\n');
    await s3().put('packed.csv.gz', gzipSync(CSV));
    await s3().put('not.parquet', CSV);
    await s3().put('not.ndjson', '[1]\n');
    const cases: readonly (readonly [path: string, message: RegExp])[] = [
      ['s3://data/none.csv', /there is no such file/],
      ['s3://no-bucket/none.parquet', /there is no such file/],
      ['s3://data/empty.csv', /the file is empty/],
      ['s3://data/blank.csv', /first line is blank/],
      ['s3://data/utf16.csv', /UTF-16|UTF-8|NUL/],
      ['s3://data/nul.csv', /NUL bytes/],
      ['s3://data/ragged.csv', /line 3: it has 1 field where the header has 2/],
      ['s3://data/packed.csv.gz', /compressed text on S3 cannot be checked/],
      ['s3://data/not.parquet', /not a complete Parquet file/],
      ['s3://data/not.ndjson', /JSON/],
      ['s3://data/a.csv?s3_secret_access_key=shown', /begins parameters/],
    ];
    for (const [source, message] of cases) {
      const error = await errorOf(loadData(source));
      expect(error, source).to.be.instanceOf(DataValidationError);
      expect(error.message, source)
        .to.match(message)
        .and.to.not.match(/shown|\n/);
    }
  });
});

describeWithS3('errors of the storage', (s3) => {
  const folder = useTemporaryFolder();
  useEnvironment(() => s3().env);

  it('a storage whose answers are cut off is one clear error, and no result', async () => {
    const rows = Array.from(
      { length: 200_000 },
      (_, row) => `group ${String(row % 7)},${String(row % 2)},${String(row * 0.37)}`,
    );
    const csv = path.join(folder(), 'long.csv');
    writeFileSync(csv, `sex,hired,pay\n${rows.join('\n')}\n`);
    await writeParquet(path.join(folder(), 'long.parquet'), await loadData(csv));
    const storage = process.env['AWS_ENDPOINT_URL'] ?? '';
    let isCut = false;
    const proxy = createServer((request, response) => {
      const target = forward(`${storage}${request.url ?? ''}`, { method: request.method, headers: request.headers });
      target.on('response', (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        const length = Number(answer.headers['content-length']);
        if (!isCut || request.method !== 'GET' || length < 10_000) answer.pipe(response);
        else answer.once('data', (part: Buffer) => response.write(part.subarray(0, 5000), () => response.destroy()));
      });
      target.end();
    }).listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    process.env['AWS_ENDPOINT_URL'] = `http://127.0.0.1:${String((proxy.address() as AddressInfo).port)}`;
    try {
      for (const cut of [false, true]) {
        isCut = cut;
        for (const file of ['long.csv', 'long.parquet']) {
          // A name that no cache knows.
          const copy = `${String(cut)}/${file}`;
          await s3().put(copy, readFileSync(path.join(folder(), file)));
          const result = await loadData(`s3://data/${copy}`).then(
            ({ rowCount }) => rowCount,
            (error: unknown) => (error as Error).message,
          );
          if (cut)
            expect(result, file).to.match(
              /^Cannot read 's3:\/\/data\/true\/long\.(csv|parquet)': it cannot be read from the/,
            );
          else expect(result, `${file} ${String(result)}`).to.equal(200_000);
        }
      }
    } finally {
      process.env['AWS_ENDPOINT_URL'] = storage;
      proxy.close();
    }
  });

  it('a storage that repeats the credentials, and one that ends in the middle', async () => {
    await s3().put('rows.csv', CSV);
    const error = `<Error><Code>InvalidAccessKeyId</Code><AWSAccessKeyId>${S3_SECRETS.AWS_ACCESS_KEY_ID}</AWSAccessKeyId><Message>${S3_SECRETS.AWS_SECRET_ACCESS_KEY} ${S3_SECRETS.AWS_SESSION_TOKEN}</Message></Error>`;
    const server = createServer((_, response) => response.writeHead(403).end(error)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const earlier = process.env['AWS_ENDPOINT_URL'] ?? '';
    process.env['AWS_ENDPOINT_URL'] = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    const refused = await errorOf(loadData('s3://data/rows.csv'));
    expect(refused.message).to.match(/the storage refuses access/);
    const listed = await errorOf(loadData('s3://data/*.csv'));
    for (const one of [refused, listed]) assertNoSecret(`${one.message}${JSON.stringify(one)}${one.stack ?? ''}`);
    server.close();
    process.env['AWS_ENDPOINT_URL'] = 'ftp://hush-token';
    const scheme = await errorOf(loadData('s3://data/rows.csv'));
    expect(scheme.message).to.match(/AWS_ENDPOINT_URL must be a URL/);
    assertNoSecret(JSON.stringify(scheme));
    process.env['AWS_ENDPOINT_URL'] = earlier;
    expect((await loadData('s3://data/rows.csv')).rowCount).to.equal(5);
    await s3().kill();
    const gone = await errorOf(loadData('s3://data/rows.csv'));
    expect(gone.message).to.match(/cannot be read from the storage/);
    assertNoSecret(JSON.stringify(gone));
  });
});

describe('files on S3 without the extension', () => {
  it('is an error that says how to install it, and downloads nothing', async () => {
    const engine = openDuckDb();
    const env = { EVENHAND_DUCKDB_HTTPFS: "/no/it's/httpfs.duckdb_extension" };
    const error = await errorOf(engine.run((session) => openRemote(session, env)));
    expect(error).to.be.instanceOf(DependencyError);
    expect(joinLines(`${error.message} ${JSON.stringify(error)}`)).to.match(
      /extension httpfs, which cannot be loaded.*pip install duckdb-extension-httpfs==1\.\d+\.\d+, and set EVENHAND_DUCKDB_HTTPFS/,
    );
    const setting = await engine.query("SELECT current_setting('autoinstall_known_extensions')");
    expect(setting.rows).to.deep.equal([[false]]);
    await engine.close();
  });
});
