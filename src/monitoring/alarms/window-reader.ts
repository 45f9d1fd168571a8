import type { EventStream } from '../tracker/event-stream.ts';
import type { GroupTable } from '../tracker/group-table.ts';
import {
  emptySums,
  gapIntervalOf,
  gapTerm,
  type GapTerms,
  measureValue,
  sumMeasure,
} from '../tracker/measure-intervals.ts';
import type { MeasuredGroup } from '../tracker/stream-window.ts';
import type { WatchedMeasure, WatchedMetric } from '../tracker/watched-metric.ts';
import type { WatchReading } from './watch-tier.ts';

/**
 * Reads the gap of one metric of one attribute in the sliding window at every check. A check reads only the groups whose
 * sums have changed since the last one. The result is that of `readWindow`.
 */
export class WindowReader {
  readonly #attribute: number;
  readonly #measures: readonly LargeGroups[];

  constructor(attribute: number, metric: WatchedMetric) {
    this.#attribute = attribute;
    this.#measures = metric.measures.map((measure) => new LargeGroups(measure));
  }

  /** Returns the current gap; null if fewer than two groups have enough events. */
  read(stream: EventStream): WatchReading | null {
    const { minGroupSize, level } = stream.options;
    const table = stream.window.tables[this.#attribute] as GroupTable;
    const position = table.changes?.mark() ?? -1;
    const alpha = (1 - level) / this.#measures.length;
    let widest: WatchReading | undefined;
    let low = 0;
    let high = 0;
    for (const groups of this.#measures) {
      groups.update(table, position, minGroupSize);
      if (!groups.haveGap) return null;
      const { measure } = groups;
      const interval = gapIntervalOf(measure, groups.terms(), 1 - alpha);
      low = Math.max(low, interval[0]);
      high = Math.max(high, interval[1]);
      const [larger, smaller] = groups.extremes(table);
      const value = larger.value - smaller.value;
      if (widest === undefined || value > widest.value) widest = { measure, larger, smaller, value, low: 0, high: 0 };
    }
    return widest === undefined ? null : { ...widest, low, high };
  }
}

/** A buffer for the sums of a group, because new objects would be slow. */
const sums = emptySums();

/** The groups with enough events for one measure, and their parts in the interval of the gap. */
class LargeGroups {
  readonly measure: WatchedMeasure;
  /** The codes of the groups, in no particular order. */
  readonly #members: number[] = [];
  /** For each group, its index in the list; -1 if it is not in the list. */
  #indices = new Int32Array(0);
  /** For each group, its value, its centre and its variance. */
  #values = new Float64Array(0);
  #centres = new Float64Array(0);
  #variances = new Float64Array(0);
  /** The number of groups in the list that have too few events for a variance. */
  #withoutVariance = 0;
  #position = -1;

  constructor(measure: WatchedMeasure) {
    this.measure = measure;
  }

  /** Whether the gap of the groups has an interval. */
  get haveGap(): boolean {
    return this.#members.length >= 2 && this.#withoutVariance === 0;
  }

  /** Reads the groups whose sums have changed since the last call. */
  update(table: GroupTable, position: number, minGroupSize: number): void {
    this.#makeRoom(table.groups);
    const changed = table.changes?.since(this.#position) ?? null;
    this.#position = position;
    if (changed === null) for (let group = 0; group < table.groups; group++) this.#read(table, group, minGroupSize);
    else for (let index = 0; index < changed.length; index++) this.#read(table, changed[index] as number, minGroupSize);
  }

  /** Returns the parts of all groups in the interval of their gap. */
  terms(): GapTerms {
    const members = this.#members;
    const centres = new Float64Array(members.length);
    const variances = new Float64Array(members.length);
    let largest = -Infinity;
    let smallest = Infinity;
    for (let index = 0; index < members.length; index++) {
      const group = members[index] as number;
      centres[index] = this.#centres[group] as number;
      variances[index] = this.#variances[group] as number;
      largest = Math.max(largest, this.#values[group] as number);
      smallest = Math.min(smallest, this.#values[group] as number);
    }
    return { centres, variances, point: largest - smallest };
  }

  /** Returns the groups with the largest and the smallest value. Among equal values, the first group is returned. */
  extremes(table: GroupTable): readonly [larger: MeasuredGroup, smaller: MeasuredGroup] {
    const values = this.#values;
    const members = this.#members;
    let larger = members[0] as number;
    let smaller = larger;
    for (let index = 1; index < members.length; index++) {
      const group = members[index] as number;
      const value = values[group] as number;
      if (value > (values[larger] as number) || (value === values[larger] && group < larger)) larger = group;
      if (value < (values[smaller] as number) || (value === values[smaller] && group < smaller)) smaller = group;
    }
    const measured = (code: number): MeasuredGroup => ({
      code,
      sums: sumMeasure(this.measure, table, null, code, emptySums()),
      value: values[code] as number,
    });
    return [measured(larger), measured(smaller)];
  }

  #read(table: GroupTable, group: number, minGroupSize: number): void {
    sumMeasure(this.measure, table, null, group, sums);
    this.#remove(group);
    if (!(sums.n >= minGroupSize) || Number.isNaN(measureValue(sums))) return;
    const { value, centre, variance } = gapTerm(this.measure, sums);
    this.#indices[group] = this.#members.length;
    this.#members.push(group);
    this.#values[group] = value;
    this.#centres[group] = centre;
    this.#variances[group] = variance;
    if (this.#lacksVariance(group)) this.#withoutVariance++;
  }

  #remove(group: number): void {
    const index = this.#indices[group] as number;
    if (index < 0) return;
    if (this.#lacksVariance(group)) this.#withoutVariance--;
    const last = this.#members.pop() as number;
    if (last !== group) {
      this.#members[index] = last;
      this.#indices[last] = index;
    }
    this.#indices[group] = -1;
  }

  #lacksVariance(group: number): boolean {
    return this.measure.kind === 'error' && Number.isNaN(this.#variances[group]);
  }

  #makeRoom(groups: number): void {
    if (groups <= this.#indices.length) return;
    const indices = new Int32Array(2 * groups).fill(-1);
    indices.set(this.#indices);
    this.#indices = indices;
    const grown = (values: Float64Array): Float64Array<ArrayBuffer> => {
      const room = new Float64Array(2 * groups);
      room.set(values);
      return room;
    };
    this.#values = grown(this.#values);
    this.#centres = grown(this.#centres);
    this.#variances = grown(this.#variances);
  }
}
