import { findLibrary } from './find-library.ts';
import type { Host } from './host.ts';
import type { MissingPart } from './missing-part.ts';

/** The line that makes the dynamic linker look into folders; it reads the variable when a process starts. */
export function searchAlso(folders: readonly string[]): string {
  return `export LD_LIBRARY_PATH=${folders.join(':')}\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}`;
}

/** What to do where libraries are here, but not where the dynamic linker looks; null where none is so. */
export function outsideSearch(host: Host, names: readonly string[]): MissingPart | null {
  const outside = names.flatMap((name) => {
    const found = findLibrary(host, name);
    return found?.isSearched === false ? [{ name, folder: found.folder }] : [];
  });
  if (outside.length === 0) return null;
  const folders = [...new Set(outside.map(({ folder }) => folder))];
  const libraries = outside.map(({ name }) => name).join(', ');
  return {
    what: `${libraries} can be found in ${folders.join(' and ')} only, where the dynamic linker does not look`,
    mend: `Tell the linker before the program starts:\n${searchAlso(folders)}`,
  };
}
