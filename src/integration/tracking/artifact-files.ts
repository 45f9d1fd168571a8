import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';

import { TrackingFault } from './tracking-fault.ts';

/** A file to keep with a run. */
export interface ArtifactFile {
  readonly path: string;
  /** Its name among the run's files, with slashes between folders and `_` for characters that MLflow does not take. */
  readonly name: string;
}

/**
 * The files that paths name; a folder stands for all files in it, under its own name.
 * @throws {TrackingFault} for a path where nothing is, or two files of one name
 */
export async function listArtifacts(paths: readonly string[]): Promise<ArtifactFile[]> {
  const files: ArtifactFile[] = [];
  for (const given of paths) files.push(...(await filesUnder(path.resolve(given))));
  const names = new Set<string>();
  const twice = files.find(({ name }) => names.size === names.add(name).size);
  if (twice !== undefined) throw new TrackingFault(`two of the files to keep are called '${twice.name}'`);
  return files;
}

async function filesUnder(place: string): Promise<ArtifactFile[]> {
  const name = toArtifactName(path.basename(place));
  const found = await stat(place).catch((cause: unknown) => {
    throw new TrackingFault(`the file '${place}' that should be kept cannot be read`, { cause });
  });
  if (!found.isDirectory()) return [{ path: place, name }];
  const entries = await readdir(place, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const file = path.join(entry.parentPath, entry.name);
      return { path: file, name: [name, ...path.relative(place, file).split(path.sep).map(toArtifactName)].join('/') };
    })
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** A name that MLflow takes: what means something in an address or a path becomes `_`. */
function toArtifactName(name: string): string {
  return name.replaceAll(/[#%?;:*"<>|\\\p{Cc}]/gu, '_');
}
