/** Replaces `src/internal/logger.ts` in a browser: warnings are part of every result, so nothing is logged. */

const ignore = (): void => undefined;

const SILENT = {
  level: 'silent',
  trace: ignore,
  debug: ignore,
  info: ignore,
  warn: ignore,
  error: ignore,
  fatal: ignore,
};

/** Returns a logger that ignores everything. */
export function getLogger(): typeof SILENT {
  return SILENT;
}
