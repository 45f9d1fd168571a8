import type { EventBlock } from './event-block.ts';

/** Somebody who sees every event as it is counted: detectors of change. */
export interface EventObserver {
  /** The events of a block from one row up to another. */
  events(block: EventBlock, from: number, to: number): void;
  /** A label that came later: the event's codes by attribute, its cell now, and its error (NaN unless errors are watched). */
  label(codes: readonly number[], cell: number, error: number): void;
}
