import type { Chart } from '../../charts/chart.ts';
import { reliabilityChart, type ReliabilityPanel } from '../../charts/reliability-chart.ts';
import type { ReportBlock } from '../../document/report-document.ts';
import { labelText } from '../../document/report-text.ts';
import { own } from '../../internal/values.ts';
import { computeMetric } from '../../metrics/compute-metric.ts';
import type { MetricResult } from '../../metrics/metric-result.ts';
import type { CategoricalColumn } from '../../table/index.ts';
import type { ReliabilityCurves } from '../../training/postprocessing/calibrator/reliability-curve.ts';
import type { WorkflowFindings } from '../workflow-result.ts';
import { compareGroups, groupTable } from './group-table.ts';

/** The minimum number of rows per bin. The values of smaller bins would be mostly chance. */
const CURVES = { minBinSize: 20 };

/** The scores of both models, with the true values. */
interface Scores {
  readonly before: Float64Array;
  readonly after: Float64Array;
  readonly y: Uint8Array | Float64Array;
  readonly minGroupSize: number;
}

/** Returns the calibration of scores by group, before and after, or the reason why it cannot be shown. */
export function calibrationBlocks(findings: WorkflowFindings): ReportBlock[] {
  const { predictions, yTest, groupsTest, minGroupSize, config } = findings;
  const { baselineScores: before, finalScores: after } = predictions;
  if (before === null || after === null) return [];
  if (config.training?.method === 'reductions') return [{ kind: 'paragraph', text: MIXTURE }];
  const scores: Scores = { before, after, y: yTest, minGroupSize };
  return [
    { kind: 'paragraph', text: MEANING },
    // Intersections are omitted. The rates of intersections are shown above, and their charts would have many panels
    // with few rows each.
    ...config.sensitive.flatMap((attribute) => {
      const groups = own(groupsTest, attribute);
      return groups === undefined ? [] : attributeBlocks(attribute, groups, scores);
    }),
  ];
}

const MIXTURE =
  'Calibration is not shown. The final model is a mixture. Its score is the probability of a positive randomised decision, not of a positive outcome, so calibration is not defined.';

const MEANING =
  'A score is calibrated if about 70% of the rows with scores near 0.7 are positive. The calibration error is the mean distance between scores and shares of positives over ten bins. Chance inflates it in small groups, so compare before with after, not one group with another. Equal calibration errors do not mean equal decision rates.';

function attributeBlocks(attribute: string, groups: CategoricalColumn, scores: Scores): ReportBlock[] {
  const { y, minGroupSize } = scores;
  const measure = (yScore: Float64Array): Readonly<Record<string, MetricResult>> => ({
    calibration_difference: computeMetric(
      'calibration_difference',
      { yTrue: y, yScore, sensitive: groups },
      { minGroupSize, withCi: false },
    ),
  });
  const comparisons = compareGroups(measure(scores.before), measure(scores.after));
  const kept = comparisons[0]?.groups.map(({ label }) => label) ?? [];
  if (kept.length === 0) return [{ kind: 'paragraph', text: `No group by ${labelText(attribute)} is large enough.` }];
  return [
    { kind: 'picture', chart: () => chartOf(attribute, groups, scores, new Set(kept)) },
    ...comparisons.map((comparison) => groupTable(comparison, attribute)),
  ];
}

async function chartOf(
  attribute: string,
  groups: CategoricalColumn,
  { before, after, y }: Scores,
  kept: ReadonlySet<string>,
): Promise<Chart> {
  const { reliabilityCurve } = await import('../../training/postprocessing/calibrator/reliability-curve.ts');
  const from = await reliabilityCurve(before, y, groups, CURVES);
  const to = await reliabilityCurve(after, y, groups, CURVES);
  const panels = reliabilityPanels(from, to).filter(({ label }) => kept.has(label));
  return reliabilityChart(panels, { title: `Reliability of scores by ${attribute}`, level: from.level });
}

/** Returns the panels of a reliability chart with the curves of each group before and after. */
export function reliabilityPanels(before: ReliabilityCurves, after: ReliabilityCurves): ReliabilityPanel[] {
  return before.groups.map(({ group, n, bins }) => ({
    label: group,
    n,
    before: bins,
    after: after.groups.find((other) => other.group === group)?.bins,
  }));
}
