import { readFileSync } from 'node:fs';

import { expect } from 'chai';

import { ValueError } from '../../src/exceptions/index.ts';
import { sampleData } from '../../src/io/index.ts';
import { demographicParityDifference } from '../../src/metrics/index.ts';
import { describeWithReference, referencePath } from '../helpers/reference.ts';

describe('sample data', () => {
  it('cps-wages: 534 people, 245 women and 289 men, half of them at most above the median wage', () => {
    const table = sampleData('cps-wages');
    const { codes, labels } = table.categorical('gender');
    const women = codes.filter((code) => labels[code] === 'female').length;
    expect([table.rowCount, women]).to.deep.equal([534, 245]);
    const { values: wages } = table.numeric('wage');
    const { values: above } = table.numeric('wage_above_median');
    // The two middle wages are both 7.78 dollars an hour.
    above.forEach((value, row) => {
      expect(value).to.equal(Number((wages[row] ?? NaN) > 7.78));
    });
  });

  it('berkeley: 4,526 applicants; 44.5% of men and 30.4% of women admitted, as published', () => {
    const table = sampleData('berkeley');
    const { perGroup } = demographicParityDifference(table.column('admitted'), table.column('gender'));
    expect(table.rowCount).to.equal(4526);
    expect(perGroup['male']?.selection_rate).to.be.closeTo(0.445, 5e-4);
    expect(perGroup['female']?.selection_rate).to.be.closeTo(0.304, 5e-4);
  });

  it('berkeley: women are admitted more often in four of the six departments', () => {
    const table = sampleData('berkeley');
    const { codes, labels } = table.categorical('department');
    const favoursWomen = labels.filter((_, code) => {
      const inside = table.take(Int32Array.from(codes.keys()).filter((row) => codes[row] === code));
      const { perGroup } = demographicParityDifference(inside.column('admitted'), inside.column('gender'), {
        minGroupSize: 1,
      });
      return (perGroup['female']?.selection_rate ?? 0) > (perGroup['male']?.selection_rate ?? 0);
    });
    expect(favoursWomen).to.deep.equal(['A', 'B', 'D', 'F']);
  });

  it('rejects an unknown name and lists the known ones', () => {
    expect(() => sampleData('berkley' as never))
      .to.throw(ValueError)
      .with.property('suggestion', "Did you mean 'berkeley'?");
  });
});

describeWithReference('sample data against the reference counts', () => {
  it('berkeley has the 24 counts', () => {
    const [, ...lines] = readFileSync(referencePath('data/berkeley_admissions.tsv'), 'utf8').trim().split('\n');
    const records = sampleData('berkeley').toRecords();
    for (const line of lines) {
      const [department, ...expected] = line.split('\t');
      const count = (gender: string, admitted: number): number =>
        records.filter(
          (row) => row['department'] === department && row['gender'] === gender && row['admitted'] === admitted,
        ).length;
      const found = [count('male', 1), count('male', 0), count('female', 1), count('female', 0)];
      // The reference file has 313 for the 353 men admitted to B; the published total of 4,526 needs 353.
      const published = expected.map((count, index) => (department === 'B' && index === 0 ? 353 : Number(count)));
      expect(found).to.deep.equal(published);
    }
    expect(lines).to.have.length(6);
  });
});
