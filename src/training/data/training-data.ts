import type { Tensor1D, Tensor2D } from '@tensorflow/tfjs';

import { DataValidationError } from '../../exceptions/index.ts';
import { assertKnownOptions, type OptionNames } from '../../internal/arguments.ts';
import {
  type CategoricalColumn,
  type Column,
  encodeGroups,
  INTERSECTION_SEPARATOR,
  isTensorLike,
  onHost,
  readTexts,
  Table,
  type TableSource,
  toBinary,
} from '../../table/index.ts';
import type { Tf } from '../../tensor/index.ts';
import { repeatedTestNotes } from './repeated-rows.ts';
import { columnNames, readTensorRows, type TensorRows } from './tensor-rows.ts';

/** A table with the roles of its columns in training. */
export interface TrainingSource {
  /** The training rows. */
  readonly table: TableSource;
  /**
   * The column to predict: 0/1, or text with two values.
   * @defaultValue 'y'
   */
  readonly target?: string | undefined;
  /**
   * The sensitive column, or several columns to cross. A sensitive column is never used as a feature.
   * @defaultValue 's'
   */
  readonly sensitive?: string | readonly string[] | undefined;
  /** The columns used as features; every other column if omitted. */
  readonly features?: readonly string[] | undefined;
  /** The label of the target column that is mapped to 1. The default is the less frequent of the two labels. */
  readonly positiveLabel?: string | undefined;
  /**
   * Texts that are read as missing values in all columns. See the documentation of the metrics.
   * @defaultValue the missing-value texts of pandas; in sensitive columns, only the empty text
   */
  readonly naValues?: readonly string[] | undefined;
  /** The rows for evaluation. If omitted, some rows of `table` are held out for evaluation. */
  readonly testTable?: TableSource | undefined;
}

const TRAINING_SOURCE_NAMES: OptionNames<TrainingSource> = {
  table: true,
  target: true,
  sensitive: true,
  features: true,
  positiveLabel: true,
  naValues: true,
  testTable: true,
};

/** Training rows that are tensors, on the device of the caller's own TensorFlow.js. */
export interface TensorTrainingSource {
  /** The features, [rows, columns]. NaN is a missing value. */
  readonly features: Tensor2D;
  /** The column to predict, [rows], 0 or 1. Rows with NaN are excluded. */
  readonly target: Tensor1D;
  /** The integer code of each row's group, [rows]. Rows with NaN are excluded. */
  readonly sensitive: Tensor1D;
  /** The label of each code, from 0; the codes themselves if omitted. */
  readonly sensitiveLabels?: readonly string[] | undefined;
  /** The names of the columns; x0, x1 and so on if omitted. */
  readonly featureNames?: readonly string[] | undefined;
}

const TENSOR_SOURCE_NAMES: OptionNames<TensorTrainingSource> = {
  features: true,
  target: true,
  sensitive: true,
  sensitiveLabels: true,
  featureNames: true,
};

/** Returns whether the features of a source are a tensor. */
export function isTensorSource(source: TrainingSource | TensorTrainingSource): source is TensorTrainingSource {
  return isTensorLike(source.features);
}

/** Rows whose features are not yet encoded. Every row has a target and a group. */
export interface TrainingRows {
  /** The features. If the features are a tensor, a column of the rows' positions (see {@link positionsOf}). */
  readonly table: Table;
  readonly y: Uint8Array;
  readonly groups: CategoricalColumn;
  /** The number of rows excluded because the target or the group is missing. */
  readonly nDropped: number;
}

/** The data read from a training source. */
export interface TrainingData {
  readonly rows: TrainingRows;
  readonly test: TrainingRows | undefined;
  readonly features: readonly string[];
  readonly target: string;
  readonly sensitive: readonly string[];
  /** The label that is mapped to 1 if the target is text; null if the target is 0/1. */
  readonly positiveLabel: string | null;
  /** The texts that mean a missing value; undefined for the default texts. */
  readonly naValues?: readonly string[] | undefined;
  /** Warnings about how labels and texts were read. */
  readonly warnings: readonly string[];
  /** The rows of a {@link TensorTrainingSource}, which the reader of the data disposes of. */
  readonly tensors?: TensorRows | undefined;
}

