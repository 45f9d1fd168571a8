import { assertNoFault, binaryCheck, numberChecks, weightChecks } from './checks.ts';
import { type AttributeRows, groupRows, type SourceReduction } from './group-by.ts';
import { assertPositiveLabel } from './positive-label.ts';
import type { Relation } from './relation.ts';
import type { DecisionRequest } from './source-request.ts';
import type { SqlSession } from './sql-engine.ts';
import { type SqlSource, withRelation } from './sql-source.ts';
import {
  BAD_STATE,
  decisionState,
  isKnown,
  labelState,
  MISSING_STATE,
  numberExpression,
  readWeights,
  type WeightSums,
  weightSums,
} from './value-sql.ts';

/** One cell of the counts: truth is 0, 1, or 2 where missing; the group is -1 where a row has none. */
export interface DecisionCell extends WeightSums {
  readonly group: number;
  readonly truth: 0 | 1 | 2;
  /** null for rows without a decision, and for those without a weight, which then is 0. */
  readonly decision: 0 | 1 | null;
  readonly hasWeight: boolean;
}

/**
 * Counts a source's rows per group, true label and decision in one scan,
 * without loading them; several attributes share the scan.
 * @returns one reduction per attribute, in order
 * @throws {DataValidationError} for an unreadable source, an unknown column, or a value that is not 0 or 1
 */
export async function countDecisions(
  source: SqlSource,
  request: DecisionRequest,
): Promise<SourceReduction<DecisionCell>[]> {
  return withRelation(
    source,
    async (session, relation) => {
      const { sampleWeight, yTrue } = request;
      const attributes = await groupRows(session, relation, {
        ...request,
        select: {
          truth: yTrue === undefined ? String(MISSING_STATE) : labelState(relation, yTrue, request.positiveLabel),
          decision: decisionState(relation, request),
          ...(sampleWeight === undefined ? {} : { weight: numberExpression(relation, sampleWeight) }),
        },
        keys: [
          'truth',
          'decision',
          ...(sampleWeight === undefined ? [] : [`CASE WHEN ${isKnown('weight')} THEN 1 ELSE 0 END`]),
        ],
        sums: weightSums(sampleWeight === undefined ? undefined : 'weight'),
        checks: weightChecks(relation, sampleWeight),
        ordered: sampleWeight !== undefined,
      });
      await assertDecisions(session, relation, request, attributes);
      return attributes.map(({ groups, rows }) => ({
        groups,
        rowCount: rows.reduce((sum, { sums }) => sum + (sums[0] as number), 0),
        parts: rows.flatMap(({ group, keys: [truth, decision, isWeighed], sums }): DecisionCell[] => {
          const hasWeight = isWeighed !== 0;
          const isDecided = decision !== MISSING_STATE && hasWeight;
          const weights = hasWeight ? readWeights(sums) : { count: sums[0] as number, weight: 0, squaredWeight: 0 };
          const state = isDecided ? (decision as 0 | 1) : null;
          return [{ group, truth: truth as 0 | 1 | 2, decision: state, hasWeight, ...weights }];
        }),
      }));
    },
    request.attributes.flat(),
  );
}

/**
 * Checks what was counted: every value 0, 1 or missing, and a positive label that occurs.
 * @throws {DataValidationError} with the first row at fault, or the labels there are
 */
async function assertDecisions(
  session: SqlSession,
  relation: Relation,
  request: DecisionRequest,
  [first]: readonly AttributeRows[],
): Promise<void> {
  const { yTrue, yPred, positiveLabel, scoreThreshold } = request;
  // Every attribute counts the same rows.
  const states = [0, 1].map((key) => new Set(first?.rows.map(({ keys }) => keys[key])));
  const has =
    (key: number) =>
    (state: number): boolean =>
      states[key]?.has(state) ?? false;
  const isBad = (key: number): number => Number(has(key)(BAD_STATE));
  if (yTrue !== undefined) {
    const check = binaryCheck(relation, yTrue, labelState(relation, yTrue, positiveLabel));
    await assertNoFault(session, relation, [check], [isBad(0)]);
  }
  const checks =
    scoreThreshold === undefined
      ? [binaryCheck(relation, yPred, decisionState(relation, request))]
      : numberChecks(relation, yPred);
  await assertNoFault(session, relation, checks, [isBad(1)]);
  if (positiveLabel === undefined || request.isOneOfMany === true) return;
  await assertPositiveLabel(session, relation, {
    positiveLabel,
    yTrue: yTrue === undefined ? undefined : { name: yTrue, has: has(0) },
    yPred: scoreThreshold === undefined ? { name: yPred, has: has(1) } : undefined,
  });
}
