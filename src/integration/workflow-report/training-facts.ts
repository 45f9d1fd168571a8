import type { ReportBlock } from '../../document/report-document.ts';
import { labelText, listed } from '../../document/report-text.ts';
import { tableCount, tableNumber, tableValue } from '../html/report-numbers.ts';
import type { WorkflowFindings } from '../workflow/workflow-result.ts';
import { constraintTerms } from './method-words.ts';

/** How the final model was made: the pipeline's steps, the features, the method and its terms. */
export function trainingBlocks(findings: WorkflowFindings): ReportBlock[] {
  const { transformersApplied: steps, features } = findings;
  return [
    {
      kind: 'list',
      items: [
        steps.length === 0 ? 'The pipeline has no steps.' : `Steps, in order: ${steps.map(labelText).join(', then ')}.`,
        ...featureWords(features),
      ],
    },
    {
      kind: 'table',
      caption: 'How it was trained',
      columns: [{ name: 'What' }, { name: 'Value' }],
      rows: termsOf(findings),
    },
  ];
}

function featureWords({ baseline, final }: WorkflowFindings['features']): string[] {
  const dropped = baseline.filter((name) => !final.includes(name));
  const added = final.filter((name) => !baseline.includes(name));
  const counted = (names: readonly string[]): string => `${tableCount(names.length)}: ${listed(names)}`;
  if (dropped.length === 0 && added.length === 0) return [`Features, before and after: ${counted(baseline)}.`];
  return [
    `Features before: ${counted(baseline)}.`,
    `Features after: ${counted(final)}.`,
    ...(dropped.length === 0 ? [] : [`Dropped: ${listed(dropped)}.`]),
    ...(added.length === 0 ? [] : [`New: ${listed(added)}.`]),
  ];
}

function termsOf(findings: WorkflowFindings): string[][] {
  const { config, constraint, split, task } = findings;
  const { training } = config;
  return [
    ['Method', training?.method ?? 'none'],
    ...constraintTerms(constraint),
    ['Target', targetWords(findings)],
    ['Task', task === 'binary' ? 'decisions (0 or 1)' : 'numbers'],
    ...(task === 'binary'
      ? [
          ['Class weights', classWeightWords(findings)],
          ['Decision threshold', thresholdWords(findings.decisionThreshold)],
        ]
      : []),
    ['Rows trained on', `${tableCount(split.train.length)} (${tableValue(split.trainSize, 'share')} of those usable)`],
    ['Rows held out', tableCount(split.test.length)],
    ['Rows left out', `${tableCount(split.nDropped)} (target or sensitive attribute missing)`],
    ['Smallest group compared', `${tableCount(findings.minGroupSize)} rows`],
    ['Seed', String(findings.seed)],
  ];
}

function targetWords({ config: { training }, positiveLabel }: WorkflowFindings): string {
  if (training === undefined) return 'none';
  const target = labelText(training.targetColumn);
  return positiveLabel === null ? target : `${target}, where ${labelText(positiveLabel)} counts as 1`;
}

function classWeightWords({ classWeight, config }: WorkflowFindings): string {
  if (classWeight === null) return 'none: every row weighs the same';
  const words =
    classWeight === 'balanced'
      ? 'balanced: both classes weigh the same in the loss'
      : ([0, 1] as const).map((label) => `${tableNumber(classWeight[label] ?? 1)} for ${String(label)}`).join(', ');
  // Networks weigh rows by their own options.
  return config.training?.method === 'reductions' ? words : `${words} (of the baseline)`;
}

function thresholdWords(threshold: number | null): string {
  return threshold === null ? "the model's own" : String(threshold);
}
