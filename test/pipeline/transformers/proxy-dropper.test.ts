import { expect } from 'chai';

import { ValueError } from '../../../src/exceptions/index.ts';
import { columnAssociation } from '../../../src/pipeline/association.ts';
import { ProxyDropper, type ProxyDropperOptions } from '../../../src/pipeline/transformers/proxy-dropper.ts';
import { encodeGroups, Table } from '../../../src/table/index.ts';

const n = 200;
const rowsOf = <Value>(at: (row: number) => Value): Value[] => Array.from({ length: n }, (_, row) => at(row));

/** Columns of known association with `sex` (even, odd): eta squared 1, 0.5 and 0; and with `race` (thirds). */
const ROWS = {
  sex: rowsOf((row) => (row % 2 === 0 ? 'f' : 'm')),
  race: rowsOf((row) => ['x', 'y', 'z'][row % 3] ?? ''),
  y: rowsOf((row) => row % 2),
  same: rowsOf((row) => 10 * (row % 2)),
  // Group means 0 and 2 with a variance of 1 inside: between 1, total 2.
  half: rowsOf((row) => 2 * (row % 2) + (row % 4 < 2 ? 1 : -1)),
  none: rowsOf((row) => (row % 4 < 2 ? 1 : -1)),
  id: rowsOf((row) => `row ${row}`),
  pronoun: rowsOf((row) => (row % 2 === 0 ? 'she' : 'he')),
  tongue: rowsOf((row) => ['a', 'b', 'c'][row % 3] ?? ''),
};

const drop = async (
  options: Partial<ProxyDropperOptions> = {},
  rows: Record<string, (string | number | null)[]> = ROWS,
) => {
  const dropper = await new ProxyDropper({ sensitive: 'sex', label: 'y', ...options }).fit(rows);
  const { table } = await dropper.transform(rows);
  return { dropper, names: table.columnNames, dropped: dropper.dropped.map(({ column }) => column) };
};

describe('ProxyDropper', () => {
  it('drops proxies of the attribute, the strongest first, and keeps the other columns in order', async () => {
    const { dropped, names, dropper } = await drop();
    expect(dropped).to.deep.equal(['same', 'pronoun', 'half']);
    expect(names).to.deep.equal(['sex', 'race', 'y', 'none', 'id', 'tongue']);
    expect(dropper.dropped[0]).to.deep.equal({ column: 'same', attribute: 'sex', measure: 'eta_squared', value: 1 });
    expect(dropper.dropped[2]?.value).to.be.closeTo(0.5, 1e-12);
    expect(dropper.warnings.at(-1)).to.equal(`dropped 'half': eta_squared 0.500 with 'sex' is above 0.3`);
  });

  it('reports the same number that the detector compares with its threshold', async () => {
    const { dropper } = await drop({ threshold: 0, sensitive: ['sex', 'race'] });
    const table = Table.from(ROWS);
    for (const { column, attribute, measure, value } of dropper.dropped) {
      const found = columnAssociation(table.column(column), encodeGroups(table.select([attribute])));
      expect({ measure, value }, column).to.deep.equal({ measure: found.measure, value: found.value });
    }
    expect(dropper.dropped.length).to.be.at.least(4);
  });

  it('does not treat a column of identifiers as a proxy', async () => {
    expect((await drop({ threshold: 0.05 })).dropped).to.not.include('id');
  });

  it('checks each of several attributes, and names the one with which a column is associated most', async () => {
    const { dropper, dropped } = await drop({ sensitive: ['sex', 'race'] });
    expect(dropped).to.include('tongue');
    expect(dropper.dropped.find(({ column }) => column === 'tongue')?.attribute).to.equal('race');
  });

  it('drops at most maxDrop columns, the strongest, and names those it keeps', async () => {
    const { dropped, dropper } = await drop({ maxDrop: 1 });
    expect(dropped).to.deep.equal(['same']);
    expect(dropper.warnings.at(-1)).to.match(
      /^kept 'pronoun', 'half', although above 0.3, because maxDrop is reached$/,
    );
    expect((await drop({ maxDrop: 0 })).dropped).to.deep.equal([]);
  });

  it('drops only columns above the threshold', async () => {
    expect((await drop({ threshold: 1 })).dropped).to.deep.equal([]);
    expect((await drop({ threshold: 0.5001 })).dropped).to.deep.equal(['same', 'pronoun']);
  });

  it('never drops sensitive columns or the label', async () => {
    const { names } = await drop({ threshold: 0 });
    expect(names).to.include.members(['sex', 'y']);
    const copies = { sex: ROWS.sex, again: ROWS.sex, y: ROWS.y };
    expect((await drop({ sensitive: ['sex', 'again'] }, copies)).names).to.deep.equal(['sex', 'again', 'y']);
  });

  it('checks only the named features, or the candidates that exist', async () => {
    expect((await drop({ features: ['half', 'none'] })).dropped).to.deep.equal(['half']);
    expect((await drop({ candidates: ['half', 'gone', 'sex', 'y'] })).dropped).to.deep.equal(['half']);
  });

  it('keeps columns whose association is undefined', async () => {
    const rows = { sex: ['f', 'm', 'f', 'm'], one: [1, 1, 1, 1], empty: [null, null, null, null] };
    expect((await drop({ threshold: 0, label: undefined }, rows)).dropped).to.deep.equal([]);
  });

  it('drops the same columns in other rows, whatever their values and even if some are missing', async () => {
    const { dropper } = await drop();
    const { table } = await dropper.transform({ same: [1, 2], none: [3, 4] });
    expect(table.columnNames).to.deep.equal(['none']);
  });

  it('has dropped nothing before fit', () => {
    expect(new ProxyDropper({ sensitive: 'sex' }).dropped).to.deep.equal([]);
  });

  for (const options of [
    { threshold: -0.1 },
    { threshold: NaN },
    { maxDrop: 1.5 },
    { maxDrop: -1 },
    { sensitive: [] },
  ]) {
    it(`rejects ${JSON.stringify(options)}`, () => {
      expect(() => new ProxyDropper({ sensitive: 'sex', ...options })).to.throw(ValueError);
    });
  }
});
