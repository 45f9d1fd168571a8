import path from 'node:path';

/** The properties of a machine that a diagnosis reads. Tests replace it with a fake. */
export interface Host {
  /** The value of `process.platform`. */
  readonly platform: string;
  /** The value of `process.arch`. */
  readonly arch: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  exists(file: string): boolean;
  /** Returns the text of a file; null if it cannot be read. */
  readFile(file: string): string | null;
  /** Returns the names in a folder; an empty list if it cannot be read. */
  listFolder(folder: string): readonly string[];
  /** Returns the output of `ldconfig -p`, the dynamic linker's cache of libraries; null if the command fails. */
  readonly linkerCache: () => string | null;
  /** Returns the folder of an installed package; null if it is not installed. */
  resolvePackage(name: string): string | null;
}

/** Joins the parts of a path in the style of the machine. */
export function joinOn({ platform }: Host, ...parts: readonly string[]): string {
  return (platform === 'win32' ? path.win32 : path.posix).join(...parts);
}

/** Returns the folders in a list from the environment. */
export function foldersIn({ platform, env }: Host, variable: string, otherwise = ''): readonly string[] {
  const named = env[variable];
  const list = named === undefined || named === '' ? otherwise : named;
  return list.split(platform === 'win32' ? ';' : ':').filter((folder) => folder !== '');
}

/** Something that a backend needs and that is missing. */
export interface MissingPart {
  /** What is missing, in one line that can follow "cannot start: ". */
  readonly what: string;
  /**
   * How to fix it, in lines. The first line is prose. Each further line that ends in a full stop or a colon is prose
   * too. Every other line is a command that can be copied unchanged.
   */
  readonly mend: string;
}

/** Returns whether a line of the fix, other than its first, is prose: sentences end in punctuation, commands do not. */
export function isSaid(line: string): boolean {
  return /[.:]$/.test(line);
}
