import { assertNoProblem, binaryCheck, numberChecks, weightChecks } from './checks.ts';
import type { StratumSums } from '../stats/stratum-sums.ts';
import { hasClusters } from '../table/cluster-columns.ts';
import { clusterChecks, type ClusterQuery, sumClusters } from './count-clusters.ts';
import { type OutcomeColumn, type PositiveLabels, reduceColumns } from './column-readings.ts';
import { type AttributeRows, groupRows, type SourceReduction } from './group-by.ts';
import { assertLabelsCounted } from './positive-label.ts';
import { type Relation, rowCount } from './relation.ts';
import type { DecisionRequest, SqlSession } from './sql-engine.ts';
import type { SqlSource } from './sql-source.ts';
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

/**
 * The counts of one combination of group, true label and decision. For rows without a group, the group is -1. For rows
 * without a true label, the true label is 2.
 */
export interface DecisionCell extends WeightSums {
  readonly group: number;
  readonly truth: 0 | 1 | 2;
  /** The decision; null for rows without a decision or a weight. For rows without a weight, `weight` is 0. */
  readonly decision: 0 | 1 | null;
  readonly hasWeight: boolean;
}

/** The counts of one attribute, and the sums over clusters if rows have clusters. */
export interface DecisionReduction extends SourceReduction<DecisionCell> {
  readonly clusters?: readonly StratumSums[] | undefined;
}

/**
 * Counts the rows of a source per group, true label and decision, without loading the rows. One scan counts all
 * attributes.
 * @returns one reduction per attribute, in order
 * @throws {DataValidationError} if the source cannot be read, a column is unknown, or a value is not 0 or 1
 */
export async function countDecisions(source: SqlSource, request: DecisionRequest): Promise<DecisionReduction[]> {
  const { sampleWeight, yPred, yTrue, positiveLabel, scoreThreshold } = request;
  const outcomes: OutcomeColumn[] = [
    scoreThreshold === undefined
      ? { name: yPred, role: 'predictions', holds: 'labels', positiveLabel, isOneOfMany: request.isOneOfMany }
      : { name: yPred, role: 'scores', holds: 'numbers' },
    ...truthColumn(yTrue, request),
    ...weightColumn(sampleWeight),
  ];
  // Sums of weights and decisions of scores need each row.
  const isCountable = sampleWeight === undefined && scoreThreshold === undefined && !hasClusters(request);
  return reduceColumns(source, { ...request, isCountable }, outcomes, async (session, relation, positive) => {
    const select = {
      truth: yTrue === undefined ? String(MISSING_STATE) : labelState(relation, yTrue, positive['true labels']),
      decision: decisionState(relation, request, positive.predictions),
      ...(sampleWeight === undefined ? {} : { weight: numberExpression(relation, sampleWeight) }),
    };
    const attributes = await groupRows(session, relation, {
      ...request,
      select,
      keys: [
        'truth',
        'decision',
        ...(sampleWeight === undefined ? [] : [`CASE WHEN ${isKnown('weight')} THEN 1 ELSE 0 END`]),
      ],
      sums: sampleWeight === undefined ? [rowCount(relation)] : weightSums('weight'),
      checks: [...weightChecks(relation, sampleWeight), ...clusterChecks(relation, request)],
      ordered: sampleWeight !== undefined,
    });
    await assertDecisions(session, relation, { ...request, positive }, attributes);
    const clusters: (readonly StratumSums[])[] = [];
    if (hasClusters(request)) {
      const isComplete = `decision <= 1${sampleWeight === undefined ? '' : ` AND ${isKnown('weight')}`}`;
      for (const [index, counted] of attributes.entries()) {
        const attribute = request.attributes[index] as readonly string[];
        const groups = { groupCount: counted.groups.length, find: (parts) => counted.find(parts) } satisfies Partial<ClusterQuery>; // prettier-ignore
        const query = { ...request, ...groups, attribute, select, isComplete };
        clusters.push(await sumClusters(session, relation, query, weightsByCell(sampleWeight !== undefined)));
      }
    }
    return attributes.map(({ groups, rows }, index) => ({
      groups,
      clusters: clusters[index],
      rowCount: rows.reduce((sum, { sums }) => sum + (sums[0] as number), 0),
      parts: rows.map(({ group, keys: [truth, decision, isWeighed], sums }): DecisionCell => {
        const hasWeight = isWeighed !== 0;
        const isDecided = decision !== MISSING_STATE && hasWeight;
        const weights = hasWeight ? readWeights(sums) : { count: sums[0] as number, weight: 0, squaredWeight: 0 };
        const state = isDecided ? (decision as 0 | 1) : null;
        return { group, truth: truth as 0 | 1 | 2, decision: state, hasWeight, ...weights };
      }),
    }));
  });
}

