import { assertNoProblem, binaryCheck, numberChecks, weightChecks } from './checks.ts';
import { hasClusters } from '../table/cluster-columns.ts';
import { type ClusterCell, clusterChecks, readClusterCells } from './count-clusters.ts';
import { type OutcomeColumn, reduceColumns } from './column-readings.ts';
import { truthColumn, weightColumn } from './count-decisions.ts';
import { type AttributeRows, droppedRows, groupRows, rowsSql, type SourceReduction } from './group-by.ts';
import { assertLabelsCounted } from './positive-label.ts';
import type { Relation } from './relation.ts';
import type { ScoreRequest, SqlSession } from './sql-engine.ts';
import type { SqlSource } from './sql-source.ts';
import {
  BAD_STATE,
  groupLabelOf,
  groupOutputs,
  isKnown,
  labelState,
  numberExpression,
  readWeights,
  type WeightSums,
  weightSums,
} from './value-sql.ts';

/**
 * The rule for rounding scores. The caller passes it, so that scores in SQL and in arrays are rounded in the same way.
 */
export interface ScoreGrid {
  /** The maximum number of distinct pairs of a group and a score. If there are more, scores are rounded. */
  readonly maxDistinct: number;
  /** Returns the step of the rounding grid for scores whose absolute value is at most the given maximum. */
  readonly stepFor: (largest: number) => number;
}

/** Two sums: over the rows with true label 0, and over the rows with true label 1. */
type ByLabel = readonly [no: number, yes: number];

/** The sums for one distinct score of one group. */
export interface ScoreCell {
  readonly group: number;
  readonly score: number;
  readonly counts: ByLabel;
  readonly weights: ByLabel;
  readonly squaredWeights: ByLabel;
  /** The weighted sum of the log losses of the scores before rounding; 0 if scores are not rounded. */
  readonly loss: number;
  /** The weighted sum of the squared log losses; 0 if scores are not rounded. */
  readonly squaredLoss: number;
}

/** The distinct scores of one attribute's groups. */
export interface ScoreReduction extends SourceReduction<ScoreCell> {
  /** The number of rows of each group that lack a score, a true label or a weight. */
  readonly dropped: Float64Array;
  /** The step of the grid to which scores are rounded; 0 if they are not rounded. */
  readonly step: number;
  /** The weights of scores and true labels in each cluster, if rows have clusters. */
  readonly clusters?: readonly ClusterCell[] | undefined;
}

/**
 * The factor by which the estimated number of distinct scores must exceed the limit so that SQL rounds the scores. The
 * estimate counts scores separately for each true label, so it can be twice too large. The standard error of the
 * estimate is 13%.
 */
const SURELY_MORE = 4;

/**
 * Counts the distinct scores of a source per group and true label without loading rows. It needs one scan for all
 * attributes together, and one more scan for each attribute.
 * @returns one reduction per attribute, in order
 * @throws {DataValidationError} if the source cannot be read, a column is unknown, scores are text or infinite, or
 *   labels are not 0 or 1
 */
export async function countScores(
  source: SqlSource,
  request: ScoreRequest,
  grid: ScoreGrid,
): Promise<ScoreReduction[]> {
  const { yScore, yTrue, sampleWeight } = request;
  const isWeighted = sampleWeight !== undefined;
  const outcomes: OutcomeColumn[] = [
    { name: yScore, role: 'scores', holds: 'numbers' },
    ...truthColumn(yTrue, request),
    ...weightColumn(sampleWeight),
  ];
  return reduceColumns(source, request, outcomes, async (session, relation, positive) => {
    const select = {
      score: numberExpression(relation, yScore),
      truth: labelState(relation, yTrue, positive['true labels']),
      ...(isWeighted ? { weight: numberExpression(relation, sampleWeight) } : {}),
    };
    const scanned = await groupRows(session, relation, {
      ...request,
      select,
      keys: ['truth', `CASE WHEN ${isComplete(isWeighted)} THEN 1 ELSE 0 END`],
      sums: ['count(*)', 'approx_count_distinct(score)', 'max(abs(score))'],
      checks: [
        ...numberChecks(relation, yScore),
        ...weightChecks(relation, sampleWeight),
        ...clusterChecks(relation, request),
      ],
    });
    await assertTruth(session, relation, request, positive['true labels'], scanned);
    const reductions: ScoreReduction[] = [];
    for (const [index, attribute] of request.attributes.entries()) {
      const seen = scanned[index] as AttributeRows;
      const step = stepOf(seen, grid);
      const rows = rowsSql(relation, { names: attribute, select, checks: [] });
      const outputs = groupOutputs(relation, attribute);
      const counted = await session.rows(scoresSql(rows, { outputs, step, isWeighted }), { ordered: isWeighted });
      reductions.push({
        groups: seen.groups,
        rowCount: seen.rows.reduce((sum, { sums }) => sum + (sums[0] as number), 0),
        dropped: droppedRows(
          seen.groups.length,
          seen.rows.flatMap(({ group, keys, sums }) => (keys[1] === 1 ? [] : [{ group, count: sums[0] as number }])),
        ),
        parts: counted.flatMap((row) => {
          const group = seen.find(row.slice(0, attribute.length).map((value) => groupLabelOf(relation, value)));
          return group < 0 ? [] : [{ group, ...readScore(row.slice(attribute.length), step) }];
        }),
        step,
        clusters: hasClusters(request)
          ? await readClusterCells(
              session,
              relation,
              {
                ...request,
                ...{ attribute, select, groupCount: seen.groups.length, isComplete: isComplete(isWeighted) },
                find: (parts) => seen.find(parts),
              },
              [onGrid(step), 'truth'],
              isWeighted ? 'weight' : '1',
            )
          : undefined,
      });
    }
    return reductions;
  });
}

