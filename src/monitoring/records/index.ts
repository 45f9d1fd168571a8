export type { FileFacts, FileFunctions, StoreStatus } from './file/file-functions.ts';
export type { MonitoringRecord, MonitoringWindow, RecordStore } from './monitoring-record.ts';
export { openRecordStore, type RecordStoreOptions } from './open-record-store.ts';
export { readRecords } from './read-records.ts';
export { RecordLog } from './record-log.ts';
export type { LabelColumnState, RecordLogState } from './record-log-state.ts';
