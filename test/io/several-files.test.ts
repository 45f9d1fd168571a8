import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';

import { expect } from 'chai';

import { type BoundAnalyzer, FairnessAnalyzer, validateCounts } from '../../src/index.ts';
import { DataValidationError } from '../../src/exceptions/index.ts';
import { validateFile } from '../../src/integration/validate-file.ts';
import { loadData } from '../../src/io/index.ts';
import { runDuckDb } from '../helpers/duckdb.ts';
import { useTemporaryFolder } from '../helpers/run-cli.ts';

const folder = useTemporaryFolder();

function write(name: string, content: string | Buffer): string {
  const file = path.join(folder(), name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
}

const HEADER = 'sex,approved,score,note';
const ROWS = ['f,1,0.5,a', 'f,0,1,', 'm,1,2,"b, c"', 'm,1,0.25,a', 'f,0,3,é', 'm,0,7,'];
const CONTENT = {
  sex: ['f', 'f', 'm', 'm', 'f', 'm'],
  approved: [1, 0, 1, 1, 0, 0],
  score: [0.5, 1, 2, 0.25, 3, 7],
  note: ['a', null, 'b, c', 'a', 'é', null],
};

const text = (rows: readonly string[]): string => [HEADER, ...rows, ''].join('\n');
async function rejection(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
    return undefined;
  } catch (error) {
    return error;
  }
}

const thirds = [ROWS.slice(0, 2), ROWS.slice(2, 4), ROWS.slice(4)];

/** Writes the rows in three files and returns their paths. */
function writeThirds(where: string, names = ['1.csv', '2.csv', '3.csv']): string[] {
  return thirds.map((rows, index) => write(`${where}/${names[index] as string}`, text(rows)));
}

async function writeParquet(where: string): Promise<string[]> {
  const paths = [];
  for (const csv of writeThirds(`${where}-rows`)) {
    const file = path.join(folder(), where, `${path.basename(csv, '.csv')}.parquet`);
    mkdirSync(path.dirname(file), { recursive: true });
    await runDuckDb(
      `COPY (SELECT sex, approved, score, note FROM read_csv('${csv}', auto_type_candidates=['BIGINT', 'DOUBLE', 'VARCHAR'])) TO '${file}'`,
    );
    paths.push(file);
  }
  return paths;
}

describe('the rows of several files', () => {
  const sources: [string, () => string | string[] | Promise<string | string[]>][] = [
    ['one file', () => write('one.csv', text(ROWS))],
    ['three files', () => writeThirds('list')],
    ['a glob', () => path.join(path.dirname(writeThirds('glob')[0] as string), '[0-9].csv')],
    ['a folder', () => path.dirname(writeThirds('folder')[0] as string)],
    [
      'a folder with hidden files and other files',
      () => {
        write('mixed/_SUCCESS', '');
        write('mixed/.1.csv.crc', 'x');
        write('mixed/.hidden.csv', 'a\n1\n');
        write('mixed/notes.txt', 'not a table');
        return path.dirname(writeThirds('mixed')[0] as string);
      },
    ],
    [
      'nested folders, one with the name of a file',
      () => {
        writeThirds('nested', ['a/1.csv', 'b.csv/2.csv', 'c/d/3.csv']);
        return path.join(folder(), 'nested');
      },
    ],
    [
      'files with a byte order mark and other line ends',
      () => [
        write('ends/1.csv', text(thirds[0] as string[])),
        write('ends/2.csv', `\ufeff${text(thirds[1] as string[])}`),
        write('ends/3.csv', text(thirds[2] as string[]).replaceAll('\n', '\r\n')),
      ],
    ],
    [
      'columns in another order',
      () => [
        write('order/1.csv', text(ROWS.slice(0, 4))),
        write('order/2.csv', 'note,score,sex,approved\né,3,f,0\n,7,m,0\n'),
      ],
    ],
    [
      'files with a header and no rows between them',
      () => [
        write('empty/1.csv', text(ROWS.slice(0, 3))),
        write('empty/2.csv', text([])),
        write('empty/3.csv', text(ROWS.slice(3))),
      ],
    ],
    ['gzipped files', () => thirds.map((rows, index) => write(`gz/${String(index)}.csv.gz`, gzipSync(text(rows))))],
    ['Parquet files', () => writeParquet('parquet')],
    ['a folder of Parquet files', async () => path.dirname((await writeParquet('parts'))[0] as string)],
    ['names that SQL and globs would read otherwise', () => writeThirds('odd', ["it's.csv", 'a\nb.csv', 'x[1]*?.csv'])],
  ];
  for (const [title, make] of sources) {
    it(`are those of one file: ${title}`, async () => {
      expect((await loadData(await make())).toColumns()).to.deep.equal(CONTENT);
    });
  }

  it('of a partitioned folder have its keys as columns, decoded, and only below that folder', async () => {
    write('sex=x/data/sex=f/year=2023/1.csv', 'y\n1\n0\n');
    write('sex=x/data/sex=f/year=2024/1.csv', 'y\n0\n');
    write('sex=x/data/sex=m%20or%20n/year=2024/part 1.csv', 'y\n1\n');
    write('sex=x/data/sex=__HIVE_DEFAULT_PARTITION__/year=2024/1.csv', 'y\n1\n');
    const expected = [
      ['f', 1, 2023],
      ['f', 0, 2023],
      ['f', 0, 2024],
      ['m or n', 1, 2024],
      [null, 1, 2024],
    ];
    for (const source of [path.join(folder(), 'sex=x/data'), path.join(folder(), 'sex=x/data/*/*/*.csv')]) {
      const table = (await loadData(source, { columns: ['sex', 'y', 'year'] })).toColumns();
      const rows = expected.map((_, row) => ['sex', 'y', 'year'].map((name) => table[name]?.[row]));
      expect(rows).to.have.deep.members(expected);
    }
    const [only] = (await loadData(path.join(folder(), 'sex=x/data/sex=f/year=2024'))).columnNames;
    expect(only).to.equal('y');
  });

  it('infer numbers from all files, and from rows after the first 20,480', async () => {
    const many = Array.from({ length: 30_000 }, (_, row) => String(row)).join('\n');
    const files = [
      write('late/1.csv', `v,w\n${many.replaceAll('\n', ',1\n')},1\n`),
      write('late/2.csv', `v,w\n${many.replaceAll('\n', ',1\n')},1\n0.5,NA\n`),
    ];
    const table = await loadData(files);
    expect(table.numeric('v').values.at(-1)).to.equal(0.5);
    expect(table.rowCount).to.equal(60_001);
    expect(table.column('w').kind).to.equal('categorical');
  });

  it('may have a column that is empty in one file', async () => {
    const files = [write('blank/1.csv', 'a,b\n1,\n2,\n'), write('blank/2.csv', 'a,b\n1,0.5\n')];
    expect((await loadData(files)).toColumns()).to.deep.equal({ a: [1, 2, 1], b: [null, null, 0.5] });
  });

  it('give the same metrics as one file', async () => {
    const columns = { yPredCol: 'approved', sensitiveCol: 'sex', minGroupSize: 1 };
    const [one, several] = [write('metric.csv', text(ROWS)), writeThirds('metrics')].map((source) =>
      FairnessAnalyzer.fromFile(source, columns),
    ) as [BoundAnalyzer, BoundAnalyzer];
    const difference = await several.demographicParityDifference();
    expect(difference.value).to.be.closeTo(1 / 3, 1e-12);
    expect(difference.toJSON()).to.deep.equal((await one.demographicParityDifference()).toJSON());
  });
});

