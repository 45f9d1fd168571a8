import { realpathSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';

/** What stands for the folders of a path. */
const HIDDEN = '…';

/** Stands for a known folder, whose own name may have blanks, until its path is hidden. */
const MARK = '/_';

/** Addresses, which stay, and paths of files: `file:` addresses, paths of Linux and of Windows. */
const PLACES =
  /\b(?!file:)[a-z][a-z0-9+.-]+:\/\/[^\s'"]*|(?:file:\/\/|(?<![\w/.…~-]))\/(?=[^\s/])[^\s'"`()<>,;:=]*|(?<!\w)[a-z]:\\[^\s'"`()<>,;]*/giu;

/**
 * Anything JSON may hold, with no folder of this machine in its texts: of a path only the file's name stays.
 * @param folders folders that may hold blanks; the home, the current, the temporary and the program's own folder
 */
export function hidePaths<T>(value: T, folders: readonly string[] = ownFolders()): T {
  const hide = (one: unknown): unknown => {
    if (typeof one === 'string') return hideIn(one, folders);
    if (Array.isArray(one)) return one.map(hide);
    if (typeof one !== 'object' || one === null) return one;
    return Object.fromEntries(Object.entries(one).map(([key, inner]) => [key, hide(inner)]));
  };
  return hide(value) as T;
}

function hideIn(text: string, folders: readonly string[]): string {
  const marked = folders.reduce((now, folder) => now.replaceAll(beginning(folder), MARK), text);
  return marked.replaceAll(PLACES, (place) => {
    if (/^(?!file:)[a-z][a-z0-9+.-]+:\/\//i.test(place)) return place;
    const name =
      place
        .replace(/[/\\]+$/, '')
        .split(/[/\\]/)
        .at(-1) ?? '';
    return name === MARK.slice(1) ? HIDDEN : `${HIDDEN}/${name}`;
  });
}

/** A folder where a path begins with it, not inside an address or a longer path or name. */
function beginning(folder: string): RegExp {
  const escaped = folder.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
  return new RegExp(String.raw`(?<![\w.…~-])(?<!\w/)${escaped}(?![^\s/'"\x60(),;:=])`, 'g');
}

/** The longest first, so that a folder is hidden whole where another one holds it. */
function ownFolders(): string[] {
  const named = [homedir(), process.cwd(), tmpdir(), import.meta.dirname, path.resolve(import.meta.dirname, '../..')];
  const real = named.flatMap((folder) => {
    try {
      return [realpathSync(folder)];
    } catch {
      return [];
    }
  });
  const folders = new Set([...named, ...real].filter((folder) => folder.length > 1));
  return [...folders].sort((a, b) => b.length - a.length);
}
