export {
  type CheckOptions as LookOptions,
  RealTimeFairnessTracker,
  type TrackerSnapshot,
} from './real-time-fairness-tracker.ts';
export type { LabelOutcome } from './event-stream.ts';
export type { StreamEvent } from './event-reader.ts';
export type { TrackerColumns, TrackerOptions } from './tracker-options.ts';
export type { TensorBatch } from './tensor-batch.ts';
