import { findLibrary, outsideSearch, searchAlso } from './find-library.ts';
import type { Host, MissingPart } from './host.ts';
import { driverVersion, hasNvidiaGpu } from './nvidia-driver.ts';
import {
  manifestsOutside,
  namedManifestFiles,
  variableOfManifests,
  type VulkanManifest,
  vulkanManifests,
} from './vulkan-manifests.ts';

const LOADER = 'libvulkan.so.1';

/** NVIDIA's Vulkan driver. The same library is used for OpenGL. */
const NVIDIA_LIBRARY = 'libGLX_nvidia.so.0';

/**
 * The libraries that NVIDIA's library depends on, by Debian package. Container images often contain none of these
 * libraries.
 */
const OPENED_IN_TURN = {
  'libx11-6': 'libX11.so.6',
  libxext6: 'libXext.so.6',
  libegl1: 'libEGL.so.1',
  libglvnd0: 'libGLdispatch.so.0',
} as const;

const GRAPHICS_IN_A_CONTAINER =
  'In a container, enable the graphics capability of the NVIDIA Container Toolkit:\n' +
  'docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility,graphics …';

const ASK_THE_DRIVER = 'To show which driver is found and its errors (package vulkan-tools):\nvulkaninfo --summary';

/**
 * Returns the missing parts of Vulkan that WebGPU needs on Linux: the loader, a driver's manifest, or the library named
 * in the manifest.
 */
export function missingOfVulkan(host: Host): readonly MissingPart[] {
  return [missingLoader(host), missingDriver(host)].filter((part) => part !== null);
}

/** Returns the missing part to report if no GPU is found, although all files of Vulkan may be present. */
export function missingHardware(host: Host, what: string): MissingPart {
  return {
    what,
    mend: hasNvidiaGpu(host)
      ? fixForNvidia(host)
      : "Install the Vulkan driver of this machine's GPU; on Debian and Ubuntu, for AMD and Intel:\n" +
        `apt-get install mesa-vulkan-drivers\n${ASK_THE_DRIVER}`,
  };
}

function missingLoader(host: Host): MissingPart | null {
  if (findLibrary(host, LOADER) !== null) return outsideSearch(host, [LOADER]);
  return {
    what: `the Vulkan loader ${LOADER} was not found`,
    mend: 'Install it; on Debian and Ubuntu:\napt-get install libvulkan1\nOn Fedora:\ndnf install vulkan-loader',
  };
}

function missingDriver(host: Host): MissingPart | null {
  const lost = namedManifestFiles(host)?.filter((file) => !host.exists(file)) ?? [];
  const manifests = vulkanManifests(host);
  if (manifests.some(({ opens }) => opens)) return null;
  const variable = variableOfManifests(host);
  if (variable !== null && manifests.length === 0) {
    return {
      what: `${variable} does not name an existing manifest${lost.length === 0 ? '' : ` (${lost.join(', ')})`}`,
      mend: `Set it to a driver's manifest, or let the loader search its default folders:\nunset ${variable}`,
    };
  }
  if (manifests.length > 0) return missingLibrary(host, manifests);
  return missingHardware(host, 'no Vulkan driver is installed (no manifest in the folders vulkan/icd.d)');
}

function missingLibrary(host: Host, manifests: readonly VulkanManifest[]): MissingPart {
  const named = manifests.map(({ file, library }) =>
    library === null ? `${file}, which cannot be read` : `${library} of ${file}`,
  );
  const outside = outsideSearch(
    host,
    manifests.flatMap(({ library }) => (library === null || library.includes('/') ? [] : [library])),
  );
  return {
    what: `no Vulkan driver can be opened: ${named.join('; ')}`,
    mend: outside?.mend ?? missingHardware(host, '').mend,
  };
}

/**
 * Returns the simplest fix, depending on which parts of the driver are present: its manifest, its library, or neither.
 */
