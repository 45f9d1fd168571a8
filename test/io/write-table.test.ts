import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { ValueError } from '../../src/exceptions/index.ts';
import { loadData } from '../../src/io/load-data.ts';
import { writeTable } from '../../src/io/write-table.ts';
import { Table } from '../../src/table/index.ts';
import { useTemporaryFolder } from '../helpers/run-cli.ts';

const folder = useTemporaryFolder();
const COLUMNS = { wage: [7.5, null, 9], sex: ['f', 'm', null] };

describe('writeTable', () => {
  for (const [name, start] of [
    ['rows.csv', 'wage'],
    ['ROWS.CSV', 'wage'],
    ['rows.parquet', 'PAR1'],
    ['rows.x.Parquet', 'PAR1'],
  ] as const) {
    it(`writes ${name} in the form that its extension names`, async () => {
      const file = path.join(folder(), name);
      await writeTable(file, Table.from(COLUMNS));
      expect(readFileSync(file, 'latin1').slice(0, 4)).to.equal(start);
      expect((await loadData(file)).toColumns()).to.deep.equal(COLUMNS);
    });
  }

  for (const name of ['rows', 'rows.json', 'rows.tsv', '.csv', 'rows.', 'rows.constructor', '']) {
    it(`refuses the name '${name}' and lists the extensions it knows`, async () => {
      const place = path.join(folder(), 'empty');
      const caught = await writeTable(name === '' ? '' : path.join(place, name), Table.from(COLUMNS)).catch(
        (error: unknown) => error,
      );
      expect(caught).to.be.instanceOf(ValueError);
      expect((caught as ValueError).message).to.match(/must end in \.csv or \.parquet/);
      expect(readdirSync(folder())).not.to.include('empty');
    });
  }
});
