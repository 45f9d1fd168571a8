/**
 * Bundles the check into one file in a folder, and copies the files next to it that cannot be bundled. Run by
 * gpu-pack.sh.
 *
 *     node --import tsx scripts/gpu-check/pack.ts FOLDER [DATA]
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

import { build, type Metafile } from 'esbuild';

import { readAdultCsv, TABLE_FILE } from './adult.ts';
import { packTables } from './table-file.ts';

const root = path.resolve(import.meta.dirname, '../..');
const modules = path.join(root, 'node_modules');

/** Packages that are not bundled: webgpu is copied next to the bundle, the others are not needed in a check. */
const OUTSIDE = [
  'webgpu',
  '@duckdb/node-api',
  '@resvg/resvg-js',
  '@tensorflow/tfjs-node',
  '@tensorflow/tfjs-node-gpu',
  'danfojs-node',
  'piscina',
];

/** Charts, which a check does not draw. */
const CHARTS = '*/vendor/echarts.ts';

/** Variables that CommonJS packages expect. The wasm backend looks for its binaries in `__dirname`. */
const BANNER = `import { createRequire as evenhandRequire } from 'node:module';
const require = evenhandRequire(import.meta.url);
const __dirname = import.meta.dirname;
const __filename = import.meta.filename;`;

/** The WebAssembly files that Node.js loads: with SIMD, without the threaded variant for browsers. */
const WASM_FILES = ['tfjs-backend-wasm.wasm', 'tfjs-backend-wasm-simd.wasm'];

async function bundle(folder: string): Promise<Metafile> {
  const { metafile } = await build({
    entryPoints: [path.join(import.meta.dirname, 'main.ts')],
    outfile: path.join(folder, 'gpu-check.mjs'),
    bundle: true,
    minify: true,
    // Error messages and doctor's reasons contain names of classes and functions.
    keepNames: true,
    metafile: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    external: [...OUTSIDE.flatMap((name) => [name, `${name}/*`]), CHARTS],
    banner: { js: BANNER },
    absWorkingDir: root,
    logLevel: 'error',
  });
  return metafile;
}

/** Bundles the package of the logger, which is loaded by name on first use. */
async function bundlePino(folder: string): Promise<Metafile> {
  const { metafile } = await build({
    entryPoints: [createRequire(import.meta.url).resolve('pino')],
    outfile: path.join(folder, 'node_modules/pino/index.js'),
    bundle: true,
    minify: true,
    metafile: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    absWorkingDir: root,
    logLevel: 'error',
  });
  return metafile;
}

function copyBeside(folder: string): void {
  const from = (...parts: string[]): string => path.join(modules, ...parts);
  for (const file of WASM_FILES) cpSync(from('@tensorflow/tfjs-backend-wasm/dist', file), path.join(folder, file));
  const dawn = path.join(folder, 'node_modules/webgpu');
  mkdirSync(path.join(dawn, 'dist/linux-x64'), { recursive: true });
  for (const file of ['index.js', 'package.json', 'dist/linux-x64/dawn.node']) {
    cpSync(from('webgpu', file), path.join(dawn, file));
  }
  // Doctor checks whether this package is installed; its code is in the bundle.
  const bundled = '@tensorflow/tfjs-backend-webgpu';
  mkdirSync(path.join(folder, 'node_modules', bundled), { recursive: true });
  cpSync(from(bundled, 'package.json'), path.join(folder, 'node_modules', bundled, 'package.json'));
}

/** Writes the licence of every package whose code is in the folder, one file each. */
function writeLicences(folder: string, files: readonly string[]): void {
  const names = new Set(['webgpu', '@tensorflow/tfjs-backend-wasm']);
  for (const file of files) {
    const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1];
    if (name !== undefined) names.add(name);
  }
  for (const name of names) {
    const location = positionOf(name, files);
    const target = path.join(folder, 'licences', `${name.replace('/', '-').replace('@', '')}.txt`);
    writeFileSync(target, licenceOf(name, location));
  }
}

/** Returns the folder of a package from its bundled files. It may be inside another package. */
function positionOf(name: string, files: readonly string[]): string {
  const part = `node_modules/${name}/`;
  const file = files.find((one) => one.includes(part)) ?? part;
  return path.join(root, file.slice(0, file.lastIndexOf(part)), part);
}

function licenceOf(name: string, location: string): string {
  const { license, version } = JSON.parse(readFileSync(path.join(location, 'package.json'), 'utf8')) as {
    license?: string;
    version: string;
  };
  const texts = readdirSync(location).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file));
  const complete = texts.map((file) => readFileSync(path.join(location, file), 'utf8')).join('\n');
  if (complete === '' && license === undefined) throw new Error(`the package ${name} has no licence`);
  // Packages of TensorFlow.js name Apache-2.0 without its text, which is in evenhand's own licence file.
  const named = license ?? 'see below';
  return `${name} ${version}: ${named}\n\n${complete === '' ? `The text of ${named} is in evenhand.txt if it is Apache-2.0.\n` : complete}`;
}

const [folder, data] = process.argv.slice(2);
if (folder === undefined || !existsSync(folder)) throw new Error('pack.ts requires an existing folder');
const bundles = [await bundle(folder), await bundlePino(folder)];
copyBeside(folder);
mkdirSync(path.join(folder, 'licences'), { recursive: true });
writeLicences(
  folder,
  bundles.flatMap(({ inputs }) => Object.keys(inputs)),
);
if (data !== undefined) {
  const { train, test } = await readAdultCsv(data);
  writeFileSync(path.join(folder, TABLE_FILE), packTables({ train, test }));
}
