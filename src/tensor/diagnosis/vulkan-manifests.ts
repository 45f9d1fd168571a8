import path from 'node:path';

import { findLibrary } from './find-library.ts';
import { foldersIn, type Host } from './host.ts';

/** A driver's manifest, which specifies the location of the driver's library for the Vulkan loader. */
export interface VulkanManifest {
  readonly file: string;
  /**
   * The library that the manifest specifies: a path, or a name that the dynamic linker resolves; null if the manifest
   * cannot be read.
   */
  readonly library: string | null;
  /** Whether the library can be opened, based on the files on disk. */
  readonly opens: boolean;
}

/** Folders in which drivers install manifests but which the loader does not search. */
const FOLDERS_OUTSIDE = [
  '/usr/local/nvidia/share/vulkan/icd.d',
  '/usr/local/nvidia/vulkan/icd.d',
  '/run/opengl-driver/share/vulkan/icd.d',
  '/opt/amdgpu/share/vulkan/icd.d',
];

/**
 * Returns the manifests that an environment variable lists; null if neither variable is set. The Vulkan loader then
 * uses only these manifests and ignores the manifests in its folders.
 */
export function namedManifestFiles(host: Host): readonly string[] | null {
  const variable = variableOfManifests(host);
  return variable === null ? null : foldersIn(host, variable).flatMap((entry) => filesOf(host, entry));
}

/**
 * Returns the name of the environment variable that lists manifests; null if neither variable is set. The loader uses
 * the older variable only if the newer variable is not set.
 */
export function variableOfManifests({ env }: Host): 'VK_DRIVER_FILES' | 'VK_ICD_FILENAMES' | null {
  const isSet = (name: string): boolean => (env[name] ?? '') !== '';
  if (isSet('VK_DRIVER_FILES')) return 'VK_DRIVER_FILES';
  return isSet('VK_ICD_FILENAMES') ? 'VK_ICD_FILENAMES' : null;
}

/** Returns the manifests that the Vulkan loader on Linux finds, following the loader's rules. */
export function vulkanManifests(host: Host): readonly VulkanManifest[] {
  const added = foldersIn(host, 'VK_ADD_DRIVER_FILES').flatMap((entry) => filesOf(host, entry));
  const files = namedManifestFiles(host) ?? [
    ...added,
    ...searchedFolders(host).flatMap((entry) => filesOf(host, entry)),
  ];
  return [...new Set(files)].filter((file) => host.exists(file)).map((file) => readManifest(host, file));
}

/** Returns the manifests in folders that the loader does not search. */
export function manifestsOutside(host: Host): readonly VulkanManifest[] {
  return FOLDERS_OUTSIDE.flatMap((folder) => filesOf(host, folder)).map((file) => readManifest(host, file));
}

function searchedFolders(host: Host): readonly string[] {
  const home = host.env['HOME'] ?? '';
  const roots = [
    ...foldersIn(host, 'XDG_CONFIG_HOME', home === '' ? '' : `${home}/.config`),
    ...foldersIn(host, 'XDG_CONFIG_DIRS', '/etc/xdg'),
    '/usr/local/etc',
    '/etc',
    ...foldersIn(host, 'XDG_DATA_HOME', home === '' ? '' : `${home}/.local/share`),
    ...foldersIn(host, 'XDG_DATA_DIRS', '/usr/local/share:/usr/share'),
  ];
  return roots.map((root) => path.posix.join(root, 'vulkan/icd.d'));
}

/** Returns the manifest files of an entry, which is either a manifest file or a folder of manifest files. */
function filesOf(host: Host, entry: string): readonly string[] {
  if (entry.endsWith('.json')) return [entry];
  return host
    .listFolder(entry)
    .filter((name) => name.endsWith('.json'))
    .map((name) => path.posix.join(entry, name));
}

function readManifest(host: Host, file: string): VulkanManifest {
  const library = libraryIn(host.readFile(file));
  if (library === null) return { file, library, opens: false };
  // A name with a slash is a path relative to the manifest. For a name without a slash, the dynamic linker searches.
  const opens = library.includes('/')
    ? host.exists(path.posix.resolve(path.posix.dirname(file), library))
    : findLibrary(host, library)?.isSearched === true;
  return { file, library, opens };
}

function libraryIn(text: string | null): string | null {
  try {
    const { ICD: driver } = JSON.parse(text ?? '{}') as { readonly ICD?: { readonly library_path?: unknown } };
    return typeof driver?.library_path === 'string' ? driver.library_path : null;
  } catch {
    return null;
  }
}
