import { canonicalLabel } from '../internal/label-text.ts';
import {
  type ColumnReading,
  missingLabel,
  missingOutcomes,
  type NanPolicy,
  numbersAmong,
  type PositiveLabelOptions,
  sortLabels,
} from '../table/index.ts';
import { assertNoProblem, binaryCheck, numberChecks } from './checks.ts';
import { type OutcomeColumn, type PositiveLabels, reduceColumns } from './column-readings.ts';
import { truthColumn } from './count-decisions.ts';
import type { DuckDbSession } from './duckdb.ts';
import type { SourceReduction } from './group-by.ts';
import { assertLabelsCounted } from './positive-label.ts';
import { columnKind, isNumeric, type Relation } from './relation.ts';
import { quoteIdentifier, quoteLiteral } from './sql-engine.ts';
import { type SqlSource, withDuckDbRelation } from './sql-source.ts';
import {
  assertGroupColumn,
  type Bins,
  binShares,
  binsOf,
  type ColumnFacts,
  type ColumnLimits,
  needsBins,
  type SubgroupColumn,
} from './subgroup-columns.ts';
import {
  BAD_STATE,
  groupExpression,
  groupOutput,
  isOneNumber,
  isOneOf,
  labelOf,
  labelState,
  MISSING_STATE,
  numberExpression,
  textExpression,
} from './value-sql.ts';

/** What is coded: columns, outcomes and clusters. */
export interface CodingRequest extends PositiveLabelOptions, ColumnLimits {
  readonly columns: readonly string[];
  readonly nanPolicy: NanPolicy;
  readonly naValues?: readonly string[] | undefined;
  readonly yPred?: string | undefined;
  readonly yTrue?: string | undefined;
  readonly yScore?: string | undefined;
  readonly cluster?: string | undefined;
  /** Assigns the rows of a cluster to a half by the seed. */
  readonly seed: number;
}

/** Some coded rows of a source. Arrays may only be used until the next chunk is requested. */
export interface CodedChunk {
  readonly rowCount: number;
  readonly codes: readonly Uint8Array[];
  /** 0, 1 or 2 (missing); 2 for all rows without a column of true labels. */
  readonly truths: Uint8Array | undefined;
  readonly decisions: Uint8Array | undefined;
  /** NaN for a missing score. */
  readonly scores: Float64Array | undefined;
  /** A number for each cluster, ascending; -1 for rows without a cluster. */
  readonly clusters: Int32Array | undefined;
  readonly halves: Uint8Array | undefined;
}

/** The coded rows of a source. */
export interface CodedSource {
  readonly columns: readonly SubgroupColumn[];
  readonly rowCount: number;
  chunks(): AsyncIterable<CodedChunk>;
}

/** A column with the SQL expression of its codes. */
interface CodeExpression extends SubgroupColumn {
  readonly sql: string;
}

/**
 * Codes the columns of files, or of a query in DuckDB, and calls `work` with them. The rows stay in DuckDB: only the
 * codes are kept there, and are read in chunks.
 * @throws {DataValidationError} if the source cannot be read, or a column is unknown, an identifier or invalid
 */
export async function withCodedSource<T>(
  source: SqlSource,
  request: CodingRequest,
  work: (coded: CodedSource) => Promise<T>,
): Promise<{ readonly value: T; readonly readings: readonly ColumnReading[] }> {
  const facts = await withDuckDbRelation(source, (session, relation) => factsOf(session, relation, request));
  const binned = new Map(facts.flatMap((own) => (own.bins === undefined ? [] : [[own.name, own]])));
  const outcomes: OutcomeColumn[] = [
    ...(request.yPred === undefined
      ? []
      : [{ name: request.yPred, role: 'predictions', holds: 'labels', positiveLabel: request.positiveLabel } as const]),
    ...truthColumn(request.yTrue, request),
    ...(request.yScore === undefined ? [] : [{ name: request.yScore, role: 'scores', holds: 'numbers' } as const]),
    ...[...binned.keys()].map((name) => ({ name, role: 'features', holds: 'numbers' }) as const),
  ];
  const labelled = request.columns.filter((name) => !binned.has(name));
  const attributes = [...labelled, ...(request.cluster === undefined ? [] : [request.cluster])].map((name) => [name]);
  let result: { readonly value: T } | undefined;
  const reductions = await reduceColumns<SourceReduction<never>>(
    source,
    { ...request, attributes },
    outcomes,
    async (session, relation, positive) => {
      // A source that is opened here is in DuckDB.
      const coded = await codeRows(session as DuckDbSession, relation, request, { binned, positive });
      result = { value: await work(coded) };
      // The labels of each attribute, which are checked for texts that look like missing values.
      return (attributes.length === 0 ? [[]] : attributes).map(([name]) => {
        const labels = coded.columns.find((column) => column.name === name)?.labels ?? [];
        return { groups: labels.map((label) => ({ label, parts: [label] })), parts: [], rowCount: coded.rowCount };
      });
    },
  );
  const readings = reductions.flatMap((own) => own.readings ?? []);
  return { ...(result as unknown as { readonly value: T }), readings };
}

