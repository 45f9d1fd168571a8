// Compiles src to dist and copies the files that the compiled code reads: the charts' fonts, and the files of the
// service's pages.
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

import { writeClientTypes } from './client-types.mjs';

const root = path.resolve(import.meta.dirname, '..');
const require = createRequire(import.meta.url);
const buildInfo = path.join(root, 'node_modules/.cache/evenhand.tsbuildinfo');

// Without its output the build info is wrong, and tsc would write nothing.
if (!existsSync(path.join(root, 'dist/index.js'))) rmSync(buildInfo, { force: true });
await writeClientTypes();
removeOrphans();
execFileSync(process.execPath, [require.resolve('typescript/bin/tsc'), '-p', path.join(root, 'tsconfig.json')], {
  stdio: 'inherit',
});

const fonts = path.dirname(require.resolve('@expo-google-fonts/inter/package.json'));
const target = path.join(root, 'dist/charts/fonts');
mkdirSync(target, { recursive: true });
for (const [from, to] of [
  ['400Regular/Inter_400Regular.ttf', 'Inter_400Regular.ttf'],
  ['700Bold/Inter_700Bold.ttf', 'Inter_700Bold.ttf'],
  ['LICENSE_FONT', 'LICENSE'],
]) {
  cpSync(path.join(fonts, from), path.join(target, to));
}

// The files of the service's pages, under the names by which they are served, with the licences of their authors.
const assets = path.join(root, 'dist/api/assets');
const licences = {
  'swagger-ui-dist': [
    'LICENSE',
    'NOTICE',
    'swagger-ui-bundle.js.LICENSE.txt',
    'swagger-ui-standalone-preset.js.LICENSE.txt',
  ],
  redoc: ['LICENSE', 'bundles/redoc.standalone.js.LICENSE.txt'],
};
const { ASSET_FILES } = await import('../dist/api/routes/docs.js');
mkdirSync(path.join(assets, 'licences'), { recursive: true });
for (const [name, { source }] of Object.entries(ASSET_FILES)) copyOf(source, name);
for (const [packageName, files] of Object.entries(licences)) {
  for (const file of files) copyOf([packageName, file], `licences/${packageName}-${path.basename(file)}`);
}

function copyOf([packageName, file], name) {
  cpSync(path.join(path.dirname(require.resolve(`${packageName}/package.json`)), file), path.join(assets, name));
}

chmodSync(path.join(root, 'dist/cli/main.js'), 0o755);

/** Removes compiled files whose sources no longer exist. Otherwise they would be packed. */
function removeOrphans() {
  if (!existsSync(path.join(root, 'dist'))) return;
  for (const name of readdirSync(path.join(root, 'dist'), { recursive: true })) {
    const source = /^(?!api\/assets\/)(.*?)(\.d\.ts|\.js)$/.exec(name.split(path.sep).join('/'))?.[1];
    if (source !== undefined && !existsSync(path.join(root, 'src', `${source}.ts`)))
      rmSync(path.join(root, 'dist', name));
  }
}
