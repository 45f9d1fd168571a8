import { readFileSync } from 'node:fs';
import path from 'node:path';

import * as integration from '../../../src/integration/index.ts';
import * as io from '../../../src/io/index.ts';
import * as metrics from '../../../src/metrics/index.ts';
import * as monitoring from '../../../src/monitoring/index.ts';
import * as pipeline from '../../../src/pipeline/index.ts';
import * as table from '../../../src/table/index.ts';
import * as tensor from '../../../src/tensor/index.ts';
import * as training from '../../../src/training/index.ts';
import { projectRoot } from '../../helpers/project-files.ts';

/** Entry points without entries that take rows, with what they take. */
const POINTS_WITHOUT_ROWS: Readonly<Record<string, string>> = {
  './api': 'requests, whose rows are JSON or files',
  './exceptions': 'errors',
  './internal': 'the version',
  './llm-evals': 'prompts and answers',
  './stats': 'samples of numbers, as lists of numbers',
};

/** Exports that take no rows, by what they take. A `Table` or a column is made by `Table.from`, which is an entry. */
export const WITHOUT_ROWS: Readonly<Record<string, readonly string[]>> = {
  'results and reports': [
    ...['MetricFrame', 'MetricResult', 'PipelineResult', 'ABTestResult', 'DetectorReport', 'RecordLog'],
    ...['assertFairness', 'assertLlmFairness', 'judge', 'judgeLlmEval', 'plotPareto', 'plotReliability', 'plotProxies'],
    ...['logFairnessMetrics', 'logLlmEvalResults', 'logWorkflowResults', 'generateTrainingFairnessReport'],
    ...['createManifest', 'verifyReport', 'verifyWorkflow', 'signReport', 'verifySignature', 'generateReportKeys'],
    ...['validationToJson', 'validationToMarkdown', 'workflowToHtml', 'workflowToJson', 'workflowToMarkdown'],
    ...[
      'subgroupsToJson',
      'toMarkdownReport',
      'writeDetectorReport',
      'hypervolume',
      'paretoToJson',
      'lagrangianJobToJson',
    ],
    ...['reductionsJobToJson', 'tableCalibrationToJson', 'activeAlertsJson', 'dashboardToHtml', 'dashboardToJson'],
    ...['dashboardToMarkdown', 'saveDashboard', 'takeView', 'FairnessReportingDashboard', 'createModelCard'],
  ],
  'statistics of groups': [
    ...['metricOf', 'metricOfClasses', 'mergeStats', 'removeStats', 'statsFromJson', 'statsToJson'],
    ...['betweenGroupCoefficientOfVariationOf', 'betweenGroupGeneralizedEntropyIndexOf', 'betweenGroupTheilIndexOf'],
    ...['coefficientOfVariationOf', 'generalizedEntropyIndexOf', 'theilIndexOf', 'conditionalDemographicDisparityOf'],
    ...['differentialFairnessBiasAmplificationOf', 'empiricalDifferentialFairnessOf'],
  ],
  'files, folders and queries': [
    ...[
      'loadData',
      'validateFile',
      'validateCounts',
      'validateSql',
      'calibrateSql',
      'replaySql',
      'countingSql',
      'predictFile',
      'openDuckDb',
      'createQueue',
      'createSqlEngine',
      'sampleData',
      'readRecords',
      'weightsSql',
      'openRecordStore',
    ],
    ...['loadModel', 'saveModel', 'loadPipeline', 'savePipeline', 'findConfigFile', 'loadConfig', 'tableFormat'],
    ...[
      'followLines',
      'followStream',
      'reduceClassificationSource',
      'reduceRegressionSource',
      'reduceScoreSource',
      'assertReportPath',
    ],
  ],
  'a Table, a column or a matrix': [
    ...['writeCsv', 'writeParquet', 'writeTable', 'splitArms', 'columnAssociation', 'withWeights', 'FixedMatrix'],
  ],
  'options and saved states': [
    ...['buildPipeline', 'createTransformer', 'transformerFromJson', 'estimatorFromJson', 'isEstimator'],
    ...['holdsOnlyNetworks', 'parsePipelineConfig', 'parseConfigText', 'pipelineConfigToJson', 'loadTensorflow'],
    ...['createDriftDetector', 'logSink', 'ndjsonSink', 'prometheusSink', 'webhookSink'],
    ...['KafkaSource', 'RedisStreamSource'],
  ],
  'one number or one check at a time': [
    ...['AdwinDetector', 'BettingDetector', 'CusumDetector', 'DdmDetector', 'EwmaDetector', 'HddmADetector'],
    ...['HddmWDetector', 'KsWindowDetector', 'PageHinkleyDetector', 'FairnessDriftAndAlertEngine'],
  ],
};

