import { readFileSync } from 'node:fs';
import path from 'node:path';

import { projectRoot } from '../../helpers/project-files.ts';

/** The output of `scripts/golden/detectors.py`: the results of SciPy and statsmodels. */
export interface DetectorsGolden {
  readonly chi_square_tail: readonly (readonly [value: number, degrees: number, tail: number])[];
  readonly f_tail: readonly (readonly [value: number, between: number, within: number, tail: number])[];
  readonly contingency: readonly {
    readonly name: string;
    readonly table: readonly (readonly number[])[];
    readonly statistic: number;
    readonly degrees: number;
    readonly p_value: number;
    readonly least_expected: number;
    readonly cramers_v: number;
  }[];
  readonly anova: readonly {
    readonly name: string;
    readonly values: readonly (number | null)[];
    readonly codes: readonly number[];
    readonly statistic: number;
    readonly degrees: readonly [between: number, within: number];
    readonly p_value: number;
    readonly eta_squared: number;
  }[];
  readonly goodness_of_fit: readonly {
    readonly name: string;
    readonly observed: readonly number[];
    readonly shares: readonly number[];
    readonly statistic: number;
    readonly p_value: number;
  }[];
  readonly table: {
    readonly groups: readonly string[];
    readonly columns: Readonly<Record<string, readonly string[] | readonly number[]>>;
    readonly tests: readonly {
      readonly name: string;
      readonly statistic: number;
      readonly degrees: number | readonly [number, number];
      readonly p_value: number;
      readonly adjusted_p_value: number;
      readonly cramers_v?: number;
      readonly eta_squared?: number;
    }[];
  };
}

export const golden = JSON.parse(
  readFileSync(path.join(projectRoot, 'test/golden/detectors.json'), 'utf8'),
) as DetectorsGolden;