/** The facts of a column, and the bins of a column of numbers. */
interface SourceFacts extends ColumnFacts {
  readonly bins: Bins | undefined;
}

/** Finds in one scan which columns contain numbers, and how many different values they have. */
async function factsOf(session: DuckDbSession, relation: Relation, request: CodingRequest): Promise<SourceFacts[]> {
  const missing = missingOutcomes(request.naValues);
  const numbers = numbersAmong(missing);
  const shares = binShares(request.bins).map(String).join(', ');
  const expressions = request.columns.map((name) => {
    const number = numberExpression(relation, name);
    const isNumber = isNumeric(columnKind(relation, name));
    const isMissing = isNumber
      ? numbers.length === 0
        ? 'false'
        : isOneNumber(number, numbers)
      : isOneOf(relation, name, missing);
    const value = `CASE WHEN isnan(${number}) OR isinf(${number}) OR ${isMissing} THEN NULL ELSE ${number} END`;
    return { name, value, isText: `(${number} IS NULL AND ${quoteIdentifier(name)} IS NOT NULL AND NOT ${isMissing})` };
  });
  const selected = expressions.flatMap(({ name, value, isText }, index) => [
    `${value} AS n${String(index)}`,
    `${isText} AS t${String(index)}`,
    `${textExpression(name)} AS v${String(index)}`,
  ]);
  const sums = expressions.flatMap((_, index) => {
    const [n, t, v] = ['n', 't', 'v'].map((letter) => `${letter}${String(index)}`) as [string, string, string];
    return [
      `CAST(count_if(${t}) AS DOUBLE)`,
      `CAST(count(DISTINCT ${v}) AS DOUBLE)`,
      `CAST(count(${v}) AS DOUBLE)`,
      `CAST(count(DISTINCT ${n}) AS DOUBLE)`,
      `CAST(count(${n}) AS DOUBLE)`,
      `CAST(count_if(${n} <> floor(${n})) AS DOUBLE)`,
      `min(${n})`,
      `max(${n})`,
      `quantile_disc(${n}, [${shares}])`,
    ];
  });
  const [row = []] = await session.rows(
    `SELECT ${sums.join(', ')} FROM (SELECT ${selected.join(', ')} FROM ${relation.relation})`,
  );
  return request.columns.map((name, index): SourceFacts => {
    const [texts, labels, known, different, count, fractions, min, max, list] = row.slice(9 * index, 9 * index + 9);
    const isNumber = Number(texts) === 0 && Number(count) > 0;
    const facts = {
      name,
      isNumber,
      isWhole: Number(fractions) === 0,
      distinct: Number(isNumber ? different : labels),
      known: Number(isNumber ? count : known),
    };
    assertGroupColumn(facts, request);
    if (!isNumber || !needsBins(facts.distinct, request.bins)) return { ...facts, bins: undefined };
    // The driver returns a list as an object with its items.
    const { items } = list as { readonly items: readonly number[] };
    return { ...facts, bins: binsOf(items, [Number(min), Number(max)], facts.isWhole) };
  });
}

