import { expect } from 'chai';

import { DataValidationError } from '../../../src/exceptions/index.ts';
import { Table } from '../../../src/table/index.ts';
import {
  encodedWidth,
  encodeFeatures,
  fitFeatures,
  standardScore,
} from '../../../src/training/data/feature-encoder.ts';

describe('feature encoding', () => {
  const train = Table.from({ x: [1, 3, null, 5], c: ['a', 'b', null, 'a'], k: [7, 7, 7, 7] });

  it('standardises numbers, marks missing ones, and encodes one column per text', () => {
    const { specs, warnings } = fitFeatures(train, ['x', 'c', 'k']);
    expect(specs).to.deep.equal([
      // Mean 3, population standard deviation sqrt(8/3).
      { kind: 'numeric', name: 'x', mean: 3, scale: Math.sqrt(8 / 3), marksMissing: true },
      { kind: 'categorical', name: 'c', levels: ['a', 'b', '(missing)'] },
    ]);
    expect(warnings).to.deep.equal(["feature 'k' is excluded: it has one value only"]);
    const z = 2 / Math.sqrt(8 / 3);
    const expected = [
      [-z, 0, 1, 0, 0],
      [0, 0, 0, 1, 0],
      [0, 1, 0, 0, 1],
      [z, 0, 1, 0, 0],
    ];
    expect([...encodeFeatures(train, specs)].map((value) => Number(value.toFixed(6)))).to.deep.equal(
      expected.flat().map((value) => Number(value.toFixed(6))),
    );
    expect(encodedWidth(specs)).to.equal(5);
  });

  it('encodes a text that training did not see as 0 in every column', () => {
    const { specs } = fitFeatures(train, ['c']);
    expect([...encodeFeatures(Table.from({ c: ['z', 'b'] }), specs)]).to.deep.equal([0, 0, 0, 0, 1, 0]);
  });

  it('rejects numbers with a few texts, which would be lost as identifiers or rare levels', () => {
    const numbers = (count: number, text: string, texts = 1): Table =>
      Table.from({ income: Array.from({ length: count }, (_, row) => (row < texts ? text : String(100 + row))) });
    const of =
      (table: Table): (() => unknown) =>
      () =>
        fitFeatures(table, ['income']);
    expect(of(numbers(600, 'approx 30k'))).to.throw(DataValidationError, "Feature 'income' should hold numbers, but 1 of 600 values is not, for example 'approx 30k'."); // prettier-ignore
    expect(of(numbers(100, 'low', 10))).to.throw(DataValidationError, '10 of 100 values are not');
    // A fifth of the values are texts: a code that often looks like a number. All texts differ: an identifier.
    expect(() => fitFeatures(Table.from({ id: Array.from({ length: 50 }, (_, row) => `${String(row)}${row % 5 === 0 ? 'b' : ''}`), x: Array.from({ length: 50 }, (_, row) => row % 7) }), ['id', 'x'])).to.not.throw(); // prettier-ignore
    const codes = Table.from({ zip: Array.from({ length: 90 }, (_, row) => String(row).padStart(5, '0')), x: Array.from({ length: 90 }, (_, row) => row % 7) }); // prettier-ignore
    expect(fitFeatures(codes, ['zip', 'x']).warnings[0]).to.include('look like identifiers');
    // Few distinct values are levels, of which none is lost.
    const grades = Table.from({ grade: Array.from({ length: 100 }, (_, row) => (row === 0 ? 'none' : String(row % 9))) }); // prettier-ignore
    expect(fitFeatures(grades, ['grade']).specs[0]).to.have.property('kind', 'categorical');
  });

  it('rejects numbers with decimal commas, whose texts would become columns, and says how to read them', () => {
    const amounts = (texts: number): Table =>
      Table.from({
        betrag: Array.from({ length: 40 }, (_, row) => (row < texts ? 'k. A.' : `${String(row)},5`)),
        x: Array.from({ length: 40 }, (_, row) => row % 7),
      });
    let error: unknown;
    try {
      fitFeatures(amounts(1), ['betrag', 'x']);
    } catch (caught) {
      error = caught;
    }
    expect(error).to.be.instanceOf(DataValidationError);
    expect(error).to.have.property('message', "Feature 'betrag' should hold numbers, but 39 of 40 values have a decimal comma, for example '1,5'."); // prettier-ignore
    expect(error)
      .to.have.property('suggestion')
      .that.matches(/with --decimal ,/);
    expect(fitFeatures(amounts(5), ['betrag', 'x']).warnings[0]).to.include('look like identifiers');
  });

  it('excludes identifiers with a warning', () => {
    const ids = Table.from({
      id: Array.from({ length: 40 }, (_, row) => `person ${String(row)}`),
      x: [...Array(40).keys()],
    });
    const { specs, warnings } = fitFeatures(ids, ['id', 'x']);
    expect(specs.map(({ name }) => name)).to.deep.equal(['x']);
    expect(warnings[0]).to.match(/'id' is excluded: its 40 distinct texts look like identifiers/);
  });

  it('keeps the 64 most frequent of many texts', () => {
    const values = Array.from({ length: 1000 }, (_, row) => `t${String(row % 100)}`);
    const { specs, warnings } = fitFeatures(Table.from({ c: values }), ['c']);
    expect(encodedWidth(specs)).to.equal(64);
    expect(warnings[0]).to.match(/64 most frequent of 100/);
  });

  it('rejects features of which none is left', () => {
    expect(() => fitFeatures(train, ['k'])).to.throw(DataValidationError, 'no feature to train on');
  });

  it('excludes a constant whatever its rounding, and encodes later values of it like the training value', () => {
    for (const value of [0.1, 19.99, 1 / 3, 1e-5, 123456.789]) {
      for (const rows of [10, 100, 1000]) {
        const table = Table.from({ a: Array.from({ length: rows }, () => value), b: [...Array(rows).keys()] });
        const { specs, warnings } = fitFeatures(table, ['a', 'b']);
        expect([specs.length, warnings.length]).to.deep.equal([1, 1]);
      }
    }
  });

  it('standardises numbers of any size: scaling by a power of two changes nothing', () => {
    const values = Float64Array.of(1, 2, 3, 7);
    const { mean, scale } = standardScore(values);
    expect([mean, scale]).to.deep.equal([3.25, Math.sqrt(5.1875)]);
    for (const unit of [2 ** 900, 2 ** -900]) {
      const scaled = standardScore(values.map((value) => value * unit));
      expect([scaled.mean / unit, scaled.scale / unit]).to.deep.equal([mean, scale]);
    }
  });

  it('rejects a value far outside the training range, with its row', () => {
    const { specs } = fitFeatures(Table.from({ a: [1, 2, 3] }), ['a']);
    expect(() => encodeFeatures(Table.from({ a: [2, 1e300] }), specs)).to.throw(
      DataValidationError,
      /'a' holds 1e\+300 in row 2/,
    );
  });

  it('treats a text equal to the label of missing values as the same level', () => {
    const { specs } = fitFeatures(Table.from({ c: ['(missing)', 'x', null, 'y'] }), ['c']);
    expect(specs).to.deep.equal([{ kind: 'categorical', name: 'c', levels: ['(missing)', 'x', 'y'] }]);
  });
});
