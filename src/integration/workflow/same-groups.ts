import { MetricResult } from '../../metrics/index.ts';
import type { MetricResultFields } from '../../metrics/metric-result-fields.ts';
import { nameSome } from '../../pipeline/transformers/name-some.ts';
import { worst } from './measure-predictions.ts';
import type { WorkflowMetrics } from './workflow-result.ts';

/** Groups (or rates of groups) that take part in one result and not in another. */
export function groupsLost(before: MetricResult, after: MetricResult): string[] {
  return Object.keys(after.excluded).filter((name) => !Object.hasOwn(before.excluded, name));
}

/**
 * The final metrics as far as they are of the groups that the baseline
 * compared. A model that, say, selects nobody of a group leaves it without a
 * precision; a gap of the other groups would look like an improvement, and is
 * undefined here.
 */
export function onSameGroups(baseline: WorkflowMetrics, final: WorkflowMetrics): WorkflowMetrics {
  const attributes = Object.fromEntries(
    Object.entries(final.attributes).map(([attribute, metrics]) => [
      attribute,
      Object.freeze(
        Object.fromEntries(
          Object.entries(metrics).map(([name, result]) => [
            name,
            undefinedWhereLost(baseline.attributes[attribute]?.[name], result),
          ]),
        ),
      ),
    ]),
  );
  const metrics = Object.fromEntries(Object.keys(final.metrics).map((name) => [name, worst(name, attributes)[1]]));
  return Object.freeze({ ...final, metrics: Object.freeze(metrics), attributes: Object.freeze(attributes) });
}

function undefinedWhereLost(before: MetricResult | undefined, after: MetricResult): MetricResult {
  const lost = before === undefined || Number.isNaN(after.value) ? [] : groupsLost(before, after);
  if (lost.length === 0) return after;
  const undefinedReason = `the baseline compares ${nameSome(lost)}, and the final model leaves nothing to compare there`;
  const fields: MetricResultFields = after;
  const unknown = { value: NaN, ci: null, effectSize: null, pValue: null, first: null, second: null };
  const missing = fields.missing === null ? null : { ...fields.missing, worstCase: null };
  return new MetricResult({ ...fields, ...unknown, missing, undefinedReason });
}
