/** Replaces `src/training/data/stream-training.ts` in a browser: the pages train on tables in memory. */

/** Returns false: a page has no streams. */
export function isStreamSource(_source: unknown): boolean {
  return false;
}
