import { ValueError } from '../../exceptions/index.ts';
import { cellIndex, decisionOfCell } from '../../metrics/statistics/group-stats.ts';
import type { TableSource } from '../../table/index.ts';
import { compact, type EventBlock, type EventObserver, ProblemCounts, LEFT_OUT, type Stratum } from './event-block.ts';
import { type BatchReading, EventReader, type StreamEvent } from './event-reader.ts';
import { badValue } from './event-values.ts';
import { FreshStarts } from './fresh-starts.ts';
import type { CrossedCodes, GroupCodes } from './group-codes.ts';
import { GroupTable, type TableShape } from './group-table.ts';
import { LateLabels } from './late-labels.ts';
import { SlidingWindow } from './sliding-window.ts';
import type { FilledTrackerOptions } from './tracker-options.ts';

/**
 * The number of events after which the groups seen so far get equal shares of the error budget. Groups that appear
 * later get shares of a reserve.
 */
const WARM_UP = 100;

/** The minimum number of events between two records. The beginning of a stream uses this number. */
const MIN_RECORD_STEP = 100;

/** Returns the largest power of ten that does not exceed a number of events; 1 before the first event. */
function decadeOf(events: number): number {
  return 10 ** Math.floor(Math.log10(Math.max(1, events)));
}

/**
 * Returns the number of events between records: a tenth of the largest power of ten up to the event count. The result is
 * at least 100 and at most `recordEvery`.
 */
function stepOf(events: number, decade: number, recordEvery: number): number {
  if (recordEvery <= MIN_RECORD_STEP || events >= 100 * recordEvery) return recordEvery;
  return Math.min(recordEvery, Math.max(MIN_RECORD_STEP, decade / 10));
}

/** Returns whether a record is due after some further events. */
export function isRecordDue(before: number, events: number, recordEvery: number): boolean {
  const step = stepOf(before, decadeOf(before), recordEvery);
  return Math.floor(events / step) > Math.floor(before / step);
}

/** The numbers of true labels that were accepted and rejected. */
export interface LabelOutcome {
  readonly taken: number;
  readonly refused: number;
}

/** The state of a stream: all sums of a tracker. The size of the state does not grow with the number of events. */
export class EventStream {
  readonly options: FilledTrackerOptions;
  readonly faults = new ProblemCounts();
  readonly reader: EventReader;
  readonly shape: TableShape;
  /** Sums over all events, by attribute. */
  readonly tables: readonly GroupTable[];
  readonly window: SlidingWindow;
  readonly starts = new FreshStarts();
  /** The events that can still be labelled; null if events have no ids. */
  readonly labels: LateLabels | null;
  /**
   * For each attribute, the number of declared groups or, without a declaration, of groups that appeared in the first
   * events.
   */
  readonly early: number[];
  /** The number of counted events. */
  events = 0;
  /** The number of labels that arrived after their event. */
  lateLabels = 0;
  /** The time of the first event in milliseconds since 1970; NaN before the first event. */
  firstTime = NaN;
  latestTime = NaN;
  readonly #clock: () => number;
  readonly #observers = new Set<EventObserver>();
  #onRecord: () => void = () => undefined;
  /** The strata as text; undefined if strata are not monitored. */
  #strata: string | undefined;
  /** Returns the stratum of an event, which is kept until its label arrives; null if strata are not monitored. */
  #stratumOf: ((block: EventBlock, row: number) => Stratum | null) | null = null;
  /** The largest power of ten that does not exceed the number of events. */
  #decade = 1;

  constructor(options: FilledTrackerOptions, clock: () => number) {
    this.options = options;
    this.#clock = clock;
    this.reader = new EventReader(options, this.faults);
    const measures = options.metrics.flatMap((metric) => metric.measures);
    this.shape = {
      hasWeights: options.columns.weight !== undefined,
      hasErrors: measures.some(({ kind }) => kind === 'error'),
    };
    const attributes = options.attributes.length;
    this.tables = options.attributes.map(() => GroupTable.withChanges(this.shape));
    this.window = new SlidingWindow(options.windowSize, attributes, this.shape);
    this.labels = options.columns.id === undefined ? null : new LateLabels(options.labelHorizon, attributes);
    this.early = options.attributes.map(({ declared }) => declared?.length ?? 0);
    this.grow();
    this.starts.begin(0, NaN, this.tables);
  }

  /** The current time: the time of the latest event, or the clock's time if no event has had a time yet. */
  get time(): number {
    return Number.isNaN(this.latestTime) ? this.#clock() : this.latestTime;
  }

  /**
   * Sets the callback that takes a record. The callback runs whenever enough events have been counted since the last
   * record.
   */
  onRecord(callback: () => void): void {
    this.#onRecord = callback;
  }

