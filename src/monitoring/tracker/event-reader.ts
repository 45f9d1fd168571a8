import { isMapping } from '../../internal/values.ts';
import { DataValidationError } from '../../exceptions/index.ts';
import { cellIndex, type TruthState } from '../../metrics/statistics/group-stats.ts';
import { type Column, columnLength, Table, type TableSource } from '../../table/index.ts';
import { type EventBlock, type ProblemCounts, LEFT_OUT, type StreamProblem } from './event-block.ts';
import { shownKind } from '../require-kind.ts';
import {
  badValue,
  groupReader,
  idReader,
  numberReader,
  outcomeReader,
  readColumn,
  timeReader,
  type ReadValue,
  type ValuePosition,
} from './event-values.ts';
import { CrossedCodes, GroupCodes, LONG_LABEL, NO_GROUP, TOO_MANY_GROUPS, UNKNOWN_GROUP } from './group-codes.ts';
import type { FilledTrackerOptions, TrackedAttribute } from './tracker-options.ts';

/** An event: an object with its fields by name. */
export type StreamEvent = Readonly<Record<string, unknown>>;

/** How the columns of a batch are read. */
export interface BatchReading {
  /**
   * Whether the predictions are already 0, 1 and NaN, regardless of the positive label and `naValues`.
   * @defaultValue false
   */
  readonly areDecided?: boolean | undefined;
}

const READ_DECISION = numberReader(undefined);

const UNREAD = -9;

/** The problem that each negative code of a group stands for. */
export const GROUP_PROBLEMS: ReadonlyMap<number, StreamProblem> = new Map([
  [NO_GROUP, 'missing_group'],
  [UNKNOWN_GROUP, 'unknown_group'],
  [TOO_MANY_GROUPS, 'too_many_groups'],
  [LONG_LABEL, 'long_label'],
]);

/** Converts events and batches into blocks of numbers, and assigns codes to groups. */
export class EventReader {
  /** The first labels, of predictions and of true labels, that were not positive since the process started. */
  readonly negatives: { readonly predictions: Set<string>; readonly truths: Set<string> } = {
    predictions: new Set(),
    truths: new Set(),
  };
  /** Reads a true label. */
  readonly readTruth: ReadValue<number>;
  /** Reads the label of a group; undefined if it is missing. */
  readonly readGroup: ReadValue<string | undefined>;
  /** Reads the time of an event. */
  readonly readTime: ReadValue<number>;
  /** The group codes of each attribute. Intersections come after single attributes. */
  readonly groups: readonly (GroupCodes | CrossedCodes)[];
  readonly #readPrediction: ReadValue<number>;
  readonly #readNumber: ReadValue<number>;
  readonly #readId: ReadValue<string | number | null>;
  readonly #options: FilledTrackerOptions;
  readonly #problems: ProblemCounts;
  readonly #watchesRates: boolean;
  readonly #watchesErrors: boolean;
  readonly #one: OneEvent;
  /** The column of strata; undefined if there is none. */
  stratumColumn: string | undefined;

  constructor(options: FilledTrackerOptions, problems: ProblemCounts) {
    this.#options = options;
    this.#problems = problems;
    const { positiveLabel, yTruePositiveLabel, naValues } = options;
    this.#readPrediction = outcomeReader(positiveLabel, naValues, this.negatives.predictions);
    this.readTruth = outcomeReader(yTruePositiveLabel ?? positiveLabel, naValues, this.negatives.truths);
    this.#readNumber = numberReader(naValues);
    this.readGroup = groupReader(naValues);
    this.readTime = timeReader(options.timestampUnit, naValues);
    this.#readId = idReader(naValues);
    const measures = options.metrics.flatMap((metric) => metric.measures);
    this.#watchesRates = measures.some(({ kind }) => kind === 'rate');
    this.#watchesErrors = measures.some(({ kind }) => kind === 'error');
    const single = options.attributes
      .filter(({ parts }) => parts.length === 0)
      .map(({ declared }) => new GroupCodes(declared));
    this.groups = options.attributes.map(({ parts }, index) =>
      parts.length === 0
        ? (single[index] as GroupCodes)
        : new CrossedCodes(parts.map((part) => single[part] as GroupCodes)),
    );
    this.#one = this.#roomForOne();
  }

  #roomForOne(): OneEvent {
    const { columns } = this.#options;
    const labels: (string | undefined)[] = columns.protected.map(() => undefined);
    const fields: Fields = {
      length: 1,
      predictions: new Float64Array(1),
      truths: columns.yTrue === undefined ? null : new Float64Array(1),
      weights: columns.weight === undefined ? null : new Float64Array(1),
      times: columns.timestamp === undefined ? null : new Float64Array(1),
      ids: columns.id === undefined ? null : [null],
      codeAt: (index) => {
        const label = labels[index];
        return label === undefined ? NO_GROUP : (this.groups[index] as GroupCodes).codeOf(label);
      },
    };
    return { fields, labels, block: this.#roomFor(fields) };
  }

