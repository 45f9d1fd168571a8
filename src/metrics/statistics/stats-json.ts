import { DataValidationError } from '../../exceptions/index.ts';
import { toSnakeCase } from '../../internal/arguments.ts';
import type { ClusterStats } from './cluster-stats.ts';
import {
  CELLS_PER_GROUP,
  type CellTables,
  type GroupStats,
  type LossSums,
  makeMoments,
  makeTables,
  REGRESSION_QUANTITIES,
  UNDECIDED_PER_GROUP,
} from './group-stats.ts';

/** Statistics as JSON: plain arrays and snake_case names. */
export type StatsJson = Readonly<Record<string, unknown>>;

/** The version of the format. It increases when older versions of this package cannot read the new format. */
const FORM = 1;

/**
 * Converts statistics to plain data for `JSON.stringify`. {@link statsFromJson} restores the same numbers.
 * @example
 * ```ts
 * import { reduceClassification, statsFromJson, statsToJson } from 'evenhand/metrics';
 *
 * const stats = reduceClassification({ yPred: [1, 0], sensitive: ['a', 'b'] });
 * const text = JSON.stringify(statsToJson(stats));
 * console.log(statsFromJson(JSON.parse(text)).labels);
 * // [ 'a', 'b' ]
 * ```
 */
export function statsToJson(stats: GroupStats): StatsJson {
  const common = { form: FORM, kind: stats.kind, labels: stats.labels, ...tablesToJson(stats) };
  const end = {
    has_truth: stats.hasTruth,
    n_dropped: stats.nDropped,
    ...(stats.clusters === undefined ? {} : { clusters: clustersToJson(stats.clusters) }),
  };
  switch (stats.kind) {
    case 'classification':
      return {
        ...common,
        ungrouped: tablesToJson(stats.ungrouped),
        undecided: tablesToJson(stats.undecided),
        lacks_weights: stats.lacksWeights,
        ...(stats.minCell === undefined ? {} : { min_cell: stats.minCell }),
        ...end,
      };
    case 'regression':
      return {
        ...common,
        moments: Object.fromEntries(
          REGRESSION_QUANTITIES.map((quantity) => {
            const { mean, m2, m3 } = stats.moments[quantity];
            return [quantity, { mean: [...mean], m2: [...m2], m3: [...m3] }];
          }),
        ),
        dropped: [...stats.dropped],
        ...end,
      };
    case 'scores':
      return {
        ...common,
        groups: [...stats.groups],
        scores: [...stats.scores],
        step: stats.step,
        dropped: [...stats.dropped],
        ...(stats.losses === null
          ? {}
          : { log_losses: [...stats.losses.sums], squared_log_losses: [...stats.losses.squares] }),
        ...end,
      };
  }
}

/**
 * Reads the output of {@link statsToJson}.
 * @throws {DataValidationError} if a field is missing or has the wrong size; the error names the field
 */
