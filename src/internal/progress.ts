/** One report from long work. */
export interface ProgressEvent {
  /** What is being done, for people: "training", "fold 2 of 5". */
  readonly stage: string;
  /** Units done so far, from 0 to `total`. */
  readonly done: number;
  /** Units in all. */
  readonly total: number;
}

/** Called from time to time by anything long; must not throw. */
export type OnProgress = (event: ProgressEvent) => void;
