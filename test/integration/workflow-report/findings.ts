import { judge } from '../../../src/integration/assertions.ts';
import type { WorkflowFindings, WorkflowMetrics } from '../../../src/integration/workflow-result.ts';
import { computeMetric } from '../../../src/metrics/compute-metric.ts';
import type { MetricResult } from '../../../src/metrics/metric-result.ts';
import { encodeGroups } from '../../../src/table/encode-groups.ts';
import type { CategoricalColumn } from '../../../src/table/index.ts';

/** Rows of one intersection: their number, the positives, and the selected among positives and negatives. */
export interface Cell {
  readonly groups: Readonly<Record<string, string>>;
  readonly n: number;
  readonly positives: number;
  readonly before: readonly [truePositives: number, falsePositives: number];
  readonly after: readonly [truePositives: number, falsePositives: number];
}

/**
 * Four intersections and a small fifth one. Selected before: 20 of 100 women and 60 of
 * 120 men; after: 30 and 42.
 */
const CELLS: readonly Cell[] = [
  { groups: { sex: 'female', race: 'black' }, n: 40, positives: 16, before: [6, 2], after: [9, 3] },
  { groups: { sex: 'female', race: 'white' }, n: 60, positives: 24, before: [10, 2], after: [14, 4] },
  { groups: { sex: 'male', race: 'black' }, n: 50, positives: 25, before: [20, 4], after: [14, 3] },
  { groups: { sex: 'male', race: 'white' }, n: 70, positives: 40, before: [30, 6], after: [21, 4] },
  { groups: { sex: 'male', race: 'other' }, n: 12, positives: 5, before: [3, 1], after: [3, 1] },
];

/** Options of findings besides their rows. */
export interface FindingsParts {
  readonly cells?: readonly Cell[];
  readonly attributes?: readonly (readonly string[])[];
  readonly metrics?: readonly string[];
  readonly judged?: string;
  readonly threshold?: number | undefined;
  readonly minGroupSize?: number;
  readonly changes?: Partial<WorkflowFindings>;
}

interface HeldOut {
  readonly y: Uint8Array;
  readonly before: Uint8Array;
  readonly after: Uint8Array;
  readonly columns: Readonly<Record<string, string[]>>;
}

function heldOut(cells: readonly Cell[]): HeldOut {
  const rows = cells.flatMap(({ groups, n, positives, before, after }) =>
    Array.from({ length: n }, (_, row) => {
      const y = row < positives ? 1 : 0;
      const index = y === 1 ? row : row - positives;
      return {
        groups,
        y,
        before: Number(index < (y === 1 ? before[0] : before[1])),
        after: Number(index < (y === 1 ? after[0] : after[1])),
      };
    }),
  );
  const names = Object.keys(cells[0]?.groups ?? {});
  return {
    y: Uint8Array.from(rows, ({ y }) => y),
    before: Uint8Array.from(rows, ({ before }) => before),
    after: Uint8Array.from(rows, ({ after }) => after),
    columns: Object.fromEntries(names.map((name) => [name, rows.map(({ groups }) => groups[name] ?? '')])),
  };
}

/** Evenly spaced scores on the side of 0.5 that matches the decision. */
function scoresOf(decisions: Uint8Array): Float64Array {
  return Float64Array.from(decisions, (decision, row) => (decision === 1 ? 0.55 : 0.05) + ((row * 7) % 40) / 100);
}

