import { invalidParameter } from '../../internal/invalid-parameter.ts';
import { assertKnownOptions } from '../../internal/known-options.ts';
import { checkFolders } from '../app/check-folders.ts';
import { settingsOf } from '../app/settings-of.ts';
import { checkKeys, readKeys, warnOfShortKeys } from '../middleware/read-keys.ts';
import { loadKoa } from '../packages.ts';
import { allowedHostsOf, assertSafe } from './address.ts';
import { serveByWorkers } from './serve-by-workers.ts';
import { serveHere } from './serve-here.ts';
import {
  type FilledServeOptions,
  type RunningService,
  SERVE_OPTION_NAMES,
  type ServeOptions,
} from './serve-options.ts';

const HOST = '127.0.0.1';
const PORT = 8000;
const DRAIN_MILLIS = 30_000;

/** A day. */
const MOST_DRAIN_MILLIS = 86_400_000;

/**
 * Starts the service: the app of `createApp` behind an HTTP server, in this process or in several. It installs no handlers
 * of signals; call `stop()` from yours.
 *
 * An address that other machines reach needs keys (`keys`, or EVENHAND_API_KEYS) or `insecure`. Without keys, on a local
 * address, only requests for a local name are answered (`allowedHosts` names more), so that pages elsewhere cannot ask.
 *
 * With several workers this process owns the runs and answers no requests itself; a worker that ends is replaced, and
 * nothing that is kept is lost with it. They are child processes that this one hands its connections to.
 * @throws {ConfigValidationError} for an address that is in use, not allowed, or public without keys
 * @throws {ValueError} for an option out of range
 * @throws {DataValidationError} for a store's folder that cannot be used, an `llmFolder` that is not there
 * @throws {DependencyError} where the packages of the service are not installed
 */
export async function serve(options: ServeOptions = {}): Promise<RunningService> {
  assertKnownOptions('serve', options, SERVE_OPTION_NAMES);
  const { workers = 1 } = options;
  assertWhole('workers', workers, 1, 1024);
  const filled = fillOptions(options);
  // Told before anything is begun, and once, not by each worker.
  const { keys, logger } = settingsOf(filled);
  warnOfShortKeys(keys, logger);
  checkFolders(filled, logger);
  loadKoa();
  return workers === 1 ? serveHere(filled) : serveByWorkers(filled, workers);
}

function fillOptions(options: ServeOptions): FilledServeOptions {
  const { host = HOST, port = PORT, drainMillis = DRAIN_MILLIS, insecure = false } = options;
  assertWhole('port', port, 0, 65_535);
  assertWhole('drainMillis', drainMillis, 0, MOST_DRAIN_MILLIS);
  const keys = options.keys === undefined ? readKeys(process.env) : checkKeys(options.keys, 'The keys parameter');
  const exposure = { host, keys, insecure };
  assertSafe(exposure);
  return { ...options, host, port, drainMillis, keys, allowedHosts: allowedHostsOf(exposure, options.allowedHosts) };
}

function assertWhole(name: string, value: number, least: number, most: number): void {
  if (Number.isInteger(value) && value >= least && value <= most) return;
  throw invalidParameter(name, `be a whole number from ${String(least)} to ${String(most)}`, value);
}