  /**
   * Reads one event. Errors are thrown before anything is counted.
   * @returns a block that the next call overwrites
   * @throws {DataValidationError} if a field has an invalid value
   */
  readEvent(event: StreamEvent): EventBlock {
    if (!isMapping(event)) throw noEvent(event);
    const { yPred, yTrue, weight, timestamp, id, protected: names } = this.#options.columns;
    const { fields, labels, block } = this.#one;
    fields.predictions[0] = this.#readPrediction(fieldOf(event, yPred), alone(yPred));
    if (fields.truths !== null) {
      fields.truths[0] = yTrue === undefined ? NaN : this.readTruth(fieldOf(event, yTrue), alone(yTrue));
    }
    if (fields.weights !== null && weight !== undefined) {
      fields.weights[0] = this.#readNumber(fieldOf(event, weight), alone(weight));
      checkWeights(fields.weights, weight);
    }
    if (fields.times !== null && timestamp !== undefined) {
      fields.times[0] = this.readTime(fieldOf(event, timestamp), alone(timestamp));
    }
    if (fields.ids !== null && id !== undefined) fields.ids[0] = this.#readId(fieldOf(event, id), alone(id));
    for (let index = 0; index < names.length; index++) {
      const name = names[index] as string;
      labels[index] = this.readGroup(fieldOf(event, name), alone(name));
    }
    const { stratumColumn } = this;
    if (stratumColumn === undefined) return this.#fill(block, fields);
    const stratum = this.readGroup(fieldOf(event, stratumColumn), alone(stratumColumn)) ?? null;
    return { ...this.#fill(block, fields), strata: [stratum] };
  }

  /**
   * Reads a batch of events given as columns.
   * @throws {DataValidationError} if a column is missing or has an invalid value
   */
  readBatch(source: TableSource, { areDecided = false }: BatchReading = {}): EventBlock {
    const { yPred, yTrue, weight, timestamp, id, protected: names } = this.#options.columns;
    const table = Table.from(source);
    const numbers = (name: string | undefined): Float64Array | null =>
      name === undefined ? null : readColumn(table.column(name), name, this.#readNumber);
    const groups = names.map((name, index) =>
      codesOfColumn(table.column(name), this.groups[index] as GroupCodes, this.readGroup),
    );
    const weights = numbers(weight);
    const strata = this.#strataOf(table);
    const fields: Fields = {
      length: table.rowCount,
      predictions: readColumn(table.column(yPred), yPred, areDecided ? READ_DECISION : this.#readPrediction),
      truths: yTrue !== undefined && table.has(yTrue) ? readColumn(table.column(yTrue), yTrue, this.readTruth) : null,
      weights: weights === null ? null : checkWeights(weights, weight as string),
      times: timestamp === undefined ? null : readColumn(table.column(timestamp), timestamp, this.readTime),
      ids: id === undefined ? null : idsOf(table.column(id), this.#readId),
      codeAt: (index, row) => (groups[index] as (row: number) => number)(row),
    };
    const block = this.#fill(this.#roomFor(fields), fields);
    return strata === undefined ? block : { ...block, strata };
  }

  /** Returns the labels of a batch in the column of strata. */
  #strataOf(table: Table): (string | null)[] | undefined {
    const name = this.stratumColumn;
    if (name === undefined) return undefined;
    const column = table.column(name);
    return Array.from({ length: table.rowCount }, (_, row) => {
      const value = column.kind === 'numeric' ? column.values[row] : column.labels[column.codes[row] as number];
      return this.readGroup(value, { column: name, row }) ?? null;
    });
  }

  /** Returns a block of the given length for the caller to fill. */
  #roomFor({ length, predictions, weights, times, ids }: Fields): EventBlock {
    return {
      length,
      codes: this.#options.attributes.map(() => new Int32Array(length)),
      cells: new Uint8Array(length),
      weights,
      predictions: this.#watchesErrors ? predictions : null,
      errors: this.#watchesErrors ? new Float64Array(length) : null,
      times,
      ids,
    };
  }

  #fill(block: EventBlock, fields: Fields): EventBlock {
    const { length, predictions, truths } = fields;
    const { cells, codes, errors } = block;
    for (let row = 0; row < length; row++) {
      const truth = truths === null ? NaN : (truths[row] as number);
      cells[row] = this.#cellOf(predictions[row] as number, truth, length === 1 ? undefined : row);
    }
    if (errors !== null) for (let row = 0; row < length; row++) errors[row] = errorOf(fields, row);
    // Nothing below throws, so a batch is counted completely or not at all.
    for (let row = 0; row < length; row++) this.#leaveOut(row, fields, cells);
    for (let index = 0; index < codes.length; index++) {
      for (let row = 0; row < length; row++) this.#codeRow(index, row, fields, cells, codes);
    }
    return block;
  }

  /** Sets the code of a row's group. The attributes of an intersection must be coded before the intersection. */
  #codeRow(index: number, row: number, fields: Fields, cells: Uint8Array, codes: readonly Int32Array[]): void {
    const own = codes[index] as Int32Array;
    if (cells[row] === LEFT_OUT) {
      own[row] = NO_GROUP;
      return;
    }
    const parts = (this.#options.attributes[index] as TrackedAttribute).parts;
    if (parts.length > 0) {
      // If the intersection has no group, one of its attributes has no group. The missing group was already counted as
      // a problem.
      own[row] = (this.groups[index] as CrossedCodes).codeAt(codes, parts, row);
      return;
    }
    const code = fields.codeAt(index, row);
    own[row] = code;
    if (code < 0) this.#problems.add(GROUP_PROBLEMS.get(code) ?? 'missing_group');
  }

  #leaveOut(row: number, { predictions, weights, ids }: Fields, cells: Uint8Array): void {
    if (Number.isNaN(predictions[row])) {
      this.#problems.add('missing_prediction');
      cells[row] = LEFT_OUT;
    } else if (weights !== null && Number.isNaN(weights[row])) {
      this.#problems.add('missing_weight');
      cells[row] = LEFT_OUT;
    } else if (weights !== null && weights[row] === 0) {
      // An event with weight 0 would increase n without adding information.
      this.#problems.add('zero_weight');
      cells[row] = LEFT_OUT;
    } else if (ids !== null && ids[row] === null) {
      // The event is counted, but it has no id by which a later label could find it.
      this.#problems.add('missing_id');
    }
  }

