import { Table } from '../../table/index.ts';

/**
 * Returns 534 people of the May 1985 Current Population Survey of the United States (Berndt 1991, "The Practice of
 * Econometrics"). The target is whether the hourly wage is above the median. Do not use `wage` as a feature for this
 * target.
 * @param records the rows of the package with the data
 */
export function cpsWagesOf(records: readonly Readonly<Record<string, string | number>>[]): Table {
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
 * Columns with reversed coding in the package. Of the 534 people, 96 are union members and 350 are married (as in the
 * data set CPS1985 of the R package AER, from the same book). The package has 438 and 184 instead.
 */
const UPSIDE_DOWN = ['union', 'married'];

function valueOf(record: Readonly<Record<string, string | number>>, name: string): string | number | undefined {
  return UPSIDE_DOWN.includes(name) ? 1 - Number(record[name]) : record[name];
}

/**
 * Applicants to the six largest graduate departments of the University of California, Berkeley, autumn 1973:
 * department, men admitted and rejected, women admitted and rejected. Bickel, Hammel and O'Connell (1975), "Sex bias in
 * graduate admissions", Science 187; counts as in Freedman, Pisani and Purves, "Statistics" (2,691 men and 1,835
 * women). A widespread copy of these data has 313 men admitted to department B instead of 353. The number 313
 * contradicts these totals and the published 63%.
 */
const COUNTS = [
  ['A', 512, 313, 89, 19],
  ['B', 353, 207, 17, 8],
  ['C', 120, 205, 202, 391],
  ['D', 138, 279, 131, 244],
  ['E', 53, 138, 94, 299],
  ['F', 22, 351, 24, 317],
] as const;

/**
 * Returns a table with one row for each of the 4,526 applicants. Men are admitted more often overall, but not within
 * most departments: the sample shows Simpson's paradox.
 */
export function berkeleyAdmissions(): Table {
  const cells = COUNTS.flatMap(([department, menIn, menOut, womenIn, womenOut]) => [
    { department, gender: 'male', admitted: 1, count: menIn },
    { department, gender: 'male', admitted: 0, count: menOut },
    { department, gender: 'female', admitted: 1, count: womenIn },
    { department, gender: 'female', admitted: 0, count: womenOut },
  ]);
  return Table.from(cells.flatMap(({ count, ...applicant }) => Array.from({ length: count }, () => applicant)));
}