describe('several files are rejected', () => {
  const utf16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('a,b\n1,2\n', 'utf16le')]);
  const cases: [title: string, make: () => string | string[] | Promise<string[]>, message: RegExp][] = [
    [
      'a missing column',
      () => [write('m/1.csv', 'a,b\n1,2\n'), write('m/2.csv', 'a\n1\n')],
      /2\.csv'.*no column 'b'.*1\.csv'/,
    ],
    [
      'an additional column',
      () => [write('m/1.csv', 'a\n1\n'), write('m/2.csv', 'a,b\n1,2\n')],
      /2\.csv'.*column 'b'.*1\.csv'/,
    ],
    [
      'a name in another case',
      () => [write('m/1.csv', 'a,b\n1,2\n'), write('m/2.csv', 'a,B\n1,2\n')],
      /2\.csv'.*no column 'b'/,
    ],
    [
      'text and numbers',
      () => [write('t/1.csv', 'a,b\n1,2\n'), write('t/2.csv', 'a,b\nyes,2\n')],
      /2\.csv'.*column 'a' holds text \('yes'\).*numbers.*1\.csv'/,
    ],
    [
      'numbers and text',
      () => [write('t/1.csv', 'a,b\nyes,2\n'), write('t/2.csv', 'a,b\n1,2\n')],
      /1\.csv'.*column 'a' holds text \('yes'\).*numbers.*2\.csv'/,
    ],
    [
      'another delimiter',
      () => [write('d/1.csv', 'a,b\n1,2\n'), write('d/2.csv', 'a;b\n1;2\n')],
      /2\.csv'.*';'.*1\.csv'.*','/,
    ],
    [
      'CSV and Parquet',
      async () => [write('p/1.csv', text(ROWS)), ...(await writeParquet('p2')).slice(0, 1)],
      /1\.parquet'.*Parquet.*1\.csv'/,
    ],
    [
      'compressed and uncompressed files',
      () => [write('z/1.csv', 'a\n1\n'), write('z/2.csv.gz', gzipSync('a\n1\n'))],
      /2\.csv\.gz'.*compressed/,
    ],
    [
      'JSON lines',
      () => [write('j/1.ndjson', '{"a":1}\n'), write('j/2.ndjson', '{"a":1}\n')],
      /1\.ndjson'.*CSV or Parquet/,
    ],
    ['an empty folder', () => (write('e/x.txt', ''), path.join(folder(), 'e')), /e'.*no CSV or Parquet file/],
    ['a glob that matches nothing', () => path.join(folder(), 'none-*.csv'), /none-\*\.csv'.*no file matches/],
    ['a file named twice', () => [write('w.csv', 'a\n1\n'), path.join(folder(), '.', 'w.csv')], /w\.csv'.*twice/],
    [
      'a link to another of the files',
      () => {
        const file = write('l/1.csv', 'a\n1\n');
        symlinkSync(file, path.join(folder(), 'l/2.csv'));
        return path.dirname(file);
      },
      /l\/2\.csv'.*same file as.*l\/1\.csv'/,
    ],
    ['an empty file', () => [write('0/1.csv', 'a\n1\n'), write('0/2.csv', '')], /2\.csv': the file is empty/],
    ['UTF-16', () => [write('u/1.csv', 'a,b\n1,2\n'), write('u/2.csv', utf16)], /2\.csv': it is text in UTF-16/],
    [
      'Latin-1',
      () => [write('u/1.csv', 'a,b\n1,2\n'), write('u/2.csv', Buffer.from('a,b\nM\xfcller,2\n', 'latin1'))],
      /2\.csv'.*UTF-8/,
    ],
    [
      'a ragged line',
      () => [write('r/1.csv', 'a,b\n1,2\n'), write('r/2.csv', 'a,b\n1,2\n1,2,3\n')],
      /2\.csv': line 3: it has 3 fields/,
    ],
    [
      'a missing file',
      () => [write('n/1.csv', 'a\n1\n'), path.join(folder(), 'n/none.csv')],
      /none\.csv': there is no such file/,
    ],
    ['no file at all', () => [], /At least one/],
    [
      'a file outside of the partitions',
      () => {
        write('h/s=f/1.csv', 'a\n1\n');
        write('h/2.csv', 'a\n1\n');
        return path.join(folder(), 'h');
      },
      /2\.csv'.*partition.*'s=….*1\.csv'/,
    ],
    [
      'a column that is also a partition',
      () => (write('k/s=f/1.csv', 'a,s\n1,m\n'), path.join(folder(), 'k')),
      /1\.csv'.*column 's'.*partition/,
    ],
  ];
  for (const [title, make, message] of cases) {
    it(`with ${title}, naming the file`, async () => {
      const error = await rejection(loadData(await make()));
      expect(error).to.be.instanceOf(DataValidationError);
      expect((error as Error).message)
        .to.match(message)
        .and.not.include('\n');
    });
  }

  it('never because a folder links to itself', async () => {
    const file = write('loop/1.csv', 'a\n1\n');
    symlinkSync('..', path.join(path.dirname(file), 'up'));
    symlinkSync('self', path.join(path.dirname(file), 'self'));
    const error = await rejection(loadData(path.dirname(file)));
    expect(error).to.equal(undefined);
  });
});

describe('files with the same content', () => {
  const attributes = [['sex']];
  const notesOf = async (work: Promise<{ readonly notes?: readonly string[] | undefined }>): Promise<string[]> =>
    ((await work).notes ?? []).filter((note) => note.includes('same content'));

  it('are noted, because their rows count twice; other files are not', async () => {
    const rows = text(
      Array.from({ length: 40 }, (_, row) => `${row % 2 === 0 ? 'f' : 'm'},${String((row % 3) & 1)},1,`),
    );
    const [january, february] = [
      write('year/january.csv', rows),
      write('year/february.csv', rows.replace('f,0', 'm,1')),
    ];
    const request = { yPred: 'approved', attributes };
    expect(await notesOf(validateFile([january, february], request))).to.deep.equal([]);
    const copy = write('year/january (1).csv', rows);
    expect(await notesOf(validateFile(path.dirname(copy), request))).to.deep.equal([
      `'${january}' has the same content as '${copy}', and the rows of both are counted. If it is a copy, leave it out`,
    ]);
  });

  it('are not noted if they have no rows, or differ after 64 kB', async () => {
    const empty = [write('empty/a.csv', `${HEADER}\n`), write('empty/b.csv', `${HEADER}\n`)];
    const rows = Array.from({ length: 40 }, (_, row) => `${row % 2 === 0 ? 'f' : 'm'},${row % 3 === 1 ? 1 : 0},1,`);
    const long = Array.from({ length: 12_000 }, (_, row) => `f,${row % 2 === 0 ? 1 : 0},1,a`);
    const [first, second] = ['1', '2'].map((last) => write(`long/${last}.csv`, text([...long, `m,1,${last},b`])));
    const files = [...empty, write('empty/c.csv', text(rows)), first as string, second as string];
    expect(await notesOf(validateFile(files, { yPred: 'approved', attributes }))).to.deep.equal([]);
  });

  it('are noted if they are counts', async () => {
    const counts = 'sex,decision,n\nf,0,60\nf,1,40\nm,0,50\nm,1,50\n';
    const files = [write('counts/a.csv', counts), write('counts/b.csv', counts)];
    const [note] = await notesOf(validateCounts(files, { attributes }));
    expect(note).to.include(`'${files[1] as string}' has the same content as '${files[0] as string}'`);
    expect(await notesOf(validateCounts(files[0] as string, { attributes }))).to.deep.equal([]);
  });
});
