import {
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';

import { getLogger } from '../../../internal/logger.ts';

/** The properties of a file that record files use. */
export interface FileFacts {
  /** The size of the file in bytes. */
  readonly size: number;
  /** The inode, which identifies the file even after it is renamed. */
  readonly ino: number;
}

/** The synchronous functions of `node:fs` that record files use. Tests replace them. */
export interface FileFunctions {
  /** Opens a file for reading and appending, and creates it if it is missing. */
  open(path: string, flags: 'a+'): number;
  /** @returns the number of bytes written, which may be less than `length` */
  write(descriptor: number, bytes: Uint8Array, offset: number, length: number): number;
  /** @returns the number of bytes read; 0 at the end of the file */
  read(descriptor: number, bytes: Uint8Array, offset: number, length: number, position: number): number;
  ftruncate(descriptor: number, size: number): void;
  fsync(descriptor: number): void;
  fstat(descriptor: number): FileFacts;
  close(descriptor: number): void;
  /** Returns the size and inode of the file at a path; undefined if there is no file. */
  stat(path: string): FileFacts | undefined;
  rename(from: string, to: string): void;
  /** Removes a file. */
  remove(path: string): void;
  /** Creates a folder and its parents, if they are missing. */
  mkdir(path: string): void;
}

/** The functions of `node:fs`. */
export const SYSTEM_FILES: FileFunctions = Object.freeze({
  open: openSync,
  write: writeSync,
  read: readSync,
  ftruncate: ftruncateSync,
  fsync: fsyncSync,
  fstat: fstatSync,
  close: closeSync,
  stat: (path) => statSync(path, { throwIfNoEntry: false }),
  rename: renameSync,
  remove: rmSync,
  mkdir: (path) => {
    mkdirSync(path, { recursive: true });
  },
} satisfies FileFunctions);

/** The format of a file's lines. */
export interface LineForm {
  /** The first line of each file; null if the format has no header. */
  readonly header: string | null;
  /** The text at the start of each file: the header or, without a header, the first characters of every line. */
  readonly opening: string;
  /** Whether lines can contain quoted fields, in which a line feed does not end the line. */
  readonly isQuoting: boolean;
  /**
   * Returns `same` if lines can be appended to a file with this first line, or `older` if the file has an older layout.
   * A file with an older layout is rotated.
   * @param path the path for the error message
   * @throws {DataValidationError} if the file has other content
   */
  examine(firstLine: string, path: string): 'same' | 'older';
  /** Returns whether the last line of a file is complete although its line feed is missing. */
  isComplete(line: string): boolean;
}

/** The numbers of records that a store has written, that still wait in memory, and that it has dropped. */
export interface StoreStatus {
  /** The number of records on disk. */
  readonly written: number;
  /** The number of records in memory that wait for the next attempt to write them. */
  readonly pending: number;
  /** The number of records dropped because more than `mostPending` records were waiting. */
  readonly dropped: number;
  /** The reason why the last write failed; null if it succeeded. */
  readonly problem: string | null;
}

/** Logs a message. Errors of the log are ignored, so that monitoring continues. */
export function logQuietly(level: 'info' | 'warn', text: string): void {
  try {
    getLogger()[level](text);
  } catch {
    // The log may be on the same full disk.
  }
}
