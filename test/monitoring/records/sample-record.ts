import type { MonitoringRecord } from '../../../src/monitoring/records/monitoring-record.ts';

/** Returns a record of a gap, with the given changes. */
export function sampleRecord(changes: Partial<MonitoringRecord> = {}): MonitoringRecord {
  return {
    timestamp: '2024-05-01T00:00:00.000Z',
    metric: 'demographic_parity_difference',
    attribute: 'sex',
    group: null,
    window: 'sliding',
    value: 0.1,
    n: 500,
    low: 0.05,
    high: 0.15,
    ...changes,
  };
}

/** Returns records of one metric at the given milliseconds after 1970. The value is the index in the list. */
export function recordsAt(...millis: readonly number[]): MonitoringRecord[] {
  return millis.map((time, index) => sampleRecord({ timestamp: new Date(time).toISOString(), value: index }));
}
