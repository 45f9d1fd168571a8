import { assertNoFault, binaryCheck, numberChecks, weightChecks } from './checks.ts';
import { type OutcomeColumn, reduceWithReadings } from './column-readings.ts';
import { truthColumn, weightColumn } from './count-decisions.ts';
import { type AttributeRows, droppedRows, groupRows, rowsSql, type SourceReduction } from './group-by.ts';
import { assertPositiveLabel } from './positive-label.ts';
import type { Relation } from './relation.ts';
import type { ScoreRequest, SqlSession } from './sql-engine.ts';
import type { SqlSource } from './sql-source.ts';
import {
  BAD_STATE,
  groupLabelOf,
  groupOutput,
  isKnown,
  labelState,
  numberExpression,
  readWeights,
  type WeightSums,
  weightSums,
} from './value-sql.ts';

/** When and how scores are rounded: the rule of the caller, which arrays follow too. */
export interface ScoreGrid {
  /** So many distinct pairs of group and score are kept as they are. */
  readonly mostDistinct: number;
  /** The step of the grid for scores of at most that size. */
  readonly stepFor: (largest: number) => number;
}

/** Sums of rows whose true label is 0, and of those where it is 1. */
type ByLabel = readonly [no: number, yes: number];

/** One distinct score of one group. */
export interface ScoreCell {
  readonly group: number;
  readonly score: number;
  readonly counts: ByLabel;
  readonly weights: ByLabel;
  readonly squaredWeights: ByLabel;
  /** Weighted sums of the log losses of the scores before they were rounded, and of their squares; 0 where they are not rounded. */
  readonly loss: number;
  readonly squaredLoss: number;
}

/** The distinct scores of one attribute's groups. */
export interface ScoreReduction extends SourceReduction<ScoreCell> {
  /** Rows of each group that lack a score, a true label or a weight. */
  readonly dropped: Float64Array;
  /** The grid that scores were rounded to; 0 where they are as they stand. */
  readonly step: number;
}

/**
 * How far an estimate of distinct scores must lie above the limit before it
 * is believed. It counts scores of both true labels apart, at most twice as
 * many; its standard error is 13 %.
 */
const SURELY_MORE = 4;

/**
 * Counts a source's distinct scores per group and true label without loading
 * rows: one scan to look, which attributes share, and one for each attribute.
 * @returns one reduction per attribute, in order
 * @throws {DataValidationError} for an unreadable source, an unknown column, text, infinities, or labels that are not 0 or 1
 */
export async function countScores(
  source: SqlSource,
  request: ScoreRequest,
  grid: ScoreGrid,
): Promise<ScoreReduction[]> {
  const { sampleWeight } = request;
  const isWeighted = sampleWeight !== undefined;
  const { yScore, yTrue } = request;
  const outcomes: OutcomeColumn[] = [
    { name: yScore, role: 'scores', holds: 'numbers' },
    ...truthColumn(yTrue, request),
    ...weightColumn(sampleWeight),
  ];
  return reduceWithReadings(source, request, outcomes, async (session, relation, positive) => {
    const select = {
      score: numberExpression(relation, yScore),
      truth: labelState(relation, yTrue, positive['true labels']),
      ...(isWeighted ? { weight: numberExpression(relation, sampleWeight) } : {}),
    };
    const looks = await look(session, relation, request, { select, isRead: positive['true labels'] !== undefined });
    const reductions: ScoreReduction[] = [];
    for (const [place, attribute] of request.attributes.entries()) {
      const seen = looks[place] as AttributeRows;
      const step = stepOf(seen, grid);
      const rows = rowsSql(relation, { names: attribute, select, checks: [] });
      const outputs = attribute.map((name, column) => groupOutput(relation, name, `g${String(column)}`));
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
      });
    }
    return reductions;
  });
}

