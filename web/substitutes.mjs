// The modules that a browser has instead of those that need Node. Every other import of Node in what the pages bundle
// stops the build.
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');
const host = (name) => path.join(root, 'web/src/host', `${name}.ts`);

/** The replaced modules, by their paths below the root. */
const REPLACED = {
  'src/internal/packages.ts': host('packages'),
  'src/internal/logger.ts': host('logger'),
  'src/metrics/backends/danfo-backend.ts': host('absent'),
  'src/metrics/backends/duckdb-backend.ts': host('absent'),
  // The pages have no tensors in their columns.
  'src/metrics/reduce/reduce-tensors.ts': host('absent'),
  'src/metrics/reduce/tensors/cross-control-tensors.ts': host('absent'),
  'src/metrics/reduce/tensors/tensor-arguments.ts': host('absent'),
};

const ABSENT_PACKAGES = new Set(['danfojs-node']);

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
      return REPLACED[name] ?? found;
    },
    load(id) {
      if (!id.endsWith('?only')) return null;
      return `export { default as en } from ${JSON.stringify(id.slice(0, -'?only'.length))};`;
    },
  };
}