/** Returns findings as a workflow would give them, from the rows above. */
export function findingsOf(parts: FindingsParts = {}): WorkflowFindings {
  const { cells = CELLS, metrics = ['demographic_parity_difference', 'equalized_odds_difference'] } = parts;
  const { attributes = [['sex'], ['race'], ['sex', 'race']], minGroupSize = 30, judged = metrics[0] ?? '' } = parts;
  const threshold = 'threshold' in parts ? parts.threshold : 0.1;
  const rows = heldOut(cells);
  const groupsTest = Object.fromEntries(
    attributes.map((names): [string, CategoricalColumn] => [
      names.join('||'),
      encodeGroups(Object.fromEntries(names.map((name) => [name, rows.columns[name] ?? []]))),
    ]),
  );
  const measure = (yPred: Uint8Array): WorkflowMetrics => {
    const all = Object.entries(groupsTest).map(([name, sensitive]): [string, Record<string, MetricResult>] => [
      name,
      Object.fromEntries(
        metrics.map((metric) => [
          metric,
          computeMetric(metric, { yTrue: rows.y, yPred, sensitive }, { minGroupSize, withCi: true, seed: 42 }),
        ]),
      ),
    ]);
    return {
      n: rows.y.length,
      accuracy: rows.y.filter((y, row) => y === yPred[row]).length / rows.y.length,
      meanAbsoluteError: null,
      metrics: Object.fromEntries(
        metrics.map((metric) => [metric, worst(all.map(([, own]) => own[metric] as MetricResult))]),
      ),
      attributes: Object.fromEntries(all),
    };
  };
  const [baselineMetrics, finalMetrics] = [measure(rows.before), measure(rows.after)];
  const [from, to] = [baselineMetrics, finalMetrics].map(({ metrics: own }) => own[judged]) as [
    MetricResult,
    MetricResult,
  ];
  const verdict = judge(to, threshold);
  const improvement = (100 * (to.value - from.value)) / Math.abs(from.value);
  const attribute = Object.entries(finalMetrics.attributes).find(([, own]) => own[judged] === to)?.[0];
  return {
    config: {
      sensitive: ['sex', 'race'],
      intersections: [['sex', 'race']],
      benchmarks: {},
      alpha: 0.05,
      proxyThreshold: 0.3,
      pipeline: [
        {
          name: 'repair',
          transformer: 'DisparateImpactRemover',
          params: { sensitive: 'sex', features: ['hours'], repairLevel: 0.8 },
        },
        { name: 'weights', transformer: 'InstanceReweighting', params: { sensitive: 'sex' } },
      ],
      training: { method: 'regularized', targetColumn: 'income', positiveLabel: '>50K', params: { eta: 0.5 } },
      fairnessMetric: judged,
      validationThreshold: threshold,
    },
    seed: 42,
    task: 'binary',
    positiveLabel: '>50K',
    minGroupSize,
    classWeight: 'balanced',
    decisionThreshold: null,
    features: { baseline: ['age', 'hours', 'zip'], final: ['age', 'hours'] },
    split: {
      train: Int32Array.from({ length: 928 }, (_, row) => row),
      test: Int32Array.from({ length: rows.y.length }, (_, row) => 928 + row),
      trainSize: 0.8,
      seed: 42,
      nDropped: 5,
    },
    baselineMetrics,
    finalMetrics,
    validation: {
      passed: verdict.passed,
      metric: judged,
      attribute: attribute ?? '',
      baselineMetricValue: from.value,
      finalMetricValue: to.value,
      threshold: threshold ?? null,
      improvementPercent: Number.isFinite(improvement) ? improvement : null,
      message: verdict.message,
      verdict,
    },
    constraint: { penalty: 'covariance', eta: 0.5 },
    transformersApplied: ['repair', 'weights'],
    predictions: {
      baseline: rows.before,
      final: rows.after,
      baselineScores: scoresOf(rows.before),
      finalScores: scoresOf(rows.after),
    },
    yTest: rows.y,
    groupsTest,
    tradeOff: [
      { label: 'baseline', accuracy: baselineMetrics.accuracy ?? NaN, unfairness: from.value, kind: 'baseline' },
      { label: 'final', accuracy: finalMetrics.accuracy ?? NaN, unfairness: to.value, kind: 'final' },
    ],
    warnings: ['no column was named as a feature, so every numeric one is'],
    ...parts.changes,
  };
}

/** Returns the result with the largest value; an undefined result only if there is no other. */
function worst(results: readonly MetricResult[]): MetricResult {
  return results.reduce((found, result) => (result.value > found.value || Number.isNaN(found.value) ? result : found));
}

/** Labels that would break a page or a table that does not escape them. */
export const HOSTILE_LABELS: readonly string[] = [
  '<script>alert(1)</script>',
  '"&\'',
  'a|b\n# c',
  '__proto__',
  'constructor',
  'x'.repeat(300),
  '\u{1F600} emoji',
  '</svg><img src=x onerror=y>',
  '[link](javascript:x)',
];

/** Findings whose names and labels are hostile text. */
export function hostileFindings(): WorkflowFindings {
  const attribute = '</h2><b>"&|\n__proto__';
  const plain = findingsOf({
    cells: HOSTILE_LABELS.map((label, index) => ({
      groups: { [attribute]: label, ['__proto__']: index % 2 === 0 ? 'even' : 'odd' },
      n: label === 'constructor' ? 7 : 40,
      positives: label === 'constructor' ? 3 : 20,
      before: [2, index % 3],
      after: [2, 1],
    })),
    attributes: [[attribute], ['__proto__']],
  });
  return {
    ...plain,
    features: { baseline: ['<i>f</i>', 'a|b'], final: ['a|b'] },
    transformersApplied: ['<u>step</u>'],
    constraint: { penalty: '<script>', eta: 0.5 },
    warnings: ['</div><script>alert(2)</script>', 'a | b\nc'],
    positiveLabel: '"yes"',
    config: {
      ...plain.config,
      training: { method: 'regularized', targetColumn: '<target>|', positiveLabel: '"yes"', params: {} },
    },
  };
}
