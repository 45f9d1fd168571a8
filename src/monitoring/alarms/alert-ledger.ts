import type { AlertHistory } from '../dashboard/monitoring-view.ts';
import type { AlertChange, AlertEvent, AlertTransition } from './alert-event.ts';

/** Alerts that are remembered once they are closed. */
const MOST_CLOSED = 1000;

/** One alert and what became of it. */
interface Entry {
  alert: AlertEvent;
  isOpen: boolean;
  isAcknowledged: boolean;
  readonly changes: { readonly change: AlertChange; readonly timestamp: string }[];
}

/** Changes of one alert that are remembered; an alarm that repeats for years keeps its first and its last. */
const MOST_CHANGES = 100;

/** All alerts of an engine, open ones and the last of those that were closed, in the order in which they were raised. */
export class AlertLedger {
  readonly #entries = new Map<string, Entry>();

  /** Notes what happened to an alert; an alert that repeats takes the place of what it was. */
  note({ change, timestamp, alert }: AlertTransition): void {
    const entry = this.#entries.get(alert.id) ?? { alert, isOpen: true, isAcknowledged: false, changes: [] };
    entry.alert = alert;
    entry.changes.push(Object.freeze({ change, timestamp }));
    if (entry.changes.length > MOST_CHANGES) entry.changes.splice(1, 1);
    if (change === 'acknowledged') entry.isAcknowledged = true;
    if (change === 'resolved' || change === 'cleared') entry.isOpen = false;
    this.#entries.set(alert.id, entry);
    this.#forgetOldest();
  }

  /** An alert by its id. */
  find(id: string): AlertHistory | undefined {
    return this.#entries.get(id);
  }

  /** Every alert remembered, oldest first; copies. */
  list(): readonly AlertHistory[] {
    return Object.freeze(
      Array.from(this.#entries.values(), (entry) =>
        Object.freeze({ ...entry, changes: Object.freeze([...entry.changes]) }),
      ),
    );
  }

  /** Goes on from what {@link AlertLedger.list} told. */
  restore(alerts: readonly AlertHistory[]): void {
    for (const entry of alerts) this.#entries.set(entry.alert.id, { ...entry, changes: [...entry.changes] });
  }

  #forgetOldest(): void {
    const closed = [...this.#entries].filter(([, { isOpen }]) => !isOpen);
    for (const [id] of closed.slice(0, Math.max(0, closed.length - MOST_CLOSED))) this.#entries.delete(id);
  }
}
