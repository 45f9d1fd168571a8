import { type FSWatcher, type Stats, watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';

import { parseObject } from '../../internal/values.ts';
import { textOf } from '../store/folder-lock.ts';

/** The current state of a folder that `evenhand monitor --output-dir` writes. */
export interface MonitorFolderState {
  /** An identifier of this state, which changes whenever the files change. */
  readonly version: string;
  /** The version of dashboard.html alone; null if the file does not exist. */
  readonly page: string | null;
  /** The time at which dashboard.html was written, in ISO 8601. */
  readonly updatedAt: string | null;
  /** The number of open alarms; null if active_alerts.json is missing or cannot be read. */
  readonly alarms: number | null;
  /** The number of open watches; null if active_alerts.json is missing or cannot be read. */
  readonly watches: number | null;
}

const PAGE = 'dashboard.html';
const ALERTS = 'active_alerts.json';

/** The maximum size of active_alerts.json. A larger file is not from a monitor. */
const MAX_ALERT_BYTES = 16 * 2 ** 20;

/** Returns the path of the dashboard page in a folder. */
export function pageOfFolder(folder: string): string {
  return path.join(folder, PAGE);
}

/**
 * Reads the state of a folder. For a missing or invalid file, the field is null, because the monitor may not have
 * written the file yet.
 */
export async function readMonitorFolder(folder: string): Promise<MonitorFolderState> {
  const [page, alerts] = await Promise.all([fileIn(folder, PAGE), fileIn(folder, ALERTS)]);
  const isReadable = alerts !== undefined && alerts.size <= MAX_ALERT_BYTES;
  const listed = parseObject(isReadable ? await textOf(path.join(folder, ALERTS)) : '') ?? {};
  const [open, watches] = [listed['alerts'], listed['watches']];
  const isComplete = Array.isArray(open) && Array.isArray(watches);
  return Object.freeze({
    version: `${versionOf(page)}.${versionOf(alerts)}`,
    page: page === undefined ? null : versionOf(page),
    updatedAt: page === undefined ? null : page.mtime.toISOString(),
    alarms: isComplete ? open.length : null,
    watches: isComplete ? watches.length : null,
  });
}

async function fileIn(folder: string, name: string): Promise<Stats | undefined> {
  const found = await stat(path.join(folder, name)).catch(() => undefined);
  return found?.isFile() === true ? found : undefined;
}

/**
 * Returns a version of a file. Files are replaced atomically, so a new file has a new inode even if the time stamp is
 * the same.
 */
function versionOf(file: Stats | undefined): string {
  if (file === undefined) return 'none';
  return [Math.round(file.mtimeMs * 1000), file.size, file.ino].map((part) => part.toString(36)).join('-');
}

/** The callbacks of a client that is notified of changes in a folder. */
export interface FolderFollower {
  /** Called with the first state and with each state that differs from the previous one. */
  readonly onState: (state: MonitorFolderState) => void;
  /** Called when the service stops accepting work. No further states follow. */
  readonly onEnd: () => void;
}

/** Options of {@link FolderWatch}. */
export interface FolderWatchOptions {
  /** Returns whether the service is shutting down. If so, all followers are released. Called at each poll. */
  readonly isEnding: () => boolean;
  /**
   * The polling interval in milliseconds. Polling is needed because the operating system does not report changes in
   * network folders, or in a folder that is created later.
   * @defaultValue 1000
   */
  readonly pollMillis?: number | undefined;
}

/** The delay before changes are read, because a monitor writes three files in quick succession. */
const SETTLE_MILLIS = 150;

/** Watches a folder and notifies its followers. The watch ends when the last follower unsubscribes. */
export class FolderWatch {
  readonly #folder: string;
  readonly #options: FolderWatchOptions;
  readonly #followers = new Set<FolderFollower>();
  #state: MonitorFolderState | undefined;
  #watcher: FSWatcher | undefined;
  #poll: NodeJS.Timeout | undefined;
  #settling: NodeJS.Timeout | undefined;
  #isChecking = false;

  constructor(folder: string, options: FolderWatchOptions) {
    this.#folder = folder;
    this.#options = options;
  }

  get followers(): number {
    return this.#followers.size;
  }

  /** Follows the folder until the returned function is called. */
  follow(follower: FolderFollower): () => void {
    this.#followers.add(follower);
    if (this.#poll === undefined) this.#start();
    else if (this.#state !== undefined) follower.onState(this.#state);
    return () => {
      if (this.#followers.delete(follower) && this.#followers.size === 0) this.#stop();
    };
  }

  #start(): void {
    this.#poll = setInterval(() => {
      this.#check();
    }, this.#options.pollMillis ?? 1000);
    this.#check();
  }

  #stop(): void {
    clearInterval(this.#poll);
    clearTimeout(this.#settling);
    this.#poll = this.#settling = undefined;
    this.#state = undefined;
    this.#forgetWatcher();
  }

  #check(): void {
    if (this.#options.isEnding()) {
      for (const { onEnd } of this.#followers) onEnd();
      return;
    }
    this.#watcher ??= this.#openWatcher();
    if (this.#isChecking) return;
    this.#isChecking = true;
    void readMonitorFolder(this.#folder)
      .then((state) => {
        this.#report(state);
      })
      .finally(() => {
        this.#isChecking = false;
      });
  }

  #report(state: MonitorFolderState): void {
    // All followers may have unsubscribed in the meantime.
    if (this.#poll === undefined || state.version === this.#state?.version) return;
    this.#state = state;
    for (const { onState } of this.#followers) onState(state);
  }

  /**
   * Opens a watcher. Returns undefined if the folder does not exist yet, or if the system allows no further watches.
   * Polling continues in both cases.
   */
  #openWatcher(): FSWatcher | undefined {
    try {
      const watcher = watch(this.#folder, () => {
        this.#settle();
      });
      return watcher.on('error', () => {
        this.#forgetWatcher();
      });
    } catch {
      return undefined;
    }
  }

  #forgetWatcher(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
  }

  #settle(): void {
    clearTimeout(this.#settling);
    this.#settling = setTimeout(() => {
      this.#check();
    }, SETTLE_MILLIS);
  }
}
