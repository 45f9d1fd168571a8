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

/** What is asked of a file. */
export interface FileFacts {
  /** In bytes. */
  readonly size: number;
  /** The file's number, by which it is known under another name. */
  readonly ino: number;
}

/** What a store does with files, synchronous as in `node:fs`; a test may put others in their place. */
export interface FileFunctions {
  /** Opens for reading and appending, and makes the file where it is missing. */
  open(path: string, flags: 'a+'): number;
  /** @returns the bytes that were written, which may be fewer */
  write(descriptor: number, bytes: Uint8Array, offset: number, length: number): number;
  /** @returns the bytes that were read; 0 at the end */
  read(descriptor: number, bytes: Uint8Array, offset: number, length: number, position: number): number;
  ftruncate(descriptor: number, size: number): void;
  fsync(descriptor: number): void;
  fstat(descriptor: number): FileFacts;
  close(descriptor: number): void;
  /** What lies at a path; undefined where nothing does. */
  stat(path: string): FileFacts | undefined;
  rename(from: string, to: string): void;
  /** Removes a file. */
  remove(path: string): void;
  /** Makes a folder and those above it, where they are missing. */
  mkdir(path: string): void;
}

/** Those of the system. */
export const SYSTEM_FILES: FileFunctions = Object.freeze({
  open: (path, flags) => openSync(path, flags),
  write: (descriptor, bytes, offset, length) => writeSync(descriptor, bytes, offset, length),
  read: (descriptor, bytes, offset, length, position) => readSync(descriptor, bytes, offset, length, position),
  ftruncate: (descriptor, size) => {
    ftruncateSync(descriptor, size);
  },
  fsync: (descriptor) => {
    fsyncSync(descriptor);
  },
  fstat: (descriptor) => fstatSync(descriptor),
  close: (descriptor) => {
    closeSync(descriptor);
  },
  stat: (path) => statSync(path, { throwIfNoEntry: false }),
  rename: (from, to) => {
    renameSync(from, to);
  },
  remove: (path) => {
    rmSync(path);
  },
  mkdir: (path) => {
    mkdirSync(path, { recursive: true });
  },
} satisfies FileFunctions);

/** What the lines of a file look like. */
export interface LineForm {
  /** The first line of each file; null where there is none. */
  readonly header: string | null;
  /** What every file begins with: the header, or the beginning of each line. */
  readonly opening: string;
  /** Whether line ends between quotes belong to a field. */
  readonly isQuoting: boolean;
  /**
   * Whether lines may be added below a first line; `older` where it is of an
   * older layout, which is kept in a file of its own.
   * @param path for the message
   * @throws {DataValidationError} where the file holds something else
   */
  examine(firstLine: string, path: string): 'same' | 'older';
  /** Whether a last line that lacks its end is complete all the same. */
  isComplete(line: string): boolean;
}

/** Logs a line where the log can be written; monitoring goes on without its log. */
export function logQuietly(level: 'info' | 'warn', text: string): void {
  try {
    getLogger()[level](text);
  } catch {
    // The log may lie on the very disk that is full.
  }
}
