import { Table } from '../../table/index.ts';

/**
 * Applicants to the six largest graduate departments of the University of
 * California, Berkeley, autumn 1973: department, men admitted and rejected,
 * women admitted and rejected. Bickel, Hammel and O'Connell (1975), "Sex bias
 * in graduate admissions", Science 187; counts as in Freedman, Pisani and
 * Purves, "Statistics" (2,691 men and 1,835 women; one copy in circulation has
 * 313 for the 353 men admitted to department B, which fits neither these totals
 * nor the 63% published).
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
 * The 4,526 applicants, one row each. Men are admitted more often overall and
 * not so within most departments: the sample shows Simpson's paradox.
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
