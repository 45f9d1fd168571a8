import type { PartReport } from './report.ts';

/** The result of a part: its figures, and the reason why it does not pass; null if it passes. */
export interface Found<Figures> {
  readonly figures: Figures;
  readonly reason: string | null;
}

/**
 * Runs one part with a time limit. If the part throws or takes too long, its report says so. Work that continues after
 * the time limit is ignored, but may slow the next parts, so the report marks it.
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
      // The first rejection sets the reason; the part's own rejection would come later.
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

/** Joins several reasons into one; null if there is none. */
export function joinReasons(reasons: readonly (string | null)[]): string | null {
  const reported = reasons.filter((reason) => reason !== null);
  return reported.length === 0 ? null : reported.join('; ');
}
