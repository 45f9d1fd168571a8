import type { RunRecord } from './run-record.ts';

/** What a record takes beside its body, roughly. */
const RECORD_BYTES = 1024;

/** What the records that the service keeps have at most in memory: 256 MiB, whatever the size of one answer. */
export const STORE_BOUND = Object.freeze({
  mostBytes: 256 * 2 ** 20,
  sizeOf: ({ body }: RunRecord): number => RECORD_BYTES + (body?.length ?? 0),
});
