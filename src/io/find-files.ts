import { existsSync } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';

import { DataValidationError } from '../exceptions/index.ts';
import { counted, formatCount } from '../internal/format.ts';
import { groupBy } from '../internal/values.ts';
import {
  type DataFile,
  type DataPaths,
  type DecimalSeparator,
  type FileSource,
  type FoundFiles,
  isRemote,
} from '../schemas/data-source.ts';
import { checksumOf, hashInputFile } from './checksum.ts';
import { cannotRead, escapeGlob, readStart } from './csv-header.ts';
import { fileProblemOf } from './file-problem.ts';
import { globRemote, openRemote } from './remote-files.ts';
import { quoteLiteral } from './sql-engine.ts';

/** The maximum number of files of a data set. */
const MAX_FILES = 100_000;

/** The maximum number of paths that a title lists. */
const MAX_LISTED = 3;

/** Matches the names of the files that are read from a folder. */
const DATA_FILE = /^[^._].*\.(?:(?:csv|tsv)(?:\.gz)?|parquet)$/i;

const WILDCARD = /[*?[]/;

/**
 * Finds the files for the paths, globs and folders of a source. An existing path is taken literally, even if it
 * contains `*`, `?` or `[`. Paths on S3 begin with `s3://`; those of folders end with a slash. A folder means all CSV and Parquet files in the folder and its subfolders, except hidden
 * files (names that begin with `.` or `_`). Subfolders named `key=value` are partitions if they are below the folder,
 * or match the part of a glob from its first wildcard on.
 * @throws {DataValidationError} if a folder or glob contains no file, a file is named twice, or some files are in
 *   partitions and others are not
 */
export async function findFiles(source: DataPaths | FileSource, decimal?: DecimalSeparator): Promise<FoundFiles> {
  if (isFound(source)) return decimal === undefined ? source : { ...source, decimal };
  const given = typeof source === 'string' || isList(source) ? { paths: source, decimal } : source;
  const paths = [given.paths].flat();
  if (paths.length === 0) {
    throw new DataValidationError('At least one file is required, but the list of paths is empty.', {
      code: 'empty-data',
      suggestion: 'Give the path of a CSV or Parquet file.',
    });
  }
  const expanded: Expanded[] = [];
  for (const path of paths) expanded.push(await expand(path));
  const files = expanded.flatMap((each) => each.files);
  if (files.length > 1) await assertDistinct(files);
  assertSamePartitions(files);
  return { ...given, decimal: decimal ?? given.decimal, files, title: titleOf(paths, expanded) };
}

function isFound(source: DataPaths | FileSource): source is FoundFiles {
  return typeof source === 'object' && 'files' in source;
}

function isList(source: object): source is readonly string[] {
  return Array.isArray(source);
}

/** The files that were found for one path. */
interface Expanded {
  readonly files: readonly DataFile[];
  /** A description of how the files belong to the path; undefined if the path is a file. */
  readonly how?: 'in' | 'matching';
}

async function expand(path: string): Promise<Expanded> {
  if (isRemote(path)) return expandRemote(path);
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory() === true) return { files: await filesInFolder(path), how: 'in' };
  if (found === undefined && WILDCARD.test(path)) return { files: await filesMatching(path), how: 'matching' };
  // A missing file is reported when it is opened.
  return { files: [{ path, name: path, partition: new Map() }] };
}

/** Expands the address of a file, a folder (with a slash at its end) or a glob on S3. */
async function expandRemote(path: string): Promise<Expanded> {
  if (path.includes('?')) {
    throw cannotRead(
      path.replace(/\?.*/s, ''),
      'a question mark in its address begins parameters, which could contain credentials',
      'Set AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and AWS_ENDPOINT_URL instead. In a glob, use * instead.',
    );
  }
  const isFolder = path.endsWith('/');
  const literal = { files: [{ path, name: path, partition: new Map<string, string>() }] };
  if (!isFolder && !WILDCARD.test(path)) return literal;
  const { withDuckDb } = await import('./duckdb.ts');
  const found = await withDuckDb(async (session) => {
    await openRemote(session);
    const exact = escapeGlob(path);
    if (isFolder) return globRemote(session, `${exact}**`);
    return (await globRemote(session, exact)).length > 0 ? [path] : globRemote(session, path);
  });
  if (!isFolder && found.length === 1 && found[0] === path) return literal;
  const base = isFolder ? path : path.slice(0, path.slice(0, path.search(WILDCARD)).lastIndexOf('/') + 1);
  const isShown = (file: string): boolean => {
    const parts = file.slice(base.length).split('/');
    const name = parts.at(-1) ?? '';
    return isFolder
      ? DATA_FILE.test(name) && parts.every((part) => !/^[._]/.test(part))
      : !name.startsWith('.') || /\/\.[^/]*$/.test(path);
  };
  const paths = found.filter(isShown).sort();
  if (paths.length === 0) {
    throw isFolder
      ? cannotRead(path, 'the folder has no CSV or Parquet file', 'Check the bucket and the folder.')
      : cannotRead(path, 'no file matches it', 'Check the bucket and the pattern.');
  }
  if (paths.length > MAX_FILES) throw tooManyFiles(path);
  const files = paths.map((file) => ({ path: file, name: file, partition: partitionOf(file.slice(base.length)) }));
  return { files, how: isFolder ? 'in' : 'matching' };
}