/**
 * Reads a source: selects the features, maps the target to 0/1, and encodes the groups.
 * @throws {DataValidationError} if a column is unknown, the target does not have exactly two values, or there are
 *   fewer than two groups
 * @throws {ValueError} if the source has an unknown field
 */
export function readTrainingData(source: TrainingSource): TrainingData {
  assertKnownOptions('TrainingSource', source, TRAINING_SOURCE_NAMES);
  const given = Table.from(source.table);
  const target = source.target ?? 'y';
  const sensitive = [source.sensitive ?? 's'].flat();
  const { naValues, positiveLabel: named } = source;
  const others = source.features ?? given.columnNames;
  const { table, warnings } = readTexts(given, { groups: sensitive, target, positiveLabel: named, others, naValues });
  const positiveLabel = findPositiveLabel(table, target, source.positiveLabel);
  const features = source.features ?? table.columnNames.filter((name) => name !== target && !sensitive.includes(name));
  assertFeatureNames((name) => table.column(name), features, target, sensitive);
  const rows = readRows(table, target, sensitive, positiveLabel);
  assertTwoGroups(rows.groups, sensitive);
  assertTwoClasses(rows.y, target);
  const roles = { groups: sensitive, target, positiveLabel: positiveLabel ?? undefined, others, naValues };
  const test = source.testTable && readTexts(Table.from(source.testTable), roles).table;
  const testRows = test && readTestRows(test, target, sensitive, positiveLabel, rows.groups);
  return {
    rows,
    test: testRows,
    features,
    target,
    sensitive,
    positiveLabel,
    naValues,
    warnings: [
      ...warnings,
      ...leakNotes(rows.table, features, { name: target, y: rows.y }),
      ...(testRows === undefined ? [] : repeatedTestNotes(rows, testRows, features)),
    ],
  };
}

/** The minimum number of known rows of each class from which a perfect separation is not chance. */
const MIN_SEPARATED = 10;

/** The minimum number of rows for each text of a feature, on average. Other texts separate rows by chance. */
const MIN_ROWS_PER_TEXT = 10;

/**
 * Returns a note on features that separate the two classes without an exception: numbers with a threshold, or texts that
 * each occur in one class only. Such a feature is often computed from the target (leakage).
 */
export function leakNotes(
  table: Table,
  features: readonly string[],
  { name: target, y }: { readonly name: string; readonly y: ArrayLike<number> },
): string[] {
  const found = features.filter((name) => separates(table.column(name), y));
  if (found.length === 0) return [];
  return [
    `these features separate the two values of '${target}' without an exception: ${quoteList(found)}; check that their values are known when the model decides, and are not computed from '${target}'; leave out the others (features)`,
  ];
}

function separates(column: Column, y: ArrayLike<number>): boolean {
  const classOf = (row: number): 0 | 1 => (y[row] === 1 ? 1 : 0);
  const counts: [number, number] = [0, 0];
  if (column.kind === 'numeric') {
    const [low, high] = [[Infinity, Infinity] as [number, number], [-Infinity, -Infinity] as [number, number]];
    for (let row = 0; row < column.values.length; row++) {
      const value = column.values[row] as number;
      if (Number.isNaN(value)) continue;
      const own = classOf(row);
      counts[own]++;
      low[own] = Math.min(low[own], value);
      high[own] = Math.max(high[own], value);
    }
    return Math.min(...counts) >= MIN_SEPARATED && (high[0] < low[1] || high[1] < low[0]);
  }
  /** The classes of each text, as bits. */
  const classes = new Uint8Array(column.labels.length);
  for (let row = 0; row < column.codes.length; row++) {
    const code = column.codes[row] as number;
    if (code < 0) continue;
    const own = classOf(row);
    counts[own]++;
    classes[code] = (classes[code] as number) | (1 << own);
    if (classes[code] === 3) return false;
  }
  const known = counts[0] + counts[1];
  const nTexts = classes.filter((one) => one > 0).length;
  return Math.min(...counts) >= MIN_SEPARATED && known >= MIN_ROWS_PER_TEXT * nTexts;
}

/** The column of positions in the table of rows whose features are a tensor. */
const POSITION = 'position';

/**
 * Reads tensors. The rows stay on their device; the host knows the number of rows of each group and target. The rows of
 * the result are in the order of these strata.
 * @throws {DataValidationError} if shapes or lengths differ, a value is invalid, there are fewer than two groups or only
 *   one class
 */
