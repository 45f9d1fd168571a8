import { ConfigValidationError, DataValidationError } from '../../exceptions/index.ts';
import { getLogger } from '../../internal/logger.ts';
import { describeMissing, missingRows } from '../../metrics/compare/missing-rows.ts';
import type { MissingRows } from '../../metrics/index.ts';
import { metricKind } from '../../metrics/metric-definitions.ts';
import { assertConfigColumns } from '../../pipeline/run-pipeline.ts';
import type { PipelineConfig, TrainingConfig } from '../../schemas/pipeline/pipeline-document.ts';
import {
  type CategoricalColumn,
  encodeGroups,
  INTERSECTION_SEPARATOR,
  readTexts,
  Table,
  type TableSource,
  toBinary,
} from '../../table/index.ts';
import { assertFinite } from '../../training/data/feature-encoder.ts';
import { assertTwoClasses, findPositiveLabel } from '../../training/data/positive-label.ts';
import { assertTwoGroups } from '../../training/data/training-data.ts';
import { knownMetric } from '../measure-attributes.ts';

/** What is judged where a configuration names no metric. */
const DEFAULT_METRIC = 'demographic_parity_difference';

/** The rows of a workflow, read once for all three steps. None lacks its target or a sensitive attribute. */
export interface WorkflowRows {
  readonly task: 'binary' | 'regression';
  /** The metric that is judged. */
  readonly metric: string;
  readonly training: TrainingConfig;
  /** All columns. */
  readonly table: Table;
  /** Where the rows stand in the data as given. */
  readonly places: Int32Array;
  /** 0 or 1, or numbers: [rows]. */
  readonly y: Uint8Array | Float64Array;
  /** The label of the target that counts as 1; null where the target is 0/1 or a number. */
  readonly positiveLabel: string | null;
  /** All sensitive attributes crossed: what training constrains, and what is split evenly. */
  readonly groups: CategoricalColumn;
  /** The groups of each attribute and intersection, by its name. */
  readonly attributes: Readonly<Record<string, CategoricalColumn>>;
  readonly features: readonly string[];
  readonly nDropped: number;
  /** Rows of each attribute's groups that lack the target or another sensitive attribute. */
  readonly missing: Readonly<Record<string, MissingRows>>;
  readonly warnings: readonly string[];
}

/**
 * Reads the rows of a workflow: finds the features, reads the target, codes the groups.
 * @throws {ConfigValidationError} for a configuration without a training section
 * @throws {DataValidationError} for unknown columns, targets that cannot be learned, or one group alone
 * @throws {ValueError} for an unknown metric
 */
export function readWorkflowRows(config: PipelineConfig, data: TableSource): WorkflowRows {
  const training = trainingOf(config);
  const { metric } = knownMetric(config.fairnessMetric ?? DEFAULT_METRIC);
  assertScoresMeanWhatTheySay(metric, training);
  const task = metricKind(knownMetric(metric)) === 'regression' ? 'regression' : 'binary';
  const given = Table.from(data);
  const { table: whole, warnings: ofTexts } = readTexts(given, {
    groups: config.sensitive,
    target: training.targetColumn,
    positiveLabel: training.positiveLabel,
    others: config.features ?? given.columnNames,
    naValues: config.naValues,
  });
  assertConfigColumns(config, whole);
  assertUsableNumbers(whole, config);
  const sensitive = config.sensitive.map((name) => [name, encodeGroups(whole.column(name))] as const);
  const { y, positiveLabel } = readTarget(whole, training, task);
  const places = Int32Array.from(y.keys()).filter(
    (row) => !Number.isNaN(y[row]) && sensitive.every(([, { codes }]) => (codes[row] as number) >= 0),
  );
  const table = places.length === whole.rowCount ? whole : whole.take(places);
  const nDropped = whole.rowCount - places.length;
  const attributes = attributesOf(table, config);
  const groups = encodeGroups(table.select(config.sensitive));
  const kept = Float64Array.from(places, (row) => y[row] as number);
  const targets = task === 'binary' ? Uint8Array.from(kept) : kept;
  for (const [name, column] of Object.entries(attributes)) assertTwoGroups(column, [name]);
  assertLearnable(targets, training.targetColumn);
  const { features, warnings } = chooseFeatures(table, config, training.targetColumn);
  const left = nDropped === 0 ? [] : leftOutRows(whole, config, places);
  return {
    task,
    metric,
    training,
    table,
    places,
    y: targets,
    positiveLabel,
    groups,
    attributes,
    features,
    nDropped,
    missing: Object.fromEntries(left.map(({ name, missing }) => [name, missing])),
    warnings: [...ofTexts, ...warnings, ...droppedWarning(nDropped), ...left.flatMap(({ warning }) => warning ?? [])],
  };
}

