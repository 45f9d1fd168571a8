import { ConfigValidationError, DataValidationError } from '../../exceptions/index.ts';
import { formatCount } from '../../internal/format.ts';
import { getLogger } from '../../internal/logger.ts';
import { describeMissing, type DroppedAndKept, missingRows } from '../../metrics/compare/missing-rows.ts';
import type { MissingRows } from '../../metrics/index.ts';
import { metricKind } from '../../metrics/metric-definitions.ts';
import { assertConfigColumns } from '../../pipeline/run-pipeline.ts';
import type { PipelineConfig, TrainingConfig } from '../../schemas/pipeline/pipeline-document.ts';
import { readClusters } from '../../metrics/reduce/row-arguments.ts';
import { missingClusterInRow } from '../../table/cluster-columns.ts';
import {
  type CategoricalColumn,
  type Column,
  encodeGroups,
  firstRowsOfTable,
  INTERSECTION_SEPARATOR,
  namesIdentifiers,
  readTexts,
  type Table,
  toBinary,
} from '../../table/index.ts';
import { assertFinite } from '../../training/data/feature-encoder.ts';
import { assertTwoClasses, assertTwoGroups, findPositiveLabel, leakNotes } from '../../training/data/training-data.ts';
import { heldOutRowsNotes } from '../column-notes.ts';
import { knownMetric } from '../gates.ts';
import type { RowClusters } from './measure-predictions.ts';

/** The metric that the gate checks if the configuration names no metric. */
export const DEFAULT_METRIC = 'demographic_parity_difference';

/** The rows of a workflow, read once for all three steps. Every row has its target and all sensitive attributes. */
export interface WorkflowRows {
  readonly task: 'binary' | 'regression';
  /** The judged metric. */
  readonly metric: string;
  readonly training: TrainingConfig;
  /** All columns. */
  readonly table: Table;
  /** The indices of the rows in the input data. */
  readonly positions: Int32Array;
  /** 0 or 1, or numbers: [rows]. */
  readonly y: Uint8Array | Float64Array;
  /** The target label that counts as 1; null if the target is 0/1 or a number. */
  readonly positiveLabel: string | null;
  /** All sensitive attributes crossed: the groups for the constraint and for stratification. */
  readonly groups: CategoricalColumn;
  /** The groups of each attribute and intersection, by its name. */
  readonly attributes: Readonly<Record<string, CategoricalColumn>>;
  /** The clusters of dependent rows; undefined if all rows are independent. */
  readonly clusters: RowClusters | undefined;
  readonly features: readonly string[];
  readonly nDropped: number;
  /**
   * For each attribute, the rows that have a group of this attribute but no target, or no value of another sensitive
   * attribute.
   */
  readonly leftOut: Readonly<Record<string, LeftOutRows>>;
  readonly warnings: readonly string[];
}

/** The rows of each group that were left out and kept, [groups]. */
export interface LeftOutRows extends DroppedAndKept {
  readonly labels: readonly string[];
}

/**
 * Reads the rows of a workflow: chooses the features, reads the target, encodes the groups.
 * @throws {ConfigValidationError} if the configuration has no training section
 * @throws {DataValidationError} if columns are unknown, the target cannot be learned, or there is only one group
 * @throws {ValueError} if the metric is unknown
 */
