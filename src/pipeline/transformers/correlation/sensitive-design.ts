import type { CategoricalColumn, Table } from '../../../table/index.ts';
import { readFeature, readKnownGroups } from '../read-columns.ts';

/** A sensitive column of numbers. */
interface NumericAttribute {
  readonly kind: 'numeric';
  readonly name: string;
  readonly values: Float64Array;
}

/** A sensitive column of text. */
interface CategoricalAttribute {
  readonly kind: 'categorical';
  readonly name: string;
  readonly groups: CategoricalColumn;
}

/** A sensitive column of either kind. */
export type SensitiveAttribute = NumericAttribute | CategoricalAttribute;

/**
 * Reads the sensitive columns of training rows. Numeric columns stay numeric.
 * @throws {DataValidationError} if a column does not exist, has no values, or has an infinite value
 */
export function readAttributes(table: Table, names: readonly string[]): SensitiveAttribute[] {
  return names.map((name) => {
    const column = table.column(name);
    // Numeric columns are read as groups only to report that they have no values.
    const hasValues = column.kind === 'numeric' && column.values.some((value) => !Number.isNaN(value));
    return hasValues
      ? { kind: 'numeric', name, values: readFeature(table, name) }
      : { kind: 'categorical', name, groups: readKnownGroups(table, name) };
  });
}

/** Returns whether a row has a value of an attribute. */
export function isKnown(attribute: SensitiveAttribute, row: number): boolean {
  return attribute.kind === 'numeric'
    ? !Number.isNaN(attribute.values[row])
    : (attribute.groups.codes[row] as number) >= 0;
}

/** Counts the rows in which the value of at least one attribute is missing. */
export function countIncomplete(attributes: readonly SensitiveAttribute[], rowCount: number): number {
  let count = 0;
  for (let row = 0; row < rowCount; row++) if (!attributes.every((attribute) => isKnown(attribute, row))) count++;
  return count;
}

/**
 * The columns of a regression. The text column with the most groups defines the strata, and all other columns are
 * numbers.
 */
export interface Design {
  /** The stratum of each row; 0 for every row if no attribute is a text column. */
  readonly strata: Int32Array;
  readonly strataCount: number;
  /** The attribute that defines the strata. */
  readonly stratified: CategoricalAttribute | undefined;
  readonly columns: readonly DesignColumn[];
}

/** One column of a design: the values of a numeric attribute, or the indicator of one label of a text attribute. */
interface DesignColumn {
  readonly attribute: SensitiveAttribute;
  /** The code of the label; undefined for a numeric attribute. */
  readonly code: number | undefined;
  readonly values: Float64Array;
}

/**
 * Builds the design for the given rows. The text column that defines the strata needs no indicators, because a
 * regression on its indicators is equivalent to computing the mean of each stratum. A single attribute therefore takes
 * O(rows) time, regardless of its number of groups.
 * @param rows the rows that have a value of every attribute
 */
export function designOf(attributes: readonly SensitiveAttribute[], rows: Int32Array): Design {
  const texts = attributes.filter((attribute) => attribute.kind === 'categorical');
  const [stratified] = texts.sort((a, b) => b.groups.labels.length - a.groups.labels.length);
  return {
    strata:
      stratified === undefined
        ? new Int32Array(rows.length)
        : rows.map((row) => stratified.groups.codes[row] as number),
    strataCount: stratified?.groups.labels.length ?? 1,
    stratified,
    columns: attributes
      .filter((attribute) => attribute !== stratified)
      .flatMap((attribute) => columnsOf(attribute, rows)),
  };
}

function columnsOf(attribute: SensitiveAttribute, rows: Int32Array): DesignColumn[] {
  if (attribute.kind === 'numeric') {
    return [{ attribute, code: undefined, values: Float64Array.from(rows, (row) => attribute.values[row] as number) }];
  }
  const { codes, labels } = attribute.groups;
  return labels.map((_, code) => ({
    attribute,
    code,
    values: Float64Array.from(rows, (row) => Number(codes[row] === code)),
  }));
}