/** Returns the SQL expressions for the weight of a row in each of the six cells of a group: 2 x truth + decision. */
function weightsByCell(isWeighted: boolean): string[] {
  return [0, 1, 2].flatMap((truth) =>
    [0, 1].map(
      (decision) =>
        `CASE WHEN truth = ${String(truth)} AND decision = ${String(decision)} THEN ${isWeighted ? 'weight' : '1'} ELSE 0 END`,
    ),
  );
}

/** Returns a list with the column of true labels, or an empty list if there is no such column. */
export function truthColumn(
  yTrue: string | undefined,
  labels: Pick<DecisionRequest, 'positiveLabel' | 'yTruePositiveLabel' | 'isOneOfMany'>,
): OutcomeColumn[] {
  if (yTrue === undefined) return [];
  const positiveLabel = labels.yTruePositiveLabel ?? labels.positiveLabel;
  return [{ name: yTrue, role: 'true labels', holds: 'labels', positiveLabel, isOneOfMany: labels.isOneOfMany }];
}

/** Returns a list with the column of weights, or an empty list if there is no such column. */
export function weightColumn(sampleWeight: string | undefined): OutcomeColumn[] {
  return sampleWeight === undefined ? [] : [{ name: sampleWeight, role: 'weights', holds: 'numbers' }];
}

/**
 * Checks the counts: every value must be 0, 1 or missing, and the positive label must occur.
 * @throws {DataValidationError} if a check fails; the error contains the first invalid row, or the labels found
 */
async function assertDecisions(
  session: SqlSession,
  relation: Relation,
  request: DecisionRequest & { readonly positive: PositiveLabels },
  [first]: readonly AttributeRows[],
): Promise<void> {
  const { yTrue, yPred, scoreThreshold, positive } = request;
  // Every attribute counts the same rows.
  const states = [0, 1].map((key) => new Set(first?.rows.map(({ keys }) => keys[key])));
  const has =
    (key: number) =>
    (state: number): boolean =>
      states[key]?.has(state) ?? false;
  const isBad = (key: number): number => Number(has(key)(BAD_STATE));
  if (yTrue !== undefined) {
    const check = binaryCheck(relation, yTrue, labelState(relation, yTrue, positive['true labels']), 'true labels');
    await assertNoProblem(session, relation, [check], [isBad(0)]);
  }
  const checks =
    scoreThreshold === undefined
      ? [binaryCheck(relation, yPred, decisionState(relation, request, positive.predictions), 'predictions')]
      : numberChecks(relation, yPred);
  await assertNoProblem(session, relation, checks, [isBad(1)]);
  if (request.isOneOfMany === true) return;
  await assertLabelsCounted(session, relation, {
    ...request,
    yTrue:
      yTrue === undefined ? undefined : { name: yTrue, has: has(0), isRead: positive['true labels'] !== undefined },
    yPred:
      scoreThreshold === undefined
        ? { name: yPred, has: has(1), isRead: positive.predictions !== undefined }
        : undefined,
  });
}
