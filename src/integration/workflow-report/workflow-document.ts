import {
  capital,
  counted,
  tableCount,
  formatLevel,
  rangeText,
  tableNumber,
  tableValue,
} from '../../internal/format.ts';
import { tradeOffChart } from '../../charts/trade-off-chart.ts';
import {
  noteBlocks,
  numberColumn,
  type ReportBlock,
  type ReportDocument,
  type ReportFact,
  type ReportSection,
} from '../../document/report-document.ts';
import { labelText, listed } from '../../document/report-text.ts';
import { VERSION } from '../../internal/version.ts';
import { inWords } from '../../metrics/metric-markdown.ts';
import type { MetricResult } from '../../metrics/metric-result.ts';
import { intervalName } from '../metric-facts.ts';
import { resultsOf, type TradeOffPoint, type WorkflowFindings, type WorkflowMetrics } from '../workflow-result.ts';
import { calibrationBlocks } from './calibration-section.ts';
import { compareGroups, comparisonBlocks, type GroupComparison } from './group-table.ts';
import { constraintTerms, METHOD_WORDS, stepWords } from './method-words.ts';
import { own } from '../../internal/values.ts';
import { hasClusters } from '../../table/cluster-columns.ts';
import { accuracyInterval, changeBlocks, cost, levelOf, performanceOf, workflowVerdict } from './workflow-changes.ts';

const KINDS: Readonly<Record<TradeOffPoint['kind'], string>> = {
  baseline: 'baseline',
  final: 'final',
  candidate: 'predictor of the mixture',
};

/** Returns the chart and table of accuracy against unfairness: baseline, final model, and predictors of a mixture. */
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
      text: `Each point is a model on the held-out rows. Points higher up are more accurate; points further left are closer to parity by ${inWords(metric).toLowerCase()} of the worst attribute. The axes of the chart are cut to fit the points.`,
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

/** Sorts the points so that the baseline and the final model come first. */
function inOrder(points: readonly TradeOffPoint[]): TradeOffPoint[] {
  return Object.keys(KINDS).flatMap((kind) => points.filter((point) => point.kind === kind));
}

/**
 * Returns the position of the threshold on the axis of unfairness. For a ratio, this is the distance of the threshold
 * from 1.
 */
function thresholdOf(
  threshold: number | null,
  isRatio: boolean,
): Pick<Parameters<typeof tradeOffChart>[1], 'threshold' | 'thresholdLabel'> {
  if (threshold === null || !isRatio) return { threshold };
  return { threshold: 1 - threshold, thresholdLabel: `threshold: ratio ${String(threshold)}` };
}

/** The maximum number of exclusions in a table. The exclusions of the largest groups are listed. */
const MAX_LISTED = 40;

interface Excluded {
  readonly label: string;
  readonly n: number;
  readonly reason: string;
  readonly metrics: Set<string>;
  readonly steps: Set<string>;
}

/** Returns what a metric excludes before or after: groups of an attribute, or single rates of groups. */
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
      caption: `Excluded groups, or single rates of groups, by ${labelText(attribute)}${rest}`,
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

/** Builds a section for each attribute: a chart and a table of its groups for each measure, and the exclusions. */
function groupSections({ baselineMetrics, finalMetrics }: WorkflowFindings): ReportSection[] {
  const [before, after] = [baselineMetrics.attributes, finalMetrics.attributes];
  return Object.entries(after).map(([attribute, results]) => ({
    title: `By ${labelText(attribute)}`,
    blocks: [
      ...compareGroups(own(before, attribute) ?? {}, results).flatMap((comparison) =>
        comparisonBlocks(comparison, attribute, subtitleOf(comparison)),
      ),
      ...exclusionBlocks(attribute, before, after),
      ...noteBlocks('Before you quote these values:', [
        ...new Set(Object.values(results).flatMap(({ warnings }) => warnings.map(capital))),
      ]),
    ],
  }));
}

function subtitleOf({ level }: GroupComparison): string {
  const lines = level === null ? '' : `; lines are the ${intervalName(level)}s of the individual groups`;
  return `Hollow: before; filled: after${lines}`;
}

/** Explanations of a comparison of two models, for readers without a background in statistics. */
const HOW_TO_READ: readonly string[] = [
  'A difference of 0, or a ratio of 1, means equal rates over the groups compared. It says nothing about excluded groups or about why rates differ. A gap is a reason to investigate, and the absence of a gap does not prove fair treatment.',
  'An interval contains the values that are compatible with the data at its level. The interval of a metric is computed for the gap itself, and it holds for all pairs of groups simultaneously. The intervals of groups are for individual groups; even if two of them overlap, the groups can differ.',
  'Both models are measured on the same held-out rows, which neither was trained on. The change has no interval of its own. If the two intervals are wide, a change of a few points may be due to chance.',
  'The gate judges the point estimate. If the interval straddles the threshold, another sample could change the verdict. An undefined metric does not pass.',
  'Small groups have wide intervals, and their rates are more often extreme by chance alone. Groups with too few rows are excluded and listed with their counts; exclusion does not mean that they are treated fairly.',
];

