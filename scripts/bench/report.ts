/** A measured case, and whether it met its target. */
export interface Case {
  readonly id: string;
  readonly work: string;
  readonly seconds: number;
  readonly peakMib?: number;
  readonly bar: string;
  readonly holds: boolean;
}

/** Receives cases as they are measured and prints each. */
export type Note = (one: Case) => void;

/** @throws if a result is wrong, because wrong results are not worth timing */
export function assertResult(holds: boolean, what: string): void {
  if (!holds) throw new Error(`wrong result: ${what}`);
}

/** Returns a result with its duration in seconds. */
export function timed<T>(work: () => T): { seconds: number; result: T } {
  const start = performance.now();
  const result = work();
  return { seconds: (performance.now() - start) / 1000, result };
}

/** Formats a case in one line. */
export function describeCase({ id, holds, seconds, peakMib, work, bar }: Case): string {
  const memory = peakMib === undefined ? '' : `, ${peakMib.toFixed(0)} MiB`;
  return `${id}  ${holds ? 'ok  ' : 'MISS'}  ${seconds.toFixed(3)} s${memory}  ${work}  (bar: ${bar})`;
}
