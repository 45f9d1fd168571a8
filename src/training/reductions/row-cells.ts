import { DataValidationError } from '../../exceptions/index.ts';
import type { OptionNames } from '../../internal/arguments.ts';
import type { OnProgress } from '../../internal/progress.ts';
import type { CategoricalColumn, ColumnSource, SensitiveSource } from '../../table/index.ts';
import { type FitRows, readFitRows, readGroups } from '../data/fit-rows.ts';
import type { MatrixSource } from '../data/read-matrix.ts';
import { totalOf } from '../estimators/estimator-rows.ts';

/** A combination of an event and a group that occurs in the rows. A constraint has bounds for each slot. */
interface Slot {
  /** An index into {@link RowCells.events}. */
  readonly event: number;
  /** The group's name with slashes escaped, as in the names of multipliers. */
  readonly group: string;
}

/**
 * Rows grouped into cells (event, group, label). A constraint needs only sums over cells. Its computing time is
 * therefore proportional to the number of rows, and not to rows x groups.
 */
export interface RowCells {
  /** The cell of each row, [rows]: 2 slot + label. The last two cells contain the rows without an event. */
  readonly codes: Int32Array;
  /** The slots, ordered by event and then by group. */
  readonly slots: readonly Slot[];
  readonly events: readonly string[];
  /** The weights, [rows], 0 or more. */
  readonly weights: Float64Array;
  readonly totalWeight: number;
  /** The share of each cell in the total weight, [cells]. */
  readonly shares: Float64Array;
  /** Messages about groups and events that the constraint does not cover. */
  readonly warnings: readonly string[];
}

/** The rows to assign to cells. */
interface CellSource {
  /** The labels, [rows], 0 or 1. All labels are 0 if labels do not matter. */
  readonly labels: ArrayLike<number>;
  /** The true labels or values, [rows], which are used to order groups of equal weight. */
  readonly truths: Float64Array;
  /** The weights, [rows], 0 or more. At least one weight is above 0. */
  readonly weights: Float64Array;
  readonly groups: CategoricalColumn;
  /** An optional feature: each event is split by the levels of this feature. */
  readonly control: CategoricalColumn | undefined;
  /** The names of the events of rows with label 0 and of rows with label 1; null if such rows belong to no event. */
  readonly events: readonly [string | null, string | null];
}

/**
 * Assigns rows to cells. A group has no cells for an event in which it has no rows with a weight above 0. Its rate is
 * then undefined, and a warning reports the group.
 * @throws {DataValidationError} if no row is in any event, or if the sum of weights overflows
 */
export function tabulateRows(source: CellSource): RowCells {
  const { labels, truths, weights, groups } = source;
  const groupOrder = rankGroups(groups, truths, weights);
  const events = listEvents(source);
  const eventOf = eventIndexes(source, events);
  const width = groups.labels.length;
  // An entry for each pair of event and group: first 0 if the pair has weight and -1 otherwise, later the index of the
  // slot.
  const slotOf = new Int32Array(events.length * width).fill(-1);
  for (const [row, weight] of weights.entries()) {
    const event = eventOf(row);
    if (event >= 0 && weight > 0) slotOf[event * width + (groups.codes[row] as number)] = 0;
  }
  const slots: Slot[] = [];
  for (const event of events.keys()) {
    for (const group of groupOrder) {
      const index = event * width + group;
      if (slotOf[index] !== 0) continue;
      slotOf[index] = slots.length;
      slots.push({ event, group: escapeSlash(groups.labels[group] as string) });
    }
  }
  if (slots.length === 0) throw noEvent(source);
  const codes = new Int32Array(labels.length);
  for (let row = 0; row < codes.length; row++) {
    const event = eventOf(row);
    const slot = event < 0 ? -1 : (slotOf[event * width + (groups.codes[row] as number)] as number);
    codes[row] = 2 * (slot < 0 ? slots.length : slot) + (labels[row] as number);
  }
  const totalWeight = totalOf(weights);
  const shares = new Float64Array(2 * slots.length + 2);
  for (let row = 0; row < codes.length; row++) (shares[codes[row] as number] as number) += weights[row] as number;
  return {
    codes,
    slots,
    events,
    weights,
    totalWeight,
    shares: shares.map((weight) => weight / totalWeight),
    warnings: describeGaps(slots, events, groupOrder.length),
  };
}

/** Computes, for each cell, the sum of weight x value over its rows, divided by the total weight. */
export function cellMeans({ codes, weights, totalWeight, shares }: RowCells, values: ArrayLike<number>): Float64Array {
  const sums = new Float64Array(shares.length);
  for (let row = 0; row < codes.length; row++) {
    (sums[codes[row] as number] as number) += (weights[row] as number) * (values[row] as number);
  }
  return sums.map((sum) => sum / totalWeight);
}

/**
 * Returns names such as "control=low,label=1". The names combine every level of the control feature with every event of
 * the constraint.
 */
function listEvents({ events, control }: CellSource): string[] {
  const names = [...new Set(events)].filter((name) => name !== null);
  if (control === undefined) return names;
  return control.labels.flatMap((level) => names.map((name) => `control=${escapeSlash(level)},${name}`));
}