  /** Adds an observer that receives every event from now on. */
  observe(observer: EventObserver): void {
    this.#observers.add(observer);
  }

  /**
   * Makes the stream keep the stratum of every event until its label arrives.
   * @param strata the strata as text. All engines that watch a stream need the same strata.
   * @param column the column of strata to read; undefined if none is needed
   * @param stratumOf returns the stratum of an event
   * @throws {ValueError} if the stream already has other strata
   */
  stratify(
    strata: string,
    column: string | undefined,
    stratumOf: (block: EventBlock, row: number) => Stratum | null,
  ): void {
    if (this.#strata !== undefined && this.#strata !== strata) {
      throw new ValueError('Another engine already watches this tracker within other strata.', {
        context: { parameter: 'within' },
        suggestion: "Use the same 'within' for all engines of a tracker, or one tracker for each.",
      });
    }
    this.#strata = strata;
    this.reader.stratumColumn = column;
    this.#stratumOf = stratumOf;
  }

  /** Returns whether a watched metric has measures of a kind. */
  watches(kind: 'rate' | 'error'): boolean {
    return this.options.metrics.some(({ measures }) => measures.some((measure) => measure.kind === kind));
  }

  /** Whether any observer must receive every event. */
  get isObserved(): boolean {
    return this.#observers.size > 0;
  }

  /** Whether enough events have been counted to fix the groups' shares of the error budget. */
  get isWarm(): boolean {
    return this.events >= WARM_UP;
  }

  /** Counts one event. */
  addEvent(event: StreamEvent): void {
    this.#count(this.reader.readEvent(event));
  }

  /** Counts a batch of events given as columns. */
  addBatch(source: TableSource, how?: BatchReading): void {
    this.#count(this.reader.readBatch(source, how));
  }

  /** Adds events to the count that were counted elsewhere and have no times. */
  addCounted(events: number): void {
    this.#noteTime(this.#clock());
    this.#advance(events);
  }

  /**
   * Sets the true label of an earlier event.
   * @returns whether the label was accepted; if not, the reason is counted in `faults`
   */
  addLabel(id: string | number, truth: unknown): boolean {
    const { columns } = this.options;
    const y = this.reader.readTruth(truth, { column: columns.yTrue ?? 'label', row: undefined });
    if (Number.isNaN(y)) return this.#refuse('missing_label');
    const watchesRates = this.watches('rate');
    if (watchesRates && y !== 0 && y !== 1) {
      throw badValue({ column: columns.yTrue ?? 'label', row: undefined }, 'be 0 or 1', y);
    }
    const waiting = this.labels?.find(id);
    if (waiting === undefined) return this.#refuse('unknown_label_id');
    if (waiting.isLabelled) return this.#refuse('repeated_label');
    const cell = watchesRates ? cellIndex(y as 0 | 1, decisionOfCell(waiting.cell)) : 0;
    const error = this.shape.hasErrors ? this.#clip(Math.abs(waiting.prediction - y)) : NaN;
    this.labels?.settle(id, cell);
    this.tables.forEach((table, index) => {
      const code = waiting.codes[index] as number;
      if (code < 0) return;
      table.addCell(code, waiting.cell, waiting.weight, -1);
      table.addCell(code, cell, waiting.weight, 1);
      if (this.shape.hasErrors) this.#addError(table, code, error, waiting.weight);
    });
    this.window.label(waiting.event, cell, error);
    this.lateLabels++;
    for (const observer of this.#observers) observer.label(waiting.codes, cell, error, waiting.stratum ?? null);
    return true;
  }

  /** Makes room in all tables for the groups known so far. */
  grow(): void {
    for (let index = 0; index < this.tables.length; index++) {
      const groups = (this.reader.groups[index] as GroupCodes | CrossedCodes).labels.length;
      (this.tables[index] as GroupTable).grow(groups);
      (this.window.tables[index] as GroupTable).grow(groups);
    }
  }

  #count(read: EventBlock): void {
    const block = compact(this.#admit(read));
    const { errors } = block;
    if (errors !== null) for (let row = 0; row < block.length; row++) errors[row] = this.#clip(errors[row] as number);
    this.grow();
    let from = 0;
    while (from < block.length) {
      const to = Math.min(block.length, from + this.#untilPause());
      this.#countRows(block, from, to);
      from = to;
    }
  }

  /**
   * Returns the number of events until the next action that is due at a fixed event count: the end of the warm-up, a
   * restart or a record.
   */
  #untilPause(): number {
    const { restartEvery } = this.options;
    const recordStep = this.#recordStep();
    const warmUp = this.events < WARM_UP ? WARM_UP - this.events : Infinity;
    return Math.min(warmUp, restartEvery - (this.events % restartEvery), recordStep - (this.events % recordStep));
  }

  /** Returns the number of events between records. */
  #recordStep(): number {
    // Computing a logarithm for every event is slow, so the power of ten is updated only when it changes.
    if (this.events < this.#decade || this.events >= 10 * this.#decade) this.#decade = decadeOf(this.events);
    return stepOf(this.events, this.#decade, this.options.recordEvery);
  }

  #countRows(block: EventBlock, from: number, to: number): void {
    this.#reportTime(block, from, to);
    for (let index = 0; index < this.tables.length; index++) {
      this.#addRows(this.tables[index] as GroupTable, block, block.codes[index] as Int32Array, from, to);
    }
    this.window.add(block, from, to);
    this.#noteEarly(block, from, to);
    for (const observer of this.#observers) observer.events(block, from, to);
    this.#advance(to - from);
  }

  /** Increases the number of counted events, and runs the actions that are due at fixed event counts. */
  #advance(events: number): void {
    const { restartEvery } = this.options;
    const recordStep = this.#recordStep();
    const before = this.events;
    this.events += events;
    const passes = (step: number): boolean => Math.floor(this.events / step) > Math.floor(before / step);
    if (passes(restartEvery)) this.starts.begin(this.events, this.latestTime, this.tables);
    if (passes(recordStep)) this.#onRecord();
  }

  #addRows(table: GroupTable, block: EventBlock, codes: Int32Array, from: number, to: number): void {
    const { cells, weights, errors } = block;
    if (weights === null && errors === null) {
      const { data, stride, changes } = table;
      for (let row = from; row < to; row++) {
        const code = codes[row] as number;
        if (code < 0) continue;
        changes?.note(code);
        const at = code * stride + (cells[row] as number);
        data[at] = (data[at] as number) + 1;
      }
      return;
    }
    for (let row = from; row < to; row++) {
      const code = codes[row] as number;
      if (code < 0) continue;
      const weight = weights?.[row] ?? 1;
      table.addCell(code, cells[row] as number, weight, 1);
      const error = errors?.[row] ?? NaN;
      if (!Number.isNaN(error)) this.#addError(table, code, error, weight);
    }
  }

