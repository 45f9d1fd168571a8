import type { OptionNames } from '../../internal/known-options.ts';
import { columnLength, type ColumnSource, unwrap } from '../../table/index.ts';
import type { ClassificationStats } from '../statistics/group-stats.ts';
import { reduceClassification } from '../reduce/reduce-classification.ts';
import type { RowOptions } from '../row-options.ts';

/** Options on rows that no group divides. */
export type UngroupedRowOptions = Pick<RowOptions, 'sampleWeight' | 'positiveLabel'>;

/** Lists the options of {@link UngroupedRowOptions}. */
export const UNGROUPED_ROW_OPTION_NAMES: OptionNames<UngroupedRowOptions> = { sampleWeight: true, positiveLabel: true };

/**
 * Reduces labels and decisions to the statistics of a single group of all rows.
 * @throws {DataValidationError} where lengths differ, a value is not 0 or 1, or no row is left
 */
export function reduceWithoutGroups(
  yTrue: ColumnSource,
  yPred: ColumnSource,
  { sampleWeight, positiveLabel }: UngroupedRowOptions,
): ClassificationStats {
  const decisions = unwrap(yPred, 'yPred');
  const codes = new Int32Array('kind' in decisions ? columnLength(decisions) : decisions.length);
  const sensitive = { kind: 'categorical', codes, labels: ['all'] } as const;
  return reduceClassification({ yTrue, yPred: decisions, sensitive, sampleWeight, positiveLabel });
}
