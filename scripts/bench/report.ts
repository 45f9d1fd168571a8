/** One measured case and whether it met its bar. */
export interface Case {
  readonly id: string;
  readonly work: string;
  readonly seconds: number;
  readonly peakMib?: number;
  readonly bar: string;
  readonly holds: boolean;
}

/** Takes cases as they are measured and prints each. */
export type Note = (one: Case) => void;

/** @throws where a result is wrong: what is wrong is not worth timing */
export function assertResult(holds: boolean, what: string): void {
  if (!holds) throw new Error(`wrong result: ${what}`);
}

/** A result with the seconds that it took. */
export function timed<T>(work: () => T): { seconds: number; result: T } {
  const start = performance.now();
  const result = work();
  return { seconds: (performance.now() - start) / 1000, result };
}

/** One line of a case, for people. */
export function describeCase({ id, holds, seconds, peakMib, work, bar }: Case): string {
  const memory = peakMib === undefined ? '' : `, ${peakMib.toFixed(0)} MiB`;
  return `${id}  ${holds ? 'ok  ' : 'MISS'}  ${seconds.toFixed(3)} s${memory}  ${work}  (bar: ${bar})`;
}
