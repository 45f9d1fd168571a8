import { ServiceProblem } from './service-problem.ts';

/** The disk is full, the user's share of it is, or too many files are open. */
const NO_ROOM = new Set(['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE']);

/** What DuckDB says, which gives no code. */
const NO_ROOM_TEXT = /no space left on device|disk quota exceeded|too many open files/i;

/** Errors have causes, but not endlessly many. */
const MAX_CAUSES = 10;

/**
 * Returns 503 with Retry-After for an error that the system raised because it has no room; undefined for any other.
 * @param what there is no room for
 */
export function noRoomProblem(error: unknown, what: string): ServiceProblem | undefined {
  if (!isNoRoom(error)) return undefined;
  return new ServiceProblem(
    503,
    {
      detail: `The service has no room left for ${what}.`,
      suggestion: 'Try again later.',
      headers: { 'Retry-After': '60' },
    },
    error,
  );
}

/** Whether an error, or one that caused it, says that a disk is full or no more files can be opened. */
function isNoRoom(error: unknown): boolean {
  let cause = error;
  for (let depth = 0; depth < MAX_CAUSES && cause instanceof Error; depth++, cause = cause.cause) {
    const { code, context } = cause as { readonly code?: unknown; readonly context?: { readonly code?: unknown } };
    if (NO_ROOM.has(String(code)) || NO_ROOM.has(String(context?.code)) || NO_ROOM_TEXT.test(cause.message))
      return true;
  }
  return false;
}
