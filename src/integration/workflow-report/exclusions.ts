import { inWords } from '../../metrics/metric-markdown.ts';
import { numberColumn, type ReportBlock } from '../../document/report-document.ts';
import { labelText } from '../../document/report-text.ts';
import { own, tableCount } from '../html/report-numbers.ts';
import type { WorkflowMetrics } from '../workflow/workflow-result.ts';

/** Of more exclusions only those of the largest groups are listed. */
const MOST_LISTED = 40;

interface Excluded {
  readonly label: string;
  readonly n: number;
  readonly reason: string;
  readonly metrics: Set<string>;
  readonly steps: Set<string>;
}

/** Groups of an attribute, or single rates of them, that took no part in a metric before or after. */
export function exclusionBlocks(
  attribute: string,
  baseline: WorkflowMetrics['attributes'],
  final: WorkflowMetrics['attributes'],
): ReportBlock[] {
  const all = [...collect(attribute, { before: baseline, after: final }).values()];
  if (all.length === 0) return [{ kind: 'paragraph', text: 'No group was excluded.' }];
  const listed = [...all].sort((a, b) => b.n - a.n || (a.label < b.label ? -1 : 1)).slice(0, MOST_LISTED);
  const left = all.length - listed.length;
  const rest = left === 0 ? '' : `; the ${String(MOST_LISTED)} largest of ${tableCount(all.length)} are listed`;
  return [
    {
      kind: 'table',
      caption: `Excluded by ${labelText(attribute)}: groups, or single rates of groups, that took no part${rest}`,
      columns: [{ name: 'Group' }, numberColumn('n'), { name: 'Metric' }, { name: 'When' }, { name: 'Reason' }],
      rows: listed.map(({ label, n, reason, metrics, steps }) => [
        labelText(label),
        tableCount(n),
        [...metrics].map(inWords).join(', '),
        steps.size === 2 ? 'before and after' : [...steps].join(''),
        reason,
      ]),
    },
  ];
}

function collect(
  attribute: string,
  steps: Readonly<Record<string, WorkflowMetrics['attributes']>>,
): Map<string, Excluded> {
  const found = new Map<string, Excluded>();
  for (const [step, attributes] of Object.entries(steps)) {
    for (const [metric, { excluded }] of Object.entries(own(attributes, attribute) ?? {})) {
      for (const [label, { n, reason }] of Object.entries(excluded)) {
        const key = JSON.stringify([label, n, reason]);
        const entry = found.get(key) ?? { label, n, reason, metrics: new Set(), steps: new Set() };
        entry.metrics.add(metric);
        entry.steps.add(step);
        found.set(key, entry);
      }
    }
  }
  return found;
}
