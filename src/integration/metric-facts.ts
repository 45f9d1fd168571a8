import type { ReportFact } from '../document/report-document.ts';
import { labelTextAmong } from '../document/report-text.ts';
import {
  capital,
  counted,
  formatLevel,
  formatNumber,
  pValueText,
  rangeText,
  tableCount,
  tableNumber,
} from '../internal/format.ts';
import { own, sumOf } from '../internal/values.ts';
import { unitOf } from '../metrics/metric-markdown.ts';
import type { MetricResult } from '../metrics/metric-result.ts';

/** Descriptions of interval methods by their names in results. */
const CI_METHODS: Readonly<Record<string, string>> = {
  simultaneous: 'simultaneous: holds for all pairs of groups at the same time',
  'bonferroni-agresti-caffo': 'Agresti and Caffo, Bonferroni over all pairs of groups',
  'bonferroni-welch': 'Welch, Bonferroni over all pairs of groups',
  'cluster-t': "clusters of rows, Student's t",
  'cluster-max-t': 'clusters of rows: holds for all pairs of groups at the same time',
  'bonferroni-cluster-t': "clusters of rows, Student's t, Bonferroni over all pairs of groups",
  percentile: 'bootstrap percentile',
  bca: 'bootstrap, bias-corrected and accelerated',
};

const P_VALUE_METHODS: Readonly<Record<string, string>> = {
  permutation: 'permutation of group labels',
  'max-t': 'max-t, approximate',
  'cluster-t': "clusters of rows, Student's t",
  'cluster-max-t': 'clusters of rows, max-t',
};

/** Returns the value of a metric, or its bounds if small counts were left out. */
export function valueText({ value, bounds }: Pick<MetricResult, 'value' | 'bounds'>): string {
  return bounds === undefined || Number.isFinite(value) ? tableNumber(value) : rangeText(bounds);
}

/** Returns the bounds of a group's measure if its value is not known; undefined if there are none. */
export function boundsOfGroup(
  { perGroup, perGroupBounds }: Pick<MetricResult, 'perGroup' | 'perGroupBounds'>,
  label: string,
  measure: string,
): readonly [low: number, high: number] | undefined {
  if (own(own(perGroup, label), measure) !== null) return undefined;
  return own(own(perGroupBounds, label), measure) ?? undefined;
}

/** Returns the main numbers of a metric: the value with its interval, effect size, p-value and counts. */
function factsOf(result: MetricResult): ReportFact[] {
  const {
    value,
    ci,
    ciMethod,
    effectSize,
    effectSizeName,
    pValue,
    pValueMethod,
    minimumDetectableGap: detectable,
  } = result;
  const isGapOfShares = result.metric.endsWith('_difference') && comparesShares(result);
  const points = (gap: number | null): string | undefined =>
    isGapOfShares && gap !== null && Number.isFinite(gap) ? `${(100 * gap).toFixed(2)} percentage points` : undefined;
  const sizes = Object.values(result.nPerGroup);
  const between = gapGroups(result);
  return [
    { name: 'Value', value: valueText(result), remark: points(value) },
    ...(between === undefined ? [] : [{ name: 'Gap between', value: between }]),
    {
      name: ci === null ? 'Interval' : capital(intervalName(result.ciLevel)),
      value: ci === null ? 'none' : rangeText(ci),
      remark: ciMethod === null ? undefined : (own(CI_METHODS, ciMethod) ?? ciMethod),
    },
    {
      name: 'Effect size',
      value: effectSize === null ? 'none' : formatNumber(effectSize, 2),
      remark:
        effectSizeName === null
          ? undefined
          : effectSizeName === 'risk_ratio'
            ? 'risk ratio, largest to smallest'
            : "Cohen's d",
    },
    {
      name: 'p-value',
      value: pValue === null ? 'none' : pValueText(pValue),
      remark: pValueMethod === null ? undefined : (own(P_VALUE_METHODS, pValueMethod) ?? pValueMethod),
    },
    {
      name: 'Minimum detectable difference',
      value: detectable === null ? 'unknown' : tableNumber(detectable),
      remark: detectable === null ? undefined : '80% power',
    },
    {
      name: 'Groups compared',
      value: tableCount(sizes.length),
      remark: counted(sumOf(sizes), 'row'),
    },
  ];
}

/** Returns the facts of a metric, without those that were not computed, such as an effect size. */
export function knownFacts(result: MetricResult): ReportFact[] {
  return factsOf(result).filter(({ value }) => value !== 'none');
}

/** Returns the two groups that the value compares; undefined if the value does not compare exactly two groups. */
export function gapGroups({
  first,
  second,
  perGroup,
}: Pick<MetricResult, 'first' | 'second' | 'perGroup'>): string | undefined {
  const textOf = labelTextAmong(Object.keys(perGroup));
  return first === null ? undefined : `${textOf(first)} and ${second === null ? 'all rows' : textOf(second)}`;
}

/** Returns whether the measures that a metric compares are shares of rows. */
function comparesShares(result: MetricResult): boolean {
  return measuresOf(result).some((measure) => unitOf(measure) === 'share');
}

/** Returns the names of the measures in a metric's groups, in the order of the first group. */
export function measuresOf({ perGroup }: Pick<MetricResult, 'perGroup'>): string[] {
  return [...new Set(Object.values(perGroup).flatMap((group) => Object.keys(group)))];
}

/** Returns "95% interval", or "interval" if the level is unknown. */
export function intervalName(level: number | null): string {
  return level === null ? 'interval' : `${formatLevel(level)} interval`;
}
