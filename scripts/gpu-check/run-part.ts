import type { PartReport } from './report.ts';

/** What a part found: its figures, and what is wrong with them; null where nothing is. */
export interface Found<Figures> {
  readonly figures: Figures;
  readonly reason: string | null;
}

/**
 * Runs one part, bounded in time. A part that throws, or takes too long, is told in its report; what it does after its
 * time is up is of no interest any more, but may slow what comes next, so that it is told.
 */
export async function runPart<Figures>(
  limitSeconds: number,
  work: (signal: AbortSignal) => Promise<Found<Figures>>,
): Promise<PartReport<Figures>> {
  const start = performance.now();
  const seconds = (): number => Number(((performance.now() - start) / 1000).toFixed(3));
  const limit = new AbortController();
  let isLate = false;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const error = new Error(`not done after ${String(limitSeconds)} s`);
      isLate = true;
      // What is asked first decides the reason: the part's own rejection would come later.
      reject(error);
      limit.abort(error);
    }, limitSeconds * 1000);
  });
  try {
    const { figures, reason } = await Promise.race([work(limit.signal), late]);
    return { seconds: seconds(), passes: reason === null, reason, timed_out: false, figures };
  } catch (cause) {
    const reason = cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : String(cause);
    return { seconds: seconds(), passes: false, reason, timed_out: isLate, figures: null };
  } finally {
    clearTimeout(timer);
  }
}

/** Several complaints as one reason; null where there is none. */
export function joinReasons(reasons: readonly (string | null)[]): string | null {
  const told = reasons.filter((reason) => reason !== null);
  return told.length === 0 ? null : told.join('; ');
}
