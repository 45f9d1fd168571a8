import path from 'node:path';

/** What a diagnosis may ask of a machine, so that a test can stand in for one. */
export interface Host {
  /** As `process.platform` has it. */
  readonly platform: string;
  /** As `process.arch` has it. */
  readonly arch: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  exists(file: string): boolean;
  /** The text of a file; null where it cannot be read. */
  readFile(file: string): string | null;
  /** The names in a folder; none where it cannot be read. */
  listFolder(folder: string): readonly string[];
  /** What `ldconfig -p` prints: the dynamic linker's cache of libraries; null where it does not run. */
  readonly linkerCache: () => string | null;
  /** The folder of an installed package; null where it is not installed. */
  resolvePackage(name: string): string | null;
}

/** Joins the parts of a path as the machine writes paths. */
export function joinOn({ platform }: Host, ...parts: readonly string[]): string {
  return (platform === 'win32' ? path.win32 : path.posix).join(...parts);
}

/** The folders that a list in the environment names. */
export function foldersIn({ platform, env }: Host, variable: string, otherwise = ''): readonly string[] {
  const named = env[variable];
  const list = named === undefined || named === '' ? otherwise : named;
  return list.split(platform === 'win32' ? ';' : ':').filter((folder) => folder !== '');
}

/** Something that a backend needs and that is not here. */
export interface MissingPart {
  /** What is missing, in one line that can stand after "cannot start: ". */
  readonly what: string;
  /**
   * What to do about it, in lines. The first is said; of the others each that ends in a full stop or a colon, too. Every
   * other line is a command, to be copied as it is.
   */
  readonly mend: string;
}

/** Whether a line of a mend, not its first, is said: sentences end, commands do not. */
export function isSaid(line: string): boolean {
  return /[.:]$/.test(line);
}
