import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';

import { expect } from 'chai';

import { DataValidationError } from '../../src/exceptions/index.ts';
import { loadData, writeCsv } from '../../src/io/index.ts';
import { runDuckDb } from '../helpers/duckdb.ts';
import { useTemporaryFolder } from '../helpers/run-cli.ts';

const folder = useTemporaryFolder();

function write(name: string, content: string | Buffer): string {
  const file = path.join(folder(), name);
  writeFileSync(file, content);
  return file;
}

const CSV = 'age,city,ok\n31,"Cologne, Germany",true\n,"say ""hi""",false\n4.5,,\n';
const EXPECTED = {
  age: [31, null, 4.5],
  city: ['Cologne, Germany', 'say "hi"', null],
  ok: ['true', 'false', null],
};

describe('loadData reads', () => {
  const files: [string, () => string][] = [
    ['CSV', () => write('a.csv', CSV)],
    ['CSV with carriage returns', () => write('crlf.csv', CSV.replaceAll('\n', '\r\n'))],
    ['CSV with a byte order mark', () => write('bom.csv', `\ufeff${CSV}`)],
    ['gzipped CSV', () => write('a.csv.gz', gzipSync(CSV))],
    ['gzipped CSV under another name', () => write('a.data', gzipSync(CSV))],
    ['TSV', () => write('a.tsv', 'age\tcity\tok\n31\tCologne, Germany\ttrue\n\t"say ""hi"""\tfalse\n4.5\t\t\n')],
    ['semicolons', () => write('semi.csv', 'age;city;ok\n31;"Cologne, Germany";true\n;"say ""hi""";false\n4.5;;\n')],
  ];
  for (const [title, make] of files) {
    it(title, async () => {
      expect((await loadData(make())).toColumns()).to.deep.equal(EXPECTED);
    });
  }

  it('Parquet, with every type as numbers or text', async () => {
    const file = path.join(folder(), 'types.parquet');
    await runDuckDb(
      `COPY (SELECT 1::BIGINT a, 2.5::DECIMAL(9,2) b, true c, DATE '2020-01-02' d, 'x' e, 3::UTINYINT f, NULL::DOUBLE g) TO '${file}'`,
    );
    expect((await loadData(file)).toColumns()).to.deep.equal({
      a: [1],
      b: [2.5],
      c: ['true'],
      d: ['2020-01-02'],
      e: ['x'],
      f: [3],
      g: [null],
    });
  });

  it('at most the requested number of rows', async () => {
    const file = write('long.csv', `a,b\n${'1,x\n'.repeat(50)}`);
    expect((await loadData(file, { maxRows: 7 })).rowCount).to.equal(7);
    expect((await loadData(file, { maxRows: 70 })).rowCount).to.equal(50);
  });

  it('only the requested columns, in that order', async () => {
    const table = await loadData(write('some.csv', CSV), { columns: ['ok', 'age'] });
    expect(table.columnNames).to.deep.equal(['ok', 'age']);
  });

  it('a column as text if a later row is not a number', async () => {
    const rows = Array.from({ length: 30_000 }, (_, row) => `${row},a`);
    const table = await loadData(write('late.csv', `n,s\n${rows.join('\n')}\noops,b\n`));
    expect(table.column('n').kind).to.equal('categorical');
    expect(() => table.numeric('n')).to.throw(DataValidationError, "row 30001 holds 'oops'");
  });

  it('short texts unchanged, not as booleans or dates', async () => {
    const columns = { sex: ['f', 'f'], paid: ['yes', 'no'], day: ['2020-1-2', '2020-01-03'] };
    expect(
      (await loadData(write('short-texts.csv', 'sex,paid,day\nf,yes,2020-1-2\nf,no,2020-01-03\n'))).toColumns(),
    ).to.deep.equal(columns);
  });

  it('columns in the order of the file and of the request, also if names are numbers', async () => {
    const file = write('numbers.csv', '2,a,1\n10,x,20\n');
    expect((await loadData(file)).columnNames).to.deep.equal(['2', 'a', '1']);
    const copy = path.join(folder(), 'numbers-copy.csv');
    await writeCsv(copy, await loadData(file, { columns: ['a', '2', '1'] }));
    expect(readFileSync(copy, 'utf8')).to.equal('a,2,1\nx,10,20\n');
  });

  it('exactly the named file, even if its name has wildcards', async () => {
    const names = ['a[1].csv', 'a1.csv', 'star*.csv', 'starX.csv', 'q?.csv', 'qZ.csv', '~home.csv', '{x,y}.csv'];
    for (const name of names) write(name, `s\n"${name}"\n`);
    for (const name of names) {
      expect((await loadData(path.join(folder(), name))).toColumns()).to.deep.equal({ s: [name] });
    }
  });

  it('no columns from the names of folders', async () => {
    mkdirSync(path.join(folder(), 's=other'), { recursive: true });
    const csv = await loadData(write('s=other/rows.csv', 's,x\na,1\n'));
    expect(csv.toColumns()).to.deep.equal({ s: ['a'], x: [1] });
    const parquet = path.join(folder(), 's=other/rows.parquet');
    await runDuckDb(`COPY (SELECT 'a' AS s) TO '${parquet}'`);
    expect((await loadData(parquet)).toColumns()).to.deep.equal({ s: ['a'] });
  });

  it('names with quotes, commas, SQL and blanks', async () => {
    const table = await loadData(write('names.csv', '"a ""b""","x,y","; DROP TABLE t"\n1,2,3\n'));
    expect(table.columnNames).to.deep.equal(['a "b"', 'x,y', '; DROP TABLE t']);
  });

  it('many rows in their order', async () => {
    const rows = Array.from({ length: 50_000 }, (_, row) => `${row},g${row % 7}`);
    const table = await loadData(write('many.csv', `n,g\n${rows.join('\n')}\n`));
    expect([...table.numeric('n').values]).to.deep.equal(rows.map((_, row) => row));
    expect(table.categorical('g').labels).to.deep.equal(['g0', 'g1', 'g2', 'g3', 'g4', 'g5', 'g6']);
  });
});

