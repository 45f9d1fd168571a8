import type { AlertTransition, MonitorState } from '../alarms/alert-event.ts';

/** Numbers that are watched, at one time; what gauges show. */
export interface MonitorReading {
  readonly attribute: string;
  readonly metric: string;
  readonly state: MonitorState;
  /** The gap in the sliding window; null where it is undefined. */
  readonly value: number | null;
  /** The best lower bound of the gap that holds at all times; null where there is none. */
  readonly low: number | null;
  readonly limit: number;
  readonly n: number;
}

/** Where alerts go. A sink that fails must not stop the monitor: it tells its failure to the log and in {@link AlertSink.failures}. */
export interface AlertSink {
  /** Its name in messages: `webhook`. */
  readonly name: string;
  /** Takes what happened to an alert; may work on in the background. */
  send(transition: AlertTransition): void;
  /** Takes the present numbers after every update, where the sink shows them. */
  read?(readings: readonly MonitorReading[]): void;
  /** Transitions that could not be delivered so far. */
  readonly failures: number;
  /** Waits until everything sent has been delivered or given up. */
  close(): Promise<void>;
}
