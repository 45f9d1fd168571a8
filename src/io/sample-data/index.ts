import { ValueError } from '../../exceptions/index.ts';
import { suggestNames } from '../../internal/nearest.ts';
import type { Table } from '../../table/index.ts';
import { berkeleyAdmissions } from './berkeley.ts';
import { cpsWages } from './cps-wages.ts';

/** Real data that come with the package. */
export const SAMPLE_DATA_NAMES = ['cps-wages', 'berkeley'] as const;

/** One of {@link SAMPLE_DATA_NAMES}. */
export type SampleDataName = (typeof SAMPLE_DATA_NAMES)[number];

const READERS: Readonly<Record<SampleDataName, () => Table>> = { 'cps-wages': cpsWages, berkeley: berkeleyAdmissions };

/**
 * Real data without a download: `cps-wages` (534 people of the 1985 Current
 * Population Survey) or `berkeley` (4,526 applicants of 1973).
 * @throws {ValueError} for an unknown name
 * @example
 * ```ts
 * import { sampleData } from 'evenhand/io';
 *
 * console.log(sampleData('berkeley').rowCount);
 * // 4526
 * ```
 */
export function sampleData(name: SampleDataName): Table {
  const known = SAMPLE_DATA_NAMES.find((candidate) => candidate === name);
  if (known !== undefined) return READERS[known]();
  throw new ValueError(`There is no sample data named '${name as string}'.`, {
    context: { name },
    suggestion: suggestNames(name, SAMPLE_DATA_NAMES, 'samples'),
  });
}
