import { DataValidationError } from '../../exceptions/index.ts';
import { columnToArray } from '../../table/column.ts';
import {
  type CategoricalColumn,
  encodeGroups,
  readTexts,
  Table,
  type TableSource,
  type TextColumns,
  toBinary,
} from '../../table/index.ts';
import type { ABSettings } from './ab-test-options.ts';

/** The names of the arms, in order. */
export const ARMS = ['control', 'treatment'] as const;

/** One of the two arms. */
export type Arm = (typeof ARMS)[number];

/** Both arms as one long table: the rows of the control arm, then the rows of the treatment arm. */
export interface ArmRows {
  readonly nControl: number;
  readonly nRows: number;
  /**
   * The outcome as decisions 0 and 1, or as numbers; NaN if missing. The outcome is undefined if no metric needs it.
   */
  readonly decisions: Float64Array | undefined;
  readonly values: Float64Array | undefined;
  readonly truth: Float64Array | undefined;
  readonly weights: Float64Array | undefined;
  /** The values of each business column. */
  readonly business: ReadonlyMap<string, Float64Array>;
  /** The groups of each attribute. */
  readonly groups: ReadonlyMap<string, CategoricalColumn>;
  readonly ids: readonly (string | number | null)[] | undefined;
  /** Warnings about how labels and texts were interpreted. */
  readonly warnings: readonly string[];
}

/**
 * Reads the columns of an analysis from the tables of both arms. `needs` states whether the outcome is needed as
 * decisions, as numbers, or as both.
 * @throws {DataValidationError} if an arm is empty, if a column is missing, if a numeric column has text or infinities,
 * if decisions are not 0 and 1, if no row has the positive label, or if a weight is negative
 */
export function readArms(
  control: TableSource,
  treatment: TableSource,
  settings: ABSettings,
  needs: { readonly decisions: boolean; readonly values: boolean },
): ArmRows {
  const given = [tableOf(control, 'control'), tableOf(treatment, 'treatment')] as const;
  const read = given.map((table) => readTexts(table, textColumns(settings)));
  const arms = read.map(({ table }) => table) as [Table, Table];
  const warnings = read.flatMap((one, index) => one.warnings.map((text) => `${ARMS[index] as Arm} arm: ${text}`));
  const join = (readArm: (table: Table, arm: Arm) => Float64Array): Float64Array =>
    joined(arms.map((table, index) => readArm(table, ARMS[index] as Arm)));
  const numbers = (name: string): Float64Array => join((table, arm) => numbersOf(table, arm, name));
  const decisions = (name: string, role: string): Float64Array =>
    join((table, arm) => decisionsOf(table, arm, name, role, settings.positiveLabel));
  const { outcome, yTrue, sampleWeight, id, nanPolicy, positiveLabel } = settings;
  const decided = needs.decisions ? decisions(outcome, 'outcome') : undefined;
  const truth = yTrue === null ? undefined : needs.decisions ? decisions(yTrue, 'yTrue') : numbers(yTrue);
  if (positiveLabel !== null && decided !== undefined) {
    const labelled = (name: string, binary: Float64Array): Parameters<typeof assertPositiveLabel>[1] => ({
      name,
      values: arms.flatMap((table) => columnOf(table, name)),
      binary,
    });
    assertPositiveLabel(
      positiveLabel,
      labelled(outcome, decided),
      yTrue === null || truth === undefined ? undefined : labelled(yTrue, truth),
    );
  }
  return {
    nControl: arms[0].rowCount,
    nRows: arms[0].rowCount + arms[1].rowCount,
    decisions: decided,
    values: needs.values ? numbers(outcome) : undefined,
    truth,
    weights: sampleWeight === null ? undefined : join((table, arm) => weightsOf(table, arm, sampleWeight)),
    business: new Map(settings.business.map((name) => [name, numbers(name)])),
    groups: new Map(
      settings.attributes.map(({ name, columns }) => {
        const both = columns.map((column) => [column, arms.flatMap((table) => columnOf(table, column))] as const);
        return [name, encodeGroups(Table.from(Object.fromEntries(both)), nanPolicy)];
      }),
    ),
    ids: id === null ? undefined : arms.flatMap((table) => columnOf(table, id)),
    warnings,
  };
}

function textColumns({
  attributes,
  outcome,
  yTrue,
  sampleWeight,
  business,
  positiveLabel,
  naValues,
}: ABSettings): TextColumns {
  return {
    groups: attributes.flatMap(({ columns }) => columns),
    target: outcome,
    positiveLabel: positiveLabel ?? undefined,
    others: [yTrue, sampleWeight, ...business].filter((name) => name !== null),
    naValues,
  };
}

