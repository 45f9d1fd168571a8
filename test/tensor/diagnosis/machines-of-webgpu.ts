import type { DiagnosedMachine } from './diagnosed-machine.ts';
import { DEVICE, driver, LIBCUDA, openDriver } from './nvidia-files.ts';

const WEBGPU_PACKAGES = {
  webgpu: '/app/node_modules/webgpu',
  '@tensorflow/tfjs-backend-webgpu': '/app/webgpu-backend',
};
const DAWN = { '/app/node_modules/webgpu/dist/linux-x64/dawn.node': '' };
const LOADER = '/usr/lib/x86_64-linux-gnu/libvulkan.so.1';
const NVIDIA_VULKAN = '/usr/lib/x86_64-linux-gnu/libGLX_nvidia.so.0';
const manifest = (library: string): string =>
  `{"file_format_version": "1.0.1", "ICD": {"library_path": "${library}", "api_version": "1.3.242"}}`;

/** Machines for the diagnosis of Vulkan. */
export const WEBGPU_MACHINES: readonly DiagnosedMachine[] = [
  {
    title: 'a machine with everything for Vulkan',
    backend: 'webgpu',
    machine: {
      files: {
        ...DAWN,
        ...driver('535.104.05'),
        '/usr/share/vulkan/icd.d/nvidia_icd.json': manifest('libGLX_nvidia.so.0'),
      },
      cached: [LOADER, NVIDIA_VULKAN],
      packages: WEBGPU_PACKAGES,
    },
    shows: [],
  },
  {
    title: 'a machine without the packages, the loader and a driver',
    backend: 'webgpu',
    machine: {},
    shows: [
      [
        "the packages 'webgpu' and '@tensorflow/tfjs-backend-webgpu' are not installed",
        'npm install webgpu@0.6.2 @tensorflow/tfjs-backend-webgpu@4.22.0',
      ],
      [
        'the Vulkan loader libvulkan.so.1 was not found',
        '\napt-get install libvulkan1\n',
        '\ndnf install vulkan-loader',
      ],
      ['no Vulkan driver is installed (no manifest in the folders vulkan/icd.d)', 'mesa-vulkan-drivers'],
    ],
  },
  {
    title: 'one package of two, and a loader for another processor',
    backend: 'webgpu',
    machine: {
      files: { '/etc/vulkan/icd.d/radeon_icd.json': manifest('/usr/lib/radeon.so'), '/usr/lib/radeon.so': '' },
      cacheText: '2 libs found\n	libvulkan.so.1 (libc6) => /usr/lib/i386-linux-gnu/libvulkan.so.1\n',
      packages: { webgpu: '/app/node_modules/webgpu' },
    },
    shows: [
      ["the package '@tensorflow/tfjs-backend-webgpu' is not installed", 'npm install webgpu@0.6.2'],
      ['libvulkan.so.1 was not found', 'libvulkan1'],
    ],
  },
  {
    title: "a driver's manifest in the driver's own folder",
    backend: 'webgpu',
    machine: {
      files: {
        ...DAWN,
        ...driver('535.104.05'),
        '/usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json': manifest('libGLX_nvidia.so.0'),
        '/usr/local/nvidia/lib64/libGLX_nvidia.so.0': '',
      },
      cached: [LOADER],
      packages: WEBGPU_PACKAGES,
    },
    shows: [
      [
        'no Vulkan driver is installed',
        'export VK_DRIVER_FILES=/usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json',
        'export LD_LIBRARY_PATH=/usr/local/nvidia/lib64',
      ],
    ],
  },
  {
    title: "a driver's library without its manifest",
    backend: 'webgpu',
    machine: { files: { ...DAWN, ...DEVICE }, cached: [LOADER, NVIDIA_VULKAN], packages: WEBGPU_PACKAGES },
    shows: [
      [
        'no Vulkan driver is installed',
        '"library_path":"libGLX_nvidia.so.0"',
        '.local/share/vulkan/icd.d/nvidia_icd.json',
      ],
    ],
  },
  {
    title: 'a container with only the compute capability',
    backend: 'webgpu',
    machine: {
      files: { ...DAWN, ...DEVICE, ...openDriver('550.54.15') },
      cached: [LOADER, LIBCUDA],
      packages: WEBGPU_PACKAGES,
    },
    shows: [
      [
        'no Vulkan driver is installed',
        'NVIDIA_DRIVER_CAPABILITIES=compute,utility,graphics',
        "Install exactly the driver's version",
        "\napt-get install 'libnvidia-gl-550=550.54.15*'\n",
        "\napt-get install 'libnvidia-gl-550-server=550.54.15*'\n",
        'The NVIDIA driver 550.54.15 is installed without its Vulkan part',
      ],
    ],
  },
  {
    title: 'a manifest whose library does not exist',
    backend: 'webgpu',
    machine: {
      files: { ...DAWN, '/usr/share/vulkan/icd.d/intel_icd.json': manifest('/usr/lib/libvulkan_intel.so') },
      cached: [LOADER],
      packages: WEBGPU_PACKAGES,
    },
    shows: [
      [
        'no Vulkan driver can be opened: /usr/lib/libvulkan_intel.so of /usr/share/vulkan/icd.d/intel_icd.json',
        'mesa-vulkan-drivers',
      ],
    ],
  },
  {
    title: 'a manifest whose library is in a folder that the linker does not search',
    backend: 'webgpu',
    machine: {
      files: {
        ...DAWN,
        ...DEVICE,
        '/etc/vulkan/icd.d/nvidia_icd.json': manifest('libGLX_nvidia.so.0'),
        '/usr/local/nvidia/lib64/libGLX_nvidia.so.0': '',
      },
      cached: [LOADER],
      packages: WEBGPU_PACKAGES,
    },
    shows: [
      ['libGLX_nvidia.so.0 of /etc/vulkan/icd.d/nvidia_icd.json', 'export LD_LIBRARY_PATH=/usr/local/nvidia/lib64'],
    ],
  },
  {
    title: 'two manifests, one of them broken',
    backend: 'webgpu',
    machine: {
      files: {
        ...DAWN,
        '/usr/share/vulkan/icd.d/a.json': '{ not JSON',
        '/usr/share/vulkan/icd.d/lvp_icd.x86_64.json': manifest('../lib/libvulkan_lvp.so'),
        '/usr/share/vulkan/lib/libvulkan_lvp.so': '',
      },
      cached: [LOADER],
      packages: WEBGPU_PACKAGES,
    },
    shows: [],
  },
  {
    title: 'a variable that names a missing manifest, before those of the folders',
    backend: 'webgpu',
    machine: {
      env: { VK_DRIVER_FILES: '/gone/icd.json' },
      files: { ...DAWN, '/etc/vulkan/icd.d/radeon_icd.json': manifest('/usr/lib/radeon.so'), '/usr/lib/radeon.so': '' },
      cached: [LOADER],
      packages: WEBGPU_PACKAGES,
    },
    shows: [['VK_DRIVER_FILES does not name an existing manifest (/gone/icd.json)', 'unset VK_DRIVER_FILES']],
  },
  {
    title: 'a manifest in the home of the user',
    backend: 'webgpu',
    machine: {
      env: { HOME: '/home/a' },
      files: { ...DAWN, '/home/a/.local/share/vulkan/icd.d/nvidia_icd.json': manifest('libGLX_nvidia.so.0') },
      cached: [LOADER, NVIDIA_VULKAN],
      packages: WEBGPU_PACKAGES,
    },
    shows: [],
  },
  {
    title: 'a Mac with the packages',
    backend: 'webgpu',
    machine: {
      platform: 'darwin',
      arch: 'arm64',
      files: { '/app/node_modules/webgpu/dist/darwin-universal/dawn.node': '' },
      packages: WEBGPU_PACKAGES,
    },
    shows: [],
  },
  {
    title: 'a package without the binary of this machine',
    backend: 'webgpu',
    machine: {
      platform: 'win32',
      files: { 'C:\\app\\webgpu\\index.js': '' },
      packages: { webgpu: 'C:\\app\\webgpu', '@tensorflow/tfjs-backend-webgpu': 'C:\\app\\b' },
    },
    shows: [["the package 'webgpu' is incomplete (no dist\\win32-x64\\dawn.node)", 'npm install webgpu@0.6.2']],
  },
];
