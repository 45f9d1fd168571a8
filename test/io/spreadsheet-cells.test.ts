import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';
import fc from 'fast-check';

import { markCell, unmarkCell } from '../../src/internal/spreadsheet-text.ts';
import { countDecisions } from '../../src/io/count-decisions.ts';
import { loadData, writeCsv, writeTable } from '../../src/io/index.ts';
import { loadTexts } from '../../src/io/load-data.ts';
import { readRecords } from '../../src/monitoring/index.ts';
import { toCsvLine } from '../../src/monitoring/records/record-lines.ts';
import { Table } from '../../src/table/index.ts';
import { useTemporaryFolder } from '../helpers/run-cli.ts';

/** Texts and their cells as OWASP recommends (CSV injection): an apostrophe before the start of a formula. */
const CELLS: Readonly<Record<string, string>> = {
  '=1+1': "'=1+1",
  '+49 221': "'+49 221",
  '-cmd|calc': "'-cmd|calc",
  '@SUM(A1)': "'@SUM(A1)",
  '\t=1': "'\t=1",
  "'=1": "''=1",
  "''=1": "'''=1",
  '-1.5': '-1.5',
  '+2': '+2',
  '-1e3': '-1e3',
  '-': '-',
  "'quoted'": "'quoted'",
  'a=b': 'a=b',
  female: 'female',
};

describe('cells that a spreadsheet would evaluate', function () {
  this.timeout(60_000);
  const folder = useTemporaryFolder();
  const texts = Object.keys(CELLS);
  const table = Table.from({ g: texts, n: texts.map((_, row) => -1.5 - row), d: texts.map((_, row) => row % 2) });

  it('are marked with an apostrophe, but numbers are not', () => {
    for (const [text, cell] of Object.entries(CELLS)) expect(markCell(text), text).to.equal(cell);
  });

  it('are marked so that every text can be restored', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("'", '=', '-', '+', '@', '\t', '\n', '1', '.', 'a', '＝') }),
        (text) => {
          expect(unmarkCell(markCell(text))).to.equal(text);
        },
      ),
    );
  });

  for (const extension of ['csv', 'tsv']) {
    it(`are marked in ${extension}, and restored by every reader`, async () => {
      const file = path.join(folder(), `marked.${extension}`);
      await writeTable(file, table);
      const written = readFileSync(file, 'utf8');
      expect(written).to.include("\n'=1+1");
      expect(written).to.match(/[,\t]-1\.5[,\t]/);
      expect((await loadData(file)).toColumns()).to.deep.equal(table.toColumns());
      expect((await loadTexts(file)).toColumns()['g']).to.deep.equal(texts);
      const request = { attributes: [['g']], yPred: 'd', nanPolicy: 'exclude' } as const;
      const [counted] = await countDecisions(file, request);
      // As labels, numbers among the texts are written like numbers.
      const labels = texts.map((text) => (text === '-1e3' ? '-1000' : text));
      expect(counted?.groups.map(({ label }) => label).sort()).to.deep.equal(labels.sort());
    });
  }

  it('are quoted if another delimiter would begin a cell within a text', async () => {
    const file = path.join(folder(), 'hidden.csv');
    const hidden = Table.from({ g: ['a;=1+1', 'b|-x', 'c;d'], n: [1, 2, 3] });
    await writeCsv(file, hidden);
    expect(readFileSync(file, 'utf8')).to.equal('g,n\n"a;=1+1",1\n"b|-x",2\nc;d,3\n');
    expect((await loadData(file)).toColumns()).to.deep.equal(hidden.toColumns());
  });

  it('are unchanged with raw', async () => {
    const file = path.join(folder(), 'raw.csv');
    await writeCsv(file, Table.from({ g: ['=1+1', '@a'] }), { raw: true });
    expect(readFileSync(file, 'utf8')).to.equal('g\n=1+1\n@a\n');
  });

  it('are marked in column names too', async () => {
    const file = path.join(folder(), 'names.csv');
    await writeCsv(file, Table.from({ '=name': [1], n: [2] }));
    expect(readFileSync(file, 'utf8')).to.equal("'=name,n\n1,2\n");
  });

  it('are marked in monitoring records, and restored', async () => {
    const record = {
      timestamp: '2024-01-01T00:00:00.000Z', metric: 'selection_rate', attribute: '=a', group: '@b', window: 'sliding',
      value: -0.5, n: 3, low: null, high: null,
    } as const; // prettier-ignore
    const line = toCsvLine(record);
    expect(line).to.equal("2024-01-01T00:00:00.000Z,selection_rate,'=a,'@b,sliding,-0.5,3,,");
    const file = path.join(folder(), 'records.csv');
    writeFileSync(file, `time,metric,attribute,group,window,value,n,low,high\n${line}\n`);
    expect((await readRecords(file)).toRecords()[0]).to.include({ attribute: '=a', group: '@b', value: -0.5 });
  });
});
