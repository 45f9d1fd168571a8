import { expect } from 'chai';

import { DataValidationError } from '../../../src/exceptions/index.ts';
import { columnAssociation } from '../../../src/pipeline/association.ts';
import type { CategoricalColumn, Column } from '../../../src/table/index.ts';
import { golden } from '../../stats/association/detectors-golden.ts';

const text = (codes: readonly number[], labels: readonly string[]): CategoricalColumn => ({
  kind: 'categorical',
  codes: Int32Array.from(codes),
  labels,
});
const numbers = (values: readonly (number | null)[]): Column => ({
  kind: 'numeric',
  values: Float64Array.from(values, (value) => value ?? NaN),
});

describe('the association of a column with groups', () => {
  for (const { name, values, codes, eta_squared: expected } of golden.anova) {
    it(`numbers, ${name}: eta squared`, () => {
      const { measure, value } = columnAssociation(numbers(values), text(codes, ['a', 'b', 'c', 'd']));
      expect(measure).to.equal('eta_squared');
      expect(value).to.be.closeTo(expected, name === 'far from zero' ? 1e-7 : 1e-12);
    });
  }

  for (const { name, table, cramers_v: expected } of golden.contingency) {
    it(`text, ${name}: corrected Cramér's V`, () => {
      const cells = table.flatMap((row, group) => row.flatMap((n, level) => Array<[number, number]>(n).fill([group, level]))); // prettier-ignore
      const labels = (count: number) => Array.from({ length: count }, (_, index) => `l${index}`);
      const column = text(cells.map(([, level]) => level), labels(table[0]?.length ?? 0)); // prettier-ignore
      const groups = text(cells.map(([group]) => group), labels(table.length)); // prettier-ignore
      const { measure, value, n } = columnAssociation(column, groups);
      expect([measure, n]).to.deep.equal(['cramers_v', cells.length]);
      expect(value).to.be.closeTo(expected, 1e-12);
    });
  }

  it('excludes rows without a value or a group', () => {
    const groups = text([0, 0, 1, 1, -1, 1], ['a', 'b']);
    expect(columnAssociation(numbers([1, 2, 3, 4, 9, null]), groups)).to.deep.equal({
      ...columnAssociation(numbers([1, 2, 3, 4]), text([0, 0, 1, 1], ['a', 'b'])),
      n: 4,
    });
    expect(columnAssociation(text([0, 0, 1, 1, 0, -1], ['u', 'v']), groups)).to.include({ value: 1, n: 4 });
  });

  it('is undefined with one group, one value, or no rows', () => {
    const two = text([0, 0, 1, 1], ['a', 'b']);
    for (const [column, groups] of [
      [numbers([1, 2, 3, 4]), text([0, 0, 0, 0], ['a', 'b'])],
      [numbers([2, 2, 2, 2]), two],
      [text([0, 0, 0, 0], ['u']), two],
      [text([-1, -1, -1, -1], []), two],
      [numbers([]), text([], [])],
    ] as const) {
      expect(columnAssociation(column, groups).value).to.be.NaN;
    }
  });

  it('rejects different lengths', () => {
    expect(() => columnAssociation(numbers([1]), text([0, 1], ['a', 'b']))).to.throw(
      DataValidationError,
      'The column has 1 rows and the groups have 2.',
    );
  });
});
