import { DataValidationError } from '../../exceptions/index.ts';
import { columnToArray } from '../../table/column.ts';
import {
  absentLabelError,
  type CategoricalColumn,
  encodeGroups,
  findAbsentLabel,
  type PositiveLabelOptions,
  readLabels,
  readTexts,
  type SearchedColumn,
  Table,
  type TableSource,
  type TextColumns,
  toBinary,
} from '../../table/index.ts';
import { readClusters, type ReadClusters } from '../../metrics/reduce/row-arguments.ts';
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
  /** The clusters of dependent rows; undefined if all rows are independent. */
  readonly clusters: ReadClusters | undefined;
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
  const { outcome, yTrue, sampleWeight, cluster, id, nanPolicy } = settings;
  const { positiveLabel, yTruePositiveLabel } = labelsOf(settings);
  const decisions = (name: string, role: string, label: string | undefined): Float64Array =>
    join((table, arm) => decisionsOf(table, arm, name, role, { positiveLabel: label, naValues: settings.naValues }));
  const decided = needs.decisions ? decisions(outcome, 'outcome', positiveLabel) : undefined;
  const truth =
    yTrue === null ? undefined : needs.decisions ? decisions(yTrue, 'yTrue', yTruePositiveLabel) : numbers(yTrue);
  if (decided !== undefined) {
    const labelled = (name: string, binary: Float64Array): LabelledColumn => ({
      name,
      values: arms.flatMap((table) => columnOf(table, name)),
      binary,
    });
    assertLabelsOccur(
      settings,
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
    clusters:
      cluster === null
        ? undefined
        : readClusters(
            { cluster: arms.flatMap((table) => columnOf(table, cluster)), strata: undefined, naValues: undefined },
            arms[0].rowCount + arms[1].rowCount,
          ),
    ids: id === null ? undefined : arms.flatMap((table) => columnOf(table, id)),
    warnings,
  };
}

/** Returns the labels that count as 1 in the outcome and in the true labels. */
function labelsOf({ positiveLabel, yTruePositiveLabel }: ABSettings): PositiveLabelOptions {
  const own = positiveLabel ?? undefined;
  return { positiveLabel: own, yTruePositiveLabel: yTruePositiveLabel ?? own };
}

function textColumns(settings: ABSettings): TextColumns {
  const { attributes, outcome, yTrue, sampleWeight, business, naValues } = settings;
  const { positiveLabel, yTruePositiveLabel } = labelsOf(settings);
  return {
    groups: attributes.flatMap(({ columns }) => columns),
    target: yTrue ?? undefined,
    positiveLabel: yTruePositiveLabel,
    predictions: { name: outcome, positiveLabel },
    others: [sampleWeight, ...business].filter((name) => name !== null),
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

function decisionsOf(
  table: Table,
  arm: Arm,
  name: string,
  role: string,
  { positiveLabel, naValues }: Pick<TextColumns, 'positiveLabel' | 'naValues'>,
): Float64Array {
  const column = table.column(name);
  try {
    const binary = toBinary(column, `${role} '${name}' of the ${arm} arm`, positiveLabel, naValues);
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
 * Checks that the positive labels occur in the two arms together. All decisions may be negative if the labels of the
 * outcome also occur in the true labels.
 * @throws {DataValidationError} if one does not occur; the error lists the labels of the column
 */
function assertLabelsOccur(settings: ABSettings, outcome: LabelledColumn, truth: LabelledColumn | undefined): void {
  const given = {
    positiveLabel: settings.positiveLabel ?? undefined,
    yTruePositiveLabel: settings.yTruePositiveLabel ?? undefined,
  };
  const { positiveLabel, yTruePositiveLabel } = labelsOf(settings);
  const search = ({ name, values, binary }: LabelledColumn, label: string | undefined): SearchedColumn => ({
    hasPositive: binary.includes(1),
    hasNegative: binary.includes(0),
    isRead: readLabels(values, name, label, settings.naValues).rule.positiveLabel !== undefined,
  });
  const absent = findAbsentLabel(given, truth && search(truth, yTruePositiveLabel), search(outcome, positiveLabel));
  if (absent === undefined) return;
  const labels = ({ name, values }: LabelledColumn): readonly string[] =>
    readLabels(values, name, undefined, settings.naValues).column.labels;
  const column = absent.column === 'yTrue' && truth !== undefined ? truth : outcome;
  const known = new Set(absent.isShared && column === outcome && truth !== undefined ? labels(truth) : []);
  if (known.size > 0 && labels(outcome).every((label) => known.has(label))) return;
  throw absentLabelError(absent, { data: 'either arm', column: column.name }, labels(column));
}
