import { existsSync } from 'node:fs';

import { readTextFile } from '../../io/read-text-file.ts';
import { parseObject } from '../../monitoring/records/parse-object.ts';
import { readRecords } from '../../monitoring/records/read-records.ts';
import type { MonitoringRecord } from '../../monitoring/records/monitoring-record.ts';
import type { RecordStore } from '../../monitoring/records/record-store.ts';
import type { AlertSink } from '../../monitoring/sinks/alert-sink.ts';
import { transitionToJson } from '../../monitoring/sinks/transition-json.ts';

/** Alerts are few; a longer file is not searched. */
const MAX_ALERT_BYTES = 64 * 1024 * 1024;

/** How often each key is still expected to come again. */
type Expected = Map<string, number>;

/**
 * Returns a store that leaves out the records which its file already has: those that a run wrote between its last state
 * and the moment it was killed, and that come again when it is resumed.
 * @param after the time of the last record that the state knows, in milliseconds since 1970
 */
export async function skipStoredRecords(store: RecordStore, path: string, after: number): Promise<RecordStore> {
  if (!existsSync(path)) return store;
  const stored = new Map<string, MonitoringRecord[]>();
  for (const record of (await readRecords(path)).toRecords()) {
    if (Date.parse(record.timestamp) <= after) continue;
    const together = stored.get(record.timestamp);
    if (together === undefined) stored.set(record.timestamp, [record]);
    else together.push(record);
  }
  const expected = countKeys(Array.from(stored.values(), recordsKey));
  return {
    append: (records) => {
      if (!takeKey(expected, recordsKey(records))) store.append(records);
    },
    status: () => store.status(),
    close: () => {
      store.close();
    },
  };
}

/** Returns a sink that leaves out the changes of alerts which its file already has. */
export async function skipStoredAlerts(sink: AlertSink, path: string): Promise<AlertSink> {
  const { text } = await readTextFile(path, MAX_ALERT_BYTES);
  const lines = (text ?? '').split('\n').map(parseObject);
  const expected = countKeys(lines.flatMap((line) => (line === undefined ? [] : [alertKey(line)])));
  return {
    name: sink.name,
    get failures() {
      return sink.failures;
    },
    send: (transition) => {
      if (!takeKey(expected, alertKey(transitionToJson(transition)))) sink.send(transition);
    },
    close: () => sink.close(),
  };
}

/** Records that were taken together are known by their sums over all events: without a column of times, times differ. */
function recordsKey(records: readonly MonitoringRecord[]): string {
  const overall = records.filter(({ window }) => window === 'cumulative');
  return JSON.stringify(overall.map(({ metric, attribute, group, n, value }) => [metric, attribute, group, n, value]));
}

function alertKey({ change, alert }: Readonly<Record<string, unknown>>): string {
  const { id, n, value } = (alert ?? {}) as Readonly<Record<string, unknown>>;
  return JSON.stringify([change, id, n, value]);
}

function countKeys(keys: readonly string[]): Expected {
  const counts: Expected = new Map();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

/** Whether a key was expected; it is expected once less then. */
function takeKey(expected: Expected, key: string): boolean {
  const times = expected.get(key) ?? 0;
  if (times > 0) expected.set(key, times - 1);
  return times > 0;
}
