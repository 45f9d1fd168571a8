import path from 'node:path';

const { EVENHAND_MUTATE: area = '', EVENHAND_MUTATE_TESTS: tests = '' } = process.env;
const folder = import.meta.dirname;
const reports = path.join('out/mutation', area.replace('/*.ts', '').replaceAll('/', '-'));
const slow = process.env.EVENHAND_MUTATE_SLOW === undefined ? '@slow|@study|' : '@study|';
const include = (name) => `!/${name}`;

/** The options of Stryker. `scripts/mutation.mjs` sets the variables, from its arguments. */
export default {
  // metric-markdown.ts only escapes and formats text.
  mutate: [/\.ts$/.test(area) ? `src/${area}` : `src/${area}/**/*.ts`, '!src/metrics/metric-markdown.ts'],
  // Absolute paths, because the project itself does not depend on Stryker.
  plugins: [
    path.join(folder, 'node_modules/@stryker-mutator/mocha-runner/dist/src/index.js'),
    path.join(folder, 'ignore-messages.mjs'),
  ],
  ignorers: ['messages'],
  // The runner has a Mocha 11 of its own, since it does not accept Mocha 12. The tests run on both.
  testRunner: 'mocha',
  testRunnerNodeArgs: ['--import', '#load-types'],
  mochaOptions: {
    'no-config': true,
    require: ['./test/helpers/setup.ts', './scripts/mutation/load-sources.mjs'],
    spec: JSON.parse(tests || '[]'),
    // The counters of the mutants make every loop slower, and each surviving mutant runs all tests that execute it. So
    // slow tests, tests of speed, simulations, and the same vectors on other backends are left out.
    grep: `/^(?!real data, |.*(${slow}takes at most seconds|time proportional|part of the time|intervals cover|, (danfo|duckdb) ))/`,
  },
  // Each mutant is tested only by the tests that execute it, in a process that stays.
  coverageAnalysis: 'perTest',
  // Constants of modules are read once, so that each of these mutants needs a new process, which takes seconds: only
  // `--static` includes them.
  ignoreStatic: process.env.EVENHAND_MUTATE_STATIC === undefined,
  // A mutant may make a loop endless. The factor allows for a busy machine: a late test would count as a killed mutant.
  timeoutMS: 5000,
  timeoutFactor: 2,
  // The tests remove types without checking them, so that the sources need no `@ts-nocheck`.
  disableTypeChecks: false,
  // Results of unchanged sources and tests are kept.
  incremental: true,
  incrementalFile: path.join(reports, 'incremental.json'),
  // The sandbox holds only what the tests of the library read. node_modules is a link. Tests that run the command line
  // run the last build, which has no mutants.
  ignorePatterns: [
    '/*',
    ...['src', 'test', 'scripts', 'dist', 'config', 'models', 'package.json', 'tsconfig.json'].map(include),
  ],
  tempDirName: 'out/mutation/sandbox',
  reporters: ['progress-append-only', 'clear-text', 'json', 'html'],
  clearTextReporter: { logTests: false, reportTests: false, allowColor: false },
  jsonReporter: { fileName: path.join(reports, 'mutation.json') },
  htmlReporter: { fileName: path.join(reports, 'mutation.html') },
};
