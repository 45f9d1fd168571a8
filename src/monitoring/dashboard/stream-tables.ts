import { bothEnds } from '../../charts/both-ends.ts';
import { numberColumn, type ReportTable } from '../../document/report-document.ts';
import { labelText } from '../../document/report-text.ts';
import { metricDefinition, metricNeedsTruth } from '../../metrics/metric-definitions.ts';
import { inWords } from '../../metrics/metric-markdown.ts';
import { attributeText } from '../attribute-text.ts';
import { countedText, countText, valueText } from './dashboard-words.ts';
import type { MonitoringView } from './monitoring-view.ts';

/** Attributes whose coverage is told. */
const MOST_ATTRIBUTES = 8;

/** Kinds of faults that are told one by one. */
const MOST_FAULTS = 40;

/** Whether labels are awaited: a metric needs them, or some came. */
export function awaitsLabels({ coverage, watched }: MonitoringView): boolean {
  if (coverage.length === 0) return false;
  const isNeeded = watched.some(({ metric }) => metricNeedsTruth(metricDefinition(metric)));
  return isNeeded || coverage.some(({ labelled }) => labelled > 0);
}

/** How many predictions of each group have their label: one table an attribute, the least covered first. */
export function coverageTables(view: MonitoringView): ReportTable[] {
  const coverage = awaitsLabels(view) ? view.coverage : [];
  const attributes = [...new Set(coverage.map(({ attribute }) => attribute))];
  return attributes.slice(0, MOST_ATTRIBUTES).map((attribute, place) => {
    const isCut = place === MOST_ATTRIBUTES - 1 && attributes.length > MOST_ATTRIBUTES;
    const more = isCut ? ` (and of ${countText(attributes.length - MOST_ATTRIBUTES)} more attributes, not shown)` : '';
    const groups = coverage
      .filter((one) => one.attribute === attribute)
      .sort((a, b) => (a.share ?? 2) - (b.share ?? 2) || (a.group < b.group ? -1 : 1))
      .map((one) => ({ ...one, label: one.group }));
    return {
      kind: 'table',
      caption: `True labels by ${attributeText(attribute)}${more}`,
      columns: [{ name: 'Group' }, numberColumn('Predictions'), numberColumn('With a label'), numberColumn('Share')],
      rows: bothEnds(groups).map(({ label, group }) =>
        group === undefined
          ? [label, '', '', '']
          : [labelText(label), countText(group.n), countText(group.labelled), valueText(group.share, 'share')],
      ),
    };
  });
}

/** What was not counted; undefined where everything was. */
export function faultTable({ faults }: MonitoringView): ReportTable | undefined {
  const found = Object.entries(faults)
    .filter(([, count]) => count > 0)
    .sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));
  if (found.length === 0) return undefined;
  const rows = found.slice(0, MOST_FAULTS).map(([name, count]) => [labelText(inWords(name)), countText(count)]);
  const cut = found.length - rows.length;
  const rest = found.slice(MOST_FAULTS).reduce((sum, [, count]) => sum + count, 0);
  return {
    kind: 'table',
    caption: 'Not counted, and why',
    columns: [{ name: 'Why' }, numberColumn('Times')],
    rows: cut === 0 ? rows : [...rows, [`\u2026 and ${countedText(cut, 'other reason')}`, countText(rest)]],
  };
}