export function statsFromJson(json: unknown): GroupStats {
  const reader = new Reader(json);
  if (reader.value('form') !== FORM) throw unreadable('form', String(FORM));
  const labels = reader.labels();
  const clusters = readClusters(reader, labels.length);
  const end = {
    hasTruth: reader.value('has_truth') === true,
    nDropped: reader.number('n_dropped'),
    ...(clusters === undefined ? {} : { clusters }),
  };
  switch (reader.value('kind')) {
    case 'classification':
      return {
        kind: 'classification',
        labels,
        ...reader.tables(labels.length * CELLS_PER_GROUP),
        ungrouped: reader.inside('ungrouped').tables(CELLS_PER_GROUP),
        undecided: reader.undecided(labels.length),
        lacksWeights: reader.value('lacks_weights') === true,
        ...(reader.value('min_cell') === undefined ? {} : { minCell: reader.number('min_cell') }),
        ...end,
      };
    case 'regression':
      return {
        kind: 'regression',
        labels,
        ...reader.tables(labels.length),
        moments: makeMoments((quantity) => {
          const moments = reader.inside('moments').inside(quantity);
          const read = (name: string): Float64Array => moments.numbers(name, labels.length);
          return { mean: read('mean'), m2: read('m2'), m3: read('m3') };
        }),
        dropped: reader.dropped(labels.length),
        ...end,
      };
    case 'scores': {
      const scores = reader.numbers('scores');
      const groups = Int32Array.from(reader.numbers('groups', scores.length));
      if (groups.some((group) => group < 0 || group >= labels.length)) throw unreadable('groups', 'indexes of labels');
      if (!isAscending(groups, scores)) throw unreadable('scores', 'in ascending order, group by group');
      const tables = reader.tables(2 * scores.length);
      const step = reader.number('step');
      if (step < 0) throw unreadable('step', '0 or more');
      const dropped = reader.dropped(labels.length);
      const losses = step === 0 ? null : readLosses(reader, labels.length);
      return { kind: 'scores', labels, ...tables, groups, scores, step, losses, dropped, ...end, hasTruth: true };
    }
    default:
      throw unreadable('kind', 'classification, regression or scores');
  }
}

/** Reads log losses. Returns null if the JSON comes from an earlier version, which did not include log losses. */
function readLosses(reader: Reader, groups: number): LossSums | null {
  if (reader.value('log_losses') === undefined) return null;
  const [sums, squares] = [reader.numbers('log_losses', groups), reader.numbers('squared_log_losses', groups)];
  if ([...sums, ...squares].some((value) => value < 0)) throw unreadable('log_losses', '0 or more everywhere');
  return { sums, squares };
}

function clustersToJson({ clusters, strata, shared, lonely, totals }: ClusterStats): Record<string, unknown> {
  const common = { clusters: [...clusters], strata: [...strata], shared, lonely };
  if (totals.kind === 'entries') {
    const { clusterCount, strata: strataOf } = totals;
    const lists = (['clusters', 'groups', 'cells', 'weights'] as const).map((name) => [name, [...totals[name]]]);
    const own = { cluster_count: clusterCount, ...(strataOf === undefined ? {} : { strata: [...strataOf] }) };
    return { ...common, entries: { ...Object.fromEntries(lists), ...own } };
  }
  const { size, shifts, blocks, sums, squares } = totals;
  const products = {
    size,
    ...(shifts === undefined ? {} : { shifts }),
    blocks: blocks.map(({ first, second, values }) => ({ first, second, values: [...values] })),
    sums: [...sums],
    squares: [...squares],
  };
  return { ...common, products };
}

/** Reads clusters; undefined if there are none. */
function readClusters(json: Reader, groups: number): ClusterStats | undefined {
  if (json.value('clusters') === undefined) return undefined;
  const reader = json.inside('clusters');
  const pairOf = (one: Reader): { readonly first: number; readonly second: number } => ({
    first: one.index('first', groups),
    second: one.index('second', groups),
  });
  const common = {
    clusters: reader.numbers('clusters', groups),
    strata: reader.numbers('strata', groups),
    shared: reader.list('shared').map((one) => ({ ...pairOf(one), clusters: one.number('clusters') })),
    lonely: reader.number('lonely'),
  };
  if (reader.value('entries') !== undefined) {
    const entries = reader.inside('entries');
    const weights = entries.numbers('weights');
    const codes = (name: string): Int32Array => Int32Array.from(entries.numbers(name, weights.length));
    const clusterCount = entries.number('cluster_count');
    const strata = entries.value('strata') === undefined ? undefined : Int32Array.from(entries.numbers('strata', clusterCount)); // prettier-ignore
    const lists = { clusters: codes('clusters'), groups: codes('groups'), cells: codes('cells'), weights };
    return { ...common, totals: { kind: 'entries', ...lists, strata, clusterCount, groupCount: groups } };
  }
  const products = reader.inside('products');
  const size = products.number('size');
  return {
    ...common,
    totals: {
      kind: 'products',
      size,
      ...(products.value('shifts') === undefined ? {} : { shifts: [...products.numbers('shifts', size - 1)] }),
      blocks: products.list('blocks').map((one) => ({ ...pairOf(one), values: one.numbers('values', size * size) })),
      sums: products.numbers('sums', groups * size),
      squares: products.numbers('squares', groups * size * size),
    },
  };
}

