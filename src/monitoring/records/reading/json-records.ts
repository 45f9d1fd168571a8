import { parseObject } from '../../../internal/values.ts';
import type { MonitoringRecord } from '../monitoring-record.ts';
import {
  problemAt,
  LineProblem,
  type LineReader,
  readMeasured,
  readSize,
  readTimestamp,
  readWindow,
} from './record-values.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Reads records from the lines of one file with one JSON object per line. */
export class JsonRecords implements LineReader {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  read(line: string, number: number): MonitoringRecord | undefined {
    if (line.trim() === '') return undefined;
    try {
      const fields = parseObject(line);
      if (fields === undefined) throw new LineProblem('it is not a JSON object');
      return toRecord(fields);
    } catch (cause) {
      throw cause instanceof LineProblem ? problemAt(this.#path, number, cause.message, cause) : cause;
    }
  }

  finish(rest: string, number: number): 'whole' | 'cut' | MonitoringRecord {
    if (rest.trim() === '') return 'whole';
    // The closing brace is written last, so an object that can be parsed is complete.
    if (parseObject(rest) !== undefined) return this.read(rest, number) ?? 'whole';
    if (rest.startsWith('{')) return 'cut';
    throw problemAt(this.#path, number, 'it is not a JSON object');
  }
}

function toRecord(fields: Fields): MonitoringRecord {
  const { group } = fields;
  if (group !== null && group !== undefined && typeof group !== 'string')
    throw new LineProblem('the group is not text');
  return {
    timestamp: readTimestamp(scalarText(fields['time'] ?? fields['timestamp'], 'time')),
    metric: label(fields, 'metric'),
    attribute: 'attribute' in fields ? label(fields, 'attribute') : '',
    group: group ?? null,
    window: readWindow(scalarText(fields['window'] ?? '', 'window')),
    value: readMeasured(scalarText(fields['value'] ?? '', 'value'), 'value'),
    n: readSize(scalarText(fields['n'] ?? '', 'n')),
    low: readMeasured(scalarText(fields['low'] ?? '', 'low'), 'low'),
    high: readMeasured(scalarText(fields['high'] ?? '', 'high'), 'high'),
  };
}

function label(fields: Fields, name: string): string {
  const value = fields[name];
  if (typeof value === 'string') return value;
  throw new LineProblem(`it has no ${name}`);
}

function scalarText(value: unknown, name: string): string {
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  throw new LineProblem(value === undefined ? `it has no ${name}` : `the ${name} is neither text nor a number`);
}