/** Writes the codes of all rows to a temporary table, from which they are read. */
async function codeRows(
  session: DuckDbSession,
  relation: Relation,
  request: CodingRequest,
  { binned, positive }: { readonly binned: ReadonlyMap<string, SourceFacts>; readonly positive: PositiveLabels },
): Promise<CodedSource> {
  const { yPred, yTrue, yScore, cluster, seed } = request;
  const labelled = request.columns.filter((name) => !binned.has(name));
  const values = await valuesOf(session, relation, labelled);
  const columns = request.columns.map((name): CodeExpression => {
    const bins = binned.get(name)?.bins;
    if (bins !== undefined) return codesOfBins(relation, name, bins);
    return codesOfLabels(relation, name, values[labelled.indexOf(name)] ?? []);
  });
  const truth = yTrue === undefined ? undefined : labelState(relation, yTrue, positive['true labels']);
  const decision = yPred === undefined ? undefined : labelState(relation, yPred, positive.predictions);
  const group = cluster === undefined ? undefined : clusterLabel(relation, cluster);
  const selected = [
    ...columns.map(({ sql }, index) => `CAST(${sql} AS UTINYINT) AS c${String(index)}`),
    `CAST(${truth ?? String(MISSING_STATE)} AS UTINYINT) AS truth`,
    `CAST(${decision ?? String(MISSING_STATE)} AS UTINYINT) AS decision`,
    `${yScore === undefined ? 'NULL::DOUBLE' : numberExpression(relation, yScore)} AS score`,
    `${group ?? 'NULL::VARCHAR'} AS cluster`,
    // The rows of a cluster keep their order, on any number of threads.
    ...(group === undefined ? [] : ['row_number() OVER () AS place']),
  ];
  const names = [...columns.map((_, index) => `c${String(index)}`), 'truth', 'decision', 'score'];
  const clustered =
    group === undefined
      ? ['-1::INTEGER AS cluster', '0::UTINYINT AS half']
      : [
          `CASE WHEN cluster IS NULL THEN -1 ELSE CAST(dense_rank() OVER (ORDER BY cluster) AS INTEGER) END AS cluster`,
          `CAST(CASE WHEN substr(sha256(${quoteLiteral(`${String(seed)}:`)} || cluster), 1, 1) IN ('1', '3', '5', '7', '9', 'b', 'd', 'f') THEN 1 ELSE 0 END AS UTINYINT) AS half`,
        ];
  const scores = yScore === undefined ? [] : numberChecks(relation, yScore);
  if (scores[0] !== undefined) {
    const [bad] = await session.rows(
      `SELECT CAST(count_if(${scores[0].condition}) AS DOUBLE) FROM ${relation.relation}`,
    );
    await assertNoProblem(session, relation, scores, [Number(bad?.[0])]);
  }
  await session.rows(
    `CREATE OR REPLACE TEMP TABLE eh_coded AS SELECT ${[...names, ...clustered].join(', ')} FROM (SELECT ${selected.join(', ')} FROM ${relation.relation}) ${group === undefined ? '' : 'ORDER BY cluster, place'}`,
  );
  await assertOutcomes(session, relation, request, { positive, truth, decision });
  const missing = columns.map((_, index) => `CAST(count(*) - count(c${String(index)}) AS DOUBLE)`);
  const [counts = []] = await session.rows(
    `SELECT ${['CAST(count(*) AS DOUBLE)', ...missing].join(', ')} FROM eh_coded`,
  );
  const own = columns.map(({ name, kind, labels }, index): SubgroupColumn => {
    const lacking = Number(counts[index + 1]);
    const known = request.nanPolicy === 'include' && lacking > 0 ? [...labels, missingLabel(labels)] : labels;
    return { name, kind, labels: known, missing: lacking };
  });
  return {
    columns: own,
    rowCount: Number(counts[0]),
    chunks: () => chunksOf(session, own, labelsOfMissing(columns, own), request),
  };
}

/** Returns SQL for the label of a cluster: `1` for the number 1.0, as in tables. */
function clusterLabel(relation: Relation, name: string): string {
  const label = `CAST(${groupExpression(relation, name)} AS VARCHAR)`;
  return columnKind(relation, name) === 'fraction' ? String.raw`regexp_replace(${label}, '\.0$', '')` : label;
}

/** Returns the code of a missing value in each column: its own value, or 255. */
function labelsOfMissing(columns: readonly CodeExpression[], own: readonly SubgroupColumn[]): string[] {
  return columns.map(({ labels }, index) =>
    String((own[index]?.labels.length ?? 0) > labels.length ? labels.length : 255),
  );
}

/**
 * Yields the coded rows.
 * @yields each chunk
 */
async function* chunksOf(
  session: DuckDbSession,
  columns: readonly SubgroupColumn[],
  missing: readonly string[],
  { yPred, yTrue, yScore, cluster }: CodingRequest,
): AsyncGenerator<CodedChunk> {
  const codes = columns.map((_, index) => `coalesce(c${String(index)}, ${missing[index] as string})::UTINYINT`);
  const rest = ['truth', 'decision', `coalesce(score, 'nan'::DOUBLE)`, 'cluster', 'half'];
  for await (const chunk of session.stream(`SELECT ${[...codes, ...rest].join(', ')} FROM eh_coded`)) {
    // The driver declares these fields as private. Its public access to them is one call for each value.
    const items = (column: number): unknown =>
      (chunk.getColumnVector(column) as unknown as { readonly items: unknown }).items;
    const first = columns.length;
    yield {
      rowCount: chunk.rowCount,
      codes: columns.map((_, index) => items(index) as Uint8Array),
      truths: yTrue === undefined ? undefined : (items(first) as Uint8Array),
      decisions: yPred === undefined ? undefined : (items(first + 1) as Uint8Array),
      scores: yScore === undefined ? undefined : (items(first + 2) as Float64Array),
      clusters: cluster === undefined ? undefined : (items(first + 3) as Int32Array),
      halves: cluster === undefined ? undefined : (items(first + 4) as Uint8Array),
    };
  }
}

