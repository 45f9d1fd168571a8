import { type ComparedMeasure, largest, smallest, valuesOf } from './gap.ts';
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
export function effectSizeOf(compared: readonly ComparedMeasure[]): EffectSize | null {
  const [first] = compared;
  // Of groups compared with all rows, or averaged over classes, there is no one pair to speak of.
  if (first === undefined || compared.some(({ className }) => className !== undefined)) return null;
  if (first.anchor !== undefined && first.anchorGroup === undefined) return null;
  if (first.measure.sampling.kind === 'rates') return named('risk_ratio', riskRatio(compared));
  if (first.measure.sampling.kind === 'means' && first.measure.sampling.skewness !== undefined) {
    return named('cohens_d', cohensDOfExtremes(first, first.measure.sampling));
  }
  return null;
}

function named(name: EffectSize['name'], value: number | null): EffectSize | null {
  return value === null ? null : { name, value };
}

function riskRatio(compared: readonly ComparedMeasure[]): number | null {
  const ratios = compared.map((one) => {
    const [high, low] = pairOf(one);
    return high.value / low.value;
  });
  // 0 of 0 says nothing; the other rate may still have a ratio.
  const most = largest(ratios.filter((ratio) => !Number.isNaN(ratio)));
  return Number.isFinite(most) ? most : null;
}

/** d = (mean_a - mean_b) / pooled standard deviation, from standard errors: s^2 = se^2 n. */
function cohensDOfExtremes(compared: ComparedMeasure, { standardErrors, sizes }: MeanSampling): number | null {
  const [high, low] = pairOf(compared);
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

/** The two groups that make the gap, the higher first: the extremes, or the reference group and the one farthest from it. */
function pairOf(compared: ComparedMeasure): readonly [high: GroupValue, low: GroupValue] {
  const values = valuesOf(compared);
  const at = (value: number): GroupValue => ({ group: compared.groups[values.indexOf(value)] as number, value });
  const [top, bottom] = [at(largest(values)), at(smallest(values))];
  if (compared.anchorGroup === undefined || compared.anchor === undefined) return [top, bottom];
  const anchor: GroupValue = { group: compared.anchorGroup, value: compared.anchor };
  return top.value - anchor.value >= anchor.value - bottom.value ? [top, anchor] : [anchor, bottom];
}
