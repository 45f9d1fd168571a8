/** A progress report of a long operation. */
export interface ProgressEvent {
  /** The current stage, as text for people: "training", "fold 2 of 5". */
  readonly stage: string;
  /** The units done so far, from 0 to `total`. */
  readonly done: number;
  /** The total number of units. */
  readonly total: number;
}

/** A callback that long operations call from time to time. It must not throw. */
export type OnProgress = (event: ProgressEvent) => void;
