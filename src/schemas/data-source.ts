import { z } from 'zod';

/** The decimal separators of numbers in text files. */
export const decimalSchema = z.enum(['.', ',']);

/** The decimal separator of numbers in text files. */
export type DecimalSeparator = z.output<typeof decimalSchema>;

/** Files with rows: a path, a glob or a folder, or a list of paths. The rows of all files form one data set. */
export type DataPaths = string | readonly string[];

/** Files with rows, and how numbers in them are written. */
export interface FileSource {
  readonly paths: DataPaths;
  /**
   * The decimal separator of numbers in text files.
   * @defaultValue '.'
   */
  readonly decimal?: DecimalSeparator | undefined;
}

/** A file with rows. */
export interface DataFile {
  readonly path: string;
  /** The name of the file in messages. */
  readonly name: string;
  /** The values of the partition keys, from the folders `key=value` in which the file lies. */
  readonly partition: ReadonlyMap<string, string>;
}

/** The files that a {@link FileSource} names. */
export interface FoundFiles extends FileSource {
  readonly files: readonly DataFile[];
  /** The name of the data in reports: the path of a single file, or `3 files matching 'data/*.csv'`. */
  readonly title: string;
}

/** Returns whether a path is the address of files on S3. */
export function isRemote(path: string): boolean {
  return /^s3:\/\//i.test(path);
}

/** The schema of files with rows. Paths are checked when the files are opened. */
export const dataSourceSchema = z.custom<DataPaths | FileSource>(
  (value) => typeof value === 'string' || (typeof value === 'object' && value !== null),
);
