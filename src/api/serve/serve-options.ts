import type { OptionNames } from '../../internal/arguments.ts';
import { APP_OPTION_NAMES, type AppOptions } from '../app/app-options.ts';

/** Options of {@link serve}: the address, the number of processes, and the options of the app. */
export interface ServeOptions extends Omit<AppOptions, 'store' | 'clock' | 'createId'> {
  /**
   * The address: a host name or IP address of this machine.
   * @defaultValue '127.0.0.1'
   */
  readonly host?: string | undefined;
  /**
   * The port; 0 for any free port.
   * @defaultValue 8000
   */
  readonly port?: number | undefined;
  /**
   * The number of processes that answer requests. With more than one, an additional process owns the runs, so that each
   * process can return every run.
   * @defaultValue 1
   */
  readonly workers?: number | undefined;
  /**
   * The time in milliseconds for which requests and runs may continue after `stop()`. The rest is then cancelled.
   * @defaultValue 30000
   */
  readonly drainMillis?: number | undefined;
  /**
   * Whether to allow access without keys on an address that other machines can reach.
   * @defaultValue false
   */
  readonly insecure?: boolean | undefined;
}

const { store: _store, clock: _clock, createId: _createId, ...OF_THE_APP } = APP_OPTION_NAMES;

/** Lists the options of {@link ServeOptions}. */
export const SERVE_OPTION_NAMES: OptionNames<ServeOptions> = {
  ...OF_THE_APP,
  host: true,
  port: true,
  workers: true,
  drainMillis: true,
  insecure: true,
};

/** The options with their defaults filled in. */
export interface FilledServeOptions extends ServeOptions {
  readonly host: string;
  readonly port: number;
  readonly keys: readonly string[];
  readonly drainMillis: number;
}

/** A running service. */
export interface RunningService {
  /** `http://127.0.0.1:8000` */
  readonly url: string;
  readonly port: number;
  readonly workers: number;
  /**
   * Stops accepting connections, lets requests and runs finish within the time in the options, and cancels the rest.
   * Further calls return the same promise.
   */
  stop(): Promise<void>;
  /** Resolves when the service has stopped; rejects if it cannot continue. */
  readonly done: Promise<void>;
}
