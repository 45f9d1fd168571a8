import { findLibrary, outsideSearch, versionsOf } from './find-library.ts';
import { type Host, joinOn, type MissingPart } from './host.ts';
import { cudaOfPackage } from './native-package.ts';

/** The libraries of CUDA 12 and cuDNN 9 that TensorFlow 2.21 opens, by the folder of their pip package. */
const BUNDLED_LIBRARIES = {
  cuda_runtime: ['libcudart.so.12'],
  cublas: ['libcublas.so.12', 'libcublasLt.so.12'],
  cufft: ['libcufft.so.11'],
  curand: ['libcurand.so.10'],
  cusolver: ['libcusolver.so.11'],
  cusparse: ['libcusparse.so.12'],
  cudnn: ['libcudnn.so.9'],
} as const;

/** The libraries of CUDA 11 that TensorFlow 2.9 opens. If a library is missing, TensorFlow does not use the GPU. */
const CUDA_LIBRARIES = {
  linux: [
    'libcudart.so.11.0',
    'libcublas.so.11',
    'libcublasLt.so.11',
    'libcufft.so.10',
    'libcurand.so.10',
    'libcusolver.so.11',
    'libcusparse.so.11',
  ],
  win32: [
    'cudart64_110.dll',
    'cublas64_11.dll',
    'cublasLt64_11.dll',
    'cufft64_10.dll',
    'curand64_10.dll',
    'cusolver64_11.dll',
    'cusparse64_11.dll',
  ],
} as const;

const CUDNN_LIBRARY = { linux: 'libcudnn.so.8', win32: 'cudnn64_8.dll' } as const;

const CUDA_FIX =
  'Install the CUDA Toolkit 11.8; it can be installed beside other versions ' +
  '(https://developer.nvidia.com/cuda-11-8-0-download-archive). Alternatively, pip packages contain the libraries, ' +
  'each in a folder lib for LD_LIBRARY_PATH:\n' +
  ['cuda-runtime', 'cublas', 'cufft', 'curand', 'cusolver', 'cusparse'].reduce(
    (command, name) => `${command} nvidia-${name}-cu11`,
    'pip install',
  );

const CUDNN_FIX =
  'Install cuDNN 8 for CUDA 11 (https://developer.nvidia.com/rdp/cudnn-archive), or install it with pip and add its ' +
  "folder lib to LD_LIBRARY_PATH:\npip install 'nvidia-cudnn-cu11<9'";

/**
 * Returns the missing parts of CUDA and cuDNN that tfjs-node-gpu needs: the libraries bundled with the package, or CUDA
 * 11 and cuDNN 8.
 */
export function missingOfCuda(host: Host): readonly MissingPart[] {
  if (cudaOfPackage(host) === 'bundled') return missingOfBundled(host);
  const system = host.platform === 'win32' ? 'win32' : 'linux';
  const parts = [
    missingLibraries(host, CUDA_LIBRARIES[system], {
      named: "CUDA 11's run-time libraries",
      present: otherVersion(host, 'CUDA', 'libcudart', 11),
      mend: CUDA_FIX,
    }),
    outsideSearch(host, CUDA_LIBRARIES[system]),
    missingLibraries(host, [CUDNN_LIBRARY[system]], {
      named: 'cuDNN 8',
      present: otherVersion(host, 'cuDNN', 'libcudnn', 8),
      mend: CUDNN_FIX,
    }),
    outsideSearch(host, [CUDNN_LIBRARY[system]]),
  ];
  return parts.filter((part) => part !== null);
}

function missingOfBundled(host: Host): readonly MissingPart[] {
  const folder = host.resolvePackage('@tensorflow/tfjs-node-gpu');
  // The installation of the package installs these libraries.
  if (folder === null || !host.exists(joinOn(host, folder, 'deps', 'lib', 'libtensorflow_cc.so.2'))) return [];
  const missing = Object.entries(BUNDLED_LIBRARIES).flatMap(([part, names]) =>
    names.filter((name) => !host.exists(joinOn(host, folder, 'deps', 'nvidia', part, 'lib', name))),
  );
  if (missing.length === 0) return [];
  return [
    {
      what: `the libraries of CUDA 12 in '@tensorflow/tfjs-node-gpu' are incomplete: ${missing.join(', ')}`,
      mend: 'Remove the folder ~/.cache/evenhand, and install the libraries again:\nnpx evenhand backend install node-gpu',
    },
  ];
}

function missingLibraries(
  host: Host,
  names: readonly string[],
  { named, present, mend }: { readonly named: string; readonly present: string; readonly mend: string },
): MissingPart | null {
  const missing = names.filter((name) => findLibrary(host, name) === null);
  if (missing.length === 0) return null;
  return { what: `${named} were not found: ${missing.join(', ')}${present}`, mend };
}

/**
 * Returns a clause for the error if only unsuitable versions are installed, for example "; CUDA 13 is installed, but
 * tfjs-node-gpu needs 11". Otherwise returns an empty text.
 */
function otherVersion(host: Host, product: string, stem: string, needed: number): string {
  const versions = versionsOf(host, stem);
  if (versions.length === 0 || versions.includes(needed)) return '';
  const verb = versions.length === 1 ? 'is' : 'are';
  return `; ${product} ${versions.join(' and ')} ${verb} installed, but tfjs-node-gpu needs ${String(needed)}`;
}
