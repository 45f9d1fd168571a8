import type { DiagnosedMachine } from './diagnosed-machine.ts';
import { DEVICE, driver, LIBCUDA, openDriver } from './nvidia-files.ts';

const GPU = '@tensorflow/tfjs-node-gpu';
const GPU_FOLDER = `/app/node_modules/${GPU}`;
const CUDA_11 = [
  'libcudart.so.11.0',
  'libcublas.so.11',
  'libcublasLt.so.11',
  'libcufft.so.10',
  'libcurand.so.10',
  'libcusolver.so.11',
  'libcusparse.so.11',
];
const inFolder = (folder: string, names: readonly string[]): string[] => names.map((name) => `${folder}/${name}`);
const asFiles = (paths: readonly string[]): Record<string, string> =>
  Object.fromEntries(paths.map((file) => [file, '']));
const GPU_PACKAGE = {
  [`${GPU_FOLDER}/package.json`]: `{"name":"${GPU}"}`,
  [`${GPU_FOLDER}/deps/lib/libtensorflow.so.2`]: '',
  [`${GPU_FOLDER}/lib/napi-v8/tfjs_binding.node`]: '',
};
const CUDA = inFolder('/usr/local/cuda-11.8/targets/x86_64-linux/lib', CUDA_11);
const CUDNN = '/usr/lib/x86_64-linux-gnu/libcudnn.so.8';

/** The package as `evenhand backend install` leaves it. */
const BUILT_PACKAGE = {
  [`${GPU_FOLDER}/package.json`]: `{"name":"${GPU}"}`,
  [`${GPU_FOLDER}/deps/lib/libtensorflow_cc.so.2`]: '',
  [`${GPU_FOLDER}/lib/napi-v8/tfjs_binding.node`]: '',
  ...asFiles(
    [
      'cuda_runtime/lib/libcudart.so.12',
      'cublas/lib/libcublas.so.12',
      'cublas/lib/libcublasLt.so.12',
      'cufft/lib/libcufft.so.11',
      'curand/lib/libcurand.so.10',
      'cusolver/lib/libcusolver.so.11',
      'cusparse/lib/libcusparse.so.12',
      'cudnn/lib/libcudnn.so.9',
    ].map((file) => `${GPU_FOLDER}/deps/nvidia/${file}`),
  ),
};

