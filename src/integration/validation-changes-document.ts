import { noteBlocks, numberColumn, type ReportBlock, type ReportColumn } from '../document/report-document.ts';
import { labelText, listed } from '../document/report-text.ts';
import { NOTHING, rangeText, tableNumber, withPlus } from '../internal/format.ts';
import { inWords } from '../metrics/metric-markdown.ts';
import type { GateChange, MetricChange, ValidationChanges } from './validation-changes.ts';

/**
 * Describes what changed since an earlier validation. Differences in data and options come first, because they make the
 * validations hard to compare.
 */
export function changeBlocks({ warnings, gates, metrics, groups }: ValidationChanges): ReportBlock[] {
  const attributes = new Set([...metrics, ...gates].map(({ attribute }) => attribute));
  const named = (attribute: string): string[] => (attributes.size < 2 ? [] : [labelText(attribute)]);
  const columns = (...others: ReportColumn[]): ReportColumn[] => [
    ...(attributes.size < 2 ? [] : [{ name: 'Attribute' }]),
    { name: 'Metric' },
    ...others,
  ];
  return [
    ...noteBlocks('These differ, and can explain a change', warnings),
    ...(gates.length === 0
      ? []
      : [
          {
            kind: 'table' as const,
            caption: 'Gates',
            columns: columns({ name: 'Gate' }, { name: 'Then' }, { name: 'Now' }),
            rows: gates.map((gate) => [
              ...named(gate.attribute),
              inWords(gate.metric),
              ruleText(gate),
              gate.before?.status?.toUpperCase() ?? NOTHING,
              gate.after?.status?.toUpperCase() ?? NOTHING,
            ]),
          },
        ]),
    {
      kind: 'table',
      caption: 'Metrics',
      columns: columns(numberColumn('Then'), numberColumn('Now'), numberColumn('Change'), { name: 'Intervals' }),
      rows: metrics.map((metric) => [
        ...named(metric.attribute),
        inWords(metric.metric),
        valueText(metric.before, metric.ciBefore),
        valueText(metric.after, metric.ciAfter),
        metric.change === null ? NOTHING : withPlus(metric.change),
        overlapText(metric),
      ]),
    },
    ...noteBlocks(
      'The direction of these gaps is reversed',
      metrics.filter(({ reversed }) => reversed).map(({ attribute, metric }) => `${inWords(metric)} of ${labelText(attribute)}: the two groups have changed places`), // prettier-ignore
    ),
    ...noteBlocks(
      'Groups',
      groups.flatMap(({ attribute, new: added, gone }) => [
        ...(added.length === 0 ? [] : [`New in ${labelText(attribute)}: ${listed(added)}.`]),
        ...(gone.length === 0 ? [] : [`Gone from ${labelText(attribute)}: ${listed(gone)}.`]),
      ]),
    ),
    {
      kind: 'paragraph',
      text: 'Intervals that overlap do not show that nothing changed. The intervals are of each value, not of the change.',
    },
  ];
}

/** Describes the rule of a gate. If the rule has changed, describes the earlier and the current rule. */
function ruleText({ before, after }: GateChange): string {
  const texts = [before, after].flatMap((gate) =>
    gate === null || gate.threshold === null ? [] : [`${gate.comparator ?? ''} ${String(gate.threshold)}`.trim()],
  );
  return [...new Set(texts)].join(', now ') || NOTHING;
}

function valueText(value: number | null, ci: MetricChange['ciBefore']): string {
  if (value === null) return 'undefined';
  return ci === null ? tableNumber(value) : `${tableNumber(value)} (${rangeText(ci)})`;
}

function overlapText({ intervalsOverlap }: MetricChange): string {
  return intervalsOverlap === null ? NOTHING : intervalsOverlap ? 'overlap' : 'do not overlap';
}
