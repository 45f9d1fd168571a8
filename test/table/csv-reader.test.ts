import { writeFileSync } from 'node:fs';

import { expect } from 'chai';

import { loadData } from '../../src/io/load-data.ts';
import { type Column, csvHeader, CsvReader, numberOfCell, TextColumn } from '../../src/table/index.ts';
import { useTemporaryFolder } from '../helpers/run-cli.ts';
import { CSV_CASES, DECIMAL_COMMA_CASES } from './csv-cases.ts';

const LABELS = ['b'];

/** Returns the values of columns, so that numbers and texts differ. */
function valuesOf(columns: readonly (readonly [string, Column])[]) {
  return columns.map(([name, column]) => ({
    name,
    values:
      column.kind === 'numeric'
        ? Array.from(column.values, (value) => (Number.isNaN(value) ? 'missing' : value))
        : Array.from(column.codes, (code) => column.labels[code] ?? null),
  }));
}

function read(title: string, given: string, size: number, labels: readonly string[], decimal?: ',') {
  const text = given.replace(/^\ufeff/, '');
  const form = csvHeader(title, text, decimal);
  if (form.repeated.length > 0) throw new Error(`more than one column '${form.repeated[0] ?? ''}'`);
  const columns = form.names.map(() => new TextColumn({ decimal }));
  const reader = new CsvReader(form, columns);
  for (let start = 0; start < text.length; start += size) reader.write(text.slice(start, start + size));
  reader.end();
  return valuesOf(
    form.names.map((name, index) => [name, (columns[index] as TextColumn).finish(name, labels.includes(name))]),
  );
}

async function expectSame(file: string, text: string, labels: readonly string[], decimal?: ',') {
  writeFileSync(file, text);
  const loaded = await loadData({ paths: file, decimal }, { labels }).then(
    (table) => ({ columns: valuesOf(table.columnNames.map((name) => [name, table.column(name)])), problem: undefined }),
    (error: unknown) => ({ columns: undefined, problem: (error as Error).message }),
  );
  for (const size of [1, 2, 3, 7, Math.max(1, text.length)]) {
    if (loaded.columns !== undefined) {
      expect(read(file, text, size, labels, decimal), `parts of ${String(size)}`).to.deep.equal(loaded.columns);
      continue;
    }
    const problem = () => read(file, text, size, labels, decimal);
    // DuckDB names the column of a number with a point before it names the file.
    expect(problem, loaded.problem).to.throw(
      loaded.problem.includes('more than one') ? 'more than one' : loaded.problem,
    );
  }
}

describe('a text table read in parts equals the same file read by DuckDB', () => {
  const folder = useTemporaryFolder();
  for (const [title, text] of Object.entries(CSV_CASES)) {
    it(`with ${title}`, async () => {
      await expectSame(`${folder()}/rows.csv`, text, []);
    });
    it(`with ${title}, as groups`, async () => {
      await expectSame(`${folder()}/rows.csv`, text, LABELS);
    });
  }
  for (const [title, text] of Object.entries(DECIMAL_COMMA_CASES)) {
    it(`with ${title}`, async () => {
      await expectSame(`${folder()}/rows.csv`, text, [], ',');
    });
  }
});

describe('a reader of the start of a table', () => {
  it('stops after the rows that were asked for, in a part of any size', () => {
    const text = `a,b\n${'1,x\n'.repeat(1_000_000)}`;
    const form = csvHeader('rows.csv', text.slice(0, 100));
    const columns = form.names.map(() => new TextColumn());
    const reader = new CsvReader(form, columns, 3);
    reader.write(text);
    expect([reader.rowCount, reader.isDone]).to.deep.equal([3, true]);
    reader.end();
    expect(columns[0]?.finish('a')).to.deep.equal({ kind: 'numeric', values: Float64Array.of(1, 1, 1) });
  });

  it('rejects a line that is too long', () => {
    const form = csvHeader('rows.csv', 'a,b\n');
    const reader = new CsvReader(form, [undefined, undefined]);
    expect(() => {
      reader.write(`a,b\n1,${'x'.repeat(2_000_001)}`);
    }).to.throw("Cannot read 'rows.csv': line 2: the line is too long.");
  });
});

describe('a column with many different numbers', () => {
  const COUNT = 30_000;
  const filled = (last: string, keepsTexts = false) => {
    const column = new TextColumn({ keepsTexts });
    for (let row = 0; row < COUNT; row++) column.add(String(row / 8));
    column.add(last);
    return column;
  };

  it('keeps only the numbers', () => {
    const column = filled('');
    const { values } = column.finish('x') as Extract<Column, { kind: 'numeric' }>;
    expect(column.hasTexts).to.equal(false);
    expect(values.length).to.equal(COUNT + 1);
    expect([values[1], values[COUNT - 1], values[COUNT]]).to.deep.equal([0.125, (COUNT - 1) / 8, NaN]);
  });

  it('reports a text that follows, and keeps it when it is read again', () => {
    expect(filled('NA').hasLostText).to.equal(true);
    const again = filled('NA', true);
    expect(again.hasLostText).to.equal(false);
    const column = again.finish('x') as Extract<Column, { kind: 'categorical' }>;
    expect(column.labels[column.codes[COUNT] as number]).to.equal('NA');
    expect(column.labels).to.include('0.125');
  });
});

describe('numberOfCell', () => {
  for (const text of ['', ' ', '+1', '1e', '1_0', '.', '-', '1 2', '0x', '١', 'true', '1,5', '00.5', '1.5 ']) {
    it(`is undefined for '${text}'`, () => {
      expect(numberOfCell(text)).to.equal(undefined);
    });
  }
  it('reads a decimal comma only if it is asked for', () => {
    expect(numberOfCell('1,5', ',')).to.equal(1.5);
    expect(numberOfCell('1.5', ',')).to.equal(undefined);
  });
});
