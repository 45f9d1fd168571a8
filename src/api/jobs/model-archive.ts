import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { type UnzipFileInfo, unzipSync, type Zippable, zipSync } from 'fflate';

import { DataValidationError } from '../../exceptions/index.ts';
import { writeFileAtomic } from '../../io/atomic-write.ts';

/** The maximum size of a model's files together. A network of ten million weights has 40 MB. */
const MAX_BYTES = 256 * 2 ** 20;

const MAX_FILES = 1000;

/** The names of files that models have, with folders: `eta-0.5/model.json`. */
const USABLE = /^(?!\.)[\w.+-]{1,100}(?:\/(?!\.)[\w.+-]{1,100}){0,3}$/;

/** The date of every entry, so that equal models give equal archives. */
const DATE = '1980-01-02T00:00:00Z';

/** Writes the files of a folder, with its subfolders, to a ZIP archive. */
export async function writeArchive(folder: string, file: string): Promise<void> {
  const listed = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = listed.filter((one) => one.isFile()).map((one) => path.join(one.parentPath, one.name));
  const files: Zippable = {};
  for (const own of paths.sort()) {
    files[path.relative(folder, own).split(path.sep).join('/')] = await readFile(own);
  }
  await writeFileAtomic(file, zipSync(files, { mtime: DATE }));
}

/**
 * Extracts the model in a ZIP archive to a new folder. Names and sizes are checked first: an archive can name files
 * outside the folder, or contain much more than its size suggests.
 * @throws {DataValidationError} if it is not an archive of a model
 */
export async function readArchive(file: string, folder: string): Promise<void> {
  const entries: UnzipFileInfo[] = [];
  const isFile = (entry: UnzipFileInfo): boolean => {
    if (entry.name.endsWith('/')) return false;
    entries.push(entry);
    assertUsable(entries);
    return true;
  };
  const unpacked = unpack(await readFile(file), isFile);
  // An archive of a folder, instead of its content, has one folder at its top.
  const names = Object.keys(unpacked);
  const card = names.find((name) => /^(?:[^/]+\/)?card\.json$/.test(name));
  if (card === undefined) throw notModel('has no file card.json');
  const top = card.slice(0, -'card.json'.length);
  for (const name of names.filter((one) => one.startsWith(top))) {
    const target = path.join(folder, name.slice(top.length));
    await mkdir(path.dirname(target), { recursive: true });
    await writeFile(target, unpacked[name] ?? new Uint8Array());
  }
}

function unpack(bytes: Uint8Array, filter: (entry: UnzipFileInfo) => boolean): Record<string, Uint8Array> {
  try {
    return unzipSync(bytes, { filter });
  } catch (cause) {
    if (DataValidationError.isInstance(cause)) throw cause;
    throw notModel('is not a complete ZIP archive', cause);
  }
}

function assertUsable(entries: readonly UnzipFileInfo[]): void {
  const bad = entries.find(({ name }) => !USABLE.test(name));
  if (bad !== undefined)
    throw notModel(`has a file whose name is not that of a model's file: '${bad.name.slice(0, 60)}'`);
  if (entries.length > MAX_FILES) throw notModel(`has more than ${String(MAX_FILES)} files`);
  const bytes = entries.reduce((sum, { originalSize }) => sum + originalSize, 0);
  if (bytes > MAX_BYTES) throw notModel(`has files of more than ${String(MAX_BYTES / 2 ** 20)} MiB`);
}

function notModel(problem: string, cause?: unknown): DataValidationError {
  return new DataValidationError(`The archive of the model ${problem}.`, {
    code: 'invalid-state',
    context: { parameter: 'model' },
    suggestion:
      'Send the archive that GET /results/{run_id}/model returns, or the ZIP of a folder that --save-model wrote.',
    cause,
  });
}