async function filesInFolder(folder: string): Promise<DataFile[]> {
  const paths: string[] = [];
  await walk(folder, paths);
  if (paths.length === 0) {
    throw cannotRead(folder, 'the folder has no CSV or Parquet file', 'Give the path of a file, or of another folder.');
  }
  return paths.map((path) => ({ path, name: path, partition: partitionOf(relative(folder, path)) }));
}

/** Collects the data files in a folder and its subfolders. */
async function walk(folder: string, found: string[]): Promise<void> {
  const names = await readdir(folder).catch((cause: unknown) => {
    const { reason = 'the folder cannot be listed' } = fileProblemOf(cause);
    throw cannotRead(folder, reason, 'Check the permissions of the folder.', cause);
  });
  for (const name of names.sort()) {
    if (/^[._]/.test(name)) continue;
    const path = join(folder, name);
    const kind = await stat(path).catch(() => undefined);
    if (kind?.isDirectory() === true) {
      if (!(await leadsUp(path))) await walk(path, found);
    } else if (DATA_FILE.test(name)) {
      found.push(path);
      if (found.length > MAX_FILES) throw tooManyFiles(folder);
    }
  }
}

/** Returns whether a folder is a link to a folder that contains the link. Reading such a folder would never end. */
async function leadsUp(folder: string): Promise<boolean> {
  const [target, parent] = await Promise.all([realpath(folder), realpath(join(folder, '..'))]);
  return `${parent}${sep}`.startsWith(target.endsWith(sep) ? target : `${target}${sep}`);
}

/** Expands a glob with DuckDB. The names of existing folders are matched literally, even if they contain wildcards. */
async function filesMatching(glob: string): Promise<DataFile[]> {
  const parts = resolve(glob).split(sep);
  const first = parts.findIndex((_, index) => index > 0 && !existsSync(parts.slice(0, index + 1).join(sep)));
  const base = parts.slice(0, first).join(sep);
  const pattern = [escapeGlob(base), ...parts.slice(first)].join('/');
  const { withDuckDb } = await import('./duckdb.ts');
  const rows = await withDuckDb((session) => session.rows(`SELECT file FROM glob(${quoteLiteral(pattern)})`));
  const mayBeHidden = parts.at(-1)?.startsWith('.') === true;
  const isShown = (path: string): boolean => mayBeHidden || !/[/\\]\.[^/\\]*$/.test(path);
  const paths = rows.map(([path]) => String(path)).filter(isShown);
  if (paths.length === 0) throw cannotRead(glob, 'no file matches it', 'Check the folder and the pattern.');
  if (paths.length > MAX_FILES) throw tooManyFiles(glob);
  const isAbsolute = resolve(glob) === glob;
  return paths.sort().map((path) => {
    const name = isAbsolute ? path : relative('', path);
    return { path: name, name, partition: partitionOf(relative(base, path)) };
  });
}

/** Returns the keys and values of the folders `key=value` in a path. */
function partitionOf(path: string): ReadonlyMap<string, string> {
  const folders = path.split(sep).slice(0, -1);
  return new Map(
    folders.flatMap((folder) => {
      const [, key, value] = /^([^=]+)=(.*)$/s.exec(folder) ?? [];
      return key === undefined || value === undefined ? [] : [[key, value] as const];
    }),
  );
}