/** Returns the values of each column, read in one scan. */
async function valuesOf(session: DuckDbSession, relation: Relation, names: readonly string[]): Promise<unknown[][]> {
  if (names.length === 0) return [];
  const lists = names.map((name) => `list(DISTINCT ${groupOutput(relation, name, groupExpression(relation, name))})`);
  const [row = []] = await session.rows(`SELECT ${lists.join(', ')} FROM ${relation.relation}`);
  // The driver returns a list as an object with its items; a column without rows has no list.
  return names.map((_, index) => [...((row[index] as { readonly items: readonly unknown[] } | null)?.items ?? [])]);
}

/** Returns the codes of labels, by the same rules as for groups: `1` and `1.0` are one value. */
function codesOfLabels(relation: Relation, name: string, values: readonly unknown[]): CodeExpression {
  const spellings = values.flatMap((value) => {
    const label = labelOf(relation, value);
    return label === undefined || label === '' ? [] : [{ raw: String(value), label: canonicalLabel(label) }];
  });
  const { labels } = sortLabels(new Int32Array(), [...new Set(spellings.map(({ label }) => label))]);
  const codeOf = new Map(labels.map((label, code) => [label, code]));
  const text = `CAST(${groupExpression(relation, name)} AS VARCHAR)`;
  const isFraction = columnKind(relation, name) === 'fraction';
  const whens = spellings.map(({ raw, label }) => {
    const code = String(codeOf.get(label));
    return isFraction
      ? `WHEN ${groupExpression(relation, name)} = CAST('${raw}' AS DOUBLE) THEN ${code}`
      : `WHEN ${text} = ${quoteLiteral(raw)} THEN ${code}`;
  });
  const sql = whens.length === 0 ? 'NULL' : `CASE ${whens.join(' ')} ELSE NULL END`;
  return { name, kind: 'values', labels, missing: 0, sql };
}

function codesOfBins(relation: Relation, name: string, { cuts, labels }: Bins): CodeExpression {
  const number = numberExpression(relation, name);
  const whens = cuts.map((cut, code) => `WHEN ${number} <= CAST('${String(cut)}' AS DOUBLE) THEN ${String(code)}`);
  const isMissing = `${number} IS NULL OR isnan(${number}) OR isinf(${number})`;
  return {
    name,
    kind: 'bins',
    labels,
    missing: 0,
    sql: `CASE WHEN ${isMissing} THEN NULL ${whens.join(' ')} ELSE ${String(cuts.length)} END`,
  };
}

/** Checks that decisions and true labels are 0 or 1, and that the positive labels occur. */
async function assertOutcomes(
  session: DuckDbSession,
  relation: Relation,
  { yPred, yTrue, positiveLabel, yTruePositiveLabel }: CodingRequest,
  found: {
    readonly positive: PositiveLabels;
    readonly truth: string | undefined;
    readonly decision: string | undefined;
  },
): Promise<void> {
  const { positive, truth, decision } = found;
  const rows = await session.rows('SELECT DISTINCT truth, decision FROM eh_coded');
  const states = [0, 1].map((column) => new Set(rows.map((row) => Number(row[column]))));
  const has = (column: number) => (state: number) => states[column]?.has(state) ?? false;
  const named = [
    { name: yTrue, state: truth, role: 'true labels' },
    { name: yPred, state: decision, role: 'predictions' },
  ] as const;
  for (const [index, { name, state, role }] of named.entries()) {
    if (name === undefined || state === undefined) continue;
    await assertNoProblem(
      session,
      relation,
      [binaryCheck(relation, name, state, role)],
      [Number(has(index)(BAD_STATE))],
    );
  }
  const column = (index: 0 | 1): { name: string; has: (state: number) => boolean; isRead: boolean } | undefined => {
    const { name, role } = named[index];
    return name === undefined ? undefined : { name, has: has(index), isRead: positive[role] !== undefined };
  };
  await assertLabelsCounted(session, relation, {
    positiveLabel,
    yTruePositiveLabel,
    yTrue: column(0),
    yPred: column(1),
  });
}
