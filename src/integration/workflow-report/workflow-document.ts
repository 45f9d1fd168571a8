import { capital } from '../../internal/format.ts';
import { beforeAfterChart } from '../../charts/before-after-chart.ts';
import { tradeOffChart } from '../../charts/trade-off-chart.ts';
import {
  numberColumn,
  type ReportBlock,
  type ReportDocument,
  type ReportFact,
  type ReportSection,
} from '../../document/report-document.ts';
import { cutItems, labelText, listed } from '../../document/report-text.ts';
import { VERSION } from '../../internal/version.ts';
import { formatPercent, inWords } from '../../metrics/metric-markdown.ts';
import type { MetricResult } from '../../metrics/metric-result.ts';
import { intervalName } from '../html/metric-charts.ts';
import { own, tableCount, tableNumber, tableValue } from '../html/report-numbers.ts';
import type { TradeOffPoint, WorkflowFindings, WorkflowMetrics } from '../workflow-result.ts';
import { calibrationBlocks } from './calibration-section.ts';
import { accuracyInterval, changeBlocks, levelOf } from './change-table.ts';
import { compareGroups, type GroupComparison, groupTable } from './group-table.ts';
import { constraintTerms, methodWords, stepWords } from './method-words.ts';
import { cost, rangeText, workflowVerdict } from './verdict-words.ts';

const KINDS: Readonly<Record<TradeOffPoint['kind'], string>> = {
  baseline: 'baseline',
  final: 'final',
  candidate: 'drawn from by the mixture',
};

