import type { DiagnosedMachine } from './diagnosed-machine.ts';

/** Machines for the diagnosis of CPU backends. */
export const PROCESSOR_MACHINES: readonly DiagnosedMachine[] = [
  {
    title: 'a machine without tfjs-node',
    backend: 'node',
    machine: {},
    shows: [["the package '@tensorflow/tfjs-node' is not installed", ':\nnpx evenhand backend install node']],
  },
  {
    title: 'a Mac without tfjs-node',
    backend: 'node',
    machine: { platform: 'darwin', arch: 'arm64' },
    shows: [["the package '@tensorflow/tfjs-node' is not installed", 'npm install @tensorflow/tfjs-node@4.22.0']],
  },
  {
    title: 'another package under the name of tfjs-node',
    backend: 'node',
    machine: {
      files: { '/app/n/package.json': '{"name":"@tensorflow/tfjs"}' },
      packages: { '@tensorflow/tfjs-node': '/app/n' },
    },
    shows: [
      [
        "the package found as '@tensorflow/tfjs-node' is '@tensorflow/tfjs', which has no native library",
        'npx evenhand backend install node',
      ],
    ],
  },
  {
    title: 'tfjs-node without its library on an ARM processor, whose archive has another URL',
    backend: 'node',
    machine: {
      arch: 'arm64',
      files: { '/app/n/package.json': '{"name":"@tensorflow/tfjs-node"}' },
      packages: { '@tensorflow/tfjs-node': '/app/n' },
    },
    shows: [
      [
        'no deps/lib/libtensorflow.so.2',
        'TFJS_NODE_CDN_STORAGE=https://YOUR.MIRROR/ npm rebuild --ignore-scripts=false @tensorflow/tfjs-node',
      ],
    ],
  },
  { title: 'a bare machine', backend: 'wasm', machine: {}, shows: [] },
];
