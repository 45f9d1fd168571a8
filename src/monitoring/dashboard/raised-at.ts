import type { AlertHistory } from './monitoring-view.ts';

/** When an alert was raised, ISO 8601: its own time is that of the last time it was told. */
export function raisedAt({ alert, changes }: AlertHistory): string {
  return changes.find(({ change }) => change === 'raised')?.timestamp ?? alert.timestamp;
}
