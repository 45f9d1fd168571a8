import { type FSWatcher, watch } from 'node:fs';

import { type MonitorFolderState, readMonitorFolder } from './monitor-folder.ts';

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
