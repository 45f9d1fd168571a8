import { assertNoProblem, type Check, numberChecks, weightChecks } from './checks.ts';
import type { StratumSums } from '../stats/stratum-sums.ts';
import { hasClusters } from '../table/cluster-columns.ts';
import { clusterChecks, type ClusterQuery, sumClusters } from './count-clusters.ts';
import { type OutcomeColumn, reduceColumns } from './column-readings.ts';
import { weightColumn } from './count-decisions.ts';
import {
  checkSums,
  droppedRows,
  indexGroups,
  rowsSql,
  type SourceReduction,
  sumColumns,
  toNumbers,
} from './group-by.ts';
import type { Relation } from './relation.ts';
import type { NumberRequest, SqlSession } from './sql-engine.ts';
import type { SqlSource } from './sql-source.ts';
import {
  groupLabelOf,
  groupOutputs,
  isKnown,
  numberExpression,
  readWeights,
  type WeightSums,
  weightSums,
} from './value-sql.ts';

/** The quantities whose moments are computed, as expressions over a prediction p and a true value t. */
const QUANTITIES = {
  prediction: 'p',
  truth: 't',
  error: 'p - t',
  absoluteError: 'abs(p - t)',
  squaredError: '(p - t) * (p - t)',
} as const;

/** One of the quantities that have moments. */
type MomentQuantity = keyof typeof QUANTITIES;

/** The weighted mean, and the sums of squared and of cubed deviations from it. */
interface MomentSums {
  readonly mean: number;
  readonly m2: number;
  readonly m3: number;
}

/** The sums of one group. */
export interface NumberSums extends WeightSums {
  readonly group: number;
  /** The moments of each quantity. If there are no true values, only the moments of predictions are given. */
  readonly moments: Readonly<Partial<Record<MomentQuantity, MomentSums>>>;
}

/** The sums of the groups of one attribute. */
export interface NumberReduction extends SourceReduction<NumberSums> {
  /** The number of rows of each group that lack a prediction, a true value or a weight. */
  readonly dropped: Float64Array;
  /** The sums over clusters of weights and quantities minus their shifts, if rows have clusters. */
  readonly clusters?: { readonly strata: readonly StratumSums[]; readonly shifts: readonly number[] } | undefined;
}

/**
 * Sums the predictions and errors of a source per group without loading rows. For each attribute, one scan computes the
 * means, and one scan computes the sums of powers of deviations from the means.
 * @returns one reduction per attribute, in order
 * @throws {DataValidationError} if the source cannot be read, a column is unknown, or values are text or infinite
 */
export async function sumMoments(source: SqlSource, request: NumberRequest): Promise<NumberReduction[]> {
  const { yPred, yTrue, sampleWeight } = request;
  const outcomes: OutcomeColumn[] = [
    { name: yPred, role: 'predictions', holds: 'numbers' },
    ...(yTrue === undefined ? [] : [{ name: yTrue, role: 'true labels', holds: 'numbers' } as const]),
    ...weightColumn(sampleWeight),
  ];
  return reduceColumns(source, request, outcomes, async (session, relation) => {
    const checks = [
      ...[yPred, ...(yTrue === undefined ? [] : [yTrue])].flatMap((name) => numberChecks(relation, name)),
      ...weightChecks(relation, sampleWeight),
      ...clusterChecks(relation, request),
    ];
    const select = {
      p: numberExpression(relation, yPred),
      ...(yTrue === undefined ? {} : { t: numberExpression(relation, yTrue) }),
      ...(sampleWeight === undefined ? {} : { w: numberExpression(relation, sampleWeight) }),
    };
    const reductions: NumberReduction[] = [];
    for (const attribute of request.attributes) {
      const rows = rowsSql(relation, { names: attribute, select, checks });
      const { find, ...reduction } = await sumAttribute(session, relation, request, { attribute, rows, checks });
      const clusters = hasClusters(request)
        ? await clusterMoments(session, relation, { ...request, attribute, select, find }, reduction)
        : undefined;
      reductions.push({ ...reduction, clusters });
    }
    return reductions;
  });
}

