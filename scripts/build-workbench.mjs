// Builds the pages of the workbench: `dist/workbench` with separate files, for `evenhand serve`, `evenhand view` and any
// static host. With --site, also `site` with the same files and the self-contained page `site/workbench.html`. With
// --page FILE, only the self-contained page.
import { createHash } from 'node:crypto';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';

import { build } from 'vite';

import { substitutes } from '../web/substitutes.mjs';
import { writeServiceWorker } from '../web/write-service-worker.mjs';

const root = path.resolve(import.meta.dirname, '..');
const web = path.join(root, 'web');
const out = path.join(root, 'dist/workbench');

/** The policy of the hosted page. The service and `evenhand view` send the same policy as a header. */
const POLICY =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data: blob:; " +
  "font-src 'self'; connect-src 'self'; worker-src 'self' blob:; manifest-src 'self'; base-uri 'none'; form-action 'none'";

const common = {
  configFile: false,
  root: web,
  base: './',
  // Vite's warnings are about sizes and times of chunks.
  logLevel: 'error',
  // Libraries ask Node whether to check their callers.
  define: { 'process.env.NODE_ENV': '"production"', 'process.env.DEBUG': 'undefined' },
  // JSX is compiled for Preact.
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
};

const output = { target: 'es2022', emptyOutDir: true, modulePreload: { polyfill: false }, reportCompressedSize: false };

const [option, file] = process.argv.slice(2);
if (option === '--page') {
  writeFileSync(file, await selfContainedPage());
} else {
  await buildHosted();
  if (option === '--site') await buildSite();
  compressAssets();
}

async function buildHosted() {
  await build({
    ...common,
    plugins: [substitutes()],
    worker: { format: 'es', plugins: () => [substitutes()] },
    build: { ...output, outDir: out },
  });
  const html = path.join(out, 'index.html');
  writeFileSync(html, readFileSync(html, 'utf8').replace('%POLICY%', POLICY));
  writeServiceWorker(out, 'workbench');
}

/** Compresses the files that servers of this package read, after the site was copied from them. */
function compressAssets() {
  const folder = path.join(out, 'assets');
  for (const name of readdirSync(folder)) {
    const file = path.join(folder, name);
    writeFileSync(`${file}.gz`, gzipSync(readFileSync(file), { level: 9 }));
    rmSync(file);
  }
}

async function buildSite() {
  const site = path.join(root, 'site');
  rmSync(site, { recursive: true, force: true });
  cpSync(out, site, { recursive: true });
  const licences = path.join(root, 'dist/THIRD-PARTY.txt');
  if (existsSync(licences)) cpSync(licences, path.join(site, 'THIRD-PARTY.txt'));
  const file = path.join(site, 'workbench.html');
  writeFileSync(file, await selfContainedPage());
  const first = readdirSync(path.join(site, 'assets'))
    .filter((name) => !/^(?:training|tfjs)-/.test(name))
    .map((name) => gzipSync(readFileSync(path.join(site, 'assets', name))).length)
    .reduce((sum, size) => sum + size, 0);
  console.log(
    `site: first load ${kilobytes(first)} compressed; workbench.html ${kilobytes(readFileSync(file).length)}`,
  );
}

function kilobytes(bytes) {
  return `${Math.round(bytes / 1000).toLocaleString('en-US')} kB`;
}

/** Returns the page with its scripts and styles inside. Browsers refuse module workers of files, so workers are blobs. */
async function selfContainedPage() {
  const worker = await script(path.join(web, 'src/engine/worker.ts'), []);
  const training = await script(path.join(web, 'src/engine/training-worker.ts'), []);
  const app = await script(path.join(web, 'src/app/main.tsx'), [inlineWorkers(worker.code, training.code)]);
  const hashed = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  const code = app.code.replaceAll('</script', String.raw`<\/script`);
  const policy =
    `default-src 'none'; script-src ${hashed(code)} 'wasm-unsafe-eval' blob:; style-src ${hashed(app.css)}; ` +
    "img-src data: blob:; connect-src blob: data:; worker-src blob:; base-uri 'none'; form-action 'none'";
  return readFileSync(path.join(web, 'index.html'), 'utf8')
    .replace('%POLICY%', () => policy)
    .replace(' data-host="static"', ' data-host="file"')
    .replace(/ *<link rel="(?:icon|manifest)"[^>]*>\n/g, '')
    .replace(/ *<link rel="stylesheet"[^>]*>\n/, () => `    <style>${app.css}</style>\n`)
    .replace(/ *<script type="module"[^>]*><\/script>\n/, '')
    .replace('</body>', () => `<script>${code}</script>\n  </body>`);
}

/** Bundles a script and its styles into one text each. */
async function script(entry, plugins) {
  const [result] = [
    await build({
      ...common,
      plugins: [...plugins, substitutes()],
      build: {
        ...output,
        write: false,
        cssCodeSplit: false,
        lib: { entry, formats: ['iife'], name: 'evenhand', fileName: 'script' },
      },
    }),
  ].flat();
  const files = result.output;
  const css = files.find(({ fileName }) => fileName.endsWith('.css'));
  return { code: files.find(({ type }) => type === 'chunk').code, css: String(css?.source ?? '') };
}

/** Replaces the module that starts the workers by one that has their scripts as text. */
function inlineWorkers(worker, training) {
  return {
    name: 'evenhand-inline-workers',
    enforce: 'pre',
    load(id) {
      if (!id.endsWith('/web/src/app/start-worker.ts')) return null;
      return `const start = (code) => {
  const url = URL.createObjectURL(new Blob([code], { type: 'text/javascript' }));
  const worker = new Worker(url);
  URL.revokeObjectURL(url);
  return worker;
};
export const startWorker = () => start(${JSON.stringify(worker)});
export const startTraining = () => start(${JSON.stringify(training)});
`;
    },
  };
}
