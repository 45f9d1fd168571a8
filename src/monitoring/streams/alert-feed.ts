import type { AlertEvent, AlertSink, AlertTransition } from '../alarms/alert-event.ts';
import type { AlertChangeEntry } from './merged-monitor.ts';
import type { StreamStore } from './stream-store.ts';

/**
 * The time after which a change counts as delivered, in milliseconds. If the leader is lost earlier, the next leader
 * sends the change again, because the lost leader may not have finished sending it.
 */
const DELIVERY_MILLIS = 60_000;

/** What is told about changes of alerts. */
export interface AlertListeners {
  readonly onAlert?: ((transition: AlertTransition) => void) | undefined;
  readonly onWatch?: ((watch: AlertEvent) => void) | undefined;
}

/**
 * The changes of alerts of a stream. Every process reports them. The leader also sends them to the sinks, at least once:
 * a change is stored together with the check that found it, so that no change is lost.
 */
export class AlertFeed {
  readonly #store: StreamStore;
  readonly #sinks: readonly AlertSink[];
  readonly #listeners: AlertListeners;
  readonly alerts: AlertEvent[] = [];
  readonly watches: AlertEvent[] = [];
  #reported = '';
  /** The last change that this process has sent; undefined if it has not been the leader. */
  #sent: string | undefined;
  /** Changes that were sent, but do not count as delivered yet. */
  readonly #sending: { readonly id: string; readonly since: number }[] = [];

  constructor(store: StreamStore, sinks: readonly AlertSink[], listeners: AlertListeners) {
    this.#store = store;
    this.#sinks = sinks;
    this.#listeners = listeners;
  }

  /** Reports only changes from now on. */
  async begin(): Promise<void> {
    this.#reported = await this.#store.lastChange();
  }

  /** Reports the changes since the last call, whichever process has found them. */
  async report(): Promise<void> {
    for (const { id, text } of await this.#store.changesAfter(this.#reported)) {
      this.#reported = id;
      const entry = JSON.parse(text) as AlertChangeEntry;
      if (entry.kind === 'watch') {
        this.watches.push(entry.alert);
        this.#listeners.onWatch?.(entry.alert);
        continue;
      }
      const { kind: _, ...transition } = entry;
      if (transition.change === 'raised' || transition.change === 'repeated') this.alerts.push(transition.alert);
      this.#listeners.onAlert?.(transition);
    }
  }

  /** Sends the changes to the sinks that no leader has delivered. Only the leader calls this. */
  async deliver(): Promise<void> {
    // Without sinks, changes stay undelivered, so that a later leader with sinks sends them.
    if (this.#sinks.length === 0) return;
    this.#sent ??= await this.#store.delivered();
    for (const { id, text } of await this.#store.changesAfter(this.#sent)) {
      this.#sent = id;
      this.#sending.push({ id, since: performance.now() });
      const entry = JSON.parse(text) as AlertChangeEntry;
      if (entry.kind === 'watch') continue;
      const { kind: _, ...transition } = entry;
      for (const sink of this.#sinks) sink.send(transition);
    }
    const now = performance.now();
    const old = this.#sending.filter(({ since }) => now - since >= DELIVERY_MILLIS);
    const last = old.at(-1);
    if (last === undefined) return;
    this.#sending.splice(0, old.length);
    await this.#store.delivered(last.id);
  }

  /** Notes that another process is the leader, which sends the changes from now on. */
  handOver(): void {
    this.#sent = undefined;
    this.#sending.length = 0;
  }

  /** Waits until the sinks have delivered everything, and notes that. */
  async finish(): Promise<void> {
    const last = this.#sending.at(-1);
    if (last === undefined) return;
    await Promise.all(this.#sinks.map((sink) => sink.close()));
    await this.#store.delivered(last.id);
  }
}
