import type { RunStatus } from './run-record.ts';

/** Something that happened to a run, numbered from 1 within it. The last event of a run is a final status. */
export type RunEvent = Readonly<
  | { id: number; type: 'status'; status: RunStatus }
  | { id: number; type: 'progress'; stage: string; done: number; total: number }
>;
