import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

import { ValueError } from '../../exceptions/index.ts';
import { suggestNames } from '../../internal/arguments.ts';
import { decodeUtf8 } from '../../internal/decode-utf8.ts';
import { builtFile } from '../../internal/packages.ts';
import type { Table } from '../../table/index.ts';
import { berkeleyAdmissions, cpsWagesOf } from './samples.ts';

function cpsWages(): Table {
  const text = decodeUtf8(gunzipSync(readFileSync(builtFile('vendor/cps-wages.json.gz'))), 'The sample data');
  return cpsWagesOf(JSON.parse(text) as Record<string, string | number>[]);
}

/** The names of the real data sets in the package. */
export const SAMPLE_DATA_NAMES = ['cps-wages', 'berkeley'] as const;

/** One of {@link SAMPLE_DATA_NAMES}. */
export type SampleDataName = (typeof SAMPLE_DATA_NAMES)[number];

const READERS: Readonly<Record<SampleDataName, () => Table>> = { 'cps-wages': cpsWages, berkeley: berkeleyAdmissions };

/**
 * Returns real sample data that need no download: `cps-wages` (534 people of the 1985 Current Population Survey) or
 * `berkeley` (4,526 applicants of 1973).
 * @throws {ValueError} if the name is unknown
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