/** @throws {ConfigValidationError} for a metric of probabilities of the label where there will be none */
function assertScoresMeanWhatTheySay(metric: string, { method }: TrainingConfig): void {
  const definition = knownMetric(metric);
  // Ranks need no probabilities.
  const isOfRanks = definition.measures.every((measure) => measure === 'roc_auc');
  if (method !== 'reductions' || metricKind(definition) !== 'scores' || isOfRanks) return;
  throw new ConfigValidationError(
    `${metric} is of probabilities of the label, and a mixture by reductions gives the probability of a positive decision.`,
    { context: { metric, method }, suggestion: 'Train by regularized or lagrangian, or judge roc_auc_difference.' },
  );
}

function trainingOf({ training }: PipelineConfig): TrainingConfig {
  if (training !== undefined) return training;
  throw new ConfigValidationError('The configuration has no training section, so that there is nothing to train.', {
    context: { key: 'training' },
    suggestion: 'Add training: with method and target_column, or use applyPipeline, which needs none.',
  });
}

/** The target as numbers, NaN where it is missing. */
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

/** Transformers that work on numbers alone. */
const OF_NUMBERS: readonly string[] = ['DisparateImpactRemover', 'CorrelationRemover', 'LearnedFairRepresentations'];

/**
 * What cannot be used is told by its row in the data as given; the steps see a part of the rows.
 * @throws {DataValidationError} for text where a step needs numbers, and infinite features
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
    throw new DataValidationError(`No row has both its target ('${target}') and its sensitive attributes.`, {
      context: { target },
      suggestion: 'Check the columns that the configuration names.',
    });
  }
  if (y instanceof Uint8Array) {
    assertTwoClasses(y, target);
    return;
  }
  const [first] = y;
  if (y.some((value) => value !== first)) return;
  throw new DataValidationError(`The target '${target}' has one value only; there is nothing to learn.`, {
    context: { target },
    suggestion: 'Name another target.',
  });
}

/** Seeds the permutation test of missing rows; a workflow's own seed decides other things. */
const MISSING_SEED = 42;

/** The rows of each attribute's groups that are left out, and a warning where groups differ in them. */
function leftOutRows(
  whole: Table,
  config: PipelineConfig,
  places: Int32Array,
): { name: string; missing: MissingRows; warning: string | undefined }[] {
  const isKept = new Uint8Array(whole.rowCount);
  for (const row of places) isKept[row] = 1;
  return Object.entries(attributesOf(whole, config)).map(([name, { codes, labels }]) => {
    const [dropped, kept] = [new Float64Array(labels.length), new Float64Array(labels.length)];
    codes.forEach((code, row) => {
      const counts = isKept[row] === 1 ? kept : dropped;
      if (code >= 0) counts[code] = (counts[code] as number) + 1;
    });
    const missing = missingRows({ dropped, kept }, labels, MISSING_SEED);
    return { name, missing, warning: describeMissing(missing, { dropped, kept }, labels) };
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
  { features, sensitive }: PipelineConfig,
  target: string,
): Pick<WorkflowRows, 'features' | 'warnings'> {
  if (features !== undefined) return { features, warnings: [] };
  const numeric = table.columnNames.filter(
    (name) => table.column(name).kind === 'numeric' && name !== target && !sensitive.includes(name),
  );
  const warning = `no features were named, so that the ${String(numeric.length)} numeric columns are used: ${numeric.join(', ')}`;
  getLogger().warn(warning);
  return { features: numeric, warnings: [warning] };
}

function droppedWarning(nDropped: number): string[] {
  if (nDropped === 0) return [];
  return [`${nDropped.toLocaleString('en-US')} rows without a target or a sensitive attribute are left out`];
}