export async function readTensorTraining(tf: Tf, source: TensorTrainingSource): Promise<TrainingData> {
  assertKnownOptions('sweepPareto', source, TENSOR_SOURCE_NAMES);
  const { features: x, target: y, sensitive, sensitiveLabels } = source;
  const names = source.featureNames ?? columnNames(x.shape[1]);
  assertNames('featureNames', names, x.shape[1]);
  if (sensitiveLabels !== undefined) assertNames('sensitiveLabels', sensitiveLabels);
  const tensors = await readTensorRows(
    tf,
    { x, y, sensitive },
    {
      isBinary: true,
      names,
      labels: sensitiveLabels,
      dropsMissing: true,
      reject: async () => toBinary((await onHost({ y })).y, 'target'),
    },
  );
  try {
    const { strata, labels, nDropped } = tensors;
    const rows: TrainingRows = {
      table: Table.ofColumns([[POSITION, { kind: 'numeric', values: Float64Array.from(strata.keys()) }]]),
      y: Uint8Array.from(strata, (stratum) => stratum & 1),
      groups: { kind: 'categorical', codes: strata.map((stratum) => stratum >> 1), labels },
      nDropped,
    };
    assertTwoGroups(rows.groups, ['sensitive']);
    assertTwoClasses(rows.y, 'target');
    const described = { features: names, target: 'target', sensitive: ['sensitive'], positiveLabel: null };
    return { rows, test: undefined, ...described, warnings: [], tensors };
  } catch (error) {
    tensors.dispose();
    throw error;
  }
}

/** Returns the positions of rows whose features are a tensor. */
export function positionsOf({ table }: TrainingRows): Float64Array {
  return table.numeric(POSITION).values;
}

/** Checks that names are different and, if a number is given, as many as that. */
function assertNames(parameter: string, names: readonly string[], expected = names.length): void {
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated === undefined && names.length === expected) return;
  const found = repeated === undefined ? `${String(names.length)} names` : `'${repeated}' twice`;
  throw new DataValidationError(`${parameter} must hold ${String(expected)} different names, but holds ${found}.`, {
    code: repeated === undefined ? 'length-mismatch' : 'duplicate-column',
    context: { parameter, expected, received: names.length },
    suggestion: 'Give each column of the features, and each code of a group, a name of its own.',
  });
}

/** Returns the training rows at the given indices. */
export function takeTrainingRows({ table, y, groups }: TrainingRows, rows: Int32Array): TrainingRows {
  return {
    table: table.take(rows),
    y: Uint8Array.from(rows, (row) => y[row] as number),
    groups: { ...groups, codes: Int32Array.from(rows, (row) => groups.codes[row] as number) },
    nDropped: 0,
  };
}

function readRows(
  table: Table,
  target: string,
  sensitive: readonly string[],
  positiveLabel: string | null,
): TrainingRows {
  const y = toBinary(table.column(target), `Column '${target}'`, positiveLabel ?? undefined);
  const groups = encodeGroups(table.select(sensitive));
  const kept = Int32Array.from(y.keys()).filter((row) => (y[row] as number) >= 0 && (groups.codes[row] as number) >= 0);
  const all = { table, y: Uint8Array.from(y), groups, nDropped: 0 };
  return kept.length === y.length ? all : { ...takeTrainingRows(all, kept), nDropped: y.length - kept.length };
}

/**
 * Reads test rows with the group codes of the training rows. Groups that occur only in the test rows get the next free
 * codes.
 */
function readTestRows(
  table: Table,
  target: string,
  sensitive: readonly string[],
  positiveLabel: string | null,
  known: CategoricalColumn,
): TrainingRows {
  const { labels: values } = table.categorical(target);
  if (positiveLabel !== null) assertLabel(`The target '${target}' of the test rows`, values, positiveLabel, { target });
  const rows = readRows(table, target, sensitive, positiveLabel);
  const labels = [...known.labels, ...rows.groups.labels.filter((label) => !known.labels.includes(label))];
  const codeOf = rows.groups.labels.map((label) => labels.indexOf(label));
  const codes = rows.groups.codes.map((code) => codeOf[code] as number);
  return { ...rows, groups: { kind: 'categorical', codes, labels } };
}

