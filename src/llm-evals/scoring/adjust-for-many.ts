import { detectableDifference } from '../../stats/ab/power.ts';
import { benjaminiHochberg } from '../../stats/multipletests/adjust-p-values.ts';
import { LlmMetricResult } from './llm-metric-result.ts';

/** The significance level for findings and for minimum detectable differences. */
const ALPHA = 0.05;

/** The warning for a metric that cannot show an effect, whatever the answers are. */
const HOPELESS =
  'Too few independent items to show an effect of any size with this many tests: add templates or names.';

/**
 * Adjusts p-values for the number of tests (Benjamini and Hochberg) and adds minimum detectable differences. A minimum
 * detectable difference is the smallest gap that a test at the level alpha / tests detects with probability 0.8, where
 * `tests` is the number of tests. The actual power is slightly higher. The minimum detectable difference is null if the
 * test cannot detect any gap. Metrics of the control dimension are adjusted separately, because they are not findings.
 */
export function adjustForMany(
  results: readonly LlmMetricResult[],
  controlDimension: string | undefined,
): LlmMetricResult[] {
  const isControl = ({ dimension }: LlmMetricResult): boolean =>
    controlDimension !== undefined && dimension === controlDimension;
  const others = results.filter((result) => !isControl(result));
  const findings = adjustFamily(others, '');
  const controls = adjustFamily(results.filter(isControl), ' of the control');
  return results.map((result) => findings.get(result) ?? controls.get(result) ?? result);
}

function adjustFamily(results: readonly LlmMetricResult[], whose: string): Map<LlmMetricResult, LlmMetricResult> {
  const tested = results.filter(({ pValue }) => pValue !== null);
  const [ascending, order] = benjaminiHochberg(tested.map(({ pValue }) => pValue ?? NaN));
  const adjusted = new Map(order.map((index, rank) => [tested[index], ascending[rank] ?? null]));
  const adjustment = `benjamini-hochberg over ${String(tested.length)} ${tested.length === 1 ? 'test' : 'tests'}${whose}`;
  return new Map(
    results.map((result) => {
      const isTested = adjusted.has(result);
      const isHopeless = isTested && (result.leastPValue ?? 0) * tested.length > ALPHA;
      const { warnings } = result;
      const fields = {
        adjustedPValue: adjusted.get(result) ?? null,
        adjustment: isTested ? adjustment : null,
        minimumDetectableGap: isHopeless ? null : detectable(result, Math.max(1, tested.length)),
        warnings: [...warnings.filter((warning) => warning !== HOPELESS), ...(isHopeless ? [HOPELESS] : [])],
      };
      return [result, new LlmMetricResult(Object.assign({}, result, fields))];
    }),
  );
}

function detectable({ standardError, degrees, pairs }: LlmMetricResult, tests: number): number | null {
  if (standardError === null) return null;
  const alpha = ALPHA / tests / Math.max(1, pairs.length);
  return detectableDifference({ standardError, alpha, degrees: degrees ?? Infinity });
}
