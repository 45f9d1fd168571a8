import * as metrics from '../../../src/metrics/index.ts';
import type { SensitiveSource } from '../../../src/table/index.ts';
import type { Entry } from './entry.ts';
import type { ColumnName, Rows } from './sources.ts';

/** The columns of each metric, before the groups. */
const METRICS = {
  demographicParityDifference: ['decision'],
  demographicParityRatio: ['decision'],
  equalizedOddsDifference: ['label', 'decision'],
  equalizedOddsRatio: ['label', 'decision'],
  equalOpportunityDifference: ['label', 'decision'],
  falsePositiveRateDifference: ['label', 'decision'],
  predictiveParityDifference: ['label', 'decision'],
  accuracyParityDifference: ['label', 'decision'],
  calibrationDifference: ['label', 'score'],
  rocAucDifference: ['label', 'score'],
  maeParityDifference: ['amount', 'guess'],
  rmseParityDifference: ['amount', 'guess'],
  meanPredictionDifference: ['guess'],
} as const satisfies Record<string, readonly ColumnName[]>;

type MetricName = keyof typeof METRICS;

/** The metrics of moments of numbers, which a device sums in float32. */
const MOMENTS: readonly MetricName[] = [
  'maeParityDifference',
  'rmseParityDifference',
  'meanPredictionDifference',
  'calibrationDifference',
];

/** Few replicates, because intervals are computed on the host from the same statistics. */
const INTERVALS = { ciSamples: 20 };
const ANALYZER = { minGroupSize: 5 };
const QUICK = { ...INTERVALS, ...ANALYZER };

const GROUPS = ['group', 'region'] as const satisfies readonly ColumnName[];

/** Two attributes, which are crossed. */
function crossed(rows: Rows): SensitiveSource {
  return Object.fromEntries(GROUPS.map((name) => [name, rows[name]]));
}

/** Every column that a metric or a frame may read. */
function columnsOf({ label, decision, score, group }: Rows) {
  return { yTrue: label, yPred: decision, yScore: score, sensitive: group };
}

const MEASURES = ['selection_rate', 'true_positive_rate', 'roc_auc', 'count'];

/** Returns the entries of a function per metric, by name. */
function ofEachMetric(create: (name: MetricName, columns: readonly ColumnName[]) => Entry): [string, Entry][] {
  return (Object.keys(METRICS) as MetricName[]).map((name) => [name, create(name, METRICS[name])]);
}

/** An entry of a synchronous function. */
const now = (call: Entry['call']): Entry => ({ agreement: 'exact', tensors: 'now', call });

/** An entry that computes on the device. */
const device = (agreement: Entry['agreement'], call: Entry['call']): Entry => ({ agreement, tensors: 'device', call });

type MetricCall = (...given: unknown[]) => unknown;

const functions = ofEachMetric((name, columns) =>
  now((rows) => (metrics[name] as MetricCall)(...columns.map((column) => rows[column]), crossed(rows), QUICK)),
);

/** A device warns that it rounds scores to a grid, on which these scores lie. */
const withoutRounding: Entry['answer'] = (result) => {
  const { warnings, ...fields } = (result as metrics.MetricResult).toJSON();
  return { ...fields, warnings: warnings.filter((warning) => !warning.startsWith('scores were rounded to multiples')) };
};

const analyzers = ofEachMetric((name, columns) => ({
  ...device(MOMENTS.includes(name) ? 'sums' : 'exact', (rows) => {
    const analyzer = new metrics.FairnessAnalyzer(ANALYZER) as unknown as Record<MetricName, MetricCall>;
    return analyzer[name](...columns.map((column) => rows[column]), crossed(rows), INTERVALS);
  }),
  answer: withoutRounding,
}));

/** Selects the columns that a metric reads, by the options that name them. */
function bind(rows: Rows, [first, second]: readonly ColumnName[]): metrics.BoundAnalyzer {
  const predicted = second ?? first;
  return metrics.FairnessAnalyzer.fromDataFrame(
    rows.table('label', 'decision', 'score', 'amount', 'guess', ...GROUPS),
    {
      ...ANALYZER,
      [predicted === 'score' ? 'yScoreCol' : 'yPredCol']: predicted,
      ...(second === undefined ? {} : { yTrueCol: first }),
      sensitiveCol: GROUPS,
    },
  );
}

const bound = ofEachMetric((name, columns) =>
  now((rows) => (bind(rows, columns) as unknown as Record<MetricName, MetricCall>)[name](INTERVALS)),
);

const under = (owner: string, entries: [string, Entry][]): [string, Entry][] =>
  entries.map(([name, entry]) => [`${owner}.${name}`, entry]);