export function readWorkflowRows(config: PipelineConfig, given: Table): WorkflowRows {
  const training = trainingOf(config);
  const { metric } = knownMetric(config.fairnessMetric ?? DEFAULT_METRIC);
  assertScoresMeanWhatTheySay(metric, training);
  const task = metricKind(knownMetric(metric)) === 'regression' ? 'regression' : 'binary';
  const { table: complete, warnings: ofTexts } = readTexts(given, {
    groups: config.sensitive,
    target: training.targetColumn,
    positiveLabel: training.positiveLabel,
    others: config.features ?? given.columnNames,
    naValues: config.naValues,
  });
  assertConfigColumns(config, complete);
  assertUsableNumbers(complete, config);
  const sensitive = config.sensitive.map((name) => [name, encodeGroups(complete.column(name))] as const);
  const { y, positiveLabel } = readTarget(complete, training, task);
  const clusters = readRowClusters(complete, config);
  const indices = Int32Array.from(y.keys()).filter(
    (row) => !Number.isNaN(y[row]) && sensitive.every(([, { codes }]) => (codes[row] as number) >= 0),
  );
  const table = indices.length === complete.rowCount ? complete : complete.take(indices);
  const nDropped = complete.rowCount - indices.length;
  const attributes = attributesOf(table, config);
  const groups = encodeGroups(table.select(config.sensitive));
  const kept = Float64Array.from(indices, (row) => y[row] as number);
  const targets = task === 'binary' ? Uint8Array.from(kept) : kept;
  for (const [name, column] of Object.entries(attributes)) assertTwoGroups(column, [name]);
  assertLearnable(targets, training.targetColumn);
  const { features, warnings } = chooseFeatures(table, config, training.targetColumn);
  const leftOut = leftOutRows(complete, config, indices);
  const used = [training.targetColumn, ...config.sensitive, ...(config.features ?? [])];
  const dropped =
    nDropped === 0 ? [] : [`${formatCount(nDropped)} rows without a target or a sensitive attribute are excluded`];
  return {
    task,
    metric,
    training,
    table,
    positions: indices,
    y: targets,
    positiveLabel,
    groups,
    attributes,
    clusters: clusters && takeClusters(clusters, indices),
    features,
    nDropped,
    leftOut,
    warnings: [
      ...ofTexts,
      ...warnings,
      ...(task === 'binary' ? leakNotes(table, features, { name: training.targetColumn, y: targets }) : []),
      ...(config.cluster === undefined
        ? heldOutRowsNotes(firstRowsOfTable(table, table.columnNames.filter(namesIdentifiers)), used)
        : []),
      ...dropped,
      ...missingWarnings(leftOut),
    ],
  };
}

/**
 * Checks that the method predicts probabilities of the label, if the metric requires them.
 * @throws {ConfigValidationError} if the metric needs probabilities of the label and the method does not give them
 */
function assertScoresMeanWhatTheySay(metric: string, { method }: TrainingConfig): void {
  const definition = knownMetric(metric);
  // Metrics that use only the order of scores need no probabilities.
  const isOfRanks = definition.measures.every((measure) => measure === 'roc_auc');
  if (method !== 'reductions' || metricKind(definition) !== 'scores' || isOfRanks) return;
  throw new ConfigValidationError(
    `${metric} needs probabilities of the label, but a mixture by reductions gives the probability of a positive decision.`,
    {
      context: { metric, method },
      suggestion: 'Use the method regularized or lagrangian, or the metric roc_auc_difference.',
    },
  );
}

function trainingOf({ training }: PipelineConfig): TrainingConfig {
  if (training !== undefined) return training;
  throw new ConfigValidationError('The configuration has no training section.', {
    context: { key: 'training' },
    suggestion: 'Add a training section with method and target_column, or use applyPipeline, which needs none.',
  });
}

/** Reads the target as numbers; NaN if it is missing. */
function readTarget(
  table: Table,
  { targetColumn, positiveLabel: named }: TrainingConfig,
  task: WorkflowRows['task'],
): { y: Float64Array; positiveLabel: string | null } {
  if (task === 'regression') return { y: readNumbers(table, targetColumn), positiveLabel: null };
  const positiveLabel = findPositiveLabel(table, targetColumn, named);
  const y = toBinary(table.column(targetColumn), `Column '${targetColumn}'`, positiveLabel ?? undefined);
  return { y: Float64Array.from(y, (value) => (value < 0 ? NaN : value)), positiveLabel };
}

/**
 * Reads the clusters and strata that the configuration names.
 * @throws {DataValidationError} if a row has none
 */
function readRowClusters(table: Table, { cluster, strata, naValues }: PipelineConfig): RowClusters | undefined {
  const column = (name: string | undefined): Column | undefined =>
    name === undefined ? undefined : table.column(name);
  const read = readClusters(
    { cluster: column(cluster), strata: column(strata), naValues },
    table.rowCount,
    (argument, row) => missingClusterInRow((argument === 'cluster' ? cluster : strata) ?? '', row + 1),
  );
  if (read === undefined) return undefined;
  const { clusters, strata: ofClusters } = read;
  return {
    cluster: cluster === undefined ? undefined : clusters,
    strata: ofClusters && clusters.map((one) => ofClusters[one] as number),
  };
}

/** Returns the clusters of the given rows. */
export function takeClusters({ cluster, strata }: RowClusters, rows: Int32Array): RowClusters {
  const take = (codes: Int32Array | undefined): Int32Array | undefined =>
    codes && rows.map((row) => codes[row] as number);
  return { cluster: take(cluster), strata: take(strata) };
}