/** Methods that take no rows, of classes with others that do. */
export const METHODS_WITHOUT_ROWS: Readonly<Record<string, readonly string[]>> = {
  'results and saved states': [
    ...['toJSON', 'fromJSON', 'clone', 'describe', 'toMarkdown', 'bestDeterministic', 'ofState', 'snapshot', 'restore'],
    ...['merge', 'metrics', 'labelCoverage', 'flush', 'has', 'column', 'numeric', 'categorical', 'select', 'take'],
    ...['toColumns', 'toRecords', 'toDanfo', 'ofColumns', 'filled'],
  ],
  'one event': ['record', 'label'],
  'files, queries and counts': ['fromFile', 'fromSql', 'fromCounts'],
  'internal to subclasses': [
    ...['learn', 'apply', 'keep', 'fitted', 'solve', 'solveTensors', 'deviance', 'objectiveOf', 'historyOf'],
    ...['scores', 'tensorScores'],
  ],
};

/** An exported function or class, with the public methods of a class. */
export interface Export {
  readonly name: string;
  readonly methods: readonly string[];
}

/** The modules with entries that take rows. They are not imported by name, because that would load them twice. */
const MODULES: Readonly<Record<string, object>> = {
  './metrics': metrics,
  './pipeline': pipeline,
  './integration': integration,
  './training': training,
  './monitoring': monitoring,
  './io': io,
  './table': table,
  './tensor': tensor,
};

/** Returns the functions and classes of all entry points of the package, except those without rows. */
export function exportsWithRows(): readonly Export[] {
  const { exports: points } = JSON.parse(readFileSync(path.join(projectRoot, 'package.json'), 'utf8')) as {
    exports: Record<string, unknown>;
  };
  const found = new Map<unknown, string>();
  const add = (point: string, names?: readonly string[]): void => {
    if (Object.keys(POINTS_WITHOUT_ROWS).some((other) => `${point}/`.startsWith(`${other}/`))) return;
    const module = MODULES[point];
    if (module === undefined) throw new Error(`${point} is neither among MODULES nor POINTS_WITHOUT_ROWS.`);
    for (const [name, value] of Object.entries(module)) {
      if (typeof value === 'function' && (names?.includes(name) ?? true)) found.set(value, name);
    }
  };
  for (const point of Object.keys(points)) if (/^\.\/[a-z-/]+$/.test(point)) add(point);
  const facade = readFileSync(path.join(projectRoot, 'src/index.ts'), 'utf8');
  for (const [, names = '', point = ''] of facade.matchAll(/export \{([^}]*)\} from '([^']*)\/[\w-]+\.ts'/g)) {
    add(
      point,
      names.split(',').map((name) => name.trim()),
    );
  }
  return Array.from(found, ([value, name]) => ({ name, methods: methodsOf(value as { readonly prototype: object }) }));
}

/** Returns the methods of a class, static and inherited ones included; none for a function. */
function methodsOf(value: { readonly prototype: object }): string[] {
  if (!Function.prototype.toString.call(value).startsWith('class')) return [];
  const names = new Set<string>();
  const add = (owner: object): void => {
    for (const [name, { value: member }] of Object.entries(Object.getOwnPropertyDescriptors(owner))) {
      if (typeof member === 'function' && name !== 'constructor' && name !== 'prototype') names.add(name);
    }
  };
  for (let own: unknown = value; own !== Function.prototype; own = Object.getPrototypeOf(own)) add(own as object);
  for (let own: unknown = value.prototype; own !== Object.prototype; own = Object.getPrototypeOf(own))
    add(own as object);
  return [...names];
}