/** The entries of `evenhand/metrics` that take rows. */
export const METRIC_ENTRIES: Readonly<Record<string, Entry>> = {
  ...Object.fromEntries(functions),
  computeMetric: now((rows) => metrics.computeMetric('accuracy_difference', columnsOf(rows), QUICK)),
  metricFrame: now((rows) =>
    metrics.metricFrame({ ...columnsOf(rows), metrics: MEASURES, control: rows.region }, QUICK),
  ),
  findSubgroups: {
    ...now((rows) =>
      metrics.findSubgroups(rows.table('decision', 'label', 'skill', ...GROUPS), {
        columns: ['group', 'region', 'skill'],
        yPred: 'decision',
        yTrue: 'label',
        metric: 'accuracy',
      }),
    ),
    tensors: 'host',
  },
  addRows: now((rows) =>
    metrics.addRows(metrics.reduceClassification({ yPred: [1, 0], sensitive: ['0', '1'] }), {
      yPred: rows.decision,
      sensitive: rows.group,
    }),
  ),
  ...Object.fromEntries(under('FairnessAnalyzer', analyzers)),
  'FairnessAnalyzer.metric': device('exact', (rows) =>
    new metrics.FairnessAnalyzer(ANALYZER).metric('accuracy_ratio', columnsOf(rows), INTERVALS),
  ),
  'FairnessAnalyzer.metric (weighted)': device('sums', (rows) =>
    new metrics.FairnessAnalyzer(ANALYZER).metric('accuracy_ratio', columnsOf(rows), {
      sampleWeight: rows.weight,
      ...INTERVALS,
    }),
  ),
  'FairnessAnalyzer.metric (macro)': device('exact', (rows) =>
    new metrics.FairnessAnalyzer(ANALYZER).metric('accuracy_ratio', columnsOf(rows), {
      average: 'macro',
      ...INTERVALS,
    }),
  ),
  'FairnessAnalyzer.metricFrame': device('exact', (rows) =>
    new metrics.FairnessAnalyzer(ANALYZER).metricFrame({ ...columnsOf(rows), metrics: MEASURES, control: rows.region }),
  ),
  'FairnessAnalyzer.fromDataFrame': now((rows) =>
    bind(rows, METRICS.accuracyParityDifference).metric('accuracy_ratio', INTERVALS),
  ),
  ...Object.fromEntries(under('BoundAnalyzer', bound)),
  'BoundAnalyzer.metric': now((rows) =>
    bind(rows, METRICS.accuracyParityDifference).metric('accuracy_ratio', INTERVALS),
  ),
  'BoundAnalyzer.metricFrame': now((rows) =>
    bind(rows, METRICS.accuracyParityDifference).metricFrame({ metrics: ['accuracy', 'count'] }),
  ),
  reduceClassification: now((rows) => metrics.reduceClassification({ yPred: rows.decision, sensitive: crossed(rows) })),
  reduceRegression: now((rows) => metrics.reduceRegression({ yPred: rows.guess, sensitive: crossed(rows) })),
  reduceScores: now((rows) =>
    metrics.reduceScores({ yScore: rows.score, yTrue: rows.label, sensitive: crossed(rows) }),
  ),
  reduceClassificationTensors: device('exact', (rows) =>
    metrics.reduceClassificationTensors({ yPred: rows.decision, yTrue: rows.label, sensitive: crossed(rows) }),
  ),
  reduceRegressionTensors: device('sums', (rows) =>
    metrics.reduceRegressionTensors({ yPred: rows.guess, yTrue: rows.amount, sensitive: crossed(rows) }),
  ),
  reduceScoreTensors: device('sums', (rows) =>
    metrics.reduceScoreTensors({ yScore: rows.score, yTrue: rows.label, sensitive: crossed(rows) }),
  ),
  betweenGroupCoefficientOfVariation: now(({ label, decision, group }) =>
    metrics.betweenGroupCoefficientOfVariation(label, decision, group),
  ),
  betweenGroupGeneralizedEntropyIndex: now(({ label, decision, group }) =>
    metrics.betweenGroupGeneralizedEntropyIndex(label, decision, group),
  ),
  betweenGroupTheilIndex: now(({ label, decision, group }) => metrics.betweenGroupTheilIndex(label, decision, group)),
  coefficientOfVariation: now(({ label, decision }) => metrics.coefficientOfVariation(label, decision)),
  generalizedEntropyIndex: now(({ label, decision }) => metrics.generalizedEntropyIndex(label, decision)),
  theilIndex: now(({ label, decision }) => metrics.theilIndex(label, decision)),
  conditionalDemographicDisparity: now(({ decision, group }) =>
    metrics.conditionalDemographicDisparity(decision, group),
  ),
  empiricalDifferentialFairness: now(({ decision, group }) => metrics.empiricalDifferentialFairness(decision, group)),
  differentialFairnessBiasAmplification: now(({ label, decision, group }) =>
    metrics.differentialFairnessBiasAmplification(label, decision, group),
  ),
  consistencyScore: now(({ x, decision }) => metrics.consistencyScore(x, decision)),
  discountedCumulativeGain: now(({ score }) => metrics.discountedCumulativeGain(score)),
  normalizedDiscountedCumulativeGain: now(({ score }) => metrics.normalizedDiscountedCumulativeGain(score)),
  infeasibleIndex: now(({ group }) => metrics.infeasibleIndex(group, { 0: 0.4, 1: 0.3, 2: 0.3 })),
};