describe('loadData rejects', () => {
  const little = Buffer.from('id\tname\r\n1\t"Zo\u00eb"\r\n', 'utf16le');
  const big = Buffer.from(little).swap16();
  const utf16Files: readonly (readonly [string, Buffer])[] = [
    ['UTF-16 with a mark, little end first', Buffer.concat([Buffer.from([0xff, 0xfe]), little])],
    ['UTF-16 with a mark, big end first', Buffer.concat([Buffer.from([0xfe, 0xff]), big])],
    ['UTF-16 without a mark, little end first', little],
    ['UTF-16 without a mark, big end first', big],
    ['compressed UTF-16', gzipSync(Buffer.concat([Buffer.from([0xff, 0xfe]), little]))],
  ];
  const cases: [string, () => string, RegExp, RegExp][] = [
    ['a missing file', () => path.join(folder(), 'none.csv'), /none\.csv': there is no such file/, /Check the path/],
    [
      'an empty folder',
      () => mkdtempSync(path.join(folder(), 'empty-')),
      /the folder has no CSV or Parquet file/,
      /Give the path of a file/,
    ],
    ['an empty file', () => write('empty.csv', ''), /the file is empty/, /header/],
    ['a header without rows', () => write('header.csv', 'a,b\n'), /a header and no rows/, /filter/],
    [
      'a short row',
      () => write('short.csv', 'a,b,c\n1,x,2\n3,y\n'),
      /line 3: it has 2 fields where the header has 3/,
      /line/,
    ],
    ['a long row', () => write('long.csv', 'a,b\n1,2\n1,2,3\n'), /it has 3 fields where the header has 2/, /line/],
    [
      'a short row after the first 30,000',
      () => write('late-short.csv', `a,b,c\n${'1,x,2\n'.repeat(30_000)}3,y\n`),
      /line 30002: it has 2 fields where the header has 3/,
      /line/,
    ],
    [
      'a quote that does not end',
      () => write('quote.csv', 'a,b\n1,"open\n2,3\n'),
      /a quoted value does not end/,
      /line/,
    ],
    ['text that is not UTF-8', () => write('latin.csv', Buffer.from('a,b\n1,\xe9\n', 'latin1')), /Line 2 of '.*latin\.csv' is not UTF-8: byte 0xe9 at offset 6/, /UTF-8/], // prettier-ignore
    ...utf16Files.map(([title, content]): (typeof cases)[number] => [
      title,
      () => write(`${title.replaceAll(/\W/g, '-')}.csv`, content),
      /: it is text in UTF-16\.$/,
      /^Save it as UTF-8 \(CSV UTF-8 in Excel\)\.$/,
    ]),
    [
      'NUL bytes in text that is not UTF-16',
      () => write('nul.csv', Buffer.from('a,b\0\0\n1,2\n')),
      /: it holds NUL bytes, so it is not text\.$/,
      /Export it again/,
    ],
    [
      'a cut gzip file',
      () => write('cut.csv.gz', gzipSync(CSV).subarray(0, 25)),
      /compressed content is damaged or cut off/,
      /again/,
    ],
    [
      'compressed text that is not UTF-8, in a later line',
      () => {
        const late = Buffer.from(`a,b\n${'1,ok\n'.repeat(30_000)}1,\xe9\n`, 'latin1');
        return write('late.csv.gz', gzipSync(late));
      },
      /not UTF-8/,
      /UTF-8/,
    ],
    [
      'a header that is not UTF-8, with the offset',
      () => write('header.csv', Buffer.from('a,\xe9\n1,2\n', 'latin1')),
      /is not UTF-8: byte 0xe9 at offset 2\.$/,
      /UTF-8/,
    ],
    [
      'lines of JSON that are not UTF-8, with the offset',
      () => write('latin.ndjson', Buffer.from('{"a":"x"}\n{"a":"\xe9"}\n', 'latin1')),
      /is not UTF-8: byte 0xe9 at offset 16\.$/,
      /UTF-8/,
    ],
    [
      'a broken Parquet file',
      () => write('broken.parquet', 'PAR1 and no more'),
      /not a complete Parquet file/,
      /again/,
    ],
  ];
  for (const [title, make, message, suggestion] of cases) {
    it(title, async () => {
      let caught: unknown;
      await loadData(make()).catch((error: unknown) => (caught = error));
      expect(caught).to.be.instanceOf(DataValidationError);
      expect((caught as DataValidationError).message).to.match(message);
      expect((caught as DataValidationError).suggestion).to.match(suggestion);
    });
  }

  it('an unknown column, with similar names', async () => {
    let caught: unknown;
    await loadData(write('known.csv', CSV), { columns: ['aeg'] }).catch((error: unknown) => (caught = error));
    expect(caught).to.be.instanceOf(DataValidationError);
    expect((caught as DataValidationError).suggestion).to.equal("Did you mean 'age'?");
  });

  it('a million columns, immediately and with their number, ignoring delimiters in quotes', async function () {
    this.timeout(30_000);
    const header = Array.from({ length: 1_000_000 }, (_, index) => (index % 1000 === 0 ? `"a,${index}"` : `c${index}`));
    const file = write('wide.csv', `${header.join()}\n${'1,'.repeat(999_999)}1\n`);
    let caught: unknown;
    const start = performance.now();
    await loadData(file).catch((error: unknown) => (caught = error));
    expect(performance.now() - start).to.be.below(15_000);
    expect(caught).to.be.instanceOf(DataValidationError);
    expect((caught as Error).message).to.match(
      /its first line has 1,000,000 columns, and a text file can have at most 20,000\.$/,
    );
  });

  it('does not mention the driver in its messages', async () => {
    mkdirSync(path.join(folder(), 'deep'), { recursive: true });
    let caught: unknown;
    await loadData(write('deep/binary.csv', Buffer.from([0, 1, 2, 255, 254, 0, 10, 13, 7]))).catch(
      (error: unknown) => (caught = error),
    );
    expect(caught).to.be.instanceOf(DataValidationError);
    expect((caught as Error).message).to.not.match(/sniff|duckdb|strict_mode/i);
  });
});
