import { z } from 'zod';

import type { EventStream } from '../tracker/event-stream.ts';
import { badSnapshot, count, readSnapshot, time } from '../tracker/snapshot-schema.ts';
import type { WatchedMetric } from '../tracker/watched-metric.ts';
import { ALERT_CHANGES, type AlertEvent, type AlertHistory, MONITOR_STATES, type MonitorState } from './alert-event.ts';
import type { DetectorBankState } from './detector-bank.ts';
import { PAIRS_SCHEMA } from './stratum-pairs.ts';

/** The state of a combination of an attribute and a metric. */
interface Combination {
  readonly name: string;
  readonly metric: WatchedMetric;
}

/** The name of the state of a metric within strata. */
export function strataName({ metric }: WatchedMetric): string {
  return `${metric}_within_strata`;
}

/** The combinations that an engine watches. */
interface Combinations {
  readonly combinations: readonly Combination[];
  /** The combinations of the gaps within strata. */
  readonly strata: readonly Combination[];
}

/** The version of the snapshot format. */
export const ENGINE_SNAPSHOT_VERSION = 1;

const timestamp = z.string().refine((text) => !Number.isNaN(Date.parse(text)), 'it should be a time in ISO 8601');
const level = z.number().gt(0).lte(1);

/** The fields of an alert, in the order of its JSON keys. */
export const ALERT_FIELDS = {
  id: z.string(),
  tier: z.enum(['alarm', 'watch']),
  timestamp,
  metric: z.string(),
  attribute: z.string(),
  groups: z.tuple([z.string(), z.string()]),
  measure: z.string(),
  rates: z.tuple([z.number(), z.number()]),
  value: z.number(),
  low: z.number(),
  high: z.number(),
  limit: z.number().min(0),
  n: z.number().min(0),
  severity: z.enum(['low', 'high', 'critical']),
  severityScore: z.number(),
  confidence: z.number().min(0).max(1),
  driftScore: z.number().nullable(),
  changedAt: timestamp.nullable(),
  windowStart: timestamp,
  windowEvents: count,
  share: z.strictObject({ engine: level, combination: level, window: level, group: level }).nullable(),
  within: z
    .strictObject({
      isReason: z.boolean(),
      isAbove: z.boolean(),
      value: z.number().nullable(),
      low: z.number().nullable(),
      high: z.number().nullable(),
      n: count,
    })
    .nullable()
    // States of versions without strata lack this field.
    .default(null),
  reason: z.string(),
} satisfies { [Name in keyof AlertEvent]: z.ZodType<AlertEvent[Name]> };

const ALERT: z.ZodType<AlertEvent> = z.strictObject(ALERT_FIELDS);

const COMBINATION = z.strictObject({
  attribute: z.string(),
  metric: z.string(),
  /** The open alarm; null if no alarm is open. */
  open: ALERT.nullable(),
  isAcknowledged: z.boolean(),
  /** The time at which the open alarm was last sent, in milliseconds since 1970. */
  reportedAt: time,
  /** The number of events counted when the open alarm was raised. */
  raisedAt: count,
  /** The number of consecutive checks, up to now, at which the window was within the limit. */
  calmLooks: count,
  watchLooks: count,
  /** The watch that was reported and is still open; null if there is none. */
  watch: ALERT.nullable(),
  alarms: count,
  watches: count,
  /** The first window start that counts as evidence. Windows that began earlier belong to a closed alarm. */
  firstStart: count,
  /** The number of closed alarms. */
  closed: count,
});

/** The state of a combination between checks, as plain JSON. */
export type CombinationMemory = Omit<z.output<typeof COMBINATION>, 'attribute' | 'metric'>;

const HISTORY: z.ZodType<AlertHistory> = z.strictObject({
  alert: ALERT,
  isOpen: z.boolean(),
  isAcknowledged: z.boolean(),
  changes: z.array(z.strictObject({ change: z.enum(ALERT_CHANGES), timestamp })).min(1),
});

const DETECTORS: z.ZodType<DetectorBankState> = z.array(
  z.strictObject({
    detectors: z.array(z.array(z.record(z.string(), z.unknown()))),
    changes: z.array(z.strictObject({ time, n: z.number().min(0), sum: z.number() }).nullable()),
  }),
);

const SCHEMA = z.strictObject({
  version: z.literal(ENGINE_SNAPSHOT_VERSION),
  combinations: z.array(COMBINATION),
  alerts: z.array(HISTORY),
  detectors: DETECTORS,
  /**
   * The numbers of events and late labels that had been counted at the last check. `present` contains the states that
   * were found at that check.
   */
  seen: z.string().regex(/^(?:\d{1,16} \d{1,16})?$/, 'it should be two counts'),
  present: z.array(z.enum(MONITOR_STATES)),
  /** The state of the gaps within strata; null if the engine has none. */
  strata: z
    .strictObject({
      combinations: z.array(COMBINATION),
      pairs: PAIRS_SCHEMA,
      present: z.array(z.enum(MONITOR_STATES)),
    })
    .nullable()
    .default(null),
});

