import { getLogger } from '../../../internal/logger.ts';

/** Logs a line where the log can be written; monitoring goes on without its log. */
export function logQuietly(level: 'info' | 'warn', text: string): void {
  try {
    getLogger()[level](text);
  } catch {
    // The log may lie on the very disk that is full.
  }
}
