import { isMapping } from '../../internal/values.ts';
import { ValueError } from '../../exceptions/index.ts';
import {
  assertKnownOptions,
  type FilledOptions,
  invalidParameter,
  oneOf,
  type OptionNames,
  suggestNames,
} from '../../internal/arguments.ts';
import { assertThreshold, rangeOfName } from '../../metrics/threshold-range.ts';
import { requireLevel, requireInteger } from '../../stats/parameters.ts';
import { createDriftDetector, type DriftDetectorChoice } from '../drift/create-drift-detector.ts';
import { requireFields, requireMethods, requireNumber, shownKind } from '../require-kind.ts';
import type { WatchedMetric } from '../tracker/watched-metric.ts';
import type { AlertSink } from './alert-event.ts';

/** Options of {@link FairnessDriftAndAlertEngine}. */
export interface AlertEngineOptions {
  /**
   * The maximum accepted gap for each metric, in the unit of the metric. The keys are the names of the metrics.
   * @defaultValue 0.1 for each metric
   */
  readonly limits?: Readonly<Record<string, number>> | undefined;
  /**
   * The maximum probability that the engine ever raises a false alarm. This error budget covers all monitored metrics
   * and any number of checks.
   * @defaultValue 0.05
   */
  readonly alpha?: number | undefined;
  /**
   * The drift detectors that estimate when a change began. Each group and measure has its own detectors. Each entry is
   * a name, a name with parameters, or a function that creates a detector. Detectors never raise alarms.
   * @defaultValue ['adwin']
   */
  readonly detectors?: readonly DriftDetectorChoice[] | undefined;
  /**
   * The number of consecutive checks that must agree before a watch is reported or a breach is cleared.
   * @defaultValue 3
   */
  readonly persistence?: number | undefined;
  /**
   * The minimum time between two messages about the same open alarm, in milliseconds of stream time. If the severity of
   * an alarm increases, the alarm is sent immediately.
   * @defaultValue 3600000, an hour
   */
  readonly cooldownMillis?: number | undefined;
  /** Where alerts are sent, in addition to the result of `update`. */
  readonly sinks?: readonly AlertSink[] | undefined;
  /**
   * The windows that alarms use. With 'restarted', one window begins at the start of the stream, and other windows
   * begin at regular restarts. With 'cumulative', a single window begins at the start of the stream, or at the last
   * closed alarm. A single window detects an early breach slightly sooner and a late breach much later.
   * @defaultValue 'restarted'
   */
  readonly windows?: 'restarted' | 'cumulative' | undefined;
  /**
   * The strata within which gaps are watched too: periods of a number of seconds of event time, as in `{ time: 3600 }`,
   * or the labels of a column. Each metric of rates then has a second alarm, for the gap within strata, and half of the
   * error budget is for these alarms.
   * @defaultValue none; only gaps of the complete stream are watched
   */
  readonly within?: Within | undefined;
}

/** Strata of a stream: periods of a number of seconds, or the labels of a column. */
export type Within = string | { readonly time: number };

/** Checked strata. */
export type Strata =
  { readonly kind: 'time'; readonly millis: number } | { readonly kind: 'column'; readonly column: string };

/** Lists the options of {@link AlertEngineOptions}. */
export const ALERT_ENGINE_OPTION_NAMES: OptionNames<AlertEngineOptions> = {
  limits: true,
  alpha: true,
  detectors: true,
  persistence: true,
  cooldownMillis: true,
  sinks: true,
  windows: true,
  within: true,
};

const WITHIN_NAMES: OptionNames<Exclude<Within, string>> = { time: true };

/** Engine options with defaults filled in. */
export interface FilledEngineOptions extends FilledOptions<Omit<AlertEngineOptions, 'limits' | 'windows' | 'within'>> {
  readonly limits: ReadonlyMap<string, number>;
  readonly isRestarted: boolean;
  /** The strata within which gaps are watched; null if there are none. */
  readonly strata: Strata | null;
}

const DEFAULT_LIMIT = 0.1;
const HOUR_MILLIS = 3_600_000;

/**
 * Checks the options and fills in defaults.
 * @throws {ValueError} if an option is invalid; the error contains its name
 */