/** Accuracy against unfairness: where the baseline and the final model stand, and what a mixture draws from. */
function tradeOffBlocks({ tradeOff, validation }: WorkflowFindings): ReportBlock[] {
  const { metric, threshold } = validation;
  const drawable = tradeOff.filter(({ accuracy, unfairness }) => [accuracy, unfairness].every(Number.isFinite));
  if (tradeOff.length === 0) return [];
  const shown = inOrder(tradeOff).slice(0, MAX_LISTED);
  const rest =
    shown.length < tradeOff.length ? `, the first ${String(MAX_LISTED)} of ${tableCount(tradeOff.length)} points` : '';
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

/** Of more exclusions only those of the largest groups are listed. */
const MAX_LISTED = 40;

interface Excluded {
  readonly label: string;
  readonly n: number;
  readonly reason: string;
  readonly metrics: Set<string>;
  readonly steps: Set<string>;
}

/** Groups of an attribute, or single rates of them, that took no part in a metric before or after. */
function exclusionBlocks(
  attribute: string,
  baseline: WorkflowMetrics['attributes'],
  final: WorkflowMetrics['attributes'],
): ReportBlock[] {
  const all = [...collect(attribute, { before: baseline, after: final }).values()];
  if (all.length === 0) return [{ kind: 'paragraph', text: 'No group was excluded.' }];
  const listed = [...all].sort((a, b) => b.n - a.n || (a.label < b.label ? -1 : 1)).slice(0, MAX_LISTED);
  const left = all.length - listed.length;
  const rest = left === 0 ? '' : `; the ${String(MAX_LISTED)} largest of ${tableCount(all.length)} are listed`;
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

/** One section for each attribute: its groups before and after in a picture and a table per measure, and who took no part. */
function groupSections({ baselineMetrics, finalMetrics }: WorkflowFindings): ReportSection[] {
  const [before, after] = [baselineMetrics.attributes, finalMetrics.attributes];
  return Object.entries(after).map(([attribute, results]) => ({
    title: `By ${labelText(attribute)}`,
    blocks: [
      ...compareGroups(own(before, attribute) ?? {}, results).flatMap((comparison) =>
        comparisonBlocks(comparison, attribute),
      ),
      ...exclusionBlocks(attribute, before, after),
      ...notes(Object.values(results).flatMap(({ warnings }) => warnings)),
    ],
  }));
}

function comparisonBlocks(comparison: GroupComparison, attribute: string): ReportBlock[] {
  const { measure, unit, level, groups } = comparison;
  const table = groupTable(comparison, attribute);
  if (groups.length < 2) return [table];
  const lines = level === null ? '' : `; lines are ${intervalName(level)}s of each group by itself`;
  const chart = (): ReturnType<typeof beforeAfterChart> =>
    beforeAfterChart(
      { title: `${inWords(measure)} by ${attribute}`, unit, groups },
      { subtitle: `Hollow: before, full: after${lines}` },
    );
  return [{ kind: 'picture', chart }, table];
}

function notes(warnings: readonly string[]): ReportBlock[] {
  const items = [...new Set(warnings)];
  return items.length === 0
    ? []
    : [{ kind: 'note', title: 'Before you quote these values:', items: cutItems(items.map(capital)) }];
}

/** What a reader who is no statistician needs to know of a report that compares two models. */
const HOW_TO_READ: readonly string[] = [
  'A difference of 0, or a ratio of 1, means equal rates over the groups compared. It says nothing of groups that were excluded, or of why rates differ: a gap is a reason to look, and no gap is not proof of fair treatment.',
  'An interval holds the values that the data are compatible with at its level. The interval of a metric is made for the gap itself and holds for all pairs of groups together; the intervals of groups are of each group by itself, and two that overlap can still belong to groups that differ.',
  'Both models are judged on the same held-out rows, which neither was trained on. The change has no interval of its own: where the two intervals are wide, a change of a few points may be chance.',
  'The gate judges the point estimate. Where the interval straddles the threshold, another sample could turn the verdict. An undefined metric is no pass.',
  'Small groups have wide intervals, and their rates are more often extreme by chance alone. Groups with too few rows take no part; they are listed with their counts and are not thereby treated evenly.',
];

/** What a workflow found, in the order a reader needs it: the verdict, what changed, each step, each attribute. */
export function workflowDocument(findings: WorkflowFindings): ReportDocument {
  return {
    title: 'Fairness workflow',
    subject: subjectOf(findings),
    verdict: workflowVerdict(findings),
    sections: [
      { title: 'What changed', blocks: [...changeBlocks(findings), ...warningBlocks(findings.warnings)] },
      { title: 'Baseline (Step 1)', blocks: [{ kind: 'facts', facts: stepSummary(findings.baselineMetrics) }] },
      { title: 'Pipeline and training (Step 2)', blocks: trainingBlocks(findings) },
      { title: 'Final (Step 3)', blocks: [{ kind: 'facts', facts: stepSummary(findings.finalMetrics) }] },
      { title: 'What is constrained, and what it costs', blocks: [{ kind: 'list', items: priceOf(findings) }] },
      ...groupSections(findings),
      { title: 'Accuracy against unfairness', blocks: tradeOffBlocks(findings) },
      { title: 'Calibration', blocks: calibrationBlocks(findings) },
      { title: 'How to read this', blocks: [{ kind: 'list', items: HOW_TO_READ }] },
    ],
    made: madeOf(findings),
  };
}

function subjectOf({ config, split, finalMetrics }: WorkflowFindings): string {
  const target = config.training === undefined ? '' : `${labelText(config.training.targetColumn)} `;
  const sizes = `${tableCount(split.train.length)} rows trained on, ${tableCount(split.test.length)} held out`;
  return `${target}by ${listed(Object.keys(finalMetrics.attributes))}; ${sizes}`;
}

function warningBlocks(warnings: readonly string[]): ReportBlock[] {
  return warnings.length === 0 ? [] : [{ kind: 'note', title: 'Warnings', items: cutItems(warnings.map(capital)) }];
}

function priceOf({ config, baselineMetrics, finalMetrics }: WorkflowFindings): string[] {
  return [
    ...config.pipeline.map(stepWords),
    ...(config.training === undefined ? [] : [methodWords(config.training.method)]),
    cost(baselineMetrics, finalMetrics),
    'A gap can close because a group gains or because another one loses: the Change columns below say which.',
    'Only the rates named here were compared, and only by the attributes named here. Other rates and other groups may have moved the other way.',
  ].filter((item) => item !== '');
}

function madeOf(findings: WorkflowFindings): [name: string, value: string][] {
  const { finalMetrics, seed, config } = findings;
  const methods = Object.values(finalMetrics.attributes).flatMap((results) =>
    Object.values(results).flatMap(({ ciMethod }) => ciMethod ?? []),
  );
  return [
    ['evenhand', VERSION],
    ['Seed', String(seed)],
    ['Metrics', Object.keys(finalMetrics.metrics).join(', ') || 'none'],
    ['Interval level', methods.length === 0 ? 'none' : formatPercent(levelOf(finalMetrics))],
    ['Interval method', [...new Set(methods)].join(', ') || 'none'],
    ['Sensitive attributes', listed(config.sensitive)],
    ['Crossings', listed(config.intersections.map((names) => names.join(' x ')))],
  ];
}

/** One step of a workflow in a few numbers: of several attributes the worst of each metric. */
function stepSummary(metrics: WorkflowMetrics): ReportFact[] {
  const { n, accuracy, meanAbsoluteError } = metrics;
  const level = levelOf(metrics);
  const performance: ReportFact[] =
    accuracy !== null
      ? [
          {
            name: 'Accuracy',
            value: tableValue(accuracy, 'share'),
            remark: `${intervalName(level)} ${accuracyInterval(accuracy, n, level)}`,
          },
        ]
      : meanAbsoluteError !== null
        ? [{ name: 'Mean absolute error', value: tableNumber(meanAbsoluteError) }]
        : [];
  return [
    { name: 'Rows judged', value: tableCount(n), remark: 'held out from training' },
    ...performance,
    ...Object.entries(metrics.metrics).map(([metric, result]) => ({
      name: inWords(metric),
      value: tableNumber(result.value),
      remark: remarkOf(metric, result, metrics),
    })),
  ];
}

function remarkOf(metric: string, result: MetricResult, { attributes }: WorkflowMetrics): string {
  if (result.undefinedReason !== null) return result.undefinedReason;
  const interval = result.ci === null ? [] : [`${intervalName(result.ciLevel)} ${rangeText(result.ci)}`];
  const place = Object.keys(attributes).find((name) => own(own(attributes, name), metric)?.value === result.value);
  const isWorst = Object.keys(attributes).length > 1 && place !== undefined;
  return [...interval, ...(isWorst ? [`the worst, by ${labelText(place)}`] : [])].join('; ');
}

/** How the final model was made: the pipeline's steps, the features, the method and its terms. */
function trainingBlocks(findings: WorkflowFindings): ReportBlock[] {
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
