import type { OptionNames } from '../../internal/arguments.ts';
import { APP_OPTION_NAMES, type AppOptions } from '../app/app-options.ts';

/** Options of {@link serve}: where it listens, in how many processes, and those of the app. */
export interface ServeOptions extends Omit<AppOptions, 'store' | 'clock' | 'createId'> {
  /**
   * The address: a name or number of this machine.
   * @defaultValue '127.0.0.1'
   */
  readonly host?: string | undefined;
  /**
   * The port; 0 for any that is free.
   * @defaultValue 8000
   */
  readonly port?: number | undefined;
  /**
   * Processes that answer requests. With more than one, another process owns the runs, so that each answers for all.
   * @defaultValue 1
   */
  readonly workers?: number | undefined;
  /**
   * How long requests and runs may go on after `stop()`, in milliseconds; what is left then is cancelled.
   * @defaultValue 30000
   */
  readonly drainMillis?: number | undefined;
  /**
   * Whether an address that other machines reach is served without keys.
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

/** A service that listens. */
export interface RunningService {
  /** `http://127.0.0.1:8000` */
  readonly url: string;
  readonly port: number;
  readonly workers: number;
  /**
   * Takes no more connections, lets requests and runs end for as long as the options say, cancels the rest. A second call
   * waits for the same end.
   */
  stop(): Promise<void>;
  /** Resolves when it has stopped; rejects when it cannot go on. */
  readonly done: Promise<void>;
}
