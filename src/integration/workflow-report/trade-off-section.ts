import { tradeOffChart } from '../../charts/trade-off-chart.ts';
import { inWords } from '../../metrics/metric-markdown.ts';
import { numberColumn, type ReportBlock } from '../../document/report-document.ts';
import { labelText } from '../../document/report-text.ts';
import { tableCount, tableNumber, tableValue } from '../html/report-numbers.ts';
import type { TradeOffPoint, WorkflowFindings } from '../workflow/workflow-result.ts';

/** Of more points only so many stand in the table. */
const MOST_LISTED = 40;

const KINDS: Readonly<Record<TradeOffPoint['kind'], string>> = {
  baseline: 'baseline',
  final: 'final',
  candidate: 'drawn from by the mixture',
};

/** Accuracy against unfairness: where the baseline and the final model stand, and what a mixture draws from. */
export function tradeOffBlocks({ tradeOff, validation }: WorkflowFindings): ReportBlock[] {
  const { metric, threshold } = validation;
  const drawable = tradeOff.filter(({ accuracy, unfairness }) => [accuracy, unfairness].every(Number.isFinite));
  if (tradeOff.length === 0) return [];
  const shown = inOrder(tradeOff).slice(0, MOST_LISTED);
  const rest =
    shown.length < tradeOff.length ? `, the first ${String(MOST_LISTED)} of ${tableCount(tradeOff.length)} points` : '';
  const isRatio = metric.endsWith('_ratio');
  const name = isRatio ? `Distance of ${inWords(metric).toLowerCase()} from 1` : inWords(metric);
  return [
    {
      kind: 'paragraph',
      text: `Each point is a model on the held-out rows. Higher is more accurate; further left is more even by ${inWords(metric).toLowerCase()}, of which the worst attribute counts. The axes of the picture are cut to fit the points.`,
    },
    ...(drawable.length === 0
      ? []
      : [
          {
            kind: 'picture' as const,
            chart: () => tradeOffChart(drawable, { metric: name, ...thresholdOf(threshold, isRatio) }),
          },
        ]),
    {
      kind: 'table',
      caption: `Accuracy against unfairness${rest}`,
      columns: [{ name: 'Model' }, { name: 'Kind' }, numberColumn('Accuracy'), numberColumn(name)],
      rows: shown.map(({ label, kind, accuracy, unfairness }) => [
        labelText(label),
        KINDS[kind],
        tableValue(accuracy, 'share'),
        tableNumber(unfairness),
      ]),
    },
  ];
}

/** The two models that are compared stand first. */
function inOrder(points: readonly TradeOffPoint[]): TradeOffPoint[] {
  return Object.keys(KINDS).flatMap((kind) => points.filter((point) => point.kind === kind));
}

/** Where the threshold stands on an axis of unfairness: a ratio's at its distance from 1. */
function thresholdOf(
  threshold: number | null,
  isRatio: boolean,
): Pick<Parameters<typeof tradeOffChart>[1], 'threshold' | 'thresholdLabel'> {
  if (threshold === null || !isRatio) return { threshold };
  return { threshold: 1 - threshold, thresholdLabel: `threshold: ratio ${String(threshold)}` };
}
