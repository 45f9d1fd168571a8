import type { ComparedGroup, ComparedValue } from '../../charts/before-after-chart.ts';
import { historyChart } from '../../charts/history-chart.ts';
import {
  noteBlocks,
  numberColumn,
  type ReportBlock,
  type ReportDocument,
  type ReportTable,
} from '../../document/report-document.ts';
import { labelText, listed } from '../../document/report-text.ts';
import { VERSION } from '../../internal/version.ts';
import { inWords } from '../../metrics/metric-markdown.ts';
import { wilsonInterval } from '../../stats/proportion-interval.ts';
import type { DecisionQuality, GroupDecisions } from '../../training/decision-quality.ts';
import type { TrainingJobResult } from '../../training/jobs/job-result.ts';
import type { LagrangianJobResult } from '../../training/jobs/train-lagrangian.ts';
import type { ReductionsJobResult } from '../../training/jobs/train-reductions.ts';
import type { LagrangianEpoch } from '../../training/networks/lagrangian-objective.ts';
import { comparisonBlocks } from '../workflow-report/group-table.ts';
import { constraintTerms, METHOD_WORDS } from '../workflow-report/method-words.ts';
import { metricChange, signedValue } from '../workflow-report/workflow-changes.ts';
import { capital, counted, tableCount, rangeText, tableNumber, tableValue } from '../../internal/format.ts';

/** The confidence level of the intervals for rates. The intervals for gaps have the same level. */
const LEVEL = 0.95;

const MEASURES = [
  ['selection_rate', 'selectionRate'],
  ['true_positive_rate', 'truePositiveRate'],
  ['false_positive_rate', 'falsePositiveRate'],
] as const;

