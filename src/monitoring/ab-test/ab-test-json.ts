import { toSnakeCase } from '../../internal/letter-case.ts';
import { VERSION } from '../../internal/version.ts';
import type { ABComparison, ABTestFields } from './ab-test-fields.ts';

/** A result as JSON: the fields of {@link ABTestFields} in snake_case, and the version that made it. */
export type ABTestJson = Readonly<Record<string, unknown>>;

/** A result as JSON; pairs stand apart from the comparisons that they belong to, in `rows` and `business_rows`. */
export function abTestToJson(result: ABTestFields): ABTestJson {
  const { finding, verdict, n, warnings, rows, comparisons, business, nTests, checks, settings } = result;
  const fields = {
    finding,
    verdict,
    n,
    warnings,
    rows,
    comparisons: comparisons.map(withoutRows),
    businessRows: business.flatMap((comparison) => comparison.rows),
    business: business.map(withoutRows),
    nTests,
    checks,
    settings,
  };
  return { ...(withSnakeKeys(fields) as Record<string, unknown>), version: VERSION };
}

function withoutRows({ rows: _, ...others }: ABComparison): Omit<ABComparison, 'rows'> {
  return others;
}

/** Keys are the names of our own fields everywhere: labels from data are values, so none is changed. */
function withSnakeKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSnakeKeys);
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, own]) => [toSnakeCase(key), withSnakeKeys(own)]));
}