/** Transformers that accept only numbers. */
const OF_NUMBERS: readonly string[] = ['DisparateImpactRemover', 'CorrelationRemover', 'LearnedFairRepresentations'];

/**
 * Checks the numeric columns before the split, so that an error names the row in the input data.
 * @throws {DataValidationError} if a column has text where a step needs numbers, or a feature is infinite
 */
function assertUsableNumbers(table: Table, { pipeline, features = [] }: PipelineConfig): void {
  for (const { transformer, params } of pipeline) {
    const named = OF_NUMBERS.includes(transformer) ? params['features'] : undefined;
    for (const name of Array.isArray(named) ? (named as readonly string[]) : []) {
      if (table.has(name)) readNumbers(table, name);
    }
  }
  for (const name of features) if (table.column(name).kind === 'numeric') readNumbers(table, name);
}

function readNumbers(table: Table, name: string): Float64Array {
  const { values } = table.numeric(name);
  assertFinite(name, values);
  return values;
}

function assertLearnable(y: Uint8Array | Float64Array, target: string): void {
  if (y.length === 0) {
    throw new DataValidationError(
      `Every row lacks the target ('${target}') or a sensitive attribute, so there are no rows to use.`,
      {
        code: 'empty-data',
        context: { target },
        suggestion: 'Check the columns that the configuration names.',
      },
    );
  }
  if (y instanceof Uint8Array) {
    assertTwoClasses(y, target);
    return;
  }
  const [first] = y;
  if (y.some((value) => value !== first)) return;
  throw new DataValidationError(`The target '${target}' has only one value, so there is nothing to learn.`, {
    code: 'invalid-data',
    context: { target },
    suggestion: 'Name another target.',
  });
}

/** The seed of the permutation test for missing rows. It does not depend on the seed of the workflow. */
const MISSING_SEED = 42;

/** Returns the numbers of rows of each group that were left out and kept, by attribute. */
function leftOutRows(complete: Table, config: PipelineConfig, indices: Int32Array): Record<string, LeftOutRows> {
  const isKept = new Uint8Array(complete.rowCount);
  for (const row of indices) isKept[row] = 1;
  const attributes = Object.entries(attributesOf(complete, config)).map(([name, { codes, labels }]) => {
    const [dropped, kept] = [new Float64Array(labels.length), new Float64Array(labels.length)];
    codes.forEach((code, row) => {
      const counts = isKept[row] === 1 ? kept : dropped;
      if (code >= 0) counts[code] = (counts[code] as number) + 1;
    });
    return [name, { labels, dropped, kept }] as const;
  });
  return Object.fromEntries(attributes);
}

/** Describes the rows that were left out, by attribute; an empty object if there are none. */
export function missingOf(leftOut: Readonly<Record<string, LeftOutRows>>): Record<string, MissingRows> {
  const all = Object.entries(leftOut);
  if (all.every(([, { dropped }]) => dropped.every((count) => count === 0))) return {};
  return Object.fromEntries(all.map(([name, own]) => [name, missingRows(own, own.labels, MISSING_SEED).rows]));
}

/** Returns a warning for each attribute if the share of rows that were left out differs between its groups. */
function missingWarnings(leftOut: Readonly<Record<string, LeftOutRows>>): string[] {
  return Object.entries(missingOf(leftOut)).flatMap(([name, missing]) => {
    const own = leftOut[name] as LeftOutRows;
    return describeMissing(missing, own, own.labels) ?? [];
  });
}

function attributesOf(table: Table, { sensitive, intersections }: PipelineConfig): Record<string, CategoricalColumn> {
  const all = [...sensitive.map((name) => [name]), ...intersections];
  return Object.fromEntries(
    all.map((names) => [names.join(INTERSECTION_SEPARATOR), encodeGroups(table.select(names))]),
  );
}

function chooseFeatures(
  table: Table,
  { features, sensitive, cluster, strata }: PipelineConfig,
  target: string,
): Pick<WorkflowRows, 'features' | 'warnings'> {
  if (features !== undefined) return { features, warnings: [] };
  const numeric = table.columnNames.filter(
    (name) => table.column(name).kind === 'numeric' && ![target, cluster, strata, ...sensitive].includes(name),
  );
  const warning = `no features were named, so the ${String(numeric.length)} numeric columns are used: ${numeric.join(', ')}`;
  getLogger().warn(warning);
  return { features: numeric, warnings: [warning] };
}
