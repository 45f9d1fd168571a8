import type { MetricDefinition } from '../metric-definitions.ts';
import { type ComparedMeasure, largest } from './gap.ts';
import { pairOfMeasure } from './gap-pair.ts';
import type { MeanSampling } from '../measures/index.ts';

/** An effect size, and which one it is. */
export interface EffectSize {
  readonly name: 'risk_ratio' | 'cohens_d';
  readonly value: number;
}

/**
 * How large the gap is beside the values: the ratio of the largest to the
 * smallest rate (over several rates the larger ratio), or Cohen's d of the
 * groups with the largest and the smallest mean; null where that is undefined.
 */
export function effectSizeOf(
  compared: readonly ComparedMeasure[],
  { comparison }: MetricDefinition,
): EffectSize | null {
  const [first] = compared;
  // Of groups compared with all rows, or averaged over classes, there is no one pair to speak of.
  if (first === undefined || compared.some(({ className }) => className !== undefined)) return null;
  if (first.anchor !== undefined && first.anchorGroup === undefined) return null;
  if (first.measure.sampling.kind === 'rates') return named('risk_ratio', riskRatio(compared, comparison));
  if (first.measure.sampling.kind === 'means' && first.measure.sampling.skewness !== undefined) {
    return named('cohens_d', cohensDOfPair(first, first.measure.sampling, comparison));
  }
  return null;
}

function named(name: EffectSize['name'], value: number | null): EffectSize | null {
  return value === null ? null : { name, value };
}

function riskRatio(compared: readonly ComparedMeasure[], comparison: MetricDefinition['comparison']): number | null {
  const ratios = compared.map((one) => {
    const [high, low] = valuesOfPair(one, comparison);
    return high.value / low.value;
  });
  // 0 of 0 says nothing; the other rate may still have a ratio.
  const most = largest(ratios.filter((ratio) => !Number.isNaN(ratio)));
  return Number.isFinite(most) ? most : null;
}

/** d = (mean_a - mean_b) / pooled standard deviation, from standard errors: s^2 = se^2 n. */
function cohensDOfPair(
  compared: ComparedMeasure,
  { standardErrors, sizes }: MeanSampling,
  comparison: MetricDefinition['comparison'],
): number | null {
  const [high, low] = valuesOfPair(compared, comparison);
  const part = (group: number): { n: number; variance: number } => {
    const n = sizes[group] as number;
    return { n, variance: (standardErrors[group] as number) ** 2 * n };
  };
  const [a, b] = [part(high.group), part(low.group)];
  const pooled = Math.sqrt(((a.n - 1) * a.variance + (b.n - 1) * b.variance) / (a.n + b.n - 2));
  const d = (high.value - low.value) / pooled;
  return Number.isFinite(d) ? d : null;
}

interface GroupValue {
  readonly group: number;
  readonly value: number;
}

function valuesOfPair(
  compared: ComparedMeasure,
  comparison: MetricDefinition['comparison'],
): readonly [high: GroupValue, low: GroupValue] {
  const valueOf = (group: number): GroupValue => ({ group, value: compared.measure.values[group] as number });
  const [high, low] = pairOfMeasure(compared, comparison);
  return [valueOf(high), valueOf(low as number)];
}
