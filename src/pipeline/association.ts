import { DataValidationError } from '../exceptions/index.ts';
import { cramersVOf } from '../stats/association/cramers-v.ts';
import { crossCounts } from '../stats/association/cross-counts.ts';
import { etaSquaredOf, varianceParts } from '../stats/association/variance-parts.ts';
import { type CategoricalColumn, type Column, columnLength } from '../table/index.ts';

/** The measure of an association: Bergsma's corrected Cramér's V (text), or eta squared (numbers). */
export type AssociationMeasure = 'cramers_v' | 'eta_squared';

/** The strength of the association between a column and the groups of an attribute. */
export interface Association {
  readonly measure: AssociationMeasure;
  /** The association, from 0 (no association) to 1 (one variable determines the other); NaN if undefined. */
  readonly value: number;
  /** The number of rows with both a value and a group. */
  readonly n: number;
  /** The number of groups in these rows. */
  readonly groups: number;
}

/**
 * Measures the association between a column and the groups of an attribute. For a column of text, the measure is
 * Cramér's V with Bergsma's correction. For a column of numbers, it is eta squared, the share of the variance that
 * differences between groups explain. Detectors compare the value with `proxy_threshold`.
 *
 * The two measures have different scales: eta squared is a share of variance, and V is a kind of correlation. For
 * example, a column with two values can be text or numbers. V of this column as text is about the square root of eta
 * squared of the same column as numbers.
 *
 * Rows without a value or a group are excluded. The association is undefined (NaN) if the column has only one value, if
 * there are fewer than two groups or no rows, or if a number is infinite.
 * @throws {DataValidationError} if the column and the groups differ in length
 */
export function columnAssociation(column: Column, groups: CategoricalColumn): Association {
  if (columnLength(column) !== groups.codes.length) throw lengthsDiffer(columnLength(column), groups.codes.length);
  return column.kind === 'numeric' ? numericAssociation(column.values, groups) : categoricalAssociation(column, groups);
}

function numericAssociation(values: Float64Array, groups: CategoricalColumn): Association {
  const parts = varianceParts(values, groups.codes, groups.labels.length);
  return { measure: 'eta_squared', value: etaSquaredOf(parts), n: parts.n, groups: parts.groups };
}

function categoricalAssociation(column: CategoricalColumn, groups: CategoricalColumn): Association {
  const table = crossCounts(groups.codes, column.codes, groups.labels.length, column.labels.length);
  const occurring = table.rowTotals.reduce((count, total) => count + Number(total > 0), 0);
  return { measure: 'cramers_v', value: cramersVOf(table), n: table.n, groups: occurring };
}

function lengthsDiffer(column: number, groups: number): DataValidationError {
  return new DataValidationError(`The column has ${String(column)} rows and the groups have ${String(groups)}.`, {
    code: 'length-mismatch',
    context: { argument: 'column' },
    suggestion: 'Provide one value per row for both.',
  });
}