  #cellOf(prediction: number, truth: number, row: number | undefined): number {
    if (!this.#watchesRates) return cellIndex(Number.isNaN(truth) ? 2 : 0, 0);
    if (prediction < 0 || prediction > 1) {
      const index = { column: this.#options.columns.yPred, row };
      throw badValue(index, 'be a decision 0 or 1, or a score from 0 to 1', prediction);
    }
    const decision = prediction >= this.#options.decisionThreshold ? 1 : 0;
    return cellIndex(this.#truthState(truth, row), decision);
  }

  #truthState(truth: number, row: number | undefined): TruthState {
    if (Number.isNaN(truth)) return 2;
    if (truth === 0 || truth === 1) return truth;
    throw badValue({ column: this.#options.columns.yTrue as string, row }, 'be 0 or 1', truth);
  }
}

/**
 * The values of several events, as columns. Each value has been converted to its type, but ranges and missing values
 * have not been checked.
 */
interface Fields {
  readonly length: number;
  readonly predictions: Float64Array;
  readonly truths: Float64Array | null;
  readonly weights: Float64Array | null;
  readonly times: Float64Array | null;
  readonly ids: (string | number | null)[] | null;
  /** Returns the code of a row's group in a single attribute. */
  readonly codeAt: (index: number, row: number) => number;
}

/** Buffers for one event, reused for every event. Allocating new arrays would take longer than counting. */
interface OneEvent {
  readonly fields: Fields;
  readonly labels: (string | undefined)[];
  readonly block: EventBlock;
}

function noEvent(given: unknown): DataValidationError {
  return new DataValidationError(`An event must be an object with its fields by name; it is ${shownKind(given)}.`, {
    code: 'invalid-value',
    context: { argument: 'event' },
    suggestion: "Pass an object such as { approved: 1, sex: 'f' }. Pass many events at once to recordBatch.",
  });
}

/** Returns a field by its name. Inherited properties are ignored. */
function fieldOf(event: StreamEvent, name: string): unknown {
  return Object.hasOwn(event, name) ? event[name] : undefined;
}

/** Returns the position of a field of a single event, for messages. */
function alone(column: string): ValuePosition {
  return { column, row: undefined };
}

function checkWeights(weights: Float64Array, column: string): Float64Array {
  const row = weights.findIndex((weight) => weight < 0);
  if (row >= 0) {
    throw badValue({ column, row: weights.length === 1 ? undefined : row }, 'be at least 0', weights[row]);
  }
  return weights;
}

function errorOf({ predictions, truths }: Fields, row: number): number {
  return truths === null ? NaN : Math.abs((predictions[row] as number) - (truths[row] as number));
}

function idsOf(column: Column, readId: ReadValue<string | number | null>): (string | number | null)[] {
  return Array.from({ length: columnLength(column) }, (_, row) => {
    const value = column.kind === 'numeric' ? column.values[row] : column.labels[column.codes[row] as number];
    return readId(value, { column: '', row });
  });
}

/**
 * Returns a function that returns the group code of a row. A label gets its code when it first occurs, so codes are in
 * order of first appearance.
 */
function codesOfColumn(
  column: Column,
  groups: GroupCodes,
  readGroup: ReadValue<string | undefined>,
): (row: number) => number {
  const codeOf = (value: unknown, row: number): number => {
    const label = readGroup(value, { column: '', row });
    return label === undefined ? NO_GROUP : groups.codeOf(label);
  };
  if (column.kind === 'numeric') return (row) => codeOf(column.values[row], row);
  const known = new Int32Array(column.labels.length).fill(UNREAD);
  return (row) => {
    const label = column.codes[row] as number;
    if (label < 0) return NO_GROUP;
    if (known[label] === UNREAD) known[label] = codeOf(column.labels[label], row);
    return known[label] as number;
  };
}
