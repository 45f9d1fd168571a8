import { createRequire } from 'node:module';

import type { Level, Logger } from 'pino';

import { ConfigValidationError } from '../exceptions/index.ts';

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

let logger: Logger | undefined;
let initialLevel = '';
let chosenLevel: Level | 'silent' | undefined;

/**
 * Returns the logger of the package. The logger is created on first use from three environment variables:
 * `EVENHAND_LOG_LEVEL` (default info), `EVENHAND_LOG_FILE` (a file to append to; stderr if unset) and
 * `EVENHAND_JSON_LOGS` (1 for JSON lines).
 * @throws {ConfigValidationError} if the level is unknown or the file cannot be opened
 */
export function getLogger(): Logger {
  if (logger === undefined) {
    logger = createLogger(process.env);
    initialLevel = logger.level;
  }
  const level = chosenLevel ?? initialLevel;
  if (logger.level !== level) logger.level = level;
  return logger;
}

/**
 * Sets the log level for the rest of the process and overrides the environment; undefined restores the level of the
 * environment. Does not create the logger.
 */
export function setLogLevel(level: Level | 'silent' | undefined): void {
  chosenLevel = level;
}

/**
 * Creates a logger from environment variables. This function is separate from {@link getLogger}, so that tests can call
 * it directly.
 */
export function createLogger(environment: Readonly<Record<string, string | undefined>>): Logger {
  const level = (environment['EVENHAND_LOG_LEVEL'] ?? 'info').toLowerCase();
  if (!LEVELS.some((name) => name === level)) {
    throw new ConfigValidationError(`EVENHAND_LOG_LEVEL must be one of ${LEVELS.join(', ')}. Got '${level}' instead.`, {
      context: { variable: 'EVENHAND_LOG_LEVEL', value: level },
    });
  }
  // pino is loaded on demand, because most commands log nothing.
  const { pino } = createRequire(import.meta.url)('pino') as typeof import('pino');
  const file = environment['EVENHAND_LOG_FILE'];
  let destination: { write(text: string): unknown };
  try {
    // Lines are written synchronously, so that a line written just before the process ends is not lost.
    destination =
      file === undefined || file === '' ? process.stderr : pino.destination({ dest: file, sync: true, mkdir: true });
  } catch (cause) {
    throw new ConfigValidationError(`The log file '${file ?? ''}' cannot be opened.`, {
      context: { variable: 'EVENHAND_LOG_FILE', path: file },
      suggestion: 'Choose a file in a folder that you can write to.',
      cause,
    });
  }
  const isJson = ['1', 'true', 'yes'].includes((environment['EVENHAND_JSON_LOGS'] ?? '').toLowerCase());
  const stream = isJson
    ? destination
    : { write: (line: string) => destination.write(toPlainLine(line, pino.levels.labels)) };
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, stream);
}

/**
 * Converts a line of JSON, as pino writes it, to plain text.
 * @param labels the names of the levels
 */
function toPlainLine(line: string, labels: Readonly<Record<number, string>>): string {
  const { level, time, msg, ...rest } = JSON.parse(line) as { level: number; time: string; msg?: string };
  const text = (msg ?? '').replaceAll(/\s*[\r\n]+\s*/g, ' ');
  const words = [time, (labels[level] ?? String(level)).toUpperCase(), text, ...fieldsOf('', rest)];
  return `${words.join(' ')}\n`;
}

/** Matches texts that need no quotation marks. */
const PLAIN = /^[^\s"'=\\\p{Cc}]+$/u;

/** Returns the fields of a line as `name=value`. The fields of an object are named `object.field`. */
function fieldsOf(prefix: string, fields: object): string[] {
  return Object.entries(fields).flatMap(([name, value]: [string, unknown]) => {
    const full = `${prefix}${name}`;
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return fieldsOf(`${full}.`, value);
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return [`${full}=${typeof value !== 'string' || PLAIN.test(text) ? text : JSON.stringify(text)}`];
  });
}

/** Returns whether environment variables configure logging. */
export function isLoggingAskedFor(environment: Readonly<Record<string, string | undefined>>): boolean {
  const { EVENHAND_LOG_LEVEL: level = '', EVENHAND_LOG_FILE: file = '', EVENHAND_JSON_LOGS: json = '' } = environment;
  return level !== '' || file !== '' || !['', '0', 'false', 'no'].includes(json.toLowerCase());
}
