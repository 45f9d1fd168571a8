import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { ValueError } from '../../src/exceptions/index.ts';
import { loadData } from '../../src/io/load-data.ts';
import { writeParquet } from '../../src/io/write-parquet.ts';
import { writeCsv, writeTable } from '../../src/io/write-table.ts';
import { Table } from '../../src/table/index.ts';
import { useTemporaryFolder } from '../helpers/run-cli.ts';

const folder = useTemporaryFolder();
type TableColumns = Record<string, (number | string | null)[]>;

const COLUMNS = { wage: [7.5, null, 9], sex: ['f', 'm', null] };

describe('writeTable', () => {
  for (const [name, start] of [
    ['rows.csv', 'wage'],
    ['ROWS.CSV', 'wage'],
    ['rows.tsv', 'wage'],
    ['ROWS.x.TSV', 'wage'],
    ['rows.parquet', 'PAR1'],
    ['rows.x.Parquet', 'PAR1'],
  ] as const) {
    it(`writes ${name} in the format of its extension`, async () => {
      const file = path.join(folder(), name);
      await writeTable(file, Table.from(COLUMNS));
      expect(readFileSync(file, 'latin1').slice(0, 4)).to.equal(start);
      expect((await loadData(file)).toColumns()).to.deep.equal(COLUMNS);
    });
  }

  it('says which argument is wrong and the right order, if they are swapped or one is not a table', async () => {
    const table = Table.from(COLUMNS);
    const cases: [args: unknown[], message: RegExp, suggestion: RegExp][] = [
      [[table, 'rows.csv'], /path parameter of NAME, its first argument, must be a path\. Got a Table/, /^Call NAME\(path, table\)\.$/],
      [['rows.csv', [{ a: 1 }]], /table parameter of NAME, its second argument, must be a Table\. Got an array/, /NAME\(path, table\)\. Table\.from/],
      [['rows.csv'], /Got undefined instead/, /NAME\(path, table\)/],
    ]; // prettier-ignore
    for (const write of [writeCsv, writeTable, writeParquet]) {
      for (const [args, message, suggestion] of cases) {
        const caught = (await (write as (...given: unknown[]) => Promise<void>)(...args).catch(
          (error: unknown) => error,
        )) as ValueError;
        expect(caught).to.be.instanceOf(ValueError);
        const named = (pattern: RegExp) => new RegExp(pattern.source.replaceAll('NAME', write.name));
        expect(caught.message).to.match(named(message));
        expect(caught.suggestion).to.match(named(suggestion));
      }
    }
  });

  for (const name of ['rows', 'rows.json', 'rows.tsv.gz', '.csv', 'rows.', 'rows.constructor', '']) {
    it(`rejects the name '${name}' and lists the known extensions`, async () => {
      const location = path.join(folder(), 'empty');
      const caught = await writeTable(name === '' ? '' : path.join(location, name), Table.from(COLUMNS)).catch(
        (error: unknown) => error,
      );
      expect(caught).to.be.instanceOf(ValueError);
      expect((caught as ValueError).message).to.match(/must end in \.csv, \.tsv or \.parquet\./);
      expect(readdirSync(folder())).not.to.include('empty');
    });
  }

  const texts: readonly (readonly [name: string, columns: TableColumns, text: string])[] = [
    ['rows.tsv', { a: ['x,y', 'x\ty', 'x"y', 'x\ny'], b: [1, null, 2.5, -0.1] }, 'a\tb\nx,y\t1\n"x\ty"\t\n"x""y"\t2.5\n"x\ny"\t-0.1\n'],
    ['rows.csv', { a: ['x,y', 'x\ty', 'x"y', 'x\ny'], b: [1, null, 2.5, -0.1] }, 'a,b\n"x,y",1\nx\ty,\n"x""y",2.5\n"x\ny",-0.1\n'],
    ['rows.tsv', { 'wage, hourly': [1], sex: ['f'] }, '"wage, hourly"\tsex\n1\tf\n'],
    ['rows.csv', { 'a;b;c': [1], 'd|e\tf': ['f;g'] }, '"a;b;c","d|e\tf"\n1,f;g\n'],
    ['rows.tsv', { city: ['Rome, Italy', 'Bern'] }, 'city\n"Rome, Italy"\nBern\n'],
    ['rows.csv', { city: ['Rome; Italy', 'Bern'] }, 'city\n"Rome; Italy"\nBern\n'],
  ]; // prettier-ignore
  for (const [name, columns, text] of texts) {
    it(`quotes ambiguous texts in ${name}: ${JSON.stringify(columns)}`, async () => {
      const file = path.join(folder(), name);
      await writeTable(file, Table.from(columns));
      expect(readFileSync(file, 'utf8')).to.equal(text);
      expect((await loadData(file)).toColumns()).to.deep.equal(columns);
    });
  }
});