/** Sums weights and quantities over clusters. The overall mean of each quantity is subtracted, so that no digits are lost. */
async function clusterMoments(
  session: SqlSession,
  relation: Relation,
  query: Pick<ClusterQuery, 'cluster' | 'strata' | 'nanPolicy' | 'attribute' | 'select' | 'find'>,
  { groups, parts }: NumberReduction,
): Promise<NonNullable<NumberReduction['clusters']>> {
  const { t: truth, w: weight } = query.select;
  const known = ['p', ...(truth === undefined ? [] : ['t']), ...(weight === undefined ? [] : ['w'])];
  const isComplete = known.map((name) => `(${isKnown(name)})`).join(' AND ');
  const total = parts.reduce((sum, part) => sum + part.weight, 0);
  const names = Object.keys(QUANTITIES) as MomentQuantity[];
  const shifts = names.map((name) => {
    const sum = parts.reduce((all, part) => all + (part.moments[name]?.mean ?? 0) * part.weight, 0);
    return total > 0 && Number.isFinite(sum) ? sum / total : 0;
  });
  const times = weight === undefined ? '' : 'w * ';
  const cells = names.map((name, index) =>
    truth === undefined && name !== 'prediction'
      ? '0'
      : `${times}(${QUANTITIES[name]} - CAST('${String(shifts[index])}' AS DOUBLE))`,
  );
  const strata = await sumClusters(session, relation, { ...query, groupCount: groups.length, isComplete }, [
    weight === undefined ? '1' : 'w',
    ...cells,
  ]);
  return { strata, shifts };
}

interface AttributeScan {
  readonly attribute: readonly string[];
  readonly rows: string;
  readonly checks: readonly Check[];
}

async function sumAttribute(
  session: SqlSession,
  relation: Relation,
  { yTrue, sampleWeight, nanPolicy }: NumberRequest,
  { attribute, rows, checks }: AttributeScan,
): Promise<NumberReduction & Pick<ClusterQuery, 'find'>> {
  const hasTruth = yTrue !== undefined;
  const isWeighted = sampleWeight !== undefined;
  const width = attribute.length;
  const outputs = groupOutputs(relation, attribute);
  const sql = momentsSql(rows, { outputs, hasTruth, isWeighted, checks: checkSums(checks) });
  const result = await session.rows(sql, { ordered: true });
  const firstCheck = (result[0]?.length ?? 0) - checks.length;
  await assertNoProblem(session, relation, checks, sumColumns(result, firstCheck, firstCheck + checks.length));
  const tuples = result.map((row) => row.slice(0, width).map((value) => groupLabelOf(relation, value)));
  const index = indexGroups(tuples, nanPolicy);
  const sums = result.map((row) => toNumbers(row.slice(width, firstCheck)));
  const groupOf = (position: number): number => index.find(tuples[position] as readonly string[]);
  return {
    find: (parts) => index.find(parts),
    groups: index.groups,
    rowCount: sums.reduce((total, [, count = 0]) => total + count, 0),
    dropped: droppedRows(
      index.groups.length,
      sums.flatMap(([isComplete, count = 0], position) =>
        isComplete === 1 ? [] : [{ group: groupOf(position), count }],
      ),
    ),
    parts: sums.flatMap((own, position) => {
      const group = groupOf(position);
      return group < 0 || own[0] === 0 ? [] : [{ group, ...readMoments(own.slice(1), { hasTruth, isWeighted }) }];
    }),
  };
}

/** Options of {@link momentsSql}. */
interface MomentsQuery {
  /** The SQL expressions of the columns to group by, `g0`, `g1` …, in the result. */
  readonly outputs: readonly string[];
  readonly hasTruth: boolean;
  readonly isWeighted: boolean;
  /** Additional aggregates over the rows. */
  readonly checks?: readonly string[];
}

/**
 * Returns SQL that computes the moments of each group. The rows have `g0`, `g1` …, a prediction `p`, a true value `t`
 * and, if weighted, a weight `w`.
 *
 * The query first computes the means of all groups, and then the sums of deviations from these means. Sums of the raw
 * squares would lose precision by cancellation. A row of the result contains the group, a flag for complete rows, and
 * the values that {@link readMoments} reads.
 */
