import {
  executeWorkflow,
  runBaselineMeasurement,
  validateRows,
  validateRowsNow,
} from '../../../src/integration/index.ts';
import { impactRatios } from '../../../src/metrics/index.ts';
import { FairnessABTestAnalyzer, RealTimeFairnessTracker, replay } from '../../../src/monitoring/index.ts';
import type { TensorBatch } from '../../../src/monitoring/tracker/tensor-batch.ts';
import * as pipeline from '../../../src/pipeline/index.ts';
import { Table } from '../../../src/table/index.ts';
import type { Entry } from './entry.ts';
import { ARRAYS, type ColumnName, type Rows } from './sources.ts';

const now = (call: Entry['call']): Entry => ({ agreement: 'exact', tensors: 'now', call });

/** A function that waits for the device. */
const read = (call: Entry['call']): Entry => ({ agreement: 'exact', tensors: 'host', call });

const STEP = { sensitive: 'group' };
const NUMBERS = { ...STEP, features: ['skill', 'years'] };
const BENCHMARKS = { 0: 0.4, 1: 0.3, 2: 0.3 };

const TRANSFORMERS: Readonly<Record<string, () => pipeline.Transformer>> = {
  CorrelationRemover: () => new pipeline.CorrelationRemover(NUMBERS),
  DisparateImpactRemover: () => new pipeline.DisparateImpactRemover(NUMBERS),
  InstanceReweighting: () => new pipeline.InstanceReweighting({ ...STEP, benchmarks: { group: BENCHMARKS } }),
  LearnedFairRepresentations: () =>
    new pipeline.LearnedFairRepresentations({ ...NUMBERS, label: 'label', prototypes: 2, maxIterations: 3 }),
  ProxyDropper: () => new pipeline.ProxyDropper(NUMBERS),
  ReweighingTransformer: () => new pipeline.ReweighingTransformer({ ...STEP, label: 'label' }),
};

const COLUMNS: readonly ColumnName[] = ['skill', 'years', 'town', 'group', 'label'];

const CONFIG: pipeline.PipelineConfigInput = {
  sensitive: ['group'],
  features: ['skill', 'years'],
  pipeline: [{ transformer: 'InstanceReweighting' }],
};

const WORKFLOW: pipeline.PipelineConfigInput = {
  ...CONFIG,
  training: { method: 'reductions', targetColumn: 'label', params: { T: 2 } },
  fairnessMetric: 'demographic_parity_difference',
  validationThreshold: 0.1,
};

const STREAM = {
  columns: { yPred: 'decision', yTrue: 'label', protected: ['group'] },
  groups: { group: ['0', '1', '2'] },
  windowSize: 100,
  clock: () => 1,
} as const;

const LATE = {
  columns: { yPred: 'decision', protected: ['group'], id: 'id' },
  windowSize: 100,
  clock: () => 1,
} as const;

function track(batch: Parameters<RealTimeFairnessTracker['recordBatch']>[0]) {
  const tracker = new RealTimeFairnessTracker(STREAM);
  // A batch of tensors returns a promise.
  return Promise.resolve(tracker.recordBatch(batch as TensorBatch)).then(() => tracker);
}

const recordsOf = (tracker: RealTimeFairnessTracker) =>
  (['sliding', 'cumulative'] as const).map((window) => tracker.metrics({ window }));

/** The entries of the pipeline, monitoring and integration that take rows. */
export const TABLE_ENTRIES: Readonly<Record<string, Entry>> = {
  'Table.from': now((rows) => Table.from(rows.table(...COLUMNS)).toColumns()),
  ...Object.fromEntries(
    Object.entries(TRANSFORMERS).flatMap(([name, create]): [string, Entry][] => [
      [`${name}.fit`, read(async (rows) => (await create().fit(rows.table(...COLUMNS))).toJSON())],
      [
        `${name}.transform`,
        {
          ...read((rows, fitted) => (fitted as pipeline.Transformer).transform(rows.table(...COLUMNS))),
          prepare: () => create().fit(ARRAYS.table(...COLUMNS)),
        },
      ],
    ]),
  ),
  'FairnessPipeline.fit': read(async (rows) =>
    (await pipeline.buildPipeline(CONFIG).fit(rows.table(...COLUMNS))).toJSON(),
  ),
  'FairnessPipeline.transform': {
    ...read(async (rows, fitted) => {
      const { data, sampleWeight } = await (fitted as pipeline.FairnessPipeline).transform(rows.table(...COLUMNS));
      return [data, sampleWeight];
    }),
    prepare: () => pipeline.buildPipeline(CONFIG).fit(ARRAYS.table(...COLUMNS)),
  },
  'FairnessPipeline.fitTransform': read(async (rows) => {
    const { data, sampleWeight } = await pipeline.buildPipeline(CONFIG).fitTransform(rows.table(...COLUMNS));
    return [data, sampleWeight];
  }),
  applyPipeline: read(async (rows) => {
    const { data, sampleWeight } = await pipeline.applyPipeline(pipeline.buildPipeline(CONFIG), rows.table(...COLUMNS));
    return [data, sampleWeight];
  }),
  runPipeline: read(async (rows) => {
    const { report, result } = await pipeline.runPipeline(CONFIG, rows.table(...COLUMNS));
    return [report, result.data, result.sampleWeight];
  }),
  runDetectors: read((rows) => pipeline.runDetectors(rows.table(...COLUMNS), { sensitive: ['group'] })),
  'FairnessABTestAnalyzer.analyze': now((rows) => {
    const analyzer = new FairnessABTestAnalyzer({ protected: ['group'], outcome: 'decision', yTrue: 'label' });
    const arm = rows.table('decision', 'label', 'group');
    return analyzer.analyze(arm, { decision: rows.label, label: rows.decision, group: rows.group });
  }),
  'RealTimeFairnessTracker.recordBatch': {
    agreement: 'exact',
    tensors: 'device',
    call: (rows) => track(rows.table('decision', 'label', 'group')),
    answer: (tracker) => recordsOf(tracker as RealTimeFairnessTracker),
  },
  'RealTimeFairnessTracker.labelBatch': now((rows) => {
    const tracker = new RealTimeFairnessTracker(LATE);
    tracker.recordBatch(ARRAYS.table('decision', 'group', 'id'));
    return [tracker.labelBatch(rows.id, rows.label), recordsOf(tracker)];
  }),
  replay: read(async (rows) => {
    const { tracker, nEvents } = await replay(rows.table('decision', 'label', 'group'), { tracker: STREAM });
    return [nEvents, recordsOf(tracker)];
  }),
  impactRatios: read((rows) =>
    impactRatios(rows.table('decision', 'group', 'town'), {
      selected: 'decision',
      sex: 'group',
      raceEthnicity: 'town',
    }),
  ),
  validateRows: read((rows) => validateRows(rowsToValidate(rows))),
  validateRowsNow: now((rows) => validateRowsNow(rowsToValidate(rows))),
  executeWorkflow: read(async (rows) => {
    const { baselineMetrics, finalMetrics, predictions } = await executeWorkflow(WORKFLOW, rows.table(...COLUMNS));
    return [baselineMetrics, finalMetrics, predictions];
  }),
  runBaselineMeasurement: read((rows) => runBaselineMeasurement(WORKFLOW, rows.table(...COLUMNS))),
};

function rowsToValidate({ decision, score, label, group, region, weight }: Rows): Parameters<typeof validateRows>[0] {
  return {
    yPred: decision,
    yScore: score,
    yTrue: label,
    sensitive: { group, region },
    sampleWeight: weight,
    minGroupSize: 5,
    ciSamples: 20,
    threshold: 0.2,
  };
}