/** Escapes slashes inside a name, because slashes separate the parts of the names of multipliers. */
function escapeSlash(name: string): string {
  return name.replaceAll(/[\\/]/g, (sign) => `\\${sign}`);
}

/** Returns a function that returns the event index of a row, or -1 if the row is in no event. */
function eventIndexes({ labels, events, control }: CellSource, names: readonly string[]): (row: number) => number {
  const own = [...new Set(events)].filter((name) => name !== null);
  const ofLabel = events.map((name) => (name === null ? -1 : own.indexOf(name)));
  const levels = control?.codes;
  if (levels === undefined || names.length === 0) return (row) => ofLabel[labels[row] as number] as number;
  return (row) => {
    const event = ofLabel[labels[row] as number] as number;
    return event < 0 ? -1 : (levels[row] as number) * own.length + event;
  };
}

function describeGaps(slots: readonly Slot[], events: readonly string[], groups: number): string[] {
  const counts = new Int32Array(events.length);
  for (const { event } of slots) (counts[event] as number)++;
  return [...counts.entries()]
    .filter(([, count]) => count < groups)
    .map(
      ([event, count]) =>
        `${String(groups - count)} of ${String(groups)} groups have no rows in the event ${events[event] as string} and are not constrained there`,
    );
}

function noEvent({ events }: CellSource): DataValidationError {
  return new DataValidationError(
    `No row is in an event of the constraint (${events.filter((name) => name !== null).join(', ')}), so there is nothing to constrain.`,
    {
      code: 'empty-data',
      context: { argument: 'y', events },
      suggestion:
        'Check the labels: a true positive rate needs rows with y = 1, and a false positive rate needs rows with y = 0.',
    },
  );
}

/**
 * Returns the codes of the groups that have weight. The codes are sorted by weight descending, then by the sum of
 * truths ascending, then by label. Solvers break ties by position, and a lattice omits the last group. Because the
 * groups are sorted, the order of rows does not affect the result. Names affect the result only for groups that have
 * the same weight and the same sum of truths.
 */
export function rankGroups(groups: CategoricalColumn, truths: Float64Array, weights: Float64Array): number[] {
  const totals = new Float64Array(groups.labels.length);
  const sums = new Float64Array(groups.labels.length);
  for (let row = 0; row < weights.length; row++) {
    const group = groups.codes[row] as number;
    (totals[group] as number) += weights[row] as number;
    (sums[group] as number) += (weights[row] as number) * (truths[row] as number);
  }
  return groups.labels
    .map((_, code) => code)
    .filter((code) => (totals[code] as number) > 0)
    .sort(
      (a, b) => (totals[b] as number) - (totals[a] as number) || (sums[a] as number) - (sums[b] as number) || a - b,
    );
}

/** Options of a reduction's `fit`. */
export interface ReductionFitOptions {
  /**
   * The group of each row. If there are several attributes, their combinations form the groups. The model uses a group
   * as a feature only if X also contains it.
   */
  readonly sensitive: SensitiveSource;
  /** Stratifies the rows: groups are compared only within each level of this feature. */
  readonly control?: SensitiveSource | undefined;
  /**
   * One weight per row, 0 or more. Weights affect both the objective and the constraint. A row with weight 2 counts as
   * two rows.
   */
  readonly sampleWeight?: ColumnSource | undefined;
  readonly onProgress?: OnProgress | undefined;
  /** Stops the work between two fits. The promise then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Lists the options of {@link ReductionFitOptions}. */
export const REDUCTION_FIT_OPTION_NAMES: OptionNames<ReductionFitOptions> = {
  sensitive: true,
  control: true,
  sampleWeight: true,
  onProgress: true,
  signal: true,
};

/** Rows of a reduction, in host memory. */
export interface ReductionRows extends FitRows {
  readonly groups: CategoricalColumn;
  readonly control: CategoricalColumn | undefined;
}

/**
 * Reads the rows of a reduction.
 * @throws {DataValidationError} if values are missing or infinite, if lengths differ, or if there are no groups
 */
export async function readReductionRows(
  x: MatrixSource,
  y: ColumnSource,
  options: ReductionFitOptions | undefined,
): Promise<ReductionRows> {
  const { sensitive, control, sampleWeight } = withGroups(options);
  const rows = await readFitRows(x, y, sampleWeight);
  return {
    ...rows,
    groups: await readGroups(sensitive, rows.y.length),
    control: control === undefined ? undefined : await readGroups(control, rows.y.length, 'control'),
  };
}

/** Checks that `sensitive` is given, because callers without type checks may omit the options. */
function withGroups(options: ReductionFitOptions | null | undefined): ReductionFitOptions {
  const sensitive: unknown = options?.sensitive ?? undefined;
  if (options && sensitive !== undefined) return options;
  throw new DataValidationError('The sensitive option is missing: fit needs the group of each row.', {
    context: { argument: 'sensitive' },
    suggestion: 'Call fit(X, y, { sensitive }).',
  });
}
