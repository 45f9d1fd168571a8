import { reliabilityChart } from '../../charts/reliability-chart.ts';
import { VERSION } from '../../internal/version.ts';
import type { CalibrationQuality } from '../../training/postprocessing/calibrator/measure-calibration.ts';
import type { MeasuredRows, MeasuredCalibration } from '../../training/postprocessing/calibrator/table-calibration.ts';
import { noteBlocks, numberColumn, type ReportBlock, type ReportDocument } from '../../document/report-document.ts';
import { own } from '../../internal/values.ts';
import { capital, counted, tableCount, tableNumber, tableValue } from '../../internal/format.ts';
import { labelText, listed } from '../../document/report-text.ts';
import { reliabilityPanels } from '../workflow-report/calibration-section.ts';

/** The maximum number of groups in the table. If there are more, the largest groups are listed. */
const MAX_LISTED = 40;

const MEASURES = [
  ['ece', 'Calibration error'],
  ['brierScore', 'Brier score'],
  ['logLoss', 'Log loss'],
] as const;

const MEASURED_ON: Readonly<Record<MeasuredRows, string>> = {
  cross_fitted_rows: 'rows that the calibrators were not fitted on (cross-fitted in folds)',
  held_out_rows: 'held-out rows that the calibrators were not fitted on',
  fitted_rows: 'the rows that the calibrators were fitted on, so the errors are optimistic',
};

/** Builds the report of a calibration by group: errors before and after, reliability curves, and fallback groups. */
export function calibrationDocument(calibration: MeasuredCalibration): ReportDocument {
  const { columns, n } = calibration;
  return {
    title: 'Calibration by group',
    subject: `${labelText(columns.score)} for ${labelText(columns.target)} by ${listed(columns.group)}; ${counted(n, 'row')}`,
    sections: [
      {
        title: 'What changed',
        blocks: [qualityTable(calibration), ...noteBlocks('Warnings', calibration.warnings.map(capital))],
      },
      { title: 'Reliability', blocks: [pictureOf(calibration), ...fallbackBlocks(calibration)] },
      { title: 'What is constrained, and what it costs', blocks: [{ kind: 'list', items: priceOf(calibration) }] },
      { title: 'How to read this', blocks: [{ kind: 'list', items: READING }] },
    ],
    made: madeOf(calibration),
  };
}

function qualityTable({ before, after, measuredOn }: MeasuredCalibration): ReportBlock {
  const groups = [...after.groups].sort((a, b) => b.n - a.n).slice(0, MAX_LISTED);
  const kept = new Set(groups.map(({ group }) => group));
  const rest =
    after.groups.length > groups.length
      ? `; the ${String(MAX_LISTED)} largest of ${tableCount(after.groups.length)} groups`
      : '';
  return {
    kind: 'table',
    caption: `Measured on ${MEASURED_ON[measuredOn]}${rest}`,
    columns: [
      { name: 'Group' },
      numberColumn('n'),
      numberColumn('Positive'),
      ...MEASURES.flatMap(([, name]) => [numberColumn(`${name} before`), numberColumn(`${name} after`)]),
    ],
    rows: [
      rowOf('All rows', before.overall, after.overall),
      ...after.groups
        .filter(({ group }) => kept.has(group))
        .map((quality) =>
          rowOf(
            labelText(quality.group),
            before.groups.find(({ group }) => group === quality.group),
            quality,
          ),
        ),
    ],
  };
}

function rowOf(label: string, before: CalibrationQuality | undefined, after: CalibrationQuality): string[] {
  const pairs = MEASURES.flatMap(([key]) => [tableNumber(before?.[key]), tableNumber(after[key])]);
  return [label, tableCount(after.n), tableValue(after.positiveRate, 'share'), ...pairs];
}

function pictureOf({ curves: { before, after } }: MeasuredCalibration): ReportBlock {
  const panels = reliabilityPanels(before, after);
  return { kind: 'picture', chart: () => reliabilityChart(panels, { level: before.level }) };
}

function fallbackBlocks({ fallbacks }: MeasuredCalibration): ReportBlock[] {
  const labels = Object.keys(fallbacks);
  if (labels.length === 0) return [{ kind: 'paragraph', text: 'Every group has its own calibrator.' }];
  const shown = labels.slice(0, MAX_LISTED);
  const rest = shown.length < labels.length ? `: the first ${String(MAX_LISTED)} of ${tableCount(labels.length)}` : '';
  return [
    {
      kind: 'table',
      caption: `Groups that use the calibrator of all rows${rest}`,
      columns: [{ name: 'Group' }, numberColumn('n'), { name: 'Reason' }],
      rows: shown.map((label) => [
        labelText(label),
        tableCount(own(fallbacks, label)?.n),
        (own(fallbacks, label)?.reason ?? '').replace('minSamples = ', ''),
      ]),
    },
  ];
}

/** Describes the purpose of the calibration, and lists the errors over all rows that it increased. */
function priceOf({ before, after }: MeasuredCalibration): string[] {
  const worse = MEASURES.filter(([key]) => after.overall[key] > before.overall[key]);
  return [
    ...PRICE,
    ...worse.map(
      ([key, name]) =>
        `The ${name.toLowerCase()} of all rows rose from ${tableNumber(before.overall[key])} to ${tableNumber(after.overall[key])}.`,
    ),
  ];
}

const PRICE: readonly string[] = [
  'Calibration makes a score near 0.7 mean 70% positives in every group. It does not constrain gaps in decisions. If the shares of positives differ between groups, equal calibration and equal error rates are not possible at the same time, except for perfect scores.',
  'Calibration by group needs the group of a row at decision time, and it changes which rows are above a threshold.',
];

const READING: readonly string[] = [
  'The calibration error is the mean distance between scores and shares of positives over ten bins. Chance inflates it in small groups, so compare before with after, not one group with another.',
  'The Brier score and the log loss also measure how well scores separate positive from negative rows. Smaller is better for all three.',
  'In the charts, dots on the diagonal are calibrated; bars are the intervals of individual bins.',
];

function madeOf(calibration: MeasuredCalibration): [name: string, value: string][] {
  const { calibrator, folds, trainSize, seed, n, nDropped } = calibration;
  return [
    ['evenhand', VERSION],
    ['Method', calibrator.method],
    ['Minimum rows per group', tableCount(calibrator.minSamples)],
    ['Folds', folds === null ? 'none' : String(folds)],
    ['Training share', trainSize === null ? 'all' : tableValue(trainSize, 'share')],
    ['Seed', String(seed)],
    ['Rows', tableCount(n)],
    ['Excluded rows', `${tableCount(nDropped)} (score, label or group missing)`],
  ];
}
