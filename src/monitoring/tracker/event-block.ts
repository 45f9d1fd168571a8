/** A stratum: the index of a period, or a label of a column. */
export type Stratum = string | number;

/** The cell value of an excluded event. */
export const LEFT_OUT = 255;

/** Events as columns of numbers. */
export interface EventBlock {
  readonly length: number;
  /** The group code of each event, in one array per attribute. The code is negative if an event has no group. */
  readonly codes: readonly Int32Array[];
  /**
   * The cell of each event: 2 x true label + decision, where an unknown true label counts as 2. An event without a
   * prediction has the cell {@link LEFT_OUT}.
   */
  readonly cells: Uint8Array;
  /** The weight of each event; null if events have no weights. Each event then has weight 1. */
  readonly weights: Float64Array | null;
  /** The prediction of each event; null unless errors are monitored. */
  readonly predictions: Float64Array | null;
  /**
   * The absolute error |prediction - truth| of each event, NaN if the truth is unknown; null unless errors are
   * monitored.
   */
  readonly errors: Float64Array | null;
  /** The time of each event in milliseconds since 1970; null if the clock provides the times. */
  readonly times: Float64Array | null;
  /** The id of each event; null if events have no ids. */
  readonly ids: readonly (string | number | null)[] | null;
  /** The label of each event in the column of strata; absent if there is no such column. */
  readonly strata?: readonly (string | null)[] | undefined;
}

/** The columns of a block in which events have no weights, errors, times or ids. */
export const NO_COLUMNS = { weights: null, predictions: null, errors: null, times: null, ids: null } as const;

/** The reasons why events, labels or groups were not counted. */
export const STREAM_PROBLEMS = [
  'missing_prediction',
  'missing_weight',
  'zero_weight',
  'missing_group',
  'missing_timestamp',
  'unknown_group',
  'too_many_groups',
  'long_label',
  'missing_stratum',
  'missing_id',
  'duplicate_id',
  'unknown_label_id',
  'repeated_label',
  'missing_label',
  'expired_unlabelled',
  'clock_backwards',
  'clipped_error',
] as const;

/** One of {@link STREAM_PROBLEMS}. */
export type StreamProblem = (typeof STREAM_PROBLEMS)[number];

/** The number of problems for each reason. Reasons that never occurred are absent from {@link ProblemCounts.toJSON}. */
export class ProblemCounts {
  readonly #counts = new Map<StreamProblem, number>();

  add(problem: StreamProblem, count = 1): void {
    this.#counts.set(problem, (this.#counts.get(problem) ?? 0) + count);
  }

  /** Adds the counts of another stream, or of a snapshot. */
  merge(other: Readonly<Record<string, number>>): void {
    for (const problem of STREAM_PROBLEMS) {
      if (Object.hasOwn(other, problem)) this.add(problem, other[problem]);
    }
  }

  toJSON(): Readonly<Record<string, number>> {
    return Object.freeze(
      Object.fromEntries(
        STREAM_PROBLEMS.flatMap((problem) => {
          const count = this.#counts.get(problem);
          return count === undefined ? [] : [[problem, count]];
        }),
      ),
    );
  }
}

/** Returns a block without the excluded events. */
export function compact(block: EventBlock): EventBlock {
  if (!block.cells.includes(LEFT_OUT)) return block;
  const rows = Int32Array.from(block.cells.keys()).filter((row) => block.cells[row] !== LEFT_OUT);
  const take = (values: Float64Array | null): Float64Array | null =>
    values === null ? null : Float64Array.from(rows, (row) => values[row] as number);
  const { ids, strata } = block;
  return {
    length: rows.length,
    codes: block.codes.map((codes) => Int32Array.from(rows, (row) => codes[row] as number)),
    cells: Uint8Array.from(rows, (row) => block.cells[row] as number),
    weights: take(block.weights),
    predictions: take(block.predictions),
    errors: take(block.errors),
    times: take(block.times),
    ids: ids === null ? null : Array.from(rows, (row) => ids[row] ?? null),
    strata: strata === undefined ? undefined : Array.from(rows, (row) => strata[row] ?? null),
  };
}

/** An observer that receives every event when it is counted, such as a set of change detectors. */
export interface EventObserver {
  /** Receives rows of a block. The first row is `from`, and the last row is the one before `to`. */
  events(block: EventBlock, from: number, to: number): void;
  /**
   * Receives a late label: the event's codes by attribute, its new cell, its error (NaN unless errors are monitored),
   * and its stratum (null unless strata are monitored).
   */
  label(codes: readonly number[], cell: number, error: number, stratum: Stratum | null): void;
}

/** The number of predictions of a group that have a true label. */
export interface LabelCoverage {
  readonly attribute: string;
  readonly group: string;
  readonly n: number;
  readonly labelled: number;
  /** The share of labelled predictions, `labelled` / `n`; null if `n` is 0. */
  readonly share: number | null;
}

/** The number of problems for each reason. Every skipped event, label or group is counted here. */
export type StreamProblems = Readonly<Record<string, number>>;