function fixForNvidia(host: Host): string {
  const named = vulkanManifests(host).filter(({ library }) => library !== null && isOfNvidia(library));
  if (named.some(isOpenNvidia)) return fixForSilentDriver(host);
  const variable = variableOfManifests(host);
  if (variable !== null && vulkanManifests(withoutNamed(host)).some(isOpenNvidia)) {
    return `${variable} names other drivers and hides NVIDIA's from the loader. Let the loader search its default folders:\nunset ${variable}`;
  }
  const outside = manifestsOutside(host).find(({ library }) => library !== null);
  const library = findLibrary(host, NVIDIA_LIBRARY);
  const search = library?.isSearched === false ? `\n${searchAlso([library.folder])}` : '';
  const [wrong] = named;
  if (wrong === undefined && outside !== undefined) {
    return `The driver's manifest is in a folder that the loader does not search. Set its path:\nexport VK_DRIVER_FILES=${outside.file}${search}`;
  }
  if (library === null) return fixForMissingLibrary(host);
  const name = wrong === undefined && variable === null ? '' : `\nexport VK_DRIVER_FILES=${OWN_MANIFEST}`;
  return wrong === undefined
    ? `The driver's library ${NVIDIA_LIBRARY} is installed, but its manifest is missing. Create one:\n${WRITE_MANIFEST}${name}${search}`
    : `The driver's library is in ${library.folder}, but ${wrong.file} names another path. Create a manifest that lets the ` +
        `linker find it, and set its path:\n${WRITE_MANIFEST}${name}${search}`;
}

/** Returns a copy of the machine's description without the environment variables that list manifests. */
function withoutNamed(host: Host): Host {
  return { ...host, env: { ...host.env, VK_DRIVER_FILES: undefined, VK_ICD_FILENAMES: undefined } };
}

function isOpenNvidia({ library, opens }: VulkanManifest): boolean {
  return opens && library !== null && isOfNvidia(library);
}

function isOfNvidia(library: string): boolean {
  return /(?:^|\/)lib(?:GLX|EGL)_nvidia\.so/.test(library);
}

const OWN_MANIFEST = '"$HOME/.local/share/vulkan/icd.d/nvidia_icd.json"';

const WRITE_MANIFEST =
  `mkdir -p "$HOME/.local/share/vulkan/icd.d" && echo '` +
  JSON.stringify({ file_format_version: '1.0.0', ICD: { library_path: NVIDIA_LIBRARY, api_version: '1.3.0' } }) +
  `' > ${OWN_MANIFEST}`;

/** Returns the fix for a machine on which the manifest and the library are present, but Vulkan finds no GPU. */
function fixForSilentDriver(host: Host): string {
  const absent = Object.values(OPENED_IN_TURN).filter((name) => findLibrary(host, name) === null);
  const reported = absent.length === 0 ? '' : ` Of these, ${absent.join(', ')} were not found.`;
  return (
    `NVIDIA's Vulkan driver is installed but offers no GPU, usually because libraries that it depends on are missing.${reported} ` +
    `On Debian and Ubuntu:\napt-get install ${Object.keys(OPENED_IN_TURN).join(' ')}\n${ASK_THE_DRIVER}\n` +
    GRAPHICS_IN_A_CONTAINER
  );
}

function fixForMissingLibrary(host: Host): string {
  const version = driverVersion(host);
  const branch = version?.split('.')[0] ?? 'VERSION';
  const exactly = version === null ? '' : `=${version}*`;
  return (
    `The NVIDIA driver${version === null ? '' : ` ${version}`} is installed without its Vulkan part (${NVIDIA_LIBRARY}). ` +
    "Install exactly the driver's version. On Ubuntu:\n" +
    `apt-get install 'libnvidia-gl-${branch}${exactly}'\n` +
    `If the driver is a -server package:\napt-get install 'libnvidia-gl-${branch}-server${exactly}'\n` +
    `On Debian:\napt-get install nvidia-vulkan-icd\n${GRAPHICS_IN_A_CONTAINER}`
  );
}