/** Returns charts and tables of the held-out rates of every group, with and without the constraint. */
function groupBlocks(job: TrainingJobResult): ReportBlock[] {
  const attribute = listed(job.sensitive);
  return MEASURES.flatMap(([measure, key]): ReportBlock[] => {
    // Only the denominator of a selection rate is known: the number of rows of the group.
    const level = measure === 'selection_rate' ? LEVEL : null;
    const lines = level === null ? '' : '; lines are 95% intervals';
    return comparisonBlocks(
      { measure, unit: 'share', level, groups: groupsOf(job, key, level) },
      attribute,
      `Before: without the constraint; after: with it${lines}`,
    );
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

/** The maximum number of epochs in the table. */
const MAX_LISTED = 25;

/** Returns the history of the gap and its multipliers on the training rows, by epoch. */
function historyBlocks(job: TrainingJobResult): ReportBlock[] {
  if (!isLagrangianJob(job) || job.history.length === 0) return [];
  const { history, bestEpoch, constraint } = job;
  const shown = sampled(history, bestEpoch);
  const multipliers = history[0]?.lambdas.length ?? 0;
  const rest = shown.length < history.length ? `, ${String(shown.length)} of ${tableCount(history.length)}` : '';
  return [
    {
      kind: 'paragraph',
      text: `The model keeps the weights of epoch ${String(bestEpoch)}. A multiplier rises while the gap is above the tolerance and falls, down to 0, while it is below. A multiplier that still rises at the end has not converged.`,
    },
    { kind: 'picture', chart: () => historyChart(history, { bestEpoch, tolerance: toleranceOf(constraint) }) },
    {
      kind: 'table',
      caption: `Epochs${rest}`,
      columns: [
        { name: 'Epoch' },
        numberColumn('Loss'),
        numberColumn('Gap in decisions'),
        numberColumn('Gap in soft rates'),
        ...Array.from({ length: multipliers }, (_, index) =>
          numberColumn(multipliers === 1 ? 'Multiplier' : `Multiplier ${String(index + 1)}`),
        ),
      ],
      rows: shown.map(({ epoch, loss, violationHard, violationSoft, lambdas }) => [
        epoch === bestEpoch ? `${String(epoch)} (kept)` : String(epoch),
        ...[loss, violationHard, violationSoft, ...lambdas].map(tableNumber),
      ]),
    },
  ];
}

/** Returns evenly spaced epochs, including the first epoch, the last epoch and the epoch of the kept model. */
function sampled(history: readonly LagrangianEpoch[], bestEpoch: number): LagrangianEpoch[] {
  if (history.length <= MAX_LISTED) return [...history];
  const step = (history.length - 1) / (MAX_LISTED - 2);
  const indices = new Set(Array.from({ length: MAX_LISTED - 1 }, (_, index) => Math.round(index * step)));
  return history.filter(({ epoch }, index) => indices.has(index) || epoch === bestEpoch);
}

/** Returns the tolerance of the constraint; null if there is none. */
function toleranceOf(constraint: Readonly<Record<string, unknown>>): number | null {
  const key = constraint['fairness'] === 'demographic_parity' ? 'dp_tol' : 'eo_tol';
  const tolerance = constraint[key];
  return typeof tolerance === 'number' ? tolerance : null;
}

/**
 * Builds the report of a training with a constraint. It shows both models on training and held-out rows, and the course
 * of the training.
 */
export function jobDocument(job: TrainingJobResult): ReportDocument {
  return {
    title: 'Training with a fairness constraint',
    subject: subjectOf(job),
    sections: [
      {
        title: 'What changed',
        blocks: [
          qualityTable('On held-out rows', job.baseline, job.final),
          qualityTable('On the training rows, where the constraint is imposed', job.train.baseline, job.train.final),
          ...noteBlocks('Warnings', job.warnings.map(capital)),
        ],
      },
      { title: 'What is constrained, and what it costs', blocks: [{ kind: 'list', items: priceOf(job) }] },
      { title: `By ${listed(job.sensitive)}`, blocks: groupBlocks(job) },
      { title: 'How training went', blocks: [...historyBlocks(job), ...searchBlocks(job)] },
      { title: 'How to read this', blocks: [{ kind: 'list', items: READING }] },
    ],
    made: madeOf(job),
  };
}

function subjectOf({ target, positiveLabel, sensitive, folds, nTrain, nTest }: TrainingJobResult): string {
  const outcome = positiveLabel === null ? labelText(target) : `${labelText(target)} = ${labelText(positiveLabel)}`;
  const how =
    folds === null
      ? `${counted(nTrain, 'training row')}, ${counted(nTest, 'held-out row')}`
      : `${counted(nTest, 'row')} cross-fitted in ${String(folds)} folds`;
  return `${outcome} by ${listed(sensitive)}; ${how}`;
}

function qualityTable(caption: string, before: DecisionQuality, after: DecisionQuality): ReportTable {
  const gap = (metric: string, key: 'dpDiff' | 'eoDiff'): string[] => {
    const interval = (quality: DecisionQuality): string => {
      const ci = quality[`${key}Ci`];
      return ci === null ? 'none' : rangeText(ci);
    };
    const [from, to] = [before[key], after[key]];
    const values = [tableNumber(from), interval(before), tableNumber(to), interval(after)];
    return [inWords(metric), ...values, metricChange(metric, from, to)];
  };
  const share = (end: number): string => tableValue(end, 'share');
  return {
    kind: 'table',
    caption: `${caption} (${tableCount(after.n)} rows)`,
    columns: [
      { name: 'Metric' },
      numberColumn('Without the constraint'),
      numberColumn('95% interval'),
      numberColumn('With the constraint'),
      numberColumn('95% interval'),
      numberColumn('Change'),
    ],
    rows: [
      [
        'Accuracy',
        share(before.accuracy),
        rangeText(before.accuracyCi, share),
        share(after.accuracy),
        rangeText(after.accuracyCi, share),
        signedValue(after.accuracy - before.accuracy, 'share'),
      ],
      gap('demographic_parity_difference', 'dpDiff'),
      gap('equalized_odds_difference', 'eoDiff'),
    ],
  };
}

function priceOf(job: TrainingJobResult): string[] {
  const terms = constraintTerms(job.constraint).map(
    ([name, value]) => `${name.charAt(0).toLowerCase()}${name.slice(1)} ${value}`,
  );
  const method = isLagrangianJob(job) ? 'lagrangian' : isReductionsJob(job) ? 'reductions' : undefined;
  const [from, to] = [job.baseline, job.final];
  return [
    ...(method === undefined ? [] : [METHOD_WORDS[method]]),
    ...(terms.length === 0 ? [] : [`Parameters: ${terms.join('; ')}.`]),
    `On held-out rows accuracy went from ${tableValue(from.accuracy, 'share')} to ${tableValue(to.accuracy, 'share')}: ${signedValue(to.accuracy - from.accuracy, 'share')}.`,
    ...(method === 'reductions'
      ? [
          'The model makes randomised decisions. Its numbers are exact expectations over this randomness; a single draw differs.',
        ]
      : []),
  ];
}

function isLagrangianJob(job: TrainingJobResult): job is LagrangianJobResult {
  return 'history' in job && 'bestEpoch' in job;
}

function isReductionsJob(job: TrainingJobResult): job is ReductionsJobResult {
  return 'bestGap' in job && 'oracleCalls' in job;
}

/** Returns facts about the end of a reduction's search for a solution. */
function searchBlocks(job: TrainingJobResult): ReportBlock[] {
  if (!isReductionsJob(job)) return [];
  return [
    {
      kind: 'facts',
      facts: [
        { name: 'Iterations', value: tableCount(job.iterations) },
        { name: 'Oracle calls', value: tableCount(job.oracleCalls), remark: 'number of fits of the estimator' },
        { name: 'Predictors', value: tableCount(job.predictors), remark: 'with a probability above 0' },
        { name: 'Duality gap', value: tableNumber(job.bestGap), remark: 'distance of the solution from the optimum' },
        { name: 'Violation', value: tableNumber(job.violation), remark: 'largest on the training rows' },
      ],
    },
  ];
}

const READING: readonly string[] = [
  'Both models are trained on the same rows and measured on the same rows. A difference of 0 means equal rates over the groups compared; it says nothing about why rates differ.',
  'The constraint is imposed on the training rows, and it is met there only as far as training converged. On other rows the gap may be larger, especially if there are few rows.',
  'The change has no interval of its own. If the two intervals are wide, a change of a few points may be due to chance.',
  'A gap can close because one group gains or because another group loses. The Change columns show which of the two happened.',
];

function madeOf(job: TrainingJobResult): [name: string, value: string][] {
  return [
    ['evenhand', VERSION],
    ['Seed', String(job.seed)],
    ['Backend', job.backend],
    ...constraintTerms(job.constraint),
    ['Training rows', `${tableCount(job.nTrain)}: ${groupCounts(job)}`],
    ['Held-out rows', tableCount(job.nTest)],
    ['Excluded rows', `${tableCount(job.nDropped)} (target or group missing)`],
  ];
}

function groupCounts({ groups }: TrainingJobResult): string {
  return listed(Object.entries(groups).map(([label, n]) => `${labelText(label)} ${tableCount(n)}`));
}
