import { DataValidationError } from '../exceptions/index.ts';
import { sortLabels } from '../table/index.ts';
import type { Relation } from './relation.ts';
import type { SqlSession } from './sql-engine.ts';
import { type SqlSource, withRelation } from './sql-source.ts';
import { groupExpression, groupOutput, labelOf } from './value-sql.ts';

/** Returns whether a state occurs among the counted labels or decisions. */
type HasState = (state: number) => boolean;

/** A column in which the positive label was searched. */
interface LabelledColumn {
  readonly name: string;
  readonly has: HasState;
  /** Whether the column was read by the label; a column of true and false needs no label. */
  readonly isRead: boolean;
}

/** The columns in which positive labels were searched. */
interface LabelledColumns {
  readonly positiveLabel?: string | undefined;
  readonly yTruePositiveLabel?: string | undefined;
  readonly yTrue?: LabelledColumn | undefined;
  /** Undefined if decisions do not come from labels. */
  readonly yPred?: LabelledColumn | undefined;
}

/**
 * Checks that the positive label occurs in the counted rows.
 * @throws {DataValidationError} if it does not; the error lists the labels found
 */
export async function assertPositiveLabel(
  session: SqlSession,
  relation: Relation,
  { positiveLabel, yTruePositiveLabel, yTrue, yPred }: LabelledColumns,
): Promise<void> {
  // If no row is positive, the label is mistyped or belongs to another column.
  const isStrange = ({ has, isRead }: LabelledColumn): boolean => !isRead || (!has(1) && has(0));
  if (yTrue !== undefined && yTruePositiveLabel !== undefined && isStrange(yTrue)) {
    throw await unknownLabel(session, relation, yTrue.name, yTruePositiveLabel);
  }
  if (positiveLabel === undefined) return;
  if (yTrue === undefined || yTruePositiveLabel !== undefined) {
    if (yPred !== undefined && isStrange(yPred)) throw await unknownLabel(session, relation, yPred.name, positiveLabel);
    return;
  }
  // A column of true and false needs no label if the other column has it.
  if ((yPred?.isRead !== true || yTrue.isRead) && isStrange(yTrue)) {
    throw await unknownLabel(session, relation, yTrue.name, positiveLabel, TRUTH_LABEL);
  }
  if (yPred?.isRead !== true || !isStrange(yPred)) return;
  // A model may have no positive decision, if its labels are among the true labels.
  const known = new Set(await distinctLabels(session, relation, [yTrue.name]));
  const predicted = await distinctLabels(session, relation, [yPred.name]);
  if (!predicted.every((label) => known.has(label))) {
    throw await unknownLabel(session, relation, yPred.name, positiveLabel, TRUTH_LABEL);
  }
}

const TRUTH_LABEL = ' If the true labels use another positive label, name it (yTruePositiveLabel).';

async function unknownLabel(
  session: SqlSession,
  relation: Relation,
  name: string,
  label: string,
  more = '',
): Promise<DataValidationError> {
  const labels = (await distinctLabels(session, relation, [name])).slice(0, 50);
  const shown = labels.slice(0, 8).map((known) => `'${known}'`);
  return new DataValidationError(
    `No row of ${relation.title} holds the positive label '${label}' in column '${name}'.`,
    {
      code: 'unknown-label',
      context: { column: name, positiveLabel: label, labels },
      suggestion: `The labels of '${name}' are ${shown.join(', ')}${labels.length > 8 ? ', …' : ''}.${more}`,
    },
  );
}

/**
 * Returns the labels of several columns together: distinct, without missing values, sorted as for arrays.
 * @throws {DataValidationError} if the source cannot be read or a column is unknown
 */
export async function classLabels(source: SqlSource, columns: readonly string[]): Promise<readonly string[]> {
  return withRelation(source, (session, relation) => distinctLabels(session, relation, columns));
}

/** Returns {@link classLabels} of an open source. */
async function distinctLabels(
  session: SqlSession,
  relation: Relation,
  columns: readonly string[],
): Promise<readonly string[]> {
  const labels = new Set<string>();
  for (const name of columns) {
    const rows = await session.rows(
      `SELECT ${groupOutput(relation, name, 'v')} FROM
        (SELECT DISTINCT ${groupExpression(relation, name)} AS v FROM ${relation.relation}) WHERE v IS NOT NULL`,
    );
    for (const [value] of rows) labels.add(labelOf(value) as string);
  }
  return sortLabels(
    Int32Array.from(labels.keys(), (_, code) => code),
    [...labels],
  ).labels;
}
