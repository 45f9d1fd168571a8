import { DataValidationError } from '../exceptions/index.ts';
import { cramersVOf } from '../stats/association/cramers-v.ts';
import { crossCounts } from '../stats/association/cross-counts.ts';
import { etaSquaredOf, varianceParts } from '../stats/association/variance-parts.ts';
import { type CategoricalColumn, type Column, columnLength } from '../table/index.ts';

/** How an association is measured: by Bergsma's corrected Cramér's V (text), or by eta squared (numbers). */
export type AssociationMeasure = 'cramers_v' | 'eta_squared';

/** How strongly a column goes with the groups of an attribute. */
export interface Association {
  readonly measure: AssociationMeasure;
  /** From 0 (none) to 1 (one determines the other); NaN where undefined. */
  readonly value: number;
  /** Rows with both a value and a group. */
  readonly n: number;
  /** Groups that occur in these rows. */
  readonly groups: number;
}

/**
 * How strongly a column goes with the groups of an attribute: a column of text
 * by Cramér's V with Bergsma's correction, a column of numbers by eta squared
 * (the share of its spread that lies between groups). The value is what
 * `proxy_threshold` is compared with.
 *
 * The two are not on one scale: eta squared is a share of variance and V a kind
 * of correlation, so that of a column of two values, coded as text, V is about
 * the square root of what eta squared is of the same column coded as numbers.
 *
 * Rows without a value or a group are left out. Undefined (NaN) is the
 * association of a column with one value, with fewer than two groups, without
 * rows, and of numbers of which one is infinite.
 * @throws {DataValidationError} where the column and the groups differ in length
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
    context: { argument: 'column' },
    suggestion: 'Give both one value per row.',
  });
}
