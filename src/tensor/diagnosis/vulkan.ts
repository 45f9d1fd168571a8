import { findLibrary } from './find-library.ts';
import type { Host } from './host.ts';
import type { MissingPart } from './missing-part.ts';
import { driverVersion, hasNvidiaGpu } from './nvidia-driver.ts';
import { outsideSearch, searchAlso } from './outside-search.ts';
import {
  manifestsOutside,
  namedManifestFiles,
  variableOfManifests,
  type VulkanManifest,
  vulkanManifests,
} from './vulkan-manifests.ts';

const LOADER = 'libvulkan.so.1';

/** NVIDIA's driver for Vulkan: the same library that OpenGL goes through. */
const NVIDIA_LIBRARY = 'libGLX_nvidia.so.0';

/** What WebGPU misses of Vulkan on Linux: the loader, a driver's manifest, the library that the manifest names. */
export function missingOfVulkan(host: Host): readonly MissingPart[] {
  return [missingLoader(host), missingDriver(host)].filter((part) => part !== null);
}

/** What to do where Vulkan is complete, but offers no hardware. */
export function missingHardware(host: Host, what: string): MissingPart {
  return {
    what,
    mend: hasNvidiaGpu(host)
      ? mendForNvidia(host)
      : "Install the Vulkan driver of this machine's GPU (Debian: apt-get install mesa-vulkan-drivers for AMD and Intel). " +
        'What a driver itself complains of is shown by (Debian: apt-get install vulkan-tools):\nvulkaninfo --summary',
  };
}

function missingLoader(host: Host): MissingPart | null {
  if (findLibrary(host, LOADER) !== null) return outsideSearch(host, [LOADER]);
  return {
    what: `the Vulkan loader ${LOADER} is not here`,
    mend: 'Install it (Fedora: dnf install vulkan-loader; Debian, Ubuntu:)\napt-get install libvulkan1',
  };
}

function missingDriver(host: Host): MissingPart | null {
  const lost = namedManifestFiles(host)?.filter((file) => !host.exists(file)) ?? [];
  const manifests = vulkanManifests(host);
  if (manifests.some(({ opens }) => opens)) return null;
  const variable = variableOfManifests(host);
  if (variable !== null && manifests.length === 0) {
    return {
      what: `${variable} names no manifest that is there${lost.length === 0 ? '' : ` (${lost.join(', ')})`}`,
      mend: `Name a driver's manifest in it, or let the loader search its own folders:\nunset ${variable}`,
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

/** From the least work to the most: a manifest that lies elsewhere, a library that lacks its manifest, the library. */
function mendForNvidia(host: Host): string {
  const manifest = manifestsOutside(host).find(({ library }) => library !== null);
  const library = findLibrary(host, NVIDIA_LIBRARY);
  const search = library?.isSearched === false ? `\n${searchAlso([library.folder])}` : '';
  if (manifest !== undefined) {
    return `The driver's manifest lies where the loader does not look. Name it:\nexport VK_DRIVER_FILES=${manifest.file}${search}`;
  }
  if (library !== null) {
    const file = '"$HOME/.local/share/vulkan/icd.d/nvidia_icd.json"';
    const content = { file_format_version: '1.0.0', ICD: { library_path: NVIDIA_LIBRARY, api_version: '1.3.0' } };
    return (
      `The driver's library ${NVIDIA_LIBRARY} is here, only its manifest is not. Write one:\n` +
      `mkdir -p "$HOME/.local/share/vulkan/icd.d" && echo '${JSON.stringify(content)}' > ${file}${search}`
    );
  }
  const version = driverVersion(host);
  const branch = version?.split('.')[0] ?? 'VERSION';
  return (
    `The NVIDIA driver${version === null ? '' : ` ${version}`} is here without its part for Vulkan (${NVIDIA_LIBRARY} and ` +
    `nvidia_icd.json). Install it (Debian: apt-get install nvidia-vulkan-icd; Ubuntu: apt-get install libnvidia-gl-${branch}). ` +
    `In a container, ask the NVIDIA Container Toolkit for it:\n` +
    'docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility,graphics …'
  );
}
