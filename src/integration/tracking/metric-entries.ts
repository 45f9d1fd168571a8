import type { MetricResult } from '../../metrics/index.ts';
import { type RunEntries, toKeyPart } from './run-entries.ts';

/**
 * Adds a metric: its value under `name`, then `name.ci_low`, `name.ci_high`, `name.p_value`, `name.effect_size`,
 * `name.n`, and for each group `name.group.n` and `name.group.measure`. An undefined value or an excluded group becomes
 * a tag with the reason.
 * @param n the number of rows compared; by default the rows of all groups
 */
export function addMetric(
  entries: RunEntries,
  name: string,
  result: MetricResult,
  n: number = Object.values(result.nPerGroup).reduce((sum, count) => sum + count, 0),
): void {
  entries.metric(name, result.value, result.undefinedReason);
  addInterval(entries, name, result);
  if (result.pValue !== null) entries.metric(`${name}.p_value`, result.pValue);
  if (result.effectSize !== null) entries.metric(`${name}.effect_size`, result.effectSize);
  entries.metric(`${name}.n`, n);
  addGroups(entries, name, result);
}

function addInterval(entries: RunEntries, name: string, { ci, ciLevel, ciMethod }: MetricResult): void {
  if (ci === null) return;
  entries.metric(`${name}.ci_low`, ci[0], 'the interval has no lower end');
  entries.metric(`${name}.ci_high`, ci[1], 'the interval has no upper end');
  if (ciLevel !== null) entries.tag(`${name}.ci_level`, String(ciLevel));
  if (ciMethod !== null) entries.tag(`${name}.ci_method`, ciMethod);
}

function addGroups(entries: RunEntries, name: string, { nPerGroup, perGroup, excluded }: MetricResult): void {
  for (const [group, count] of Object.entries(nPerGroup)) entries.metric(`${name}.${toKeyPart(group)}.n`, count);
  for (const [group, rates] of Object.entries(perGroup)) {
    for (const [measure, value] of Object.entries(rates)) {
      if (value !== null && value !== undefined) entries.metric(`${name}.${toKeyPart(group)}.${measure}`, value);
    }
  }
  for (const [group, { reason }] of Object.entries(excluded)) {
    entries.tag(`${name}.${toKeyPart(group)}.excluded`, reason);
  }
}
