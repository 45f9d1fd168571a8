import { realpathSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';

/** Replaces the folders of a path. */
const HIDDEN = '…';

/** Replaces a known folder, whose name may contain spaces, until its path is hidden. */
const MARK = '/_';

/** Matches URLs, which are kept, and paths: `file:` URLs, and paths of Linux and of Windows. */
const PLACES =
  /\b(?!file:)[a-z][a-z0-9+.-]+:\/\/[^\s'"]*|(?:file:\/\/|(?<![\w/.…~-]))\/(?=[^\s/])[^\s'"`()<>,;:=]*|(?<!\w)[a-z]:\\[^\s'"`()<>,;]*/giu;

/**
 * Returns a JSON value in which no text contains a folder of this machine: of a path only the file name is kept.
 * @param folders folders whose names may contain spaces; by default home, current, temporary and program folder
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
  return marked.replaceAll(PLACES, (location) => {
    if (/^(?!file:)[a-z][a-z0-9+.-]+:\/\//i.test(location)) return location;
    const name =
      location
        .replace(/[/\\]+$/, '')
        .split(/[/\\]/)
        .at(-1) ?? '';
    return name === MARK.slice(1) ? HIDDEN : `${HIDDEN}/${name}`;
  });
}

/** Returns a pattern for a folder at the beginning of a path, not inside a URL or a longer path or name. */
function beginning(folder: string): RegExp {
  const escaped = folder.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
  return new RegExp(String.raw`(?<![\w.…~-])(?<!\w/)${escaped}(?![^\s/'"\x60(),;:=])`, 'g');
}

/** Returns the known folders, longest first, so that a folder inside another one is hidden completely. */
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
