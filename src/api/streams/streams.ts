import type { MonitoringView } from '../../monitoring/dashboard/monitoring-view.ts';
import type { MonitorTexts } from '../../schemas/monitor-wire.ts';
import { ServiceProblem } from '../problem/service-problem.ts';

/** The name of a stream, and the tenant to which it belongs. */
export interface StreamName {
  readonly tenant: string;
  readonly stream: string;
}

/** The names that a stream may have. */
export const STREAM_NAME = /^[A-Za-z0-9][\w.-]{0,99}$/;

/** Lines for a stream. */
export interface StreamLines extends StreamName {
  readonly kind: 'events' | 'labels';
  /** JSON lines. */
  readonly text: string;
  /** The options of the stream, which are fixed by the first events. Later events may omit or repeat them. */
  readonly options: MonitorTexts;
}

/** A stream in a list. */
export interface StreamSummary {
  readonly stream: string;
  readonly createdAt: string;
  readonly options: MonitorTexts;
}

/**
 * The monitored streams of the service. The process that owns the runs owns the streams too; workers call it through a
 * channel. Problems are thrown as `ServiceProblem`.
 */
export interface Streams {
  /**
   * Checks lines, writes them to disk if the service has a store, counts them, and returns the answer as JSON. Either all
   * lines are counted or none.
   */
  append(lines: StreamLines): Promise<string>;
  /** Returns the state of a stream as JSON. */
  get(name: StreamName): Promise<string>;
  /** Returns the content of the dashboard of a stream. */
  view(name: StreamName): Promise<MonitoringView>;
  list(tenant: string): Promise<readonly StreamSummary[]>;
  /** Deletes a stream and its files. */
  remove(name: StreamName): Promise<void>;
}

function refuse(): Promise<never> {
  return Promise.reject(
    new ServiceProblem(404, {
      detail: 'This service has no monitored streams, because its hosts share their state through Redis.',
      suggestion: 'Send the events to a service of one host, started with --store instead of --redis.',
    }),
  );
}

/** The streams of a service of several hosts, which has none. */
export const NO_STREAMS: Streams = Object.freeze({
  append: refuse,
  get: refuse,
  view: refuse,
  list: refuse,
  remove: refuse,
});
