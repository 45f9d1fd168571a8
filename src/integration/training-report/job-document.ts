import { VERSION } from '../../internal/version.ts';
import { inWords } from '../../metrics/metric-markdown.ts';
import type { DecisionQuality } from '../../training/decision-quality.ts';
import type { TrainingJobResult } from '../../training/jobs/job-result.ts';
import {
  numberColumn,
  type ReportBlock,
  type ReportDocument,
  type ReportTable,
} from '../../document/report-document.ts';
import { cutItems, labelText, listed } from '../../document/report-text.ts';
import { capital } from '../html/metric-charts.ts';
import { tableCount, tableNumber, tableValue } from '../html/report-numbers.ts';
import { metricChange, rangeText, signedValue } from '../workflow-report/change-words.ts';
import { constraintTerms, methodWords } from '../workflow-report/method-words.ts';
import { historyBlocks } from './history-blocks.ts';
import { groupBlocks } from './job-groups.ts';
import { isLagrangianJob, isReductionsJob } from './training-kinds.ts';

/** A training job under a constraint: the model with it and without it, on both sets of rows, and how training went. */
export function jobDocument(job: TrainingJobResult): ReportDocument {
  return {
    title: 'Training under a constraint',
    subject: subjectOf(job),
    sections: [
      {
        title: 'What changed',
        blocks: [
          qualityTable('On held-out rows, which neither model has seen', job.baseline, job.final),
          qualityTable('On the rows trained on, where the constraint is imposed', job.train.baseline, job.train.final),
          ...notes(job),
        ],
      },
      { title: 'What is constrained, and what it costs', blocks: [{ kind: 'list', items: priceOf(job) }] },
      { title: `By ${listed(job.sensitive)}`, blocks: groupBlocks(job) },
      { title: 'How training went', blocks: isLagrangianJob(job) ? historyBlocks(job) : searchBlocks(job) },
      { title: 'How to read this', blocks: [{ kind: 'list', items: READING }] },
    ],
    made: madeOf(job),
  };
}

function subjectOf({ target, positiveLabel, sensitive, folds, nTrain, nTest }: TrainingJobResult): string {
  const outcome = positiveLabel === null ? labelText(target) : `${labelText(target)} = ${labelText(positiveLabel)}`;
  const how =
    folds === null
      ? `${tableCount(nTrain)} rows trained on, ${tableCount(nTest)} held out`
      : `${tableCount(nTest)} rows cross-fitted in ${String(folds)} folds`;
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
      numberColumn('Without'),
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

function notes({ warnings }: TrainingJobResult): ReportBlock[] {
  return warnings.length === 0 ? [] : [{ kind: 'note', title: 'Warnings', items: cutItems(warnings.map(capital)) }];
}

function priceOf(job: TrainingJobResult): string[] {
  const terms = constraintTerms(job.constraint).map(
    ([name, value]) => `${name.charAt(0).toLowerCase()}${name.slice(1)} ${value}`,
  );
  const method = isLagrangianJob(job) ? 'lagrangian' : isReductionsJob(job) ? 'reductions' : undefined;
  const [from, to] = [job.baseline, job.final];
  return [
    ...(method === undefined ? [] : [methodWords(method)]),
    ...(terms.length === 0 ? [] : [`In its own terms: ${terms.join('; ')}.`]),
    `On held-out rows accuracy went from ${tableValue(from.accuracy, 'share')} to ${tableValue(to.accuracy, 'share')}: ${signedValue(to.accuracy - from.accuracy, 'share')}.`,
    ...(method === 'reductions'
      ? ['The model decides by chance: its numbers are exact expectations over that chance, and one draw differs.']
      : []),
  ];
}

/** How far the search of a reduction came. */
function searchBlocks(job: TrainingJobResult): ReportBlock[] {
  if (!isReductionsJob(job)) return [];
  return [
    {
      kind: 'facts',
      facts: [
        { name: 'Iterations', value: tableCount(job.iterations) },
        { name: 'Oracle calls', value: tableCount(job.oracleCalls), remark: 'how often the estimator was fitted' },
        { name: 'Predictors', value: tableCount(job.predictors), remark: 'with a probability above 0' },
        { name: 'Duality gap', value: tableNumber(job.bestGap), remark: 'how far the answer is from the best one' },
        { name: 'Violation', value: tableNumber(job.violation), remark: 'largest, on the training rows' },
      ],
    },
  ];
}

const READING: readonly string[] = [
  'Both models learn from the same rows and are judged on the same rows. A difference of 0 means equal rates over the groups compared; it says nothing of why rates differ.',
  'The constraint holds on the rows trained on, as far as training got there. On other rows the gap may be larger, the more so the fewer rows there are.',
  'The change has no interval of its own: where the two intervals are wide, a change of a few points may be chance.',
  'A gap can close because a group gains or because another one loses: the Change columns say which.',
];

function madeOf(job: TrainingJobResult): [name: string, value: string][] {
  return [
    ['evenhand', VERSION],
    ['Seed', String(job.seed)],
    ['Backend', job.backend],
    ...constraintTerms(job.constraint),
    ['Rows trained on', `${tableCount(job.nTrain)}: ${groupCounts(job)}`],
    ['Rows held out', tableCount(job.nTest)],
    ['Rows left out', `${tableCount(job.nDropped)} (target or group missing)`],
  ];
}

function groupCounts({ groups }: TrainingJobResult): string {
  return listed(Object.entries(groups).map(([label, n]) => `${labelText(label)} ${tableCount(n)}`));
}
