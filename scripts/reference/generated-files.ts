import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');

/** The texts of a folder of generated files, by their paths below the folder. */
export type GeneratedFiles = ReadonlyMap<string, string>;

/** Returns the Markdown files below a folder of the project; none if the folder does not exist. */
function existingFiles(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'));
}

/** Returns one sentence for each file of a folder that differs from its generated text. */
export function findDrift(folder: string, files: GeneratedFiles): string[] {
  const changed = [...files].flatMap(([name, text]) => {
    const file = path.join(folder, name);
    if (!existsSync(file)) return [`${name} does not exist.`];
    return readFileSync(file, 'utf8') === text ? [] : [`${name} is out of date.`];
  });
  const orphans = existingFiles(folder).filter((name) => !files.has(name.split(path.sep).join('/')));
  return [...changed, ...orphans.map((name) => `${name} is no longer generated.`)];
}

/** Writes the files of a folder and removes all others, or, with `--check`, reports those that differ. */
export function writeOrCheck(folder: string, files: GeneratedFiles, command: string): void {
  const target = path.join(root, folder);
  if (process.argv.includes('--check')) {
    const drift = findDrift(target, files);
    for (const problem of drift) console.error(`${folder}/${problem} Run: ${command}`);
    if (drift.length > 0) process.exitCode = 1;
    return;
  }
  for (const name of existingFiles(target)) rmSync(path.join(target, name));
  for (const [name, text] of files) {
    mkdirSync(path.dirname(path.join(target, name)), { recursive: true });
    writeFileSync(path.join(target, name), text);
  }
}