/** Groups, faults, and an estimate of the distinct scores, all in one scan with small tables. */
async function look(
  session: SqlSession,
  relation: Relation,
  request: ScoreRequest,
  { select, isRead }: { readonly select: Readonly<Record<string, string>>; readonly isRead: boolean },
): Promise<AttributeRows[]> {
  const { yScore, yTrue, sampleWeight } = request;
  const attributes = await groupRows(session, relation, {
    ...request,
    select,
    keys: ['truth', `CASE WHEN ${isWhole(sampleWeight !== undefined)} THEN 1 ELSE 0 END`],
    sums: ['count(*)', 'approx_count_distinct(score)', 'max(abs(score))'],
    checks: [...numberChecks(relation, yScore), ...weightChecks(relation, sampleWeight)],
  });
  const states = new Set(attributes[0]?.rows.map(({ keys }) => keys[0]));
  const check = binaryCheck(relation, yTrue, select['truth'] as string, 'true labels');
  await assertNoFault(session, relation, [check], [Number(states.has(BAD_STATE))]);
  const has = (state: number): boolean => states.has(state);
  await assertPositiveLabel(session, relation, { ...request, yPred: undefined, yTrue: { name: yTrue, has, isRead } });
  return attributes;
}

/** Whether a row has all that counts; a label that is neither 0 nor 1 was refused before. */
function isWhole(isWeighted: boolean): string {
  return `truth <= 1 AND ${isKnown('score')}${isWeighted ? ` AND ${isKnown('weight')}` : ''}`;
}

/** 0 unless there are surely too many distinct scores; what is then too many still is rounded when it is collected. */
function stepOf({ rows }: AttributeRows, { mostDistinct, stepFor }: ScoreGrid): number {
  const counted = rows.filter(({ group, keys }) => group >= 0 && keys[1] === 1);
  const estimate = counted.reduce((sum, { sums }) => sum + (sums[1] as number), 0);
  if (estimate <= SURELY_MORE * mostDistinct) return 0;
  return stepFor(counted.reduce((most, { sums }) => Math.max(most, sums[2] as number), 0));
}

/** How {@link scoresSql} groups. */
interface ScoresQuery {
  /** The columns to group by, `g0`, `g1` …, as they are wanted in the result. */
  readonly outputs: readonly string[];
  readonly step: number;
  readonly isWeighted: boolean;
}

/**
 * Counts by group and score of rows that have `g0`, `g1` …, a `score`, a
 * `truth` and, where weighted, a `weight`. A row of the result is the group and
 * what {@link readScore} reads.
 */
export function scoresSql(rows: string, { outputs, step, isWeighted }: ScoresQuery): string {
  const groups = outputs.map((_, place) => `g${String(place)}`);
  const sums = weightSums(isWeighted ? 'weight' : undefined).flatMap((sum) =>
    [0, 1].map((truth) => `CAST(${sum} FILTER (WHERE truth = ${String(truth)}) AS DOUBLE)`),
  );
  const times = isWeighted ? 'weight * ' : '';
  // Scores that are not rounded give their losses themselves.
  const losses =
    step === 0 ? [] : ['loss', 'loss * loss'].map((value) => `CAST(kahan_sum(${times}${value}) AS DOUBLE)`);
  return `SELECT ${[...outputs, 's', ...losses, ...sums].join(', ')}
    FROM (SELECT *, ${onGrid(step)} AS s${step === 0 ? '' : `, ${LOG_LOSS} AS loss`} FROM (${rows}) WHERE ${isWhole(isWeighted)}) GROUP BY ${[...groups, 's'].join(', ')}`;
}

/** Reads a row of {@link scoresSql} after its group. */
export function readScore(row: readonly unknown[], step: number): Omit<ScoreCell, 'group'> {
  // A sum of no rows is none.
  const [score = 0, ...rest] = row.map((value) => Number(value ?? 0));
  const [loss = 0, squaredLoss = 0] = step === 0 ? [] : rest;
  const sums = step === 0 ? rest : rest.slice(2);
  const [no, yes] = [0, 1].map((truth) => readWeights(sums.filter((_, place) => place % 2 === truth)));
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

/** The log loss of a row, its probability clipped as arrays have it. */
const LOG_LOSS = `-ln(least(${String(1 - Number.EPSILON)}::DOUBLE, greatest(${String(Number.EPSILON)}::DOUBLE,
  CASE WHEN truth = 1 THEN score ELSE 1 - score END)))`;

/** The operations on float64 that arrays go through, so that a score lands on the same point; -0 becomes 0. */
function onGrid(step: number): string {
  if (step === 0) return 'CASE WHEN score = 0 THEN 0.0::DOUBLE ELSE score END';
  const width = `CAST('${String(step)}' AS DOUBLE)`;
  return `floor(score / ${width} + 0.5::DOUBLE) * ${width}`;
}
