import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { expect } from 'chai';

import { DataValidationError } from '../../src/exceptions/index.ts';
import { openDuckDb } from '../../src/io/duckdb.ts';
import { loadData } from '../../src/io/load-data.ts';
import { writeParquet } from '../../src/io/write-parquet.ts';
import { Table } from '../../src/table/index.ts';
import { projectRoot } from '../helpers/project-files.ts';
import { useTemporaryFolder } from '../helpers/run-cli.ts';

const folder = useTemporaryFolder();

/** Reads a file with DuckDB directly, without the code under test. */
async function query(sql: string): Promise<unknown[][]> {
  const engine = openDuckDb();
  try {
    return await engine.run((session) => session.rows(sql));
  } finally {
    await engine.close();
  }
}

async function errorOf(promise: Promise<unknown>): Promise<DataValidationError> {
  return promise.then(
    () => expect.fail('nothing was thrown'),
    (error: unknown) => error as DataValidationError,
  );
}

/** A folder for temporary files that no other process uses. */
function useTemporaryFiles(): () => readonly string[] {
  const inherited = process.env['TMPDIR'];
  before(() => {
    const location = path.join(folder(), 'scratch');
    mkdirSync(location, { recursive: true });
    process.env['TMPDIR'] = location;
  });
  after(() => {
    if (inherited === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = inherited;
  });
  return () => readdirSync(path.join(folder(), 'scratch'));
}

describe('writeParquet', () => {
  const temporaryFiles = useTemporaryFiles();
  const ROUND_TRIPS: readonly (readonly [title: string, columns: Record<string, (number | string | null)[]>])[] = [
    ['numbers, text and missing values', { wage: [7.5, null, -0.125], sex: ['f', null, 'm'] }],
    ['whole numbers as numbers', { age: [1, 2, 3], big: [2 ** 53, -(2 ** 53), 0] }],
    ['the ends of float64', { x: [Infinity, -Infinity, Number.MAX_VALUE, Number.MIN_VALUE, 0.1 + 0.2] }],
    ['one row', { x: [1], s: ['a'] }],
    ['a column of missing text', { s: ['a', null], x: [1, 2] }],
    ['the empty text and a missing value separately', { s: ['', null, 'a', ''] }],
    ['text with a meaning in SQL', { s: ["o'hara", '"', ';--', '\\', '%', 'a\nb', '\t', ' '] }],
    [
      'text in every script',
      { s: ['žena', '女', '👩', '\u0000x', 'x\u0000', '\uE000', '\u{F0000}', '\u{F0001}\u{F0002}'] },
    ],
    ['text that looks like numbers', { s: ['007', '1e3', 'NaN', 'null'] }],
    [
      'names that mean something to SQL',
      { 'a"b': [1], 'a.b': [2], "it's": [3], 'a,b': [4], 'select *': [5], ' ': [6], ž: [7], c0: ['x'], '0': [8] },
    ],
  ];
  for (const [title, columns] of ROUND_TRIPS) {
    it(`keeps ${title}`, async () => {
      const file = path.join(folder(), 'round.parquet');
      const table = Table.from(columns);
      await writeParquet(file, table);
      const back = await loadData(file);
      expect(back.columnNames).to.deep.equal(table.columnNames);
      expect(back.toColumns()).to.deep.equal(columns);
    });
  }

  it('stores numbers as DOUBLE, categories as VARCHAR and missing values as NULL', async () => {
    const file = path.join(folder(), 'types.parquet');
    await writeParquet(file, Table.from({ x: [1, NaN], s: ['a', null] }));
    expect((await query(`DESCRIBE SELECT * FROM '${file}'`)).map(([name, type]) => [name, type])).to.deep.equal([
      ['x', 'DOUBLE'],
      ['s', 'VARCHAR'],
    ]);
    expect(await query(`FROM '${file}'`)).to.deep.equal([
      [1, 'a'],
      [null, null],
    ]);
  });

  it('keeps the order of rows and of columns over several row groups', async () => {
    const file = path.join(folder(), 'long.parquet');
    const n = 300_000;
    const x = Float64Array.from({ length: n }, (_, row) => row);
    const codes = Int32Array.from({ length: n }, (_, row) => (row % 5) - 1);
    await writeParquet(
      file,
      Table.ofColumns([
        ['s', { kind: 'categorical', codes, labels: ['a', 'b', 'c', 'd'] }],
        ['x', { kind: 'numeric', values: x }],
      ]),
    );
    const back = await loadData(file);
    expect(back.columnNames).to.deep.equal(['s', 'x']);
    expect(back.numeric('x').values).to.deep.equal(x);
    expect(back.categorical('s').codes).to.deep.equal(codes);
  });

  it('gives the same bytes for the same table', async () => {
    const values = Float64Array.from({ length: 250_000 }, (_, row) => Math.sin(row));
    const table = Table.from({ x: values, s: Array.from(values, (value) => (value > 0 ? 'up' : 'down')) });
    const files = ['one', 'two', 'three'].map((name) => path.join(folder(), `${name}.parquet`));
    for (const file of files) await writeParquet(file, table);
    const [first, ...others] = files.map((file) => readFileSync(file));
    for (const other of others) expect(other.equals(first as Buffer)).to.equal(true);
  });

  it('writes a table without rows with its columns', async () => {
    const file = path.join(folder(), 'none.parquet');
    await writeParquet(file, Table.ofColumns([['x', { kind: 'numeric', values: new Float64Array() }]]));
    expect(await query(`SELECT count(*)::INTEGER FROM '${file}'`)).to.deep.equal([[0]]);
    expect((await query(`DESCRIBE FROM '${file}'`)).map(([name]) => name)).to.deep.equal(['x']);
  });

  it('writes a column that is missing in every row', async () => {
    const file = path.join(folder(), 'missing.parquet');
    const codes = new Int32Array(3).fill(-1);
    await writeParquet(file, Table.ofColumns([['s', { kind: 'categorical', codes, labels: [] }]]));
    expect(await query(`FROM '${file}'`)).to.deep.equal([[null], [null], [null]]);
  });

  it('leaves no temporary file if the process ends during the write', () => {
    const temporary = path.join(folder(), 'temporary');
    mkdirSync(temporary);
    const io = pathToFileURL(path.join(projectRoot, 'src/io/write-parquet.ts')).href;
    const table = pathToFileURL(path.join(projectRoot, 'src/table/index.ts')).href;
    const code = `
      import { readdirSync } from 'node:fs';
      import { writeParquet } from '${io}';
      import { Table } from '${table}';
      void writeParquet('${path.join(folder(), 'ended.parquet')}', Table.from({ x: new Float64Array(1e6) }));
      setInterval(() => { if (readdirSync('${temporary}').some((name) => name.startsWith('evenhand-'))) process.exit(7); }, 1);`;
    const { status } = spawnSync(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', code], {
      cwd: projectRoot,
      env: { ...process.env, TMPDIR: temporary },
      timeout: 60_000,
    });
    expect(status).to.equal(7);
    expect(readdirSync(temporary).filter((name) => name.startsWith('evenhand-'))).to.deep.equal([]);
  });

  it('replaces a file, follows a link, creates folders and leaves no other files', async () => {
    const position = path.join(folder(), 'deep/er');
    const file = path.join(position, "it's [1]*.parquet");
    await writeParquet(file, Table.from({ x: [1] }));
    await writeParquet(file, Table.from({ x: [2] }));
    const link = path.join(position, 'link.parquet');
    symlinkSync(file, link);
    await writeParquet(link, Table.from({ x: [3] }));
    expect((await loadData(file)).toColumns()).to.deep.equal({ x: [3] });
    expect(readdirSync(position)).to.have.members([path.basename(file), 'link.parquet']);
    expect(temporaryFiles()).to.deep.equal([]);
  });
});