function tablesToJson(tables: CellTables): Record<string, number[]> {
  return { counts: [...tables.counts], weights: [...tables.weights], squared_weights: [...tables.squaredWeights] };
}

function unreadable(field: string, required: string): DataValidationError {
  return new DataValidationError(`Invalid statistics: '${field}' must be ${required}.`, {
    code: 'invalid-value',
    context: { field },
    suggestion: 'Give the output of statsToJson.',
  });
}

function isAscending(groups: Int32Array, scores: Float64Array): boolean {
  return scores.every((score, index) => {
    if (index === 0) return true;
    const step = (groups[index] as number) - (groups[index - 1] as number);
    return step > 0 || (step === 0 && score > (scores[index - 1] as number));
  });
}

/** Reads and checks the fields of an object of unknown shape. */
class Reader {
  readonly #fields: Readonly<Record<string, unknown>>;

  constructor(json: unknown, name = 'the JSON value') {
    if (typeof json !== 'object' || json === null) throw unreadable(name, 'an object');
    this.#fields = json as Readonly<Record<string, unknown>>;
  }

  value(name: string): unknown {
    return this.#fields[name];
  }

  inside(name: string): Reader {
    return new Reader(this.value(name), name);
  }

  number(name: string): number {
    const value = this.value(name);
    if (typeof value !== 'number' || !Number.isFinite(value)) throw unreadable(name, 'a number');
    return value;
  }

  index(name: string, count: number): number {
    const value = this.number(name);
    if (!Number.isInteger(value) || value < 0 || value >= count) throw unreadable(name, 'the index of a group');
    return value;
  }

  list(name: string): Reader[] {
    const items = this.value(name);
    if (!Array.isArray(items)) throw unreadable(name, 'a list');
    return items.map((item) => new Reader(item, name));
  }

  labels(): readonly string[] {
    const labels = this.value('labels');
    if (!Array.isArray(labels) || labels.some((label) => typeof label !== 'string')) {
      throw unreadable('labels', 'a list of texts');
    }
    if (new Set(labels).size < labels.length) throw unreadable('labels', 'all different');
    return Object.freeze([...(labels as string[])]);
  }

  numbers(name: string, size?: number): Float64Array {
    const values = this.value(name);
    const isList = Array.isArray(values) && values.every((value) => typeof value === 'number');
    if (!isList || (size !== undefined && values.length !== size)) {
      throw unreadable(name, size === undefined ? 'a list of numbers' : `a list of ${String(size)} numbers`);
    }
    return Float64Array.from(values);
  }

  /**
   * Reads the counts of rows without a decision. The counts are 0 if the JSON comes from an earlier version, which did
   * not include them.
   */
  undecided(groups: number): CellTables {
    const size = groups * UNDECIDED_PER_GROUP;
    return this.value('undecided') === undefined
      ? makeTables(() => new Float64Array(size))
      : this.inside('undecided').tables(size);
  }

  /**
   * Reads the number of dropped rows of each group. The number is 0 if the JSON comes from an earlier version, which
   * did not include it.
   */
  dropped(groups: number): Float64Array {
    return this.value('dropped') === undefined ? new Float64Array(groups) : this.numbers('dropped', groups);
  }

  tables(size: number): CellTables {
    return makeTables((name) => {
      const table = this.numbers(toSnakeCase(name), size);
      if (table.some((value) => value < 0)) throw unreadable(toSnakeCase(name), '0 or more everywhere');
      return table;
    });
  }
}
