import { DataValidationError } from '../exceptions/index.ts';
import { type ControlCell, crossControl } from '../metrics/frame/index.ts';
import { groupReadings, outcomeReadings } from '../metrics/reduce/row-readings.ts';
import { toFiniteNumbers } from '../metrics/reduce/row-arguments.ts';
import type { MetricRows } from '../metrics/row-options.ts';
import type { GroupStats } from '../metrics/statistics/group-stats.ts';
import {
  type CategoricalColumn,
  type ColumnReading,
  type ColumnSource,
  encodeGroups,
  type NanPolicy,
} from '../table/index.ts';
import { isColumn } from '../table/column-source.ts';
import { binaryTruth, decideScores, type NeededStatistics } from './attribute-statistics.ts';

/** Rows as columns, and which of them are attributes. */
export interface DecisionColumns {
  readonly yPred: ColumnSource | undefined;
  readonly yScore: ColumnSource | undefined;
  readonly yTrue: ColumnSource | undefined;
  readonly sampleWeight: ColumnSource | undefined;
  readonly sensitive: NamedGroups;
  /** Names of `sensitive`; several are crossed. */
  readonly attributes: readonly (readonly string[])[];
  readonly control: NamedGroups | undefined;
  readonly nanPolicy: NanPolicy;
  readonly naValues: readonly string[] | undefined;
  readonly positiveLabel: string | undefined;
  readonly yTruePositiveLabel: string | undefined;
  readonly scoreThreshold: number | undefined;
}

/** Columns of groups by their names, and what their labels were read as. */
interface NamedGroups {
  readonly columns: ReadonlyMap<string, CategoricalColumn>;
  readonly readings: readonly ColumnReading[];
}

/** The rows of one attribute, and crossed with the control feature. */
export interface AttributeRows {
  readonly own: MetricRows;
  /** What labels and texts were read as. */
  readonly readings: readonly ColumnReading[];
  readonly crossed: { readonly rows: MetricRows; readonly cells: readonly ControlCell[] } | undefined;
}

/** The rows that statistics of a kind are made of, for each attribute. */
export function attributeRows(columns: DecisionColumns, { kind, needsTruth }: NeededStatistics): AttributeRows[] {
  const { attributes, sensitive, control, nanPolicy, naValues } = columns;
  const common: Omit<MetricRows, 'sensitive'> = { ...outcomes(columns, kind), nanPolicy, naValues };
  const outcome = outcomeReadings(readKind(columns, kind), {
    ...columns,
    yTrue: needsTruth ? columns.yTrue : undefined,
  });
  return attributes.map((names): AttributeRows => {
    const own = pick(sensitive.columns, names);
    const rows = { ...common, sensitive: own };
    const groups = sensitive.readings.filter(({ name }) => names.includes(name ?? ''));
    const readings = [...outcome, ...groups, ...(control?.readings ?? [])];
    if (control === undefined) return { own: rows, readings, crossed: undefined };
    const levels = pick(control.columns, [...control.columns.keys()]);
    const { column, cells } = crossControl(own, levels, nanPolicy, naValues);
    return { own: rows, readings, crossed: { rows: { ...common, sensitive: column }, cells } };
  });
}

/** Scores that are decided at a threshold are read as scores. */
function readKind({ yPred, yScore }: DecisionColumns, kind: GroupStats['kind']): GroupStats['kind'] {
  return kind === 'classification' && yPred === undefined && yScore !== undefined ? 'scores' : kind;
}

/**
 * Columns by their names, as codes, so that none is encoded twice. One without a name has the argument's.
 * @throws {DataValidationError} where there is none, or one is no column
 */
export function columnsByName(
  given: ColumnSource | Readonly<Record<string, ColumnSource>>,
  argument: string,
  naValues: readonly string[] | undefined,
): NamedGroups {
  const named = isNamed(given) ? Object.entries(given) : [[argument, given] as const];
  if (named.length === 0) {
    throw new DataValidationError(`${argument} names no column.`, {
      context: { argument },
      suggestion: 'Give at least one column, as in { sex: [...] }.',
    });
  }
  const encoded = named.map(([name, column]) => [name, encodeGroups(column)] as const);
  return {
    columns: new Map(encoded.map(([name, column]) => [name, encodeGroups(column, 'exclude', naValues)])),
    readings: groupReadings(Object.fromEntries(encoded), naValues),
  };
}

/** Whether columns have names: a plain object that is no column itself. */
function isNamed(
  given: ColumnSource | Readonly<Record<string, ColumnSource>>,
): given is Readonly<Record<string, ColumnSource>> {
  if (typeof given !== 'object' || (isColumn(given) && typeof given.kind === 'string')) return false;
  const prototype: unknown = Object.getPrototypeOf(given);
  return prototype === Object.prototype || prototype === null;
}

function pick(columns: ReadonlyMap<string, CategoricalColumn>, names: readonly string[]): MetricRows['sensitive'] {
  const [first = '', ...others] = names;
  // An object of one column is read as several would be, which takes longer.
  if (others.length === 0) return columns.get(first) as CategoricalColumn;
  return Object.fromEntries(names.map((name) => [name, columns.get(name) as CategoricalColumn]));
}

/** Decisions made of scores are 0 and 1, and the truth beside them too. */
function outcomes(columns: DecisionColumns, kind: GroupStats['kind']): Omit<MetricRows, 'sensitive' | 'nanPolicy'> {
  const { yPred, yScore, yTrue, sampleWeight, positiveLabel, yTruePositiveLabel, naValues, scoreThreshold } = columns;
  if (yPred !== undefined || yScore === undefined || kind !== 'classification') {
    return { yPred, yScore, yTrue, sampleWeight, positiveLabel, yTruePositiveLabel };
  }
  return {
    yPred: decideScores(toFiniteNumbers(yScore, 'yScore', naValues), scoreThreshold),
    yTrue: yTrue === undefined ? undefined : binaryTruth(yTrue, columns),
    sampleWeight,
  };
}
