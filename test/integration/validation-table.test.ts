import { readFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { validateRowsNow } from '../../src/integration/validate-rows.ts';
import { validationTable } from '../../src/integration/validation-table.ts';
import { loadData } from '../../src/io/load-data.ts';
import { writeTable } from '../../src/io/write-table.ts';
import { useTemporaryFolder } from '../helpers/run-cli.ts';

/** Rows of decisions: 30 of 100, 100 of 200, and 3 of 7 in a group whose name a spreadsheet would run as a formula. */
const GROUPS = { female: [100, 30], male: [200, 100], '=1+1': [7, 3] } as const;
const rows = Object.entries(GROUPS).flatMap(([label, [n, selected]]) =>
  Array.from({ length: n }, (_, row) => ({ label, decided: Number(row < selected) })),
);
const input = {
  withCi: false,
  yPred: rows.map(({ decided }) => decided),
  sensitive: { sex: rows.map(({ label }) => label) },
};

describe('the table of a validation', () => {
  const folder = useTemporaryFolder();

  it('has one row for each metric, each of its groups and measures, and each excluded group', () => {
    expect(validationTable(validateRowsNow(input)).toRecords()).to.deep.equal([
      line({ n: 300, value: 0.5 - 0.3, first: 'male', second: 'female' }),
      line({ measure: 'selection_rate', group: 'female', n: 100, value: 0.3 }),
      line({ measure: 'selection_rate', group: 'male', n: 200, value: 0.5 }),
      line({ group: '=1+1', n: 7, reason: 'fewer than 30 rows' }),
    ]);
  });

  it('has intervals with their level', () => {
    // Wilson's interval from R: prop.test(30, 100, correct = FALSE).
    const [metric, female] = validationTable(validateRowsNow({ ...input, withCi: true })).toRecords();
    expect(metric?.['level']).to.equal(0.95);
    expect(female?.['low']).to.be.closeTo(0.2189489, 1e-7);
    expect(female?.['high']).to.be.closeTo(0.3958485, 1e-7);
  });

  it('has the requested measures of every group and of all rows, without a metric', () => {
    const table = validationTable(validateRowsNow({ ...input, measures: ['count'] })).toRecords();
    expect(table.slice(4)).to.deep.equal([
      line({ metric: null, measure: 'count', group: '=1+1', n: 7, value: 7 }),
      line({ metric: null, measure: 'count', group: 'female', n: 100, value: 100 }),
      line({ metric: null, measure: 'count', group: 'male', n: 200, value: 200 }),
      line({ metric: null, measure: 'count', n: 307, value: 307 }),
    ]);
  });

  it('has the reason of an undefined metric', () => {
    const [metric] = validationTable(validateRowsNow({ ...input, minGroupSize: 150 })).toRecords();
    expect(metric).to.deep.include({ value: null });
    expect(metric?.['reason']).to.match(/^only one group/);
  });

  for (const format of ['csv', 'parquet']) {
    it(`can be written as ${format} and read again`, async () => {
      const file = path.join(folder(), `x.${format}`);
      const table = validationTable(validateRowsNow(input));
      await writeTable(file, table);
      const read = await loadData(file);
      expect(read.columnNames).to.deep.equal(table.columnNames);
      expect(read.toColumns()['group']).to.deep.equal(table.toColumns()['group']);
      if (format === 'csv') expect(readFileSync(file, 'utf8')).to.include("'=1+1");
    });
  }
});

/** Returns a row of the table; values that are not given are missing. */
function line(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return {
    attribute: 'sex',
    metric: 'demographic_parity_difference',
    measure: null,
    group: null,
    n: null,
    value: null,
    low: null,
    high: null,
    level: null,
    first: null,
    second: null,
    reason: null,
    ...values,
  };
}