export function momentsSql(rows: string, { outputs, hasTruth, isWeighted, checks = [] }: MomentsQuery): string {
  const groups = outputs.map((_, index) => `g${String(index)}`);
  const expressions = quantitiesOf(hasTruth).map((name) => QUANTITIES[name]);
  const quantities = expressions.map((_, index) => `q${String(index)}`);
  const complete = ['p', ...(hasTruth ? ['t'] : []), ...(isWeighted ? ['w'] : [])]
    .map((name) => `(${isKnown(name)})`)
    .join(' AND ');
  const values = expressions.map((expression, index) => `${expression} AS q${String(index)}`);
  const times = isWeighted ? 'w * ' : '';
  const weight = isWeighted ? 'nullif(kahan_sum(w), 0)' : 'count(*)';
  const means = quantities.map((q) => `kahan_sum(${times}${q}) / ${weight} AS ${q}`);
  const pivots = quantities.map((q) => `CASE WHEN isfinite(means.${q}) THEN means.${q} ELSE 0 END AS m${q}`);
  const deviations = quantities.map((q) => `valued.${q} - m${q} AS d${q}`);
  const sums = quantities.flatMap((q) => [
    `max(m${q})`,
    `kahan_sum(${times}d${q})`,
    `kahan_sum(${times}d${q} * d${q})`,
    `kahan_sum(${times}d${q} * d${q} * d${q})`,
  ]);
  const isSameGroup = groups.map((group) => `valued.${group} IS NOT DISTINCT FROM means.${group}`).join(' AND ');
  const results = [...weightSums(isWeighted ? 'w' : undefined), ...sums, ...checks];
  // The query is not materialised, so rows are scanned twice and never kept in memory.
  return `WITH valued AS NOT MATERIALIZED (SELECT *, CASE WHEN ${complete} THEN 1 ELSE 0 END AS known, ${values.join(', ')} FROM (${rows})),
    means AS (SELECT ${[...groups, ...means].join(', ')} FROM valued WHERE known = 1 GROUP BY ${groups.join(', ')}),
    centred AS NOT MATERIALIZED (SELECT valued.*, ${[...pivots, ...deviations].join(', ')}
      FROM valued LEFT JOIN means ON ${isSameGroup})
    SELECT ${[...outputs, 'known', ...results.map((sum) => `CAST(${sum} AS DOUBLE)`)].join(', ')}
    FROM centred GROUP BY ${[...groups, 'known'].join(', ')}`;
}

/**
 * Reads the counts and sums of deviations of one group. The deviations d are from rounded means, w are the weights, and
 * W is their sum. The rounding error h = sum w d / sum w of the mean is corrected here: m2 = sum w d^2 - W h^2 and m3 =
 * sum w d^3 - 3 h sum w d^2 + 2 W h^3.
 */
export function readMoments(
  numbers: readonly number[],
  { hasTruth, isWeighted }: Pick<MomentsQuery, 'hasTruth' | 'isWeighted'>,
): Omit<NumberSums, 'group'> {
  const firstSum = isWeighted ? 3 : 1;
  const weights = readWeights(numbers.slice(0, firstSum));
  const { weight } = weights;
  const sums = numbers.slice(firstSum);
  const names = quantitiesOf(hasTruth);
  const moments = names.map((name, index): [MomentQuantity, MomentSums] => {
    const [pivot = 0, s1 = 0, s2 = 0, s3 = 0] = sums.slice(4 * index);
    if (weight === 0) return [name, { mean: 0, m2: 0, m3: 0 }];
    const shift = s1 / weight;
    return [
      name,
      {
        mean: pivot + shift,
        m2: Math.max(0, s2 - weight * shift * shift),
        m3: s3 - 3 * shift * s2 + 2 * weight * shift ** 3,
      },
    ];
  });
  return { ...weights, moments: Object.fromEntries(moments) };
}

function quantitiesOf(hasTruth: boolean): readonly MomentQuantity[] {
  return hasTruth ? (Object.keys(QUANTITIES) as MomentQuantity[]) : ['prediction'];
}
