import { createRequire } from 'node:module';

import type { Level, Logger } from 'pino';

import { ConfigValidationError } from '../exceptions/index.ts';

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
const LEVEL_NAMES: Readonly<Record<number, string>> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
};

let logger: Logger | undefined;
let chosenLevel: Level | 'silent' | undefined;

/**
 * The package's logger, made at its first use from the environment:
 * `EVENHAND_LOG_LEVEL` (default info), `EVENHAND_LOG_FILE` (a path to append
 * to; stderr when unset) and `EVENHAND_JSON_LOGS` (1 for one JSON object per line).
 * @throws {ConfigValidationError} for an unknown level or a file that cannot be opened
 */
export function getLogger(): Logger {
  logger ??= createLogger(process.env);
  if (chosenLevel !== undefined) logger.level = chosenLevel;
  return logger;
}

/** Sets the level for the rest of the process, whatever the environment says. Makes no logger by itself. */
export function setLogLevel(level: Level | 'silent'): void {
  chosenLevel = level;
}

/** A logger from environment variables; apart from {@link getLogger} for tests. */
export function createLogger(environment: Readonly<Record<string, string | undefined>>): Logger {
  const level = (environment['EVENHAND_LOG_LEVEL'] ?? 'info').toLowerCase();
  if (!LEVELS.some((name) => name === level)) {
    throw new ConfigValidationError(`EVENHAND_LOG_LEVEL must be one of ${LEVELS.join(', ')}. Got '${level}' instead.`, {
      context: { variable: 'EVENHAND_LOG_LEVEL', value: level },
    });
  }
  // Loaded here, since most runs of the command line log nothing.
  const { pino } = createRequire(import.meta.url)('pino') as typeof import('pino');
  const file = environment['EVENHAND_LOG_FILE'];
  let destination: { write(text: string): unknown };
  try {
    // Synchronous, so that a line written just before the end of the process is not lost.
    destination =
      file === undefined || file === '' ? process.stderr : pino.destination({ dest: file, sync: true, mkdir: true });
  } catch (cause) {
    throw new ConfigValidationError(`The log file '${file ?? ''}' cannot be opened.`, {
      context: { variable: 'EVENHAND_LOG_FILE', path: file },
      suggestion: 'Name a file in a folder that can be written.',
      cause,
    });
  }
  const isJson = ['1', 'true', 'yes'].includes((environment['EVENHAND_JSON_LOGS'] ?? '').toLowerCase());
  const stream = isJson ? destination : { write: (line: string) => destination.write(toPlainLine(line)) };
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, stream);
}

/** One JSON line of pino as a person reads it. */
function toPlainLine(line: string): string {
  const { level, time, msg, ...rest } = JSON.parse(line) as { level: number; time: string; msg?: string };
  const text = (msg ?? '').replaceAll(/\s*[\r\n]+\s*/g, ' ');
  const extras = Object.keys(rest).length === 0 ? '' : ` ${JSON.stringify(rest)}`;
  return `${time} ${(LEVEL_NAMES[level] ?? String(level)).toUpperCase()} ${text}${extras}\n`;
}

/** Whether the environment says how to log: who does wants to see what happens. */
export function isLoggingAskedFor(environment: Readonly<Record<string, string | undefined>>): boolean {
  const { EVENHAND_LOG_LEVEL: level = '', EVENHAND_LOG_FILE: file = '', EVENHAND_JSON_LOGS: json = '' } = environment;
  return level !== '' || file !== '' || !['', '0', 'false', 'no'].includes(json.toLowerCase());
}
