import type { AppOptions } from '../app/app-options.ts';

/** Options of the app that can be told to another process. */
type PlainAppOptions = Omit<AppOptions, 'store' | 'clock' | 'createId'>;

/** What a worker is told when it starts: not by its command line or environment, where others could read keys. */
export interface WorkerSettings {
  readonly workerName: string;
  readonly options: PlainAppOptions;
  readonly isLimited: boolean;
  readonly spoolFolder: string;
  /** The folder with a folder of files for each run. */
  readonly filesFolder: string;
  readonly logLevel: string;
}
