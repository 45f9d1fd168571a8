import { readFile } from 'node:fs/promises';
import path from 'node:path';

import type { SavedStream } from '../../integration/monitor/monitored-stream.ts';
import { decodeUtf8 } from '../../internal/decode-utf8.ts';
import { writeFileAtomic } from '../../io/atomic-write.ts';
import { checkJsonText, withChecksum } from '../../io/checksum.ts';
import { type JournalEntry, StreamJournal } from './stream-journal.ts';

/** The state of a stream after one of its entries. */
export interface SavedState extends SavedStream {
  /** The last entry that the state contains. */
  readonly sequence: number;
  /** The time of the latest entry, in milliseconds since 1970. States of earlier versions have none. */
  readonly time?: number | undefined;
}

/** What a stream has to read before it is complete. */
export interface StreamNews {
  /** A state that contains more than the reader has; undefined if the entries are enough. */
  readonly saved: SavedState | undefined;
  /** The entries after the state, or after those that the reader has, in order. */
  readonly entries: readonly JournalEntry[];
}

/**
 * Where the accepted lines of a stream are written before they are counted: entries, and from time to time the state
 * after one of them, which replaces the entries up to it.
 */
export interface StreamLog {
  /** The size of the entries after the saved state, in bytes. */
  readonly bytes: number;
  /** Returns what was written since the last call, other than by this object; null if there is nothing. */
  read(): Promise<StreamNews | null>;
  /**
   * Appends entries. Resolves when they cannot be lost any more.
   * @returns false if others have appended entries in the meantime; nothing is then written
   */
  append(entries: readonly JournalEntry[]): Promise<boolean>;
  /** Saves the state after the last entry. */
  save(state: SavedState): Promise<void>;
  close(): Promise<void>;
}

/** The state of a stream in memory does not belong to its log any more, and must be given up. */
export class LogChanged extends Error {}

/** The stream was removed, by this host or by another one. */
export class RemovedStream extends LogChanged {}

/**
 * The log does not continue what was read, or is damaged. The first happens if Redis has lost its last commands.
 */
export class OtherEntries extends LogChanged {}

/** The file with the saved state of a stream. */
const STATE_FILE = 'state.json';

/** The log of a stream in a folder that only this process uses. */
export class FileStreamLog implements StreamLog {
  readonly #folder: string;
  readonly #journal: StreamJournal;
  #unread: StreamNews | null;

  private constructor(folder: string, journal: StreamJournal, unread: StreamNews) {
    this.#folder = folder;
    this.#journal = journal;
    this.#unread = unread;
  }

  /** @throws {DataValidationError} if a file is damaged */
  static async open(folder: string): Promise<FileStreamLog> {
    const saved = await readState(folder);
    const { journal, entries } = await StreamJournal.open(folder, saved?.sequence ?? 0);
    return new FileStreamLog(folder, journal, { saved, entries });
  }

  get bytes(): number {
    return this.#journal.bytes;
  }

  read(): Promise<StreamNews | null> {
    const unread = this.#unread;
    this.#unread = null;
    return Promise.resolve(unread);
  }

  async append(entries: readonly JournalEntry[]): Promise<boolean> {
    await this.#journal.append(entries);
    return true;
  }

  async save(state: SavedState): Promise<void> {
    await writeFileAtomic(path.join(this.#folder, STATE_FILE), withChecksum(JSON.stringify(state)));
    await this.#journal.startAfter(state.sequence);
  }

  async close(): Promise<void> {
    await this.#journal.close();
  }
}

async function readState(folder: string): Promise<SavedState | undefined> {
  const file = path.join(folder, STATE_FILE);
  const bytes = await readFile(file).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  });
  return bytes === undefined
    ? undefined
    : (JSON.parse(checkJsonText(decodeUtf8(bytes, file), file).text) as SavedState);
}
