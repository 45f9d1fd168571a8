// The modules that a browser has instead of those that need Node. Every other import of Node in what the pages bundle
// stops the build.
import { readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');
const host = (name) => path.join(root, 'web/src/host', `${name}.ts`);

/** The replaced modules, by their paths below the root. */
const REPLACED = {
  'src/io/checksum.ts': host('checksum'),
  'src/internal/packages.ts': host('packages'),
  'src/internal/logger.ts': host('logger'),
  'src/tensor/runtime.ts': host('tensor-runtime'),
  'src/training/data/stream-training.ts': host('stream-training'),
};

/** The modules that a browser cannot run, and that the pages never call: their exports throw. */
const ABSENT = new Set([
  'src/metrics/backends/danfo-backend.ts',
  'src/metrics/backends/duckdb-backend.ts',
  // The pages have no tensors in their columns.
  'src/metrics/reduce/reduce-tensors.ts',
  'src/metrics/reduce/tensors/cross-control-tensors.ts',
  'src/metrics/reduce/tensors/tensor-arguments.ts',
  // The pages save nothing to paths, and have no threads and queues.
  'src/charts/render-chart.ts',
  'src/io/atomic-write.ts',
  'src/tensor/diagnosis/host.ts',
  'src/tensor/webgpu.ts',
  'src/training/data/row-file.ts',
  'src/training/models/save-model.ts',
  'src/training/networks/shard-task.ts',
  'src/training/networks/shard-threads.ts',
  'src/training/pareto/plot-pareto.ts',
  'src/training/pareto/save-networks.ts',
  'src/training/pareto/sweep-stream.ts',
]);

const ABSENT_PACKAGES = new Set(['danfojs-node']);

/** Matches the exported functions, classes and constants of a module, and exports of a single name. */
const EXPORTED = /^export (?:(?:async )?(?:function\*?|class|const) |\{ )(\w+)/gm;

/** Returns a module with the exports of a module that is absent. */
function absentModule(file) {
  const names = Array.from(readFileSync(file, 'utf8').matchAll(EXPORTED), ([, name]) => name);
  return [
    `import { absent } from ${JSON.stringify(host('absent'))};`,
    ...names.map((name) => `export const ${name} = absent;`),
  ].join('\n');
}

/** The names of the packages that the pages contain, for their licences. */
export const bundledPackages = new Set();

/** Returns the plugin that replaces modules. */
export function substitutes() {
  return {
    name: 'evenhand-substitutes',
    enforce: 'pre',
    async resolveId(source, importer, options) {
      if (ABSENT_PACKAGES.has(source)) return host('absent');
      if (source.startsWith('node:')) {
        throw new Error(`${importer ?? ''} imports ${source}, but a browser must be able to run it.`);
      }
      // Messages in other languages than English, of which none is used.
      if (/\/locales\/index\.js$/.test(source) && importer?.includes('/zod/')) {
        return path.join(path.dirname(importer), '../locales/en.js') + '?only';
      }
      if (!source.startsWith('.')) return null;
      const found = await this.resolve(source, importer, { ...options, skipSelf: true });
      const name = found === null ? '' : path.relative(root, found.id);
      // The package has no side effects, but this module registers the parts of the charts.
      if (/^src\/vendor\//.test(name)) return { ...found, moduleSideEffects: true };
      if (ABSENT.has(name)) return `${found.id}?absent`;
      return REPLACED[name] ?? found;
    },
    moduleParsed({ id }) {
      const [, name] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(id) ?? [];
      if (name !== undefined) bundledPackages.add(name);
    },
    load(id) {
      if (id.endsWith('?absent')) return { code: absentModule(id.slice(0, -'?absent'.length)), moduleType: 'js' };
      if (!id.endsWith('?only')) return null;
      return `export { default as en } from ${JSON.stringify(id.slice(0, -'?only'.length))};`;
    },
  };
}
