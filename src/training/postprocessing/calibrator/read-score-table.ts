import { DataValidationError } from '../../../exceptions/index.ts';
import { type OptionNames, suggestNames } from '../../../internal/arguments.ts';
import {
  type CategoricalColumn,
  encodeGroups,
  readTexts,
  Table,
  type TableSource,
  toBinary,
} from '../../../table/index.ts';
import { assertLabel } from '../../data/training-data.ts';
import { outsideRange } from './calibration-rows.ts';

/** A table of scores and the names of its columns. */
export interface ScoreTableSource extends ScoreColumns {
  /** The table, with one row per decision. */
  readonly table: TableSource;
}

/** The columns of scores, outcomes and groups. */
export interface ScoreColumns {
  /**
   * The column of scores, from 0 to 1.
   * @defaultValue 'score'
   */
  readonly score?: string | undefined;
  /**
   * The column of outcomes, 0 or 1.
   * @defaultValue 'y'
   */
  readonly target?: string | undefined;
  /**
   * The sensitive column, or several columns to cross.
   * @defaultValue 'g'
   */
  readonly group?: string | readonly string[] | undefined;
  /** The label of the target that is treated as 1. Required if labels are not 0 and 1. */
  readonly positiveLabel?: string | undefined;
  /**
   * Texts that are treated as missing values in all columns. See the documentation of the metrics.
   * @defaultValue the texts that pandas uses; in sensitive columns only the empty text
   */
  readonly naValues?: readonly string[] | undefined;
}

/** Lists the names of {@link ScoreColumns}. */
export const SCORE_COLUMN_NAMES: OptionNames<ScoreColumns> = {
  score: true,
  target: true,
  group: true,
  positiveLabel: true,
  naValues: true,
};

/** The rows of a table that have a score, a label and a group. */
export interface ScoreTable {
  readonly scores: Float64Array;
  readonly y: Uint8Array;
  readonly groups: CategoricalColumn;
  readonly nDropped: number;
  /** Warnings about possibly unexpected interpretations of labels and texts. */
  readonly warnings: readonly string[];
  readonly columns: { readonly score: string; readonly target: string; readonly group: readonly string[] };
}

/**
 * Reads the rows of a table that have a score, a label and a group.
 * @throws {DataValidationError} if columns are unknown, if scores are text or outside [0, 1], if labels are not 0 or 1,
 *   or if no row has all values
 */
export function readScoreTable(source: ScoreTableSource): ScoreTable {
  const columns = namesOf(source);
  const { table, warnings } = readTexts(Table.from(source.table), {
    groups: columns.group,
    target: columns.target,
    positiveLabel: source.positiveLabel,
    others: [columns.score],
    naValues: source.naValues,
  });
  const scores = table.numeric(columns.score).values;
  const y = readTarget(table, columns.target, source.positiveLabel);
  const groups = encodeGroups(table.select(columns.group));
  const outside = scores.findIndex((score) => score < 0 || score > 1);
  if (outside >= 0) {
    const where = `in row ${String(outside + 1)}`;
    throw outsideRange(`Column '${columns.score}'`, scores[outside] as number, where, outside);
  }
  const kept = Int32Array.from(scores.keys()).filter(
    (row) => !Number.isNaN(scores[row]) && (y[row] as number) >= 0 && (groups.codes[row] as number) >= 0,
  );
  if (kept.length === 0) {
    throw new DataValidationError(`All ${String(scores.length)} rows lack a score, a label or a group.`, {
      code: 'empty-data',
      context: { rows: scores.length, columns },
      suggestion: 'Check that the named columns contain values.',
    });
  }
  return {
    scores: Float64Array.from(kept, (row) => scores[row] as number),
    y: Uint8Array.from(kept, (row) => y[row] as number),
    groups: { ...groups, codes: Int32Array.from(kept, (row) => groups.codes[row] as number) },
    nDropped: scores.length - kept.length,
    warnings,
    columns,
  };
}

function readTarget(table: Table, target: string, positiveLabel: string | undefined): ArrayLike<number> {
  const column = table.column(target);
  if (positiveLabel !== undefined) {
    const { labels } = table.categorical(target);
    const suggestion = suggestNames(positiveLabel, labels, `labels of '${target}'`);
    assertLabel(`Column '${target}'`, labels, positiveLabel, { column: target }, suggestion);
  }
  return toBinary(column, `Column '${target}'`, positiveLabel);
}

/**
 * Returns the names of the columns, with defaults.
 * @throws {DataValidationError} if a column is used twice, or there is no group
 */
export function namesOf({ score = 'score', target = 'y', group = 'g' }: ScoreColumns): ScoreTable['columns'] {
  const columns = { score, target, group: [group].flat() };
  assertDistinct(columns);
  return columns;
}

function assertDistinct({ score, target, group }: ScoreTable['columns']): void {
  if (group.length === 0) {
    throw new DataValidationError("The list of group columns ('group') is empty.", {
      code: 'unknown-column',
      context: { argument: 'group' },
      suggestion: 'Name the sensitive column.',
    });
  }
  const parts = [['scores', score], ['target', target], ...group.map((name) => ['group', name] as const)] as const;
  for (const [index, [part, name]] of parts.entries()) {
    const earlier = parts.slice(0, index).find(([, other]) => other === name);
    if (earlier === undefined) continue;
    if (earlier[0] === part) {
      throw new DataValidationError(`Column '${name}' is named twice among the groups.`, {
        code: 'duplicate-column',
        context: { argument: 'group', column: name },
        suggestion: 'Name it once.',
      });
    }
    throw new DataValidationError(`Column '${name}' cannot be both the ${earlier[0]} and the ${part}.`, {
      code: 'duplicate-column',
      context: { column: name },
      suggestion: 'Use a different column for each.',
    });
  }
}