/** Machines for the diagnosis of CUDA. */
export const NODE_GPU_MACHINES: readonly DiagnosedMachine[] = [
  {
    title: 'a machine with everything for CUDA',
    backend: 'node-gpu',
    machine: {
      files: { ...driver('535.104.05'), ...DEVICE, ...GPU_PACKAGE },
      cached: [LIBCUDA, ...CUDA, CUDNN],
      packages: { [GPU]: GPU_FOLDER },
    },
    shows: [],
  },
  {
    title: 'a Mac, for which no build of CUDA exists',
    backend: 'node-gpu',
    machine: { platform: 'darwin', arch: 'arm64', packages: { [GPU]: GPU_FOLDER } },
    shows: [
      ["'@tensorflow/tfjs-node-gpu' has no build for darwin-arm64, only for linux-x64, win32-x64", 'evenhand doctor'],
    ],
  },
  {
    title: 'a server with an ARM processor',
    backend: 'node-gpu',
    machine: { arch: 'arm64' },
    shows: [['no build for linux-arm64', 'evenhand doctor']],
  },
  {
    title: 'a bare machine',
    backend: 'node-gpu',
    machine: {},
    shows: [
      [
        'no NVIDIA driver is loaded (no /proc/driver/nvidia/version)',
        '525.60.13',
        '\napt-get install nvidia-driver\n',
        '--gpus all',
      ],
      [`the package '${GPU}' is not installed`, 'CUDA 12 and cuDNN 9:\nnpx evenhand backend install node-gpu'],
    ],
  },
  {
    title: 'Windows without a driver and the package',
    backend: 'node-gpu',
    machine: { platform: 'win32', env: { SystemRoot: 'C:\\Windows', PATH: 'C:\\Windows\\System32' } },
    shows: [
      ['no NVIDIA driver is installed (no nvcuda.dll)', '452.39'],
      [`the package '${GPU}' is not installed`, `npm install ${GPU}@4.22.0`],
      ['cudart64_110.dll', 'cuda-11-8-0-download-archive'],
      ['cudnn64_8.dll', "pip install 'nvidia-cudnn-cu11<9'"],
    ],
  },
  {
    title: 'a package built with CUDA 12',
    backend: 'node-gpu',
    machine: {
      files: { ...driver('525.60.13'), ...DEVICE, ...BUILT_PACKAGE },
      cached: [LIBCUDA],
      packages: { [GPU]: GPU_FOLDER },
    },
    shows: [],
  },
  {
    title: 'a package built with CUDA 12, on a machine without a driver',
    backend: 'node-gpu',
    machine: { files: BUILT_PACKAGE, packages: { [GPU]: GPU_FOLDER } },
    shows: [['no NVIDIA driver is loaded', '525.60.13']],
  },
  {
    title: 'a package built with CUDA 12, and a driver for CUDA 11',
    backend: 'node-gpu',
    machine: {
      files: { ...driver('470.57.02'), ...DEVICE, ...BUILT_PACKAGE },
      cached: [LIBCUDA],
      packages: { [GPU]: GPU_FOLDER },
    },
    shows: [['the NVIDIA driver is 470.57.02, and CUDA 12 needs 525.60.13 or newer', 'Update the NVIDIA driver']],
  },
  {
    title: 'a package built with CUDA 12 whose libraries were removed in part',
    backend: 'node-gpu',
    machine: {
      files: {
        ...driver('550.54.15'),
        ...DEVICE,
        ...Object.fromEntries(Object.entries(BUILT_PACKAGE).filter(([file]) => !/cudnn|cufft/.test(file))),
      },
      cached: [LIBCUDA, ...CUDA, CUDNN],
      packages: { [GPU]: GPU_FOLDER },
    },
    shows: [['the libraries of CUDA 12 in', 'npx evenhand backend install node-gpu']],
  },
  {
    title: 'a package whose install script was not run',
    backend: 'node-gpu',
    machine: {
      files: { ...driver('535.104.05'), ...DEVICE, [`${GPU_FOLDER}/package.json`]: `{"name":"${GPU}"}` },
      cached: [LIBCUDA, ...CUDA, CUDNN],
      packages: { [GPU]: GPU_FOLDER },
    },
    shows: [
      [
        'was not downloaded or unpacked (no deps/lib/libtensorflow.so.2)',
        `TFJS_NODE_BASE_URI=https://YOUR.MIRROR/libtensorflow- npm rebuild --ignore-scripts=false ${GPU}`,
        'gpu-linux-x86_64-2.9.1.tar.gz',
        'TFJS_NODE_CDN_STORAGE would replace only the host',
        '\nnpx evenhand backend install node-gpu\n',
        `ignore-scripts, allow-scripts). Repeat it with:\nnpm rebuild --ignore-scripts=false ${GPU}\n`,
      ],
    ],
  },
  {
    title: 'a library that was downloaded, without the binding',
    backend: 'node-gpu',
    machine: {
      files: {
        ...driver('535.104.05'),
        ...DEVICE,
        [`${GPU_FOLDER}/package.json`]: `{"name":"${GPU}"}`,
        [`${GPU_FOLDER}/deps/lib/libtensorflow.so.2.9.1`]: '',
      },
      cached: [LIBCUDA, ...CUDA, CUDNN],
      packages: { [GPU]: GPU_FOLDER },
    },
    shows: [['no lib/napi-v8/tfjs_binding.node', 'npm_config_tfjs_binding_binary_host_mirror']],
  },
  {
    title: 'a driver older than CUDA 11 supports',
    backend: 'node-gpu',
    machine: {
      files: { ...driver('450.66'), ...DEVICE, ...GPU_PACKAGE },
      cached: [LIBCUDA, ...CUDA, CUDNN],
      packages: { [GPU]: GPU_FOLDER },
    },
    shows: [['the NVIDIA driver is 450.66, and CUDA 11 needs 450.80.02 or newer', 'Update the NVIDIA driver']],
  },
  {
    title: 'the oldest driver that CUDA 11 supports',
    backend: 'node-gpu',
    machine: {
      files: { ...driver('450.80.02'), ...DEVICE, ...GPU_PACKAGE },
      cached: [LIBCUDA, ...CUDA, CUDNN],
      packages: { [GPU]: GPU_FOLDER },
    },
    shows: [],
  },
  {
    title: 'a container that sees the driver of its host and was given no GPU',
    backend: 'node-gpu',
    machine: {
      files: { ...openDriver('550.54.15'), ...GPU_PACKAGE },
      cached: [...CUDA, CUDNN],
      packages: { [GPU]: GPU_FOLDER },
    },
    shows: [
      ['the NVIDIA driver 550.54.15 is loaded, but its library libcuda.so.1 was not found', '--gpus all'],
      ['there is no device (no /dev/nvidia0 or similar)', 'nvidia-smi'],
    ],
  },
  {
    title: 'a machine with CUDA 13 and cuDNN 9 only',
    backend: 'node-gpu',
    machine: {
      files: {
        ...openDriver('580.65.06'),
        ...DEVICE,
        ...GPU_PACKAGE,
        '/usr/local/cuda-13.0/lib64/libcudart.so.13': '',
        '/usr/local/cuda-13.0/lib64/libcudart.so.13.0.48': '',
      },
      cached: [LIBCUDA, '/usr/lib/x86_64-linux-gnu/libcudnn.so.9'],
      packages: { [GPU]: GPU_FOLDER },
    },
    shows: [
      ['libcusparse.so.11; CUDA 13 is installed, but tfjs-node-gpu needs 11', 'can be installed beside other versions'],
      ['libcudnn.so.8; cuDNN 9 is installed, but tfjs-node-gpu needs 8', 'cudnn-archive'],
    ],
  },
  {
    title: 'CUDA 11 in a folder that the linker does not search, without one of its libraries',
    backend: 'node-gpu',
    machine: {
      files: {
        ...driver('535.104.05'),
        ...DEVICE,
        ...GPU_PACKAGE,
        ...asFiles(inFolder('/usr/local/cuda-11.2/lib64', CUDA_11.slice(0, -1))),
      },
      cached: [LIBCUDA, CUDNN],
      packages: { [GPU]: GPU_FOLDER },
    },
    shows: [
      ["CUDA 11's run-time libraries were not found: libcusparse.so.11", 'nvidia-cusparse-cu11'],
      [
        'libcusolver.so.11 is only in /usr/local/cuda-11.2/lib64, which the dynamic linker does not search',
        'export LD_LIBRARY_PATH=/usr/local/cuda-11.2/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}',
      ],
    ],
  },
  {
    title: 'CUDA 11 and cuDNN in folders that LD_LIBRARY_PATH names',
    backend: 'node-gpu',
    machine: {
      env: { LD_LIBRARY_PATH: '/opt/cuda-11/lib::/opt/cudnn/lib' },
      files: {
        ...driver('535.104.05'),
        ...DEVICE,
        ...GPU_PACKAGE,
        ...asFiles([...inFolder('/opt/cuda-11/lib', CUDA_11), '/opt/cudnn/lib/libcudnn.so.8']),
      },
      cached: [LIBCUDA],
      packages: { [GPU]: GPU_FOLDER },
    },
    shows: [],
  },
  {
    title: 'a machine whose GPUs are hidden by a variable',
    backend: 'node-gpu',
    machine: {
      env: { CUDA_VISIBLE_DEVICES: '-1' },
      files: { ...driver('535.104.05'), ...DEVICE, ...GPU_PACKAGE },
      cached: [LIBCUDA, ...CUDA, CUDNN],
      packages: { [GPU]: GPU_FOLDER },
    },
    shows: [["CUDA_VISIBLE_DEVICES is '-1', which hides every GPU", 'unset CUDA_VISIBLE_DEVICES']],
  },
  {
    title: 'Linux inside Windows, whose driver is that of Windows',
    backend: 'node-gpu',
    machine: {
      files: { '/dev/dxg': '', ...GPU_PACKAGE },
      cached: ['/usr/lib/wsl/lib/libcuda.so.1', ...CUDA, CUDNN],
      packages: { [GPU]: GPU_FOLDER },
    },
    shows: [],
  },
  {
    title: 'Windows with a driver and the package, without CUDA',
    backend: 'node-gpu',
    machine: {
      platform: 'win32',
      env: { SystemRoot: 'C:\\Windows', PATH: 'C:\\Windows\\System32;C:\\Program Files\\nodejs' },
      files: {
        'C:\\Windows\\System32\\nvcuda.dll': '',
        'C:\\app\\gpu\\package.json': `{"name":"${GPU}"}`,
        'C:\\app\\gpu\\deps\\lib\\tensorflow.dll': '',
        'C:\\app\\gpu\\lib\\napi-v8\\tfjs_binding.node': '',
      },
      packages: { [GPU]: 'C:\\app\\gpu' },
    },
    shows: [
      ['cudart64_110.dll, cublas64_11.dll', 'CUDA Toolkit 11.8'],
      ['cudnn64_8.dll', 'cuDNN 8 for CUDA 11'],
    ],
  },
];
