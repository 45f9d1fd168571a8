import type { CodedChunk, CodedSource, CodingRequest } from '../../io/code-rows.ts';
import {
  assertGroupColumn,
  type Bins,
  binShares,
  binsOf,
  needsBins,
  type SubgroupColumn,
} from '../../io/subgroup-columns.ts';
import {
  asNumbersWithout,
  type CategoricalColumn,
  encodeGroups,
  missingLabel,
  missingOutcomes,
  type Table,
  toBinary,
} from '../../table/index.ts';
import { assertLabelsOccur } from '../reduce/assert-positive-label.ts';
import { toFiniteNumbers } from '../reduce/row-arguments.ts';
import { halfOfCluster, MISSING_CODE } from './coded-rows.ts';

/** A column with the code of each row. */
interface CodedColumn extends SubgroupColumn {
  readonly codes: Uint8Array;
}

/**
 * Codes the columns of a table, as `withCodedSource` codes those of a file.
 * @throws {DataValidationError} if a column is unknown, an identifier or invalid
 */
export function codeTable(table: Table, request: CodingRequest): CodedSource {
  const columns = request.columns.map((name) => codeColumn(table, name, request));
  const { yPred, yTrue, yScore, cluster, positiveLabel, naValues } = request;
  const truthLabel = request.yTruePositiveLabel ?? positiveLabel;
  const decisions = yPred === undefined ? undefined : toBinary(table.column(yPred), 'yPred', positiveLabel, naValues);
  const truths = yTrue === undefined ? undefined : toBinary(table.column(yTrue), 'yTrue', truthLabel, naValues);
  if (yPred !== undefined && decisions !== undefined) {
    const truthColumn = yTrue === undefined ? undefined : table.column(yTrue);
    assertLabelsOccur({ ...request, yPred: table.column(yPred), yTrue: truthColumn }, truths, decisions);
  }
  const states = (values: ArrayLike<number>): Uint8Array => Uint8Array.from(values, (value) => (value < 0 ? 2 : value));
  const chunk: CodedChunk = {
    rowCount: table.rowCount,
    codes: columns.map(({ codes }) => codes),
    truths: truths && states(truths),
    decisions: decisions && states(decisions),
    scores: yScore === undefined ? undefined : toFiniteNumbers(table.column(yScore), 'yScore', naValues),
    clusters: undefined,
    halves: undefined,
  };
  const whole = cluster === undefined ? chunk : byCluster(chunk, encodeGroups(table.column(cluster)), request.seed);
  return {
    columns: columns.map(({ name, kind, labels, missing }) => ({ name, kind, labels, missing })),
    rowCount: table.rowCount,
    async *chunks() {
      yield await Promise.resolve(whole);
    },
  };
}

function codeColumn(table: Table, name: string, request: CodingRequest): CodedColumn {
  const { naValues, nanPolicy, bins: binCount } = request;
  const numeric = asNumbersWithout(table.column(name), missingOutcomes(naValues));
  const known = numeric.kind === 'numeric' ? numeric.values.filter(Number.isFinite) : undefined;
  if (known !== undefined && known.length > 0) {
    const sorted = known.sort();
    let distinct = 0;
    for (let row = 0; row < sorted.length; row++) distinct += row === 0 || sorted[row] !== sorted[row - 1] ? 1 : 0;
    const isWhole = sorted.every((value) => Number.isInteger(value));
    assertGroupColumn({ name, isNumber: true, isWhole, distinct, known: sorted.length }, request);
    if (needsBins(distinct, binCount) && numeric.kind === 'numeric') {
      const cuts = binShares(binCount).map((share) => quantileOf(sorted, share));
      const bins = binsOf(cuts, [sorted[0] as number, sorted.at(-1) as number], isWhole);
      return withMissing(name, 'bins', bins.labels, codesInBins(numeric.values, bins), nanPolicy);
    }
  }
  const { labels, codes } = encodeGroups(table.column(name), 'exclude', naValues);
  const values = codes.reduce((sum, code) => sum + (code < 0 ? 0 : 1), 0);
  assertGroupColumn(
    { name, isNumber: false, isWhole: false, distinct: labels.length, known: values },
    known === undefined || known.length === 0 ? request : { ...request, maxValues: Infinity },
  );
  const own = Uint8Array.from(codes, (code) => (code < 0 ? MISSING_CODE : code));
  return withMissing(name, 'values', labels, own, nanPolicy);
}

/** Returns a quantile as the disc quantile of DuckDB: the smallest value with at least this share at or below it. */
function quantileOf(sorted: Float64Array, share: number): number {
  const n = sorted.length;
  return sorted[Math.max(1, n - Math.floor(n - n * share)) - 1] as number;
}

function codesInBins(values: Float64Array, { cuts }: Bins): Uint8Array {
  return Uint8Array.from(values, (value) => {
    if (!Number.isFinite(value)) return MISSING_CODE;
    let code = 0;
    while (code < cuts.length && value > (cuts[code] as number)) code++;
    return code;
  });
}

function withMissing(
  name: string,
  kind: SubgroupColumn['kind'],
  labels: readonly string[],
  codes: Uint8Array,
  nanPolicy: CodingRequest['nanPolicy'],
): CodedColumn {
  const missing = codes.reduce((sum, code) => sum + (code === MISSING_CODE ? 1 : 0), 0);
  if (nanPolicy !== 'include' || missing === 0) return { name, kind, labels, missing, codes };
  const own = codes.map((code) => (code === MISSING_CODE ? labels.length : code));
  return { name, kind, labels: [...labels, missingLabel(labels)], missing, codes: own };
}

/** Orders the rows by cluster, and assigns all rows of a cluster to one half. */
function byCluster(chunk: CodedChunk, { codes, labels }: CategoricalColumn, seed: number): CodedChunk {
  // Clusters are ordered as in DuckDB, by the bytes of their labels, so that files and tables get the same replicates.
  const bytesOf = labels.map((label) => Buffer.from(label));
  const rankOf = new Int32Array(labels.length);
  const sorted = [...labels.keys()].sort((a, b) => Buffer.compare(bytesOf[a] as Buffer, bytesOf[b] as Buffer));
  sorted.forEach((code, rank) => (rankOf[code] = rank));
  const ranks = codes.map((code) => (code < 0 ? -1 : (rankOf[code] as number)));
  const order = Int32Array.from(codes.keys()).sort((a, b) => (ranks[a] as number) - (ranks[b] as number) || a - b);
  const halfOf = sorted.map((code) => halfOfCluster(labels[code] as string, seed));
  const clusters = order.map((row) => ranks[row] as number);
  const bytes = (values: Uint8Array): Uint8Array => Uint8Array.from(order, (row) => values[row] as number);
  return {
    rowCount: chunk.rowCount,
    codes: chunk.codes.map(bytes),
    truths: chunk.truths && bytes(chunk.truths),
    decisions: chunk.decisions && bytes(chunk.decisions),
    scores: chunk.scores && Float64Array.from(order, (row) => chunk.scores?.[row] as number),
    clusters,
    halves: Uint8Array.from(clusters, (cluster) => halfOf[cluster] ?? 0),
  };
}
