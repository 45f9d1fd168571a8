// The tiers of the architecture: a module imports only from tiers below its own.
const TIERS = [
  ['exceptions', 'vendor'],
  ['internal'],
  ['schemas', 'table', 'stats', 'tensor', 'charts'],
  ['io', 'numerics'],
  ['metrics'],
  ['document'],
  ['pipeline', 'training', 'monitoring', 'llm-evals'],
  ['integration'],
  ['api', 'cli'],
];

const folder = (names) => `^src/(${names.join('|')})/`;

// What starts the service and executes its runs: the one way from the command line to the api.
const SERVE_COMMAND = '^src/cli/(commands/serve|task-handlers)\\.ts$';

const layerRules = TIERS.flatMap((names, tier) =>
  names.map((name) => ({
    name: `layer-${name}`,
    comment: `${name} (tier ${tier}) imports only itself and tiers below ${tier}.`,
    severity: 'error',
    from: { path: folder([name]), ...(name === 'cli' ? { pathNot: SERVE_COMMAND } : {}) },
    to: { path: '^src/', pathNot: [folder([name]), ...(tier === 0 ? [] : [folder(TIERS.slice(0, tier).flat())])] },
  })),
);

module.exports = {
  forbidden: [
    ...layerRules,
    {
      name: 'serve-command-knows-serve-only',
      comment: 'Of the api, the command line imports only what starts the service and executes its runs.',
      severity: 'error',
      from: { path: SERVE_COMMAND },
      to: { path: '^src/', pathNot: ['^src/api/serve/', folder(TIERS.flat().filter((name) => name !== 'api'))] },
    },
    {
      name: 'serve-command-loads-lazily',
      comment: 'The command line starts without the service.',
      severity: 'error',
      from: { path: SERVE_COMMAND },
      to: { path: '^src/api/', dependencyTypesNot: ['dynamic-import', 'type-only', 'type-import'] },
    },
    {
      name: 'known-folder',
      comment: 'Every module lives in a folder that has a tier; only the facade stands beside them.',
      severity: 'error',
      from: {},
      to: { path: '^src/', pathNot: [folder(TIERS.flat()), '^src/index\\.ts$'] },
    },
    {
      name: 'facade-is-not-imported',
      comment: 'The facade re-exports; nothing in src imports it.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^src/index\\.ts$' },
    },
    {
      name: 'no-cycles',
      comment: 'Imports have no cycles.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'tfjs-only-in-runtime',
      comment: 'Only tensor/runtime.ts loads TensorFlow.js; others import its types and take it as an argument.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/tensor/(runtime|webgpu)\\.ts$' },
      to: { path: 'node_modules/(@tensorflow|webgpu)/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'duckdb-only-in-io',
      comment: 'Only io talks to DuckDB.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/io/' },
      to: { path: 'node_modules/@duckdb/' },
    },
    {
      name: 'not-to-dev-dependency',
      comment: 'What ships needs only what is installed with it. The build bundles what vendor imports.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/vendor/' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['npm-peer', 'type-only'] },
    },
    {
      name: 'vendor-is-bundled',
      comment: 'Only vendor imports the packages that the build bundles, so that users need not install them.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/vendor/' },
      to: { path: 'node_modules/(@stdlib|echarts)/' },
    },
    {
      name: 'resolvable',
      comment: 'Every import resolves, except ONNX Runtime, which only users install.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true, pathNot: '^onnxruntime-(node|web)$' },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
  },
};
