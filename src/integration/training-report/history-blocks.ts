import { historyChart } from '../../charts/history-chart.ts';
import type { LagrangianEpoch } from '../../training/networks/lagrangian-objective.ts';
import type { LagrangianJobResult } from '../../training/jobs/train-lagrangian.ts';
import { numberColumn, type ReportBlock } from '../../document/report-document.ts';
import { tableCount, tableNumber } from '../html/report-numbers.ts';

/** Of more epochs only so many stand in the table. */
const MOST_LISTED = 25;

/** How the gap and its multipliers went, epoch by epoch, on the rows trained on. */
export function historyBlocks({ history, bestEpoch, constraint }: LagrangianJobResult): ReportBlock[] {
  if (history.length === 0) return [];
  const shown = sampled(history, bestEpoch);
  const multipliers = history[0]?.lambdas.length ?? 0;
  const rest = shown.length < history.length ? `, ${String(shown.length)} of ${tableCount(history.length)}` : '';
  return [
    {
      kind: 'paragraph',
      text: `The weights kept are those of epoch ${String(bestEpoch)}. A multiplier rises while the gap is above the tolerance and falls, down to 0, while it is below; one that still rises at the end has not got there.`,
    },
    { kind: 'picture', chart: () => historyChart(history, { bestEpoch, tolerance: toleranceOf(constraint) }) },
    {
      kind: 'table',
      caption: `Epochs${rest}`,
      columns: [
        { name: 'Epoch' },
        numberColumn('Loss'),
        numberColumn('Gap of decisions'),
        numberColumn('Gap of soft rates'),
        ...Array.from({ length: multipliers }, (_, place) =>
          numberColumn(multipliers === 1 ? 'Multiplier' : `Multiplier ${String(place + 1)}`),
        ),
      ],
      rows: shown.map(({ epoch, loss, violationHard, violationSoft, lambdas }) => [
        epoch === bestEpoch ? `${String(epoch)} (kept)` : String(epoch),
        ...[loss, violationHard, violationSoft, ...lambdas].map(tableNumber),
      ]),
    },
  ];
}

/** Evenly spaced epochs, with the first, the kept and the last one among them. */
function sampled(history: readonly LagrangianEpoch[], bestEpoch: number): LagrangianEpoch[] {
  if (history.length <= MOST_LISTED) return [...history];
  const step = (history.length - 1) / (MOST_LISTED - 2);
  const places = new Set(Array.from({ length: MOST_LISTED - 1 }, (_, place) => Math.round(place * step)));
  return history.filter(({ epoch }, place) => places.has(place) || epoch === bestEpoch);
}

/** The tolerance that the gap was held to, where the constraint has exactly one. */
function toleranceOf(constraint: Readonly<Record<string, unknown>>): number | null {
  const key = constraint['fairness'] === 'demographic_parity' ? 'dp_tol' : 'eo_tol';
  const tolerance = constraint[key];
  return typeof tolerance === 'number' ? tolerance : null;
}