  #addError(table: GroupTable, code: number, error: number, weight: number): void {
    table.addError(code, error, weight, 1);
    const scale = this.options.errorScale;
    if (scale !== null) table.addScaledError(code, error / scale);
  }

  /** If an error is larger than the error scale, reduces it to the error scale and counts it in `faults`. */
  #clip(error: number): number {
    const scale = this.options.errorScale;
    if (scale === null || !(error > scale)) return error;
    this.faults.add('clipped_error');
    return scale;
  }

  #reportTime({ times }: EventBlock, from: number, to: number): void {
    if (times === null) {
      this.#noteTime(this.#clock());
      return;
    }
    for (let row = from; row < to; row++) this.#noteTime(times[row] as number);
  }

  /**
   * Updates the latest time. An event with an earlier time is counted in the order of arrival, and `faults` counts the
   * problem.
   */
  #noteTime(reported: number): void {
    if (Number.isNaN(reported)) this.faults.add('missing_timestamp');
    // An event without a time is assigned the time of the previous event.
    const time = Number.isNaN(reported) ? this.latestTime : reported;
    if (Number.isNaN(time)) return;
    if (Number.isNaN(this.firstTime)) {
      this.firstTime = time;
      this.latestTime = time;
    } else if (time < this.latestTime) this.faults.add('clock_backwards');
    else this.latestTime = time;
  }

  #noteEarly(block: EventBlock, from: number, to: number): void {
    if (this.events >= WARM_UP) return;
    this.options.attributes.forEach(({ declared }, index) => {
      if (declared !== null) return;
      const codes = block.codes[index] as Int32Array;
      for (let row = from; row < to; row++) {
        this.early[index] = Math.max(this.early[index] as number, (codes[row] as number) + 1);
      }
    });
  }

  /** Keeps events until their labels arrive, and excludes events with a duplicate id. */
  #admit(block: EventBlock): EventBlock {
    const { ids, cells, length } = block;
    if (ids === null || this.labels === null) return block;
    let event = this.events;
    for (let row = 0; row < length; row++) {
      if (cells[row] === LEFT_OUT) continue;
      const id = ids[row] ?? null;
      if (id !== null && this.labels.has(id)) {
        this.faults.add('duplicate_id');
        cells[row] = LEFT_OUT;
        continue;
      }
      const stratum = this.#stratumOf?.(block, row);
      if (id !== null && this.labels.add(id, event, block, row, stratum)) this.faults.add('expired_unlabelled');
      event++;
    }
    return block;
  }

  #refuse(problem: 'missing_label' | 'unknown_label_id' | 'repeated_label'): false {
    this.faults.add(problem);
    return false;
  }
}