/** @throws {DataValidationError} if a feature is unknown, named twice, the target, or sensitive */
export function assertFeatureNames(
  has: (name: string) => void,
  features: readonly string[],
  target: string,
  sensitive: readonly string[],
): void {
  const repeated = features.find((name, index) => features.indexOf(name) !== index);
  if (repeated !== undefined) {
    throw new DataValidationError(`Column '${repeated}' is named twice among the features.`, {
      code: 'duplicate-column',
      context: { column: repeated },
    });
  }
  if (sensitive.includes(target)) {
    throw new DataValidationError(`Column '${target}' cannot be both the target and sensitive.`, {
      code: 'duplicate-column',
      context: { column: target },
      suggestion: 'Choose another sensitive column.',
    });
  }
  for (const name of features) {
    has(name);
    if (name !== target && !sensitive.includes(name)) continue;
    throw new DataValidationError(
      `Column '${name}' is ${name === target ? 'the target' : 'sensitive'}, so it cannot be a feature.`,
      { code: 'duplicate-column', context: { column: name }, suggestion: 'Remove it from the features.' },
    );
  }
}

/** @throws {DataValidationError} if there are fewer than two groups */
export function assertTwoGroups({ labels }: CategoricalColumn, sensitive: readonly string[]): void {
  if (labels.length >= 2) return;
  const name = sensitive.join(INTERSECTION_SEPARATOR);
  const found = labels.length === 0 ? 'no group' : `one group only ('${labels[0] ?? ''}')`;
  throw new DataValidationError(
    `The sensitive column '${name}' has ${found}; a fairness constraint needs at least two.`,
    { code: 'too-few-groups', context: { sensitive }, suggestion: 'Choose another sensitive column.' },
  );
}

/**
 * Returns the label that is mapped to 1: the given label, or by default the less frequent of the two labels. Returns
 * null if the target is already 0/1.
 */
export function findPositiveLabel(table: Table, target: string, named: string | undefined): string | null {
  const { codes, labels } = table.categorical(target);
  const counts = new Float64Array(labels.length);
  for (const code of codes) if (code >= 0) counts[code] = (counts[code] as number) + 1;
  return choosePositiveLabel(target, { labels, counts }, named);
}

/** Returns the label of {@link findPositiveLabel}, given the number of rows of each label. */
export function choosePositiveLabel(
  target: string,
  { labels, counts }: { readonly labels: readonly string[]; readonly counts: ArrayLike<number> },
  named: string | undefined,
): string | null {
  const shown = quoteList(labels);
  if (named !== undefined) {
    assertLabel(`The target '${target}'`, labels, named, { target });
    return named;
  }
  if (labels.every((label) => ['0', '1', '0.0', '1.0', 'true', 'false'].includes(label.toLowerCase()))) return null;
  if (labels.length === 2) {
    const [first, second] = labels as [string, string];
    return (counts[1] as number) <= (counts[0] as number) ? second : first;
  }
  throw new DataValidationError(
    `The target '${target}' has ${String(labels.length)} values${labels.length === 0 ? '' : ` (${shown})`}, but training needs two.`,
    {
      code: 'too-few-groups',
      context: { target, values: labels.length },
      suggestion: 'Set the label that counts as positive (positiveLabel); the others count as negative.',
    },
  );
}

/** @throws {DataValidationError} if the positive label does not occur in a column */
export function assertLabel(
  what: string,
  labels: readonly string[],
  positiveLabel: string,
  context: Readonly<Record<string, unknown>>,
  suggestion = `Its values are ${quoteList(labels)}.`,
): void {
  if (labels.includes(positiveLabel)) return;
  throw new DataValidationError(`${what} never has the value '${positiveLabel}'.`, {
    code: 'unknown-label',
    context: { ...context, positiveLabel },
    suggestion,
  });
}

/** Formats the first few values of a list for messages. */
function quoteList(values: readonly string[]): string {
  return `${values
    .slice(0, 8)
    .map((value) => `'${value}'`)
    .join(', ')}${values.length > 8 ? ', …' : ''}`;
}

/** @throws {DataValidationError} if the target has only one class */
export function assertTwoClasses(y: Uint8Array, target: string): void {
  if (y.includes(0) && y.includes(1)) return;
  throw new DataValidationError(`The target '${target}' has one value only, so there is nothing to learn.`, {
    code: 'invalid-data',
    context: { target },
    suggestion: 'Choose another target or another positive label.',
  });
}