/** The state of an engine as plain JSON, for {@link FairnessDriftAndAlertEngine.restore}. */
export type EngineSnapshot = z.output<typeof SCHEMA>;

/**
 * Reads a snapshot of an engine, and checks it against the monitored combinations.
 * @throws {DataValidationError} if a part is invalid; the error names the first invalid part
 */
export function readEngineSnapshot(
  given: unknown,
  stream: EventStream,
  { combinations, strata }: Combinations,
): EngineSnapshot {
  const snapshot = readSnapshot(SCHEMA, given);
  if (isUnused(snapshot)) return snapshot;
  checkSeen(snapshot, stream, combinations.length);
  if (snapshot.combinations.length !== combinations.length) {
    throw badSnapshot('its attributes and metrics differ from those of the tracker');
  }
  for (const combination of combinations) checkMemory(memoryOf(snapshot, combination), stream);
  if ((snapshot.strata?.combinations.length ?? 0) !== strata.length) {
    throw badSnapshot("its gaps within strata differ from those of the option 'within'");
  }
  if (snapshot.strata !== null) {
    for (const combination of strata) checkMemory(memoryOf(snapshot.strata, combination), stream);
    const { length } = snapshot.strata.present;
    if (length !== strata.length && length !== 0) throw badSnapshot('its states within strata are incomplete');
  }
  checkAlerts(snapshot);
  return snapshot;
}

/** Returns the state of a combination in a snapshot. */
export function memoryOf(
  { combinations }: Pick<EngineSnapshot, 'combinations'>,
  { name, metric }: Combination,
): EngineSnapshot['combinations'][number] {
  const saved = combinations.find((one) => one.attribute === name && one.metric === metric.metric);
  if (saved === undefined) throw badSnapshot(`the state of '${metric.metric}' by '${name}' is missing`);
  return saved;
}

/** Returns whether the snapshot is from an engine that was not yet watching a tracker. */
export function isUnused({ combinations, alerts, detectors, seen, present, strata }: EngineSnapshot): boolean {
  // An engine of version 0.9 without strata has no such field.
  return (
    (strata ?? null) === null && [combinations, alerts, detectors, seen, present].every(({ length }) => length === 0)
  );
}

function checkSeen({ seen, present }: EngineSnapshot, stream: EventStream, combinations: number): void {
  const [events = 0, lateLabels = 0] = seen.split(' ').map(Number);
  if (events > stream.events || lateLabels > stream.lateLabels) {
    throw badSnapshot(
      'it has seen more events than the tracker; the engine and the tracker must be from the same time',
    );
  }
  const isRight = present.length === combinations || (present.length === 0 && seen === '');
  if (!isRight) throw badSnapshot(`'present' must hold ${String(combinations)} states`);
}

function checkMemory(memory: EngineSnapshot['combinations'][number], stream: EventStream): void {
  const { attribute, metric, open, watch, raisedAt, firstStart } = memory;
  for (const [alert, tier] of [
    [open, 'alarm'],
    [watch, 'watch'],
  ] as const) {
    if (alert === null) continue;
    if (alert.tier !== tier || alert.attribute !== attribute || alert.metric !== metric) {
      throw badSnapshot(`the alert '${alert.id}' does not belong to '${metric}' by '${attribute}'`);
    }
  }
  if (raisedAt > stream.events || firstStart > stream.starts.next) {
    throw badSnapshot(
      'it has seen more events than the tracker; the engine and the tracker must be from the same time',
    );
  }
}

/** Checks that the open alerts in the history match the open alerts of the combinations. */
function checkAlerts({ alerts, combinations, strata }: EngineSnapshot): void {
  const ids = alerts.map(({ alert }) => alert.id);
  if (new Set(ids).size < ids.length) throw badSnapshot('two alerts have the same id');
  const reported = alerts.flatMap(({ alert, isOpen }) => (isOpen ? [alert.id] : [])).sort();
  const followed = [...combinations, ...(strata?.combinations ?? [])]
    .flatMap(({ open }) => (open === null ? [] : [open.id]))
    .sort();
  if (JSON.stringify(reported) !== JSON.stringify(followed)) {
    throw badSnapshot('its open alerts do not match its combinations');
  }
}

/** The state of every monitored metric. The keys are the attribute and then the metric. */
export type EngineStates = Readonly<Record<string, Readonly<Record<string, MonitorState>>>>;

/** Returns the states by attribute and metric. */
export function engineStates(
  { combinations, strata }: Combinations,
  present: readonly MonitorState[],
  presentWithin: readonly MonitorState[],
): EngineStates {
  const states = new Map<string, Map<string, MonitorState>>();
  const set = (name: string, key: string, state: MonitorState): void => {
    const own = states.get(name) ?? new Map<string, MonitorState>();
    states.set(name, own.set(key, state));
  };
  combinations.forEach(({ name, metric }, index) => {
    set(name, metric.metric, present[index] as MonitorState);
  });
  strata.forEach(({ name, metric }, index) => {
    set(name, strataName(metric), presentWithin[index] ?? 'unknown');
  });
  return Object.freeze(
    Object.fromEntries(Array.from(states, ([name, own]) => [name, Object.freeze(Object.fromEntries(own))])),
  );
}