export function fillEngineOptions(options: AlertEngineOptions): FilledEngineOptions {
  requireFields('options', options);
  const windows = oneOf('windows', options.windows ?? 'restarted', ['restarted', 'cumulative']);
  return {
    limits: limitsOf(options.limits ?? {}),
    alpha: requireLevel('alpha', requireNumber('alpha', options.alpha ?? 0.05)),
    detectors: detectorsOf(options.detectors ?? ['adwin']),
    persistence: requireInteger('persistence', options.persistence ?? 3, 1),
    cooldownMillis: cooldownOf(options.cooldownMillis ?? HOUR_MILLIS),
    sinks: sinksOf(options.sinks ?? []),
    isRestarted: windows === 'restarted',
    strata: options.within === undefined ? null : strataOf(options.within),
  };
}

/** The shortest period of a stratum in seconds. Times have milliseconds. */
const MIN_PERIOD = 0.001;

/** The longest period of a stratum in seconds, a thousand years. */
const MAX_PERIOD = 31_536_000_000;

function strataOf(given: Within): Strata {
  if (typeof given === 'string' && given !== '') return { kind: 'column', column: given };
  const required = 'be the name of a column, or a period in seconds as in { time: 3600 }';
  if (!isMapping(given)) throw invalidParameter('within', required, shownKind(given));
  assertKnownOptions('within', given, WITHIN_NAMES);
  const { time } = given;
  if (typeof time === 'number' && time >= MIN_PERIOD && time <= MAX_PERIOD)
    return { kind: 'time', millis: 1000 * time };
  throw invalidParameter(
    'within.time',
    `be a number of seconds from ${String(MIN_PERIOD)} to ${String(MAX_PERIOD)}`,
    shownKind(time),
  );
}

function limitsOf(given: Readonly<Record<string, number>>): ReadonlyMap<string, number> {
  const limits = new Map(Object.entries(requireFields('limits', given, 'be an object with a limit by metric')));
  for (const [metric, limit] of limits as ReadonlyMap<string, unknown>) {
    if (!(typeof limit === 'number' && limit >= 0 && limit < Infinity))
      throw invalidParameter(`limits.${metric}`, 'be a finite number of at least 0', shownKind(limit));
  }
  return limits;
}

function cooldownOf(given: number): number {
  if (typeof given === 'number' && given >= 0) return given;
  throw invalidParameter('cooldownMillis', 'be a number of at least 0', shownKind(given));
}

function detectorsOf(given: readonly DriftDetectorChoice[]): readonly DriftDetectorChoice[] {
  // The check uses a separate variable, because narrowing the type of `given` would lose its element type.
  const list: unknown = given;
  if (!Array.isArray(list))
    throw invalidParameter('detectors', "be a list of detectors, as in ['adwin']", shownKind(given));
  // Detectors are created once to validate them before the first event.
  for (const choice of given) createDriftDetector(choice);
  return given;
}

function sinksOf(given: readonly AlertSink[]): readonly AlertSink[] {
  const list: unknown = given;
  if (!Array.isArray(list)) throw invalidParameter('sinks', 'be a list of sinks', shownKind(given));
  given.forEach((sink, index) => {
    requireMethods(`sinks[${String(index)}]`, sink, ['send'], 'be a sink, as returned by webhookSink');
  });
  return given;
}

/** Returns the limit of a metric. */
export function limitOf({ metric }: WatchedMetric, { limits }: FilledEngineOptions): number {
  return limits.get(metric) ?? DEFAULT_LIMIT;
}

/**
 * Checks that every limit belongs to a monitored metric, and that a gap can exceed the limit. With a limit that no gap
 * can exceed, an alarm would never be raised.
 * @throws {ValueError} if a limit has no effect; the error contains its name
 */
export function assertLimitsDecide({ limits }: FilledEngineOptions, metrics: readonly WatchedMetric[]): void {
  const known = metrics.map(({ metric }) => metric);
  for (const [metric, threshold] of limits) {
    if (!known.includes(metric)) continue;
    const range = rangeOfName(metric, { isSize: true });
    assertThreshold({ metric, threshold, comparator: '<=' }, range, `limits.${metric}`);
  }
  const idle = [...limits.keys()].find((name) => !known.includes(name));
  if (idle === undefined) return;
  throw new ValueError(`There is a limit for '${idle}', which the tracker does not monitor.`, {
    context: { parameter: 'limits', value: idle },
    suggestion: suggestNames(idle, known, 'watched metrics'),
  });
}