/** Throws if two names refer to the same file, because the rows of this file would count twice. */
async function assertDistinct(files: readonly DataFile[]): Promise<void> {
  const names = new Map<string, string>();
  for (const { path, name } of files) {
    const found = await stat(path, { bigint: true }).catch(() => undefined);
    const key = found === undefined ? resolve(path) : `${String(found.dev)}:${String(found.ino)}`;
    const earlier = names.get(key);
    names.set(key, name);
    if (earlier === undefined) continue;
    const what = earlier === name ? 'it is named twice' : `it is the same file as '${earlier}'`;
    throw cannotRead(name, `${what}, so its rows would count twice`, 'Name each file once.');
  }
}

/** The number of bytes at the start of files that are compared before complete files are. */
const START_BYTES = 64 * 1024;

const LINE_FEED = 10;

/**
 * Notes regular files with the same content, whose rows count once for each of them. Only files of the same size and with
 * the same start are read completely.
 */
export async function sameContentNotes({ files }: Pick<FoundFiles, 'files'>): Promise<readonly string[]> {
  const notes: string[] = [];
  for (const sameSize of await groupsOf(files, sizeOf)) {
    for (const sameStart of await groupsOf(sameSize, startOf)) {
      const sameContent = await groupsOf(
        sameStart,
        async ({ path }) => (await hashInputFile(path)).sha256 ?? undefined,
      );
      for (const [first, ...copies] of sameContent) {
        for (const { name } of copies) {
          notes.push(`'${name}' has the same content as '${first?.name ?? ''}', and the rows of both are counted. If it is a copy, leave it out`); // prettier-ignore
        }
      }
    }
  }
  const more = notes.length - MAX_LISTED;
  return more <= 0
    ? notes
    : [...notes.slice(0, MAX_LISTED), `${counted(more, 'further file has', 'further files have')} the same content as another`]; // prettier-ignore
}

/** Groups files by a key, and returns the groups of several files. A file without a key is in no group. */
async function groupsOf(
  files: readonly DataFile[],
  keyOf: (file: DataFile) => Promise<string | undefined>,
): Promise<DataFile[][]> {
  if (files.length < 2) return [];
  const keys = new Map<DataFile, string>();
  for (const file of files) {
    const key = await keyOf(file);
    if (key !== undefined) keys.set(file, key);
  }
  return [...groupBy(keys.keys(), (file) => keys.get(file)).values()].filter(({ length }) => length > 1);
}

async function sizeOf({ path }: DataFile): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined);
  return found?.isFile() === true ? String(found.size) : undefined;
}

/** Returns a key of the start of a file; undefined for a file of one line, which has names of columns and no rows. */
async function startOf({ path }: DataFile): Promise<string | undefined> {
  const start = await readStart(path, false, START_BYTES);
  const end = start.indexOf(LINE_FEED);
  return end < 0 || end === start.length - 1 ? undefined : checksumOf(start);
}

function assertSamePartitions(files: readonly DataFile[]): void {
  const [first] = files;
  for (const file of files) {
    const [whole, part] =
      first === undefined || file.partition.size > first.partition.size ? [file, first] : [first, file];
    const key = [...whole.partition.keys()].find((name) => part?.partition.has(name) === false);
    if (key === undefined || part === undefined) continue;
    throw cannotRead(
      part.name,
      `it is not in a partition (a folder '${key}=…'), but '${whole.name}' is`,
      'Keep only files in partitions, or name the files instead of the folder.',
    );
  }
}

/** Returns the name of the data in reports. */
function titleOf(paths: readonly string[], expanded: readonly Expanded[]): string {
  const [path = '', ...others] = paths;
  const { how } = expanded[0] as Expanded;
  if (others.length === 0 && how === undefined) return path;
  const total = counted(
    expanded.reduce((sum, { files }) => sum + files.length, 0),
    'file',
  );
  if (others.length === 0) return `${total} ${how ?? ''} '${path}'`;
  const listed = paths.slice(0, paths.length > MAX_LISTED + 1 ? MAX_LISTED : paths.length).map((each) => `'${each}'`);
  const rest = paths.length - listed.length;
  return `${total}: ${listed.join(', ')}${rest > 0 ? ` and ${String(rest)} others` : ''}`;
}

function tooManyFiles(path: string): DataValidationError {
  return cannotRead(path, `it contains more than ${formatCount(MAX_FILES)} files`, 'Use a folder with fewer files.');
}