describe('writeParquet rejects', () => {
  const temporaryFiles = useTemporaryFiles();
  const column = { kind: 'numeric', values: new Float64Array(1) } as const;
  const TABLES: readonly (readonly [title: string, names: readonly string[], message: RegExp])[] = [
    ['names that differ in case alone', ['Age', 'sex', 'age'], /'Age', 'age' differ only in case/],
    ['a table without columns', [], /the table has no columns/],
    ['an empty name', ['x', ''], /column 2 has no usable name/],
    ['a zero character in a name', ['a\0b'], /column 1 has no usable name/],
  ];
  for (const [title, names, message] of TABLES) {
    it(title, async () => {
      const file = path.join(folder(), 'refused.parquet');
      const error = await errorOf(writeParquet(file, Table.ofColumns(names.map((name) => [name, column]))));
      expect(error).to.be.instanceOf(DataValidationError);
      expect(error.message).to.match(message);
      expect(error.suggestion).to.be.a('string');
      expect(existsSync(file)).to.equal(false);
    });
  }

  const PLACES: readonly (readonly [title: string, make: () => string, message: RegExp])[] = [
    ['a folder with the name of the file', () => folder(), /it is a folder/],
    ['an empty path', () => '', /the path is empty/],
    [
      'a file with the name of a folder',
      () => {
        const file = path.join(folder(), 'plain');
        writeFileSync(file, '');
        return path.join(file, 'x.parquet');
      },
      /a part of the path is a file/,
    ],
    ['a disk that is full', () => '/dev/full', /the disk is full/],
  ];
  for (const [title, make, message] of PLACES) {
    it(title, async function () {
      const file = make();
      if (file === '/dev/full' && !existsSync(file)) this.skip();
      const error = await errorOf(writeParquet(file, Table.from({ x: [1] })));
      expect(error).to.be.instanceOf(DataValidationError);
      expect(error.message).to.match(message);
      expect(temporaryFiles()).to.deep.equal([]);
    });
  }

  it('a folder that is not writable', async () => {
    // Permissions do not restrict root, but folders of the kernel do.
    const isRoot = process.getuid?.() === 0;
    const closed = isRoot ? '/proc' : path.join(folder(), 'closed');
    if (!isRoot) mkdirSync(closed, { mode: 0o555 });
    const error = await errorOf(writeParquet(path.join(closed, 'x.parquet'), Table.from({ x: [1] })));
    expect(error).to.be.instanceOf(DataValidationError);
    expect(error.message).to.match(/permission denied|the folder cannot be created/);
  });

  it('a write without a folder for temporary files, and keeps the old file', async () => {
    const file = path.join(folder(), 'kept.parquet');
    await writeParquet(file, Table.from({ x: [1] }));
    const before = process.env['TMPDIR'];
    process.env['TMPDIR'] = path.join(folder(), 'nowhere');
    try {
      const error = await errorOf(writeParquet(file, Table.from({ x: [2] })));
      expect(error).to.be.instanceOf(DataValidationError);
      expect(error.message).to.include(file);
      expect(error.suggestion).to.include('TMPDIR');
    } finally {
      if (before === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = before;
    }
    expect((await loadData(file)).toColumns()).to.deep.equal({ x: [1] });
  });
});