/** Builds the report of a workflow: the verdict, the changes, the steps and the attributes. */
export function workflowDocument(findings: WorkflowFindings): ReportDocument {
  return {
    title: 'Fairness workflow',
    subject: subjectOf(findings),
    verdict: workflowVerdict(findings),
    sections: [
      {
        title: 'What changed',
        blocks: [...changeBlocks(findings), ...noteBlocks('Warnings', findings.warnings.map(capital))],
      },
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
  const sizes = `${counted(split.train.length, 'training row')}, ${counted(split.test.length, 'held-out row')}`;
  return `${target}by ${listed(Object.keys(finalMetrics.attributes))}; ${sizes}`;
}

function priceOf({ config, baselineMetrics, finalMetrics }: WorkflowFindings): string[] {
  return [
    ...config.pipeline.map(stepWords),
    ...(config.training === undefined ? [] : [METHOD_WORDS[config.training.method]]),
    cost(baselineMetrics, finalMetrics),
    'A gap can close because one group gains or because another group loses. The Change columns below show which of the two happened.',
    'Only the rates and attributes named here were compared. Other rates and other groups may have changed in the opposite direction.',
  ].filter((item) => item !== '');
}

function madeOf(findings: WorkflowFindings): [name: string, value: string][] {
  const { finalMetrics, seed, config } = findings;
  const methods = resultsOf(finalMetrics).flatMap(({ result }) => result.ciMethod ?? []);
  return [
    ['evenhand', VERSION],
    ['Seed', String(seed)],
    ['Metrics', Object.keys(finalMetrics.metrics).join(', ') || 'none'],
    ['Interval level', methods.length === 0 ? 'none' : formatLevel(levelOf(finalMetrics))],
    ['Interval method', [...new Set(methods)].join(', ') || 'none'],
    ['Sensitive attributes', listed(config.sensitive)],
    ['Intersections', listed(config.intersections.map((names) => names.join(' x ')))],
  ];
}

/** Summarizes one step of a workflow. With several attributes, each metric is shown with its worst value. */
function stepSummary(metrics: WorkflowMetrics): ReportFact[] {
  const { n } = metrics;
  const level = levelOf(metrics);
  const performance = performanceOf(metrics);
  return [
    { name: 'Rows measured', value: tableCount(n), remark: 'held out from training' },
    ...(performance === undefined ? [] : [performance]).map(({ name, value, unit }) => ({
      name,
      value: tableValue(value, unit),
      remark: unit === 'share' ? `${intervalName(level)} ${accuracyInterval(value, metrics, level)}` : undefined,
    })),
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
  const location = Object.keys(attributes).find((name) => own(own(attributes, name), metric)?.value === result.value);
  const isWorst = Object.keys(attributes).length > 1 && location !== undefined;
  return [...interval, ...(isWorst ? [`worst value, by ${labelText(location)}`] : [])].join('; ');
}

/** Describes how the final model was trained: pipeline steps, features, method and parameters. */
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
      columns: [{ name: 'Setting' }, { name: 'Value' }],
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
          ['Decision threshold', String(findings.decisionThreshold ?? 'default of the model')],
        ]
      : []),
    ['Training rows', `${tableCount(split.train.length)} (${tableValue(split.trainSize, 'share')} of usable rows)`],
    ['Held-out rows', tableCount(split.test.length)],
    ['Excluded rows', `${tableCount(split.nDropped)} (target or sensitive attribute missing)`],
    ...(hasClusters(config) ? [['Clusters', clusterWords(config)]] : []),
    ['Minimum group size', counted(findings.minGroupSize, 'row')],
    ['Seed', String(findings.seed)],
  ];
}

function clusterWords({ cluster, strata }: WorkflowFindings['config']): string {
  const units =
    cluster === undefined ? 'each row' : `${labelText(cluster)}, whose rows are all trained on or all held out`;
  return strata === undefined ? units : `${units}; in strata of ${labelText(strata)}`;
}

function targetWords({ config: { training }, positiveLabel }: WorkflowFindings): string {
  if (training === undefined) return 'none';
  const target = labelText(training.targetColumn);
  return positiveLabel === null ? target : `${target}, where ${labelText(positiveLabel)} counts as 1`;
}

function classWeightWords({ classWeight, config }: WorkflowFindings): string {
  if (classWeight === null) return 'none: every row has the same weight';
  const words =
    classWeight === 'balanced'
      ? 'balanced: both classes have the same total weight in the loss'
      : ([0, 1] as const).map((label) => `${tableNumber(classWeight[label] ?? 1)} for ${String(label)}`).join(', ');
  // Network trainers have their own options for weights.
  return config.training?.method === 'reductions' ? words : `${words} (baseline only)`;
}
