import { paretoChart } from '../../charts/pareto-chart.ts';
import { VERSION } from '../../internal/version.ts';
import type { ParetoPoint } from '../../training/pareto/pareto-points.ts';
import type { ParetoSweep } from '../../training/pareto/pareto-sweep.ts';
import {
  numberColumn,
  type ReportBlock,
  type ReportDocument,
  type ReportTable,
} from '../../document/report-document.ts';
import { cutItems, labelText, listed } from '../../document/report-text.ts';
import { capital } from '../html/metric-charts.ts';
import { tableCount, tableNumber, tableValue } from '../html/report-numbers.ts';
import { rangeText } from '../workflow-report/change-words.ts';

/** A sweep over the weight of a penalty: every point with its intervals, and what may be read from them. */
export function sweepDocument(sweep: ParetoSweep): ReportDocument {
  return {
    title: 'Training sweep',
    subject: subjectOf(sweep),
    sections: [
      { title: 'Accuracy against the gap', blocks: [...pictureOf(sweep), pointsTable(sweep), ...notes(sweep)] },
      { title: 'What is constrained, and what it costs', blocks: [{ kind: 'list', items: priceOf(sweep) }] },
      { title: 'How to read this', blocks: [{ kind: 'list', items: READING }] },
    ],
    made: madeOf(sweep),
  };
}

function subjectOf({ target, positiveLabel, sensitive, nTest, folds }: ParetoSweep): string {
  const outcome = positiveLabel === null ? labelText(target) : `${labelText(target)} = ${labelText(positiveLabel)}`;
  const how = folds === null ? 'held out' : `cross-fitted in ${String(folds)} folds`;
  return `${outcome} by ${listed(sensitive)}; ${tableCount(nTest)} rows ${how}`;
}

function pictureOf(sweep: ParetoSweep): ReportBlock[] {
  const drawable = sweep.filter(({ dpDiff }) => Number.isFinite(dpDiff));
  if (drawable.length === 0) return [];
  const subtitle = `Penalty ${sweep.penalty}; crosses are 95% intervals; labels are the penalty's weight`;
  return [{ kind: 'picture', chart: () => paretoChart(drawable, { subtitle }) }];
}

function pointsTable(sweep: ParetoSweep): ReportTable {
  return {
    kind: 'table',
    caption: 'Points of the sweep, on rows that no network was trained on',
    columns: [
      { name: 'Eta' },
      numberColumn('Accuracy'),
      numberColumn('95% interval'),
      numberColumn('Demographic parity difference'),
      numberColumn('95% interval'),
      numberColumn('Equalized odds difference'),
      numberColumn('Loss'),
      { name: 'Dominated' },
    ],
    rows: sweep.map((point) => [
      String(point.eta),
      tableValue(point.accuracy, 'share'),
      rangeText(point.accuracyCi, (end) => tableValue(end, 'share')),
      tableNumber(point.dpDiff),
      point.dpDiffCi === null ? 'none' : rangeText(point.dpDiffCi),
      tableNumber(point.eoDiff),
      tableNumber(point.loss),
      point.dominated ? 'yes' : 'no',
    ]),
  };
}

function notes({ warnings }: ParetoSweep): ReportBlock[] {
  return warnings.length === 0 ? [] : [{ kind: 'note', title: 'Warnings', items: cutItems(warnings.map(capital)) }];
}

function priceOf(sweep: ParetoSweep): string[] {
  const ends = endsOf(sweep);
  const undominated = sweep.filter(({ dominated }) => !dominated).length;
  return [
    `The penalty (${sweep.penalty}) presses on the gap between the scores of groups while training; a larger eta presses harder. It sets no bound on the gap of decisions.`,
    ...(ends === undefined
      ? []
      : [
          `Over the sweep accuracy goes from ${share(ends.most)} (eta ${String(ends.most.eta)}) to ${share(ends.least)} (eta ${String(ends.least.eta)}): what a smaller gap costs lies between.`,
        ]),
    `${String(undominated)} of ${String(sweep.length)} points are not dominated: no other point is at least as accurate and as even, and better in one of the two.`,
    'Equalized odds are shown and were not chosen for: a point that closes one gap can open another.',
  ];
}

/** The most and the least accurate of the points that are not dominated. */
function endsOf(sweep: ParetoSweep): { readonly most: ParetoPoint; readonly least: ParetoPoint } | undefined {
  const sorted = sweep.filter(({ dominated }) => !dominated).sort((a, b) => b.accuracy - a.accuracy);
  const [most, least] = [sorted[0], sorted.at(-1)];
  return most === undefined || least === undefined || most === least ? undefined : { most, least };
}

function share({ accuracy }: ParetoPoint): string {
  return tableValue(accuracy, 'share');
}

const READING: readonly string[] = [
  'Better is up and to the left: more accurate, and more even. Points whose crosses overlap much may have their places by chance.',
  'A point chosen because it looks best on these rows looks better than it is. Choose on one set of rows, and measure the choice on another.',
  'The hypervolume is the area that the points dominate above always deciding for the larger class: larger is better, and only sweeps of the same rows compare.',
];

function madeOf(sweep: ParetoSweep): [name: string, value: string][] {
  return [
    ['evenhand', VERSION],
    ['Seed', String(sweep.seed)],
    ['Backend', sweep.backend],
    ['Penalty', sweep.penalty],
    ['Hypervolume', tableNumber(sweep.hypervolume)],
    ['Folds', sweep.folds === null ? 'none' : String(sweep.folds)],
    ['Rows trained on', tableCount(sweep.nTrain)],
    ['Rows measured', tableCount(sweep.nTest)],
    ['Rows left out', `${tableCount(sweep.nDropped)} (target or group missing)`],
  ];
}
