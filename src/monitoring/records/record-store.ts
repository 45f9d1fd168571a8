import type { MonitoringRecord } from './monitoring-record.ts';

/** What a store has done, and what it could not do. */
export interface StoreStatus {
  /** Records that are on disk. */
  readonly written: number;
  /** Records that wait for the next try, since a write failed. */
  readonly pending: number;
  /** Records given up, since more than the store may hold waited. */
  readonly dropped: number;
  /** Why the last write failed; null once one succeeded. */
  readonly problem: string | null;
}

/** Where records go as they come. Monitoring outlives its disk: a write that fails is told, never thrown. */
export interface RecordStore {
  /** Adds records after those that are there. */
  append(records: readonly MonitoringRecord[]): void;
  status(): StoreStatus;
  /** Writes what is pending and lets go of the file. */
  close(): void;
}