function tableOf(source: TableSource, arm: Arm): Table {
  const table = Table.from(source);
  if (table.rowCount > 0) return table;
  throw new DataValidationError(`The ${arm} arm has no rows.`, {
    code: 'empty-data',
    context: { argument: arm },
    suggestion: 'An experiment needs rows in both arms. Check how the rows were filtered.',
  });
}

/**
 * Returns the values of a column as a list. Unlike a typed column, a list can combine the text of one arm with the
 * numbers of the other arm.
 */
function columnOf(table: Table, name: string): (string | number | null)[] {
  return columnToArray(table.column(name));
}

function numbersOf(table: Table, arm: Arm, name: string): Float64Array {
  const { values } = table.numeric(name);
  const index = values.findIndex((value) => Math.abs(value) === Infinity);
  if (index < 0) return values;
  throw badValue(name, arm, index, values[index] as number, 'finite numbers');
}

function weightsOf(table: Table, arm: Arm, name: string): Float64Array {
  const weights = numbersOf(table, arm, name);
  const index = weights.findIndex((weight) => weight < 0);
  if (index < 0) return weights;
  throw badValue(name, arm, index, weights[index] as number, 'weights of at least 0');
}

function badValue(name: string, arm: Arm, index: number, value: number, required: string): DataValidationError {
  return new DataValidationError(
    `Column '${name}' of the ${arm} arm must hold ${required}, but holds ${String(value)} at index ${String(index)}.`,
    { code: 'invalid-value', context: { column: name, arm, index, value }, suggestion: 'Fix or remove this value.' },
  );
}

function decisionsOf(table: Table, arm: Arm, name: string, role: string, positiveLabel: string | null): Float64Array {
  const column = table.column(name);
  try {
    const binary = toBinary(column, `${role} '${name}' of the ${arm} arm`, positiveLabel ?? undefined);
    return Float64Array.from(binary, (value) => (value < 0 ? NaN : value));
  } catch (error) {
    if (!(error instanceof DataValidationError) || column.kind !== 'numeric') throw error;
    throw new DataValidationError(error.message, {
      code: error.code,
      context: error.context,
      suggestion: 'Pass decisions. For a numeric outcome, use the metric mean_prediction_difference.',
      cause: error,
    });
  }
}

function joined(parts: readonly Float64Array[]): Float64Array {
  const complete = new Float64Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    complete.set(part, offset);
    offset += part.length;
  }
  return complete;
}

/** A column of both arms: its original values, and its values as 0 and 1. */
interface LabelledColumn {
  readonly name: string;
  readonly values: readonly (string | number | null)[];
  readonly binary: Float64Array;
}

/**
 * Checks that the positive label occurs in at least one row of the two arms. If it does not, the label is mistyped or
 * belongs to another column. The label may be missing in the outcome column if the labels there also occur in the true
 * labels. All decisions are then negative.
 * @throws {DataValidationError} if no row has the label; the error lists the labels of the column
 */
function assertPositiveLabel(positiveLabel: string, outcome: LabelledColumn, truth: LabelledColumn | undefined): void {
  if (truth !== undefined && isStrange(truth)) throw unknownLabel(positiveLabel, truth);
  if (!isStrange(outcome)) return;
  const known = new Set(truth === undefined ? [] : labelsOf(truth));
  if (!labelsOf(outcome).every((label) => known.has(label))) throw unknownLabel(positiveLabel, outcome);
}

function isStrange({ binary }: LabelledColumn): boolean {
  return !binary.includes(1) && binary.includes(0);
}

function labelsOf({ name, values }: LabelledColumn): readonly string[] {
  return Table.from({ [name]: values.map((value) => (value === null ? null : String(value))) }).categorical(name)
    .labels;
}

function unknownLabel(label: string, column: LabelledColumn): DataValidationError {
  const labels = labelsOf(column).slice(0, 50);
  const shown = labels.slice(0, 8).map((known) => `'${known}'`);
  return new DataValidationError(
    `No row of either arm holds the positive label '${label}' in column '${column.name}'.`,
    {
      code: 'unknown-label',
      context: { column: column.name, positiveLabel: label, labels },
      suggestion: `Its labels are ${shown.join(', ')}${labels.length > 8 ? ', \u2026' : ''}.`,
    },
  );
}
