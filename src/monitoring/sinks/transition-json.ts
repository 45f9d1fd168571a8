import { toSnakeCase } from '../../internal/letter-case.ts';
import type { AlertEvent, AlertTransition } from '../alarms/alert-event.ts';

/**
 * A transition as plain JSON with keys in snake_case: change, timestamp, and the alert.
 * @throws {Error} where it is none, so that no file gets a line that nobody can read
 */
export function transitionToJson({ change, timestamp, alert }: AlertTransition): Record<string, unknown> {
  if (typeof change !== 'string' || typeof alert.id !== 'string') throw new Error('it is no change of an alert');
  return { change, timestamp, alert: alertToJson(alert) };
}

/** An alert as plain JSON with keys in snake_case. */
export function alertToJson(alert: AlertEvent): Record<string, unknown> {
  return withSnakeKeys(alert) as Record<string, unknown>;
}

/** No key of an alert is data, so all of them are renamed. */
function withSnakeKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSnakeKeys);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [toSnakeCase(key), withSnakeKeys(part)]));
}
