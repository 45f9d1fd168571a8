import { type FSWatcher, type Stats, watch } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';

import { decodeUtf8 } from '../../internal/decode-utf8.ts';

/** What `evenhand monitor --output-dir` has written so far. */
export interface MonitorFolderState {
  /** Changes with the files; names this state to those who follow. */
  readonly version: string;
  /** The version of dashboard.html alone; null where there is none. */
  readonly page: string | null;
  /** When dashboard.html was written, ISO 8601. */
  readonly updatedAt: string | null;
  /** Open alarms; null where active_alerts.json is missing or cannot be read. */
  readonly alarms: number | null;
  /** Open watches; null as alarms are. */
  readonly watches: number | null;
}

const PAGE = 'dashboard.html';
const ALERTS = 'active_alerts.json';

/** Alerts are few; a larger file is not one of ours. */
const MAX_ALERT_BYTES = 16 * 2 ** 20;

/** Where the page of a folder lies. */
export function pageOfFolder(folder: string): string {
  return path.join(folder, PAGE);
}

/** Looks at the files of a folder; what is missing or broken is told, not thrown, since a monitor may still be on its way. */
export async function readMonitorFolder(folder: string): Promise<MonitorFolderState> {
  const [page, alerts] = await Promise.all([fileIn(folder, PAGE), fileIn(folder, ALERTS)]);
  const open = alerts === undefined || alerts.size > MAX_ALERT_BYTES ? undefined : await openAlerts(folder);
  return Object.freeze({
    version: `${versionOf(page)}.${versionOf(alerts)}`,
    page: page === undefined ? null : versionOf(page),
    updatedAt: page === undefined ? null : page.mtime.toISOString(),
    alarms: open?.alarms ?? null,
    watches: open?.watches ?? null,
  });
}

async function fileIn(folder: string, name: string): Promise<Stats | undefined> {
  const found = await stat(path.join(folder, name)).catch(() => undefined);
  return found?.isFile() === true ? found : undefined;
}

/** Files are replaced as a whole, so that a new one has another inode also within one tick of the clock. */
function versionOf(file: Stats | undefined): string {
  if (file === undefined) return 'none';
  return [Math.round(file.mtimeMs * 1000), file.size, file.ino].map((part) => part.toString(36)).join('-');
}

async function openAlerts(folder: string): Promise<{ readonly alarms: number; readonly watches: number } | undefined> {
  try {
    const parsed: unknown = JSON.parse(decodeUtf8(await readFile(path.join(folder, ALERTS)), ALERTS));
    const { alerts, watches } = parsed as { readonly alerts?: unknown; readonly watches?: unknown };
    if (!Array.isArray(alerts) || !Array.isArray(watches)) return undefined;
    return { alarms: alerts.length, watches: watches.length };
  } catch {
    return undefined;
  }
}

/** Who follows a folder. */
export interface FolderFollower {
  /** Called with the state at the beginning, and with each one that differs from it. */
  readonly onState: (state: MonitorFolderState) => void;
  /** Called when the service takes no more work: nothing will follow. */
  readonly onEnd: () => void;
}

/** Options of {@link FolderWatch}. */
export interface FolderWatchOptions {
  /** Whether all who follow shall be let go, asked at each look. */
  readonly isEnding: () => boolean;
  /**
   * Milliseconds between two looks, whatever the system tells: it tells nothing of folders on a network, or of one that
   * is made later.
   * @defaultValue 1000
   */
  readonly pollMillis?: number | undefined;
}

/** A monitor writes three files, one right after the other. */
const SETTLE_MILLIS = 150;

/** Watches a folder for all who follow it, and only while somebody does. */
export class FolderWatch {
  readonly #folder: string;
  readonly #isEnding: () => boolean;
  readonly #pollMillis: number;
  readonly #followers = new Set<FolderFollower>();
  #state: MonitorFolderState | undefined;
  #watcher: FSWatcher | undefined;
  #poll: NodeJS.Timeout | undefined;
  #settling: NodeJS.Timeout | undefined;
  #isLooking = false;

  constructor(folder: string, { isEnding, pollMillis }: FolderWatchOptions) {
    this.#folder = folder;
    this.#isEnding = isEnding;
    this.#pollMillis = pollMillis ?? 1000;
  }

  get followers(): number {
    return this.#followers.size;
  }

  /** Follows the folder until the function that is returned is called. */
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
      this.#look();
    }, this.#pollMillis);
    this.#look();
  }

  #stop(): void {
    clearInterval(this.#poll);
    clearTimeout(this.#settling);
    this.#poll = this.#settling = undefined;
    this.#state = undefined;
    this.#forgetWatcher();
  }

  #look(): void {
    if (this.#isEnding()) {
      for (const { onEnd } of this.#followers) onEnd();
      return;
    }
    this.#watcher ??= this.#openWatcher();
    if (this.#isLooking) return;
    this.#isLooking = true;
    void readMonitorFolder(this.#folder)
      .then((state) => {
        this.#tell(state);
      })
      .finally(() => {
        this.#isLooking = false;
      });
  }

  #tell(state: MonitorFolderState): void {
    // All may have gone meanwhile.
    if (this.#poll === undefined || state.version === this.#state?.version) return;
    this.#state = state;
    for (const { onState } of this.#followers) onState(state);
  }

  /** Undefined where the folder is not there yet, or the system has no more watches; looking goes on. */
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
      this.#look();
    }, SETTLE_MILLIS);
  }
}
