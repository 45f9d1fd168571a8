import { beforeAfterChart } from '../../charts/before-after-chart.ts';
import { inWords } from '../../metrics/metric-markdown.ts';
import type { ReportBlock, ReportSection } from '../../document/report-document.ts';
import { cutItems, labelText } from '../../document/report-text.ts';
import { capital, intervalName } from '../html/metric-charts.ts';
import { own } from '../html/report-numbers.ts';
import type { WorkflowFindings } from '../workflow/workflow-result.ts';
import { exclusionBlocks } from './exclusions.ts';
import { compareGroups, type GroupComparison } from './group-comparison.ts';
import { groupTable } from './group-table.ts';

/** One section for each attribute: its groups before and after in a picture and a table per measure, and who took no part. */
export function groupSections({ baselineMetrics, finalMetrics }: WorkflowFindings): ReportSection[] {
  const [before, after] = [baselineMetrics.attributes, finalMetrics.attributes];
  return Object.entries(after).map(([attribute, results]) => ({
    title: `By ${labelText(attribute)}`,
    blocks: [
      ...compareGroups(own(before, attribute) ?? {}, results).flatMap((comparison) =>
        comparisonBlocks(comparison, attribute),
      ),
      ...exclusionBlocks(attribute, before, after),
      ...notes(Object.values(results).flatMap(({ warnings }) => warnings)),
    ],
  }));
}

function comparisonBlocks(comparison: GroupComparison, attribute: string): ReportBlock[] {
  const { measure, unit, level, groups } = comparison;
  const table = groupTable(comparison, attribute);
  if (groups.length < 2) return [table];
  const lines = level === null ? '' : `; lines are ${intervalName(level)}s of each group by itself`;
  const chart = (): ReturnType<typeof beforeAfterChart> =>
    beforeAfterChart(
      { title: `${inWords(measure)} by ${attribute}`, unit, groups },
      { subtitle: `Hollow: before, full: after${lines}` },
    );
  return [{ kind: 'picture', chart }, table];
}

function notes(warnings: readonly string[]): ReportBlock[] {
  const items = [...new Set(warnings)];
  return items.length === 0
    ? []
    : [{ kind: 'note', title: 'Before you quote these values:', items: cutItems(items.map(capital)) }];
}
