import { foldersIn, type Host, joinOn, type MissingPart } from './host.ts';

/** The location of a shared library. */
export interface FoundLibrary {
  readonly folder: string;
  /** Whether the dynamic linker searches this folder by default. */
  readonly isSearched: boolean;
}

/** The names of a processor in `ldconfig -p` and in Debian's folders. */
const ARCH_NAMES: Readonly<Record<string, { readonly inCache: string; readonly inFolder: string }>> = {
  x64: { inCache: 'x86-64', inFolder: 'x86_64-linux-gnu' },
  arm64: { inCache: 'AArch64', inFolder: 'aarch64-linux-gnu' },
};

/** The usual folders of CUDA and of NVIDIA's driver, which the linker might not search by default. */
const FOLDERS_BESIDE = ['/usr/local/nvidia/lib64', '/usr/local/nvidia/lib', '/opt/cuda/lib64', '/usr/lib/wsl/lib'];

/**
 * Searches for a shared library in the same way as the dynamic linker on Linux (LD_LIBRARY_PATH, the linker's cache,
 * the linker's default folders). The function then searches common folders of CUDA and NVIDIA's driver that the linker
 * may not search. On Windows, the function searches the folders in PATH.
 * @param name the file name, for example "libcudnn.so.8"
 */
export function findLibrary(host: Host, name: string): FoundLibrary | null {
  const has = (folder: string): boolean => host.exists(joinOn(host, folder, name));
  if (host.platform === 'win32') return found(foldersIn(host, 'PATH').find(has), true);
  return (
    found(foldersIn(host, 'LD_LIBRARY_PATH').find(has), true) ??
    found(cachedFolder(host, name), true) ??
    found(defaultFolders(host).find(has), true) ??
    found(foldersBeside(host).find(has), false)
  );
}

/**
 * Returns the major versions of a library in the folders of {@link findLibrary}, oldest first. For example, [12, 13].
 * @param stem the name before the version, for example "libcudart"
 */
export function versionsOf(host: Host, stem: string): readonly number[] {
  const folders = [...foldersIn(host, 'LD_LIBRARY_PATH'), ...defaultFolders(host), ...foldersBeside(host)];
  const names = [...folders.flatMap((folder) => host.listFolder(folder)), ...cached(host).keys()];
  const versions = names
    .filter((name) => name.startsWith(`${stem}.so.`))
    .map((name) => Number(name.slice(stem.length + '.so.'.length).split('.')[0]));
  return [...new Set(versions)].filter((version) => Number.isInteger(version)).sort((a, b) => a - b);
}

function found(folder: string | undefined, isSearched: boolean): FoundLibrary | null {
  return folder === undefined ? null : { folder, isSearched };
}

function defaultFolders({ arch }: Host): readonly string[] {
  const { inFolder } = ARCH_NAMES[arch] ?? { inFolder: arch };
  return [`/lib/${inFolder}`, `/usr/lib/${inFolder}`, '/lib64', '/usr/lib64', '/lib', '/usr/lib'];
}

function foldersBeside(host: Host): readonly string[] {
  const toolkits = host
    .listFolder('/usr/local')
    .filter((name) => name.startsWith('cuda'))
    .map((name) => `/usr/local/${name}/lib64`);
  return [...toolkits, ...FOLDERS_BESIDE];
}

function cachedFolder(host: Host, name: string): string | undefined {
  const file = cached(host).get(name);
  // The cache may be outdated, so the file may no longer exist.
  return file !== undefined && host.exists(file) ? file.slice(0, file.lastIndexOf('/')) : undefined;
}

/** The parsed cache of the dynamic linker, which is stored because the search for every library needs it. */
let parsed:
  { readonly text: string; readonly arch: string; readonly libraries: ReadonlyMap<string, string> } | undefined;

/** Returns the parsed linker cache: the names and paths of libraries for this processor. */
function cached({ arch, linkerCache }: Host): ReadonlyMap<string, string> {
  const text = linkerCache() ?? '';
  if (parsed?.text !== text || parsed.arch !== arch) parsed = { text, arch, libraries: parseCache(text, arch) };
  return parsed.libraries;
}

/** Parses lines of the form "\tNAME (libc6,x86-64) => PATH". */
function parseCache(text: string, arch: string): ReadonlyMap<string, string> {
  const { inCache } = ARCH_NAMES[arch] ?? { inCache: arch };
  const libraries = new Map<string, string>();
  for (const [, name = '', kind = '', file = ''] of text.matchAll(/^\s+(\S+) \(([^)]*)\) => (.+)$/gm)) {
    if (kind.includes(inCache) && !libraries.has(name)) libraries.set(name, file);
  }
  return libraries;
}

/**
 * Returns the command that makes the dynamic linker search additional folders. The command sets a variable that the
 * linker reads when a process starts.
 */
export function searchAlso(folders: readonly string[]): string {
  return `export LD_LIBRARY_PATH=${folders.join(':')}\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}`;
}

/**
 * Returns the fix for libraries that exist only in folders outside the dynamic linker's search path; null if there are
 * no such libraries.
 */
export function outsideSearch(host: Host, names: readonly string[]): MissingPart | null {
  const outside = names.flatMap((name) => {
    const found = findLibrary(host, name);
    return found?.isSearched === false ? [{ name, folder: found.folder }] : [];
  });
  if (outside.length === 0) return null;
  const folders = [...new Set(outside.map(({ folder }) => folder))];
  const libraries = outside.map(({ name }) => name).join(', ');
  return {
    what: `${libraries} is only in ${folders.join(' and ')}, which the dynamic linker does not search`,
    mend: `Add the folder to the linker's search path before the program starts:\n${searchAlso(folders)}`,
  };
}
