import path from 'node:path';

/** The properties of a machine that a diagnosis reads. Tests use a fake. */
export interface Host {
  /** The value of `process.platform`. */
  readonly platform: string;
  /** The value of `process.arch`. */
  readonly arch: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  exists(file: string): boolean;
  /** Returns the text of a file; null if the file cannot be read. */
  readFile(file: string): string | null;
  /** Returns the names in a folder; an empty list if the folder cannot be read. */
  listFolder(folder: string): readonly string[];
  /** Returns the output of `ldconfig -p`, the dynamic linker's cache of libraries; null if the command fails. */
  readonly linkerCache: () => string | null;
  /** Returns the folder of a package; null if the package is not installed. */
  resolvePackage(name: string): string | null;
}

/** Joins the parts of a path with the path separator of the machine's platform. */
export function joinOn({ platform }: Host, ...parts: readonly string[]): string {
  return (platform === 'win32' ? path.win32 : path.posix).join(...parts);
}

/** Returns the folders that an environment variable lists. */
export function foldersIn({ platform, env }: Host, variable: string, otherwise = ''): readonly string[] {
  const named = env[variable];
  const list = named === undefined || named === '' ? otherwise : named;
  return list.split(platform === 'win32' ? ';' : ':').filter((folder) => folder !== '');
}

/** A missing part that a backend needs. */
export interface MissingPart {
  /** A description of the missing part, in one line that can follow "cannot start: ". */
  readonly what: string;
  /**
   * Instructions for fixing the problem, one per line. The first line is prose. Later lines that end in a full stop or
   * a colon are also prose. All other lines are commands that can be copied unchanged.
   */
  readonly mend: string;
}

/**
 * Returns whether a line of the fix, other than its first, is prose. Sentences end in punctuation, and commands do not.
 */
export function isSaid(line: string): boolean {
  return /[.:]$/.test(line);
}