/** Checks that true labels are 0, 1 or missing, and that the positive label occurs. */
async function assertTruth(
  session: SqlSession,
  relation: Relation,
  request: ScoreRequest,
  positiveLabel: string | undefined,
  [first]: readonly AttributeRows[],
): Promise<void> {
  const { yTrue } = request;
  const states = new Set(first?.rows.map(({ keys }) => keys[0]));
  const check = binaryCheck(relation, yTrue, labelState(relation, yTrue, positiveLabel), 'true labels');
  await assertNoProblem(session, relation, [check], [Number(states.has(BAD_STATE))]);
  const has = (state: number): boolean => states.has(state);
  const isRead = positiveLabel !== undefined;
  await assertLabelsCounted(session, relation, { ...request, yPred: undefined, yTrue: { name: yTrue, has, isRead } });
}

/** Returns a SQL condition that is true if a row is complete. Labels other than 0 and 1 were rejected earlier. */
function isComplete(isWeighted: boolean): string {
  return `truth <= 1 AND ${isKnown('score')}${isWeighted ? ` AND ${isKnown('weight')}` : ''}`;
}

/**
 * Returns the step of the rounding grid if there are certainly too many scores, otherwise 0. With step 0, scores may
 * still be rounded later, when they are collected.
 */
function stepOf({ rows }: AttributeRows, { maxDistinct: mostDistinct, stepFor }: ScoreGrid): number {
  const counted = rows.filter(({ group, keys }) => group >= 0 && keys[1] === 1);
  const estimate = counted.reduce((sum, { sums }) => sum + (sums[1] as number), 0);
  if (estimate <= SURELY_MORE * mostDistinct) return 0;
  return stepFor(counted.reduce((most, { sums }) => Math.max(most, sums[2] as number), 0));
}

/** Options of {@link scoresSql}. */
interface ScoresQuery {
  /** The SQL expressions for the grouping columns `g0`, `g1` … in the result. */
  readonly outputs: readonly string[];
  readonly step: number;
  readonly isWeighted: boolean;
}

/**
 * Returns SQL that counts rows by group and score. The rows have `g0`, `g1` …, a `score`, a `truth` and, if weighted, a
 * `weight`. A row of the result is the group, followed by the values that {@link readScore} reads.
 */
export function scoresSql(rows: string, { outputs, step, isWeighted }: ScoresQuery): string {
  const groups = outputs.map((_, index) => `g${String(index)}`);
  const sums = weightSums(isWeighted ? 'weight' : undefined).flatMap((sum) =>
    [0, 1].map((truth) => `CAST(${sum} FILTER (WHERE truth = ${String(truth)}) AS DOUBLE)`),
  );
  const times = isWeighted ? 'weight * ' : '';
  // Without rounding, the losses can be computed from the scores.
  const losses =
    step === 0 ? [] : ['loss', 'loss * loss'].map((value) => `CAST(kahan_sum(${times}${value}) AS DOUBLE)`);
  return `SELECT ${[...outputs, 's', ...losses, ...sums].join(', ')}
    FROM (SELECT *, ${onGrid(step)} AS s${step === 0 ? '' : `, ${LOG_LOSS} AS loss`} FROM (${rows}) WHERE ${isComplete(isWeighted)}) GROUP BY ${[...groups, 's'].join(', ')}`;
}

/** Reads the values that follow the group in a row of {@link scoresSql}. */
export function readScore(row: readonly unknown[], step: number): Omit<ScoreCell, 'group'> {
  // SQL returns NULL for a sum of no rows.
  const [score = 0, ...rest] = row.map((value) => Number(value ?? 0));
  const [loss = 0, squaredLoss = 0] = step === 0 ? [] : rest;
  const sums = step === 0 ? rest : rest.slice(2);
  const [no, yes] = [0, 1].map((truth) => readWeights(sums.filter((_, index) => index % 2 === truth)));
  const pair = (name: keyof WeightSums): ByLabel => [no?.[name] ?? 0, yes?.[name] ?? 0];
  return {
    score,
    counts: pair('count'),
    weights: pair('weight'),
    squaredWeights: pair('squaredWeight'),
    loss,
    squaredLoss,
  };
}

/** The SQL expression for the log loss of a row. Probabilities are clipped in the same way as for arrays. */
const LOG_LOSS = `-ln(least(${String(1 - Number.EPSILON)}::DOUBLE, greatest(${String(Number.EPSILON)}::DOUBLE,
  CASE WHEN truth = 1 THEN score ELSE 1 - score END)))`;

/**
 * Returns SQL for a score that is rounded to the grid. The float64 operations are the same as for arrays, so that the
 * results are equal. -0 becomes 0.
 */
function onGrid(step: number): string {
  if (step === 0) return 'CASE WHEN score = 0 THEN 0.0::DOUBLE ELSE score END';
  const width = `CAST('${String(step)}' AS DOUBLE)`;
  return `floor(score / ${width} + 0.5::DOUBLE) * ${width}`;
}
