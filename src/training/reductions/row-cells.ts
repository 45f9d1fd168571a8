import { DataValidationError } from '../../exceptions/index.ts';
import type { OptionNames } from '../../internal/arguments.ts';
import type { OnProgress } from '../../internal/progress.ts';
import type { CategoricalColumn, ColumnSource, SensitiveSource } from '../../table/index.ts';
import { type FitRows, readFitRows, readGroups } from '../data/fit-rows.ts';
import type { MatrixSource } from '../data/read-matrix.ts';

/** A combination of an event and a group that occurs in the rows. A constraint has bounds for each slot. */
interface Slot {
  /** An index into {@link RowCells.events}. */
  readonly event: number;
  /** The group's name with slashes escaped, as in the names of multipliers. */
  readonly group: string;
}

/**
 * The cells (event, group, label) of rows. A constraint needs only sums over cells, so its computing time is
 * proportional to the number of rows, not to rows x groups.
 */
export interface RowCells {
  /** The slots, ordered by event and then by group. The cell of a slot and a label is 2 slot + label. */
  readonly slots: readonly Slot[];
  readonly events: readonly string[];
  /** The cell of each kind of row, [levels, groups, 2]. The last two cells contain the rows without an event. */
  readonly cellOf: Int32Array;
  readonly totalWeight: number;
  /** The share of each cell in the total weight, [cells]. */
  readonly shares: Float64Array;
  /** Messages about groups and events that the constraint does not cover. */
  readonly warnings: readonly string[];
}

/** Sums of rows by kind. A kind is a combination of a control level, a group and a label. */
export interface RowTotals {
  readonly groups: readonly string[];
  /** The levels of a feature that splits each event; undefined without such a feature. */
  readonly levels: readonly string[] | undefined;
  /** The total weight of each kind, [levels, groups, 2]. All labels are 0 if labels do not matter. */
  readonly weights: Float64Array;
  readonly totalWeight: number;
  /** The total weight of each group, [groups]. */
  readonly groupWeights: Float64Array;
  /** The sum of weight x true label or value of each group, [groups], which orders groups of equal weight. */
  readonly groupTruths: Float64Array;
  /** The index of the first row of each kind; Infinity without rows. Only grids of other libraries need it. */
  readonly firstRows: ArrayLike<number> | undefined;
}

/** The events of rows with label 0 and of rows with label 1. */
type LabelEvents = readonly [string | null, string | null];

/** Returns the number of kinds. */
export function kindsOf({ groups, levels }: Pick<RowTotals, 'groups' | 'levels'>): number {
  return (levels?.length ?? 1) * groups.length * 2;
}

/**
 * Lays out the cells of rows. If a group has no weight in an event, it has no cell for this event. The rate of the group
 * is then undefined, and a warning reports the group.
 * @throws {DataValidationError} if no row is in any event
 */
export function layOutCells(totals: RowTotals, labelEvents: LabelEvents): RowCells {
  const { groups, weights, totalWeight } = totals;
  const groupOrder = rankGroups(totals);
  const events = listEvents(totals, labelEvents);
  const eventOf = eventIndexes(totals, labelEvents);
  const width = groups.length;
  const slotIndexOf = (kind: number): number => {
    const event = eventOf(kind);
    return event < 0 ? -1 : event * width + ((kind >> 1) % width);
  };
  // An entry for each pair of event and group: first 0 if the pair has weight and -1 otherwise, later the index of the
  // slot.
  const slotOf = new Int32Array(events.length * width).fill(-1);
  for (const [kind, weight] of weights.entries()) {
    const index = slotIndexOf(kind);
    if (index >= 0 && weight > 0) slotOf[index] = 0;
  }
  const slots: Slot[] = [];
  for (const event of events.keys()) {
    for (const group of groupOrder) {
      const index = event * width + group;
      if (slotOf[index] !== 0) continue;
      slotOf[index] = slots.length;
      slots.push({ event, group: escapeSlash(groups[group] as string) });
    }
  }
  if (slots.length === 0) throw noEvent(labelEvents);
  const shares = new Float64Array(2 * slots.length + 2);
  const cellOf = Int32Array.from(weights, (weight, kind) => {
    const index = slotIndexOf(kind);
    const slot = index < 0 ? -1 : (slotOf[index] as number);
    const cell = 2 * (slot < 0 ? slots.length : slot) + (kind % 2);
    (shares[cell] as number) += weight;
    return cell;
  });
  return {
    slots,
    events,
    cellOf,
    totalWeight,
    shares: shares.map((weight) => weight / totalWeight),
    warnings: describeGaps(slots, events, groupOrder.length),
  };
}

/**
 * Returns names such as "control=low,label=1". The names combine every level of the control feature with every event of
 * the constraint.
 */
function listEvents({ levels }: RowTotals, labelEvents: LabelEvents): string[] {
  const names = [...new Set(labelEvents)].filter((name) => name !== null);
  if (levels === undefined) return names;
  return levels.flatMap((level) => names.map((name) => `control=${escapeSlash(level)},${name}`));
}

/** Escapes slashes inside a name, because slashes separate the parts of the names of multipliers. */
function escapeSlash(name: string): string {
  return name.replaceAll(/[\\/]/g, (sign) => `\\${sign}`);
}

/** Returns a function that returns the event index of a kind of rows, or -1 if it is in no event. */
function eventIndexes({ groups }: RowTotals, labelEvents: LabelEvents): (kind: number) => number {
  const own = [...new Set(labelEvents)].filter((name) => name !== null);
  const ofLabel = labelEvents.map((name) => (name === null ? -1 : own.indexOf(name)));
  return (kind) => {
    const event = ofLabel[kind % 2] as number;
    return event < 0 ? -1 : Math.floor(kind / (2 * groups.length)) * own.length + event;
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

function noEvent(events: LabelEvents): DataValidationError {
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
export function rankGroups({ groups, groupWeights: totals, groupTruths: sums }: RowTotals): number[] {
  return groups
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
export function withGroups(options: ReductionFitOptions | null | undefined): ReductionFitOptions {
  const sensitive: unknown = options?.sensitive ?? undefined;
  if (options && sensitive !== undefined) return options;
  throw new DataValidationError('The sensitive option is missing: fit needs the group of each row.', {
    context: { argument: 'sensitive' },
    suggestion: 'Call fit(X, y, { sensitive }).',
  });
}
