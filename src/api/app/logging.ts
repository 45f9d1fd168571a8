import type { Logger } from 'pino';

import { isLoggingAskedFor } from '../../internal/logging-asked-for.ts';
import { causesOf } from '../middleware/log-fault.ts';

/** What the system and Node call a client that has gone. */
const CLIENT_GONE = new Set([
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_STREAM_DESTROYED',
]);

/**
 * Tells of errors that come when an answer is on its way already, which Koa would print: its `error` event. A client that
 * goes in the middle of a stream is no error.
 */
export function logAppErrors(logger: Logger): (error: unknown) => void {
  return (error) => {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (CLIENT_GONE.has(code)) logger.debug({ code }, 'a client has gone before the end of its answer');
    else logger.error({ cause: causesOf(error) }, 'an answer could not be sent');
  };
}

/** The logger of an app inside another program, whose output its lines would fill: warnings and errors, unless more was asked for. */
export function embeddedLogger(logger: Logger, environment: Readonly<Record<string, string | undefined>>): Logger {
  const isQuiet = !isLoggingAskedFor(environment) && logger.isLevelEnabled('info');
  return isQuiet ? logger.child({}, { level: 'warn' }) : logger;
}
