import { type FileHandle, open, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { crc32 } from 'node:zlib';

import { DataValidationError } from '../../exceptions/index.ts';
import { decodeUtf8 } from '../../internal/decode-utf8.ts';

/** Lines that were accepted in one request, with the time at which they arrived. */
export interface JournalEntry {
  /** The number of the entry, from 1. */
  readonly sequence: number;
  /** The time of arrival in milliseconds since 1970. */
  readonly time: number;
  readonly kind: 'events' | 'labels';
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

const NAME = /^journal-(\d{15})\.ndjson$/;

function fileOf(folder: string, sequence: number): string {
  return path.join(folder, `journal-${String(sequence).padStart(15, '0')}.ndjson`);
}

/** Formats an entry as one line that begins with its checksum. */
function lineOf({ sequence, time, kind, rows }: JournalEntry): string {
  const text = JSON.stringify([sequence, time, kind, rows]);
  return `${crc32(text).toString(16).padStart(8, '0')} ${text}\n`;
}

/** Parses a line; returns undefined if it is not complete. */
function entryOf(bytes: Buffer): JournalEntry | undefined {
  const [checksum, content] = [bytes.subarray(0, 9).toString('latin1'), bytes.subarray(9)];
  if (!/^[0-9a-f]{8} $/.test(checksum) || crc32(content) !== Number.parseInt(checksum, 16)) return undefined;
  const text = decodeUtf8(content, 'An entry of the journal');
  const [sequence, time, kind, rows] = JSON.parse(text) as [number, number, JournalEntry['kind'], JournalEntry['rows']];
  return { sequence, time, kind, rows };
}

/**
 * A log of a stream's accepted lines on disk. `append` resolves when the entries are flushed to disk, so that an entry
 * that was confirmed survives the end of the process and of the machine. Entries up to a saved state are removed.
 */
export class StreamJournal {
  readonly #folder: string;
  #file: FileHandle;
  #bytes: number;
  #isBroken = false;

  private constructor(folder: string, file: FileHandle, bytes: number) {
    this.#folder = folder;
    this.#file = file;
    this.#bytes = bytes;
  }

  /**
   * Opens the journal in a folder, and returns it with all entries after the saved state. An incomplete last entry, left
   * by a process that was killed before it confirmed the entry, is removed.
   * @param after the sequence of the last entry that the saved state contains
   * @throws {DataValidationError} if an entry before the last one is damaged or missing
   */
  static async open(
    folder: string,
    after: number,
  ): Promise<{ readonly journal: StreamJournal; readonly entries: readonly JournalEntry[] }> {
    const names = (await readdir(folder)).filter((name) => NAME.test(name)).sort();
    const entries: JournalEntry[] = [];
    let bytes = 0;
    for (const [index, name] of names.entries()) {
      const read = parse(await readFile(path.join(folder, name)));
      bytes = read.bytes;
      if (!read.isComplete && index < names.length - 1) throw damaged(folder, name);
      entries.push(...read.entries.filter(({ sequence }) => sequence > after));
    }
    const gap = entries.findIndex(({ sequence }, index) => sequence !== after + 1 + index);
    if (gap >= 0) throw damaged(folder, `entry ${String(after + 1 + gap)}`);
    const last = names.at(-1);
    const target = last === undefined ? fileOf(folder, after + 1) : path.join(folder, last);
    const file = await open(target, 'a');
    await file.truncate(bytes);
    await file.sync();
    if (last === undefined) await syncFolder(folder);
    return { journal: new StreamJournal(folder, file, bytes), entries };
  }

  /** The size of the current file in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Appends entries, and resolves when they are on disk.
   * @throws the error of the file system; the entries are then not in the journal
   */
  async append(entries: readonly JournalEntry[]): Promise<void> {
    if (this.#isBroken) throw new Error('The journal could not be repaired after an earlier error.');
    const text = Buffer.from(entries.map(lineOf).join(''));
    try {
      await this.#file.appendFile(text);
      await this.#file.datasync();
    } catch (error) {
      // A partial entry would damage those that follow.
      await this.#file.truncate(this.#bytes).catch(() => {
        this.#isBroken = true;
      });
      throw error;
    }
    this.#bytes += text.length;
  }

  /** Starts a new file after a state was saved, and removes the files whose entries the state contains. */
  async startAfter(sequence: number): Promise<void> {
    const names = (await readdir(this.#folder)).filter((name) => NAME.test(name));
    const target = fileOf(this.#folder, sequence + 1);
    const next = await open(target, 'a');
    await syncFolder(this.#folder);
    await this.#file.close();
    this.#file = next;
    this.#bytes = (await next.stat()).size;
    this.#isBroken = false;
    for (const name of names) {
      const own = path.join(this.#folder, name);
      if (own !== target) await rm(own, { force: true });
    }
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}

interface ParsedFile {
  readonly entries: readonly JournalEntry[];
  /** The number of bytes of the complete entries. */
  readonly bytes: number;
  /** Whether nothing follows the complete entries. */
  readonly isComplete: boolean;
}

/**
 * Parses the content of a file.
 * @throws {DataValidationError} if a damaged entry is followed by a complete one
 */
function parse(content: Buffer): ParsedFile {
  const entries: JournalEntry[] = [];
  let bytes = 0;
  let bad: number | undefined;
  for (let start = 0; start < content.length;) {
    const found = content.indexOf(0x0a, start);
    const end = found === -1 ? content.length : found;
    const entry = found === -1 ? undefined : entryOf(content.subarray(start, end));
    if (entry === undefined) bad ??= start;
    else if (bad !== undefined) throw damaged('', `the entry at byte ${String(bad)}`);
    else {
      entries.push(entry);
      bytes = end + 1;
    }
    start = end + 1;
  }
  return { entries, bytes, isComplete: bad === undefined };
}

function damaged(folder: string, what: string): DataValidationError {
  return new DataValidationError(`The journal of a monitored stream is damaged: ${what}.`, {
    code: 'invalid-state',
    context: { path: folder },
    suggestion: 'Restore the folder of the stream from a backup, or delete the stream.',
  });
}

/** Flushes the names of new files to disk. Windows does not support this, and does not need it. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
