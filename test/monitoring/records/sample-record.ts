import type { MonitoringRecord } from '../../../src/monitoring/records/monitoring-record.ts';

/** A record of a gap, with what a test wants otherwise. */
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

/** Records of one metric at some milliseconds after 1970; the value is the place in the list. */
export function recordsAt(...millis: readonly number[]): MonitoringRecord[] {
  return millis.map((time, place) => sampleRecord({ timestamp: new Date(time).toISOString(), value: place }));
}
