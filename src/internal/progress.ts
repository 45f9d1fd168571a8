/** A progress report of a long operation. */
export interface ProgressEvent {
  /** The current stage as readable text, for example "training" or "fold 2 of 5". */
  readonly stage: string;
  /** The number of completed units, from 0 to `total`. */
  readonly done: number;
  /** The total number of units. */
  readonly total: number;
}

/** A callback that long operations call to report progress. The callback must not throw. */
export type OnProgress = (event: ProgressEvent) => void;
