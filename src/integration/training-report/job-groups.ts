import { beforeAfterChart } from '../../charts/before-after-chart.ts';
import type { ComparedGroup, ComparedValue } from '../../charts/compared-groups.ts';
import { inWords } from '../../metrics/metric-markdown.ts';
import { wilsonInterval } from '../../stats/proportion-interval.ts';
import type { GroupDecisions } from '../../training/decision-quality.ts';
import type { TrainingJobResult } from '../../training/jobs/job-result.ts';
import type { ReportBlock } from '../../document/report-document.ts';
import { listed } from '../../document/report-text.ts';
import type { GroupComparison } from '../workflow-report/group-comparison.ts';
import { groupTable } from '../workflow-report/group-table.ts';

/** As the gaps' own intervals have it. */
const LEVEL = 0.95;

const MEASURES = [
  ['selection_rate', 'selectionRate'],
  ['true_positive_rate', 'truePositiveRate'],
  ['false_positive_rate', 'falsePositiveRate'],
] as const;

/** The held-out rates of every group, with the constraint and without. */
export function groupBlocks(job: TrainingJobResult): ReportBlock[] {
  const attribute = listed(job.sensitive);
  return MEASURES.flatMap(([measure, key]): ReportBlock[] => {
    // Only of selection rates is the denominator known: the group's rows.
    const level = measure === 'selection_rate' ? LEVEL : null;
    const comparison: GroupComparison = { measure, unit: 'share', level, groups: groupsOf(job, key, level) };
    const table = groupTable(comparison, attribute);
    const title = `${inWords(measure)} by ${attribute}`;
    const chart = (): ReturnType<typeof beforeAfterChart> =>
      beforeAfterChart(
        { title, unit: 'share', groups: comparison.groups },
        {
          subtitle: `Before: without the constraint; after: with it${level === null ? '' : '; lines are 95% intervals'}`,
        },
      );
    return comparison.groups.length < 2 ? [table] : [{ kind: 'picture', chart }, table];
  });
}

function groupsOf(
  { baseline, final }: TrainingJobResult,
  key: (typeof MEASURES)[number][1],
  level: number | null,
): ComparedGroup[] {
  const valueOf = (group: GroupDecisions | undefined): ComparedValue | null => {
    const value = group?.[key] ?? NaN;
    if (group === undefined || Number.isNaN(value)) return null;
    return { value, ci: level === null ? null : wilsonInterval(value * group.n, group.n, level) };
  };
  return final.groups.map((after) => ({
    label: after.group,
    n: after.n,
    before: valueOf(baseline.groups.find(({ group }) => group === after.group)),
    after: valueOf(after),
  }));
}
