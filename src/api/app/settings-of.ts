import { randomUUID } from 'node:crypto';

import { ValueError } from '../../exceptions/index.ts';
import { invalidParameter } from '../../internal/arguments.ts';
import { getLogger } from '../../internal/logger.ts';
import { machineClock } from '../../internal/machine-clock.ts';
import { DEFAULT_LIMITS, type Service, type ServiceLimits } from '../context/service-context.ts';
import { checkKeys, readKeys } from '../middleware/authenticate.ts';
import type { AppOptions } from './app-options.ts';

/** The options with their defaults filled in. They are the same in every process of a service. */
export type ServiceSettings = Omit<
  Service,
  'runs' | 'limiter' | 'spoolFolder' | 'workerName' | 'renderMetrics' | 'notReady'
>;

/**
 * Returns the options with their defaults filled in.
 * @throws {ValueError} if a number is out of range or a path is not usable
 * @throws {ConfigValidationError} if a key cannot be sent in a header
 */
export function settingsOf(options: AppOptions): ServiceSettings {
  const { threads, queue, rateLimit } = options;
  assertCount('threads', threads, 1);
  assertCount('queue', queue, 0);
  assertCount('rateLimit', rateLimit, 1);
  return {
    limits: limitsOf(options.limits ?? {}),
    keys: options.keys === undefined ? readKeys(process.env) : checkKeys(options.keys, 'The keys parameter'),
    corsOrigins: options.corsOrigins ?? [],
    allowedHosts: options.allowedHosts ?? null,
    monitorFolder: options.monitorFolder ?? null,
    llmFolder: options.llmFolder ?? null,
    basePath: basePathOf(options.basePath ?? ''),
    logger: getLogger(),
    clock: options.clock ?? machineClock,
    createId: options.createId ?? randomUUID,
  };
}

function assertCount(name: string, value: number | undefined, min: number): void {
  if (value === undefined || (Number.isSafeInteger(value) && value >= min)) return;
  throw invalidParameter(name, `be a whole number of at least ${String(min)}`, value);
}

function limitsOf(given: Partial<ServiceLimits>): ServiceLimits {
  for (const [name, value] of Object.entries(given)) {
    if (name in DEFAULT_LIMITS && Number.isSafeInteger(value) && value > 0) continue;
    const known = Object.keys(DEFAULT_LIMITS).join(', ');
    throw new ValueError(
      `The limits parameter must have whole numbers above 0 for ${known}. Got ${name}: ${String(value)} instead.`,
      { context: { parameter: 'limits', value: given } },
    );
  }
  return { ...DEFAULT_LIMITS, ...given };
}

/** Returns a path without its trailing slash; '' for the root. */
function basePathOf(given: string): string {
  const path = given.replace(/\/+$/, '');
  if (path === '' || /^(?:\/[\w.~-]+)+$/.test(path)) return path;
  throw new ValueError(`The basePath parameter must be a path such as '/fairness'. Got '${given}' instead.`, {
    context: { parameter: 'basePath', value: given },
  });
}
