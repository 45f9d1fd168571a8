import { firstOfLargest } from './grid.ts';
import { RATES } from './rates.ts';
import { countsAt, operationAt, type ScoreCurve } from './score-curve.ts';
import { deterministicRule } from './threshold-rule.ts';
import type { PooledThreshold, ThresholdSettings } from './threshold-rules.ts';

/**
 * The one threshold that is best for all rows: of equal ones the one that
 * selects fewest, high scores before low ones.
 */
export function pooledThreshold(curve: ScoreCurve, { objective, flip }: ThresholdSettings): PooledThreshold {
  const places = curve.scores.length + 1;
  const values = Float64Array.from({ length: flip ? 2 * places : places }, (_, candidate) => {
    const { place, operator } = candidateOf(candidate);
    return RATES[objective](countsAt(curve, place, operator));
  });
  const best = firstOfLargest(values);
  const { place, operator } = candidateOf(best);
  return Object.freeze({
    interpolation: deterministicRule(operationAt(curve, place, operator)),
    objectiveValue: values[best] as number,
  });

  /** Later places of a curve select more high scores, and fewer low ones. */
  function candidateOf(candidate: number): { place: number; operator: '>' | '<' } {
    return candidate < places
      ? { place: candidate, operator: '>' }
      : { place: 2 * places - 1 - candidate, operator: '<' };
  }
}
