import { DataValidationError } from '../exceptions/index.ts';
import { sortLabels } from '../table/index.ts';
import type { Relation } from './relation.ts';
import type { SqlSession } from './sql-engine.ts';
import { type SqlSource, withRelation } from './sql-source.ts';
import { groupExpression, groupOutput, labelOf } from './value-sql.ts';

/** Whether a state occurs among the labels or the decisions that were counted. */
type HasState = (state: number) => boolean;

/** A column that a positive label was looked for in. */
interface LabelledColumn {
  readonly name: string;
  readonly has: HasState;
  /** Whether the label decided; a column of true and false stands for itself. */
  readonly isRead: boolean;
}

/** Columns that a positive label was looked for in, and the states found there. */
interface LabelledColumns {
  readonly positiveLabel?: string | undefined;
  readonly yTruePositiveLabel?: string | undefined;
  readonly yTrue?: LabelledColumn | undefined;
  /** Left out where decisions do not come from labels. */
  readonly yPred?: LabelledColumn | undefined;
}

/**
 * Checks that a positive label means something in the rows counted.
 * @throws {DataValidationError} with the labels there are
 */
export async function assertPositiveLabel(
  session: SqlSession,
  relation: Relation,
  { positiveLabel, yTruePositiveLabel, yTrue, yPred }: LabelledColumns,
): Promise<void> {
  // Without a single positive, a label is mistyped or means nothing in that column.
  const isStrange = ({ has, isRead }: LabelledColumn): boolean => !isRead || (!has(1) && has(0));
  if (yTrue !== undefined && yTruePositiveLabel !== undefined && isStrange(yTrue)) {
    throw await unknownLabel(session, relation, yTrue.name, yTruePositiveLabel);
  }
  if (positiveLabel === undefined) return;
  if (yTrue === undefined || yTruePositiveLabel !== undefined) {
    if (yPred !== undefined && isStrange(yPred)) throw await unknownLabel(session, relation, yPred.name, positiveLabel);
    return;
  }
  // A column of true and false needs no label beside another that holds it.
  if ((yPred?.isRead !== true || yTrue.isRead) && isStrange(yTrue)) {
    throw await unknownLabel(session, relation, yTrue.name, positiveLabel, TRUTH_LABEL);
  }
  if (yPred?.isRead !== true || !isStrange(yPred)) return;
  // A model may decide for no one, if it speaks the language of the true labels.
  const known = new Set(await distinctLabels(session, relation, [yTrue.name]));
  const predicted = await distinctLabels(session, relation, [yPred.name]);
  if (!predicted.every((label) => known.has(label))) {
    throw await unknownLabel(session, relation, yPred.name, positiveLabel, TRUTH_LABEL);
  }
}

const TRUTH_LABEL = ' Where the truth is labelled differently, name its own (yTruePositiveLabel).';

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
      context: { column: name, positiveLabel: label, labels },
      suggestion: `The labels of '${name}' are ${shown.join(', ')}${labels.length > 8 ? ', …' : ''}.${more}`,
    },
  );
}

/**
 * The labels that occur in some columns together, as arrays would have them:
 * distinct, without missing ones, sorted.
 * @throws {DataValidationError} for an unreadable source or an unknown column
 */
export async function classLabels(source: SqlSource, columns: readonly string[]): Promise<readonly string[]> {
  return withRelation(source, (session, relation) => distinctLabels(session, relation, columns));
}

/** {@link classLabels} of a source that is open already. */
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
