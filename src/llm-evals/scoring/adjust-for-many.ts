import { detectableDifference } from '../../stats/ab/power.ts';
import { benjaminiHochberg } from '../../stats/multipletests/adjust-p-values.ts';
import { LlmMetricResult } from './llm-metric-result.ts';

/** The error rate that findings are held to, and that what could have been found is reckoned at. */
const ALPHA = 0.05;

/** Said where no answers whatever could have shown an effect. */
const HOPELESS =
  'Too few independent items to show any effect among so many tests, however large: add templates or names.';

/**
 * Results with p values that allow for how many there are (Benjamini and
 * Hochberg), and with the smallest gap that so many tests would have found with
 * probability 0.8 (each at alpha / tests, so a little more is found); null where the test could
 * find none. Those of the control dimension are no findings: they are a family of their own.
 */
export function adjustForMany(
  results: readonly LlmMetricResult[],
  controlDimension: string | undefined,
): LlmMetricResult[] {
  const isControl = ({ dimension }: LlmMetricResult): boolean =>
    controlDimension !== undefined && dimension === controlDimension;
  const findings = adjustFamily(
    results.filter((result) => !isControl(result)),
    '',
  );
  const controls = adjustFamily(results.filter(isControl), ' of the control');
  return results.map((result) => findings.get(result) ?? controls.get(result) ?? result);
}

function adjustFamily(results: readonly LlmMetricResult[], whose: string): Map<LlmMetricResult, LlmMetricResult> {
  const tested = results.filter(({ pValue }) => pValue !== null);
  const [ascending, order] = benjaminiHochberg(tested.map(({ pValue }) => pValue ?? NaN));
  const adjusted = new Map(order.map((place, rank) => [tested[place], ascending[rank] ?? null]));
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
