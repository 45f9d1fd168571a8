import type { MonitoringView } from '../../monitoring/dashboard/monitoring-view.ts';
import type { MonitorTexts } from '../../schemas/monitor-wire.ts';

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
 * channel. Several hosts share their streams through Redis. Problems are thrown as `ServiceProblem`.
 */
export interface Streams {
  /**
   * Checks lines, writes them to disk or to Redis if the service has a store, counts them, and returns the answer as
   * JSON. Either all lines are counted or none.
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
