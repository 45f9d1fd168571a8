import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { projectRoot } from '../helpers/project-files.ts';

/** A violated rule and its file. */
interface Violation {
  readonly from: string;
  readonly rule: string;
}

/** Runs the layer check on a copy of the sources with additional files. */
function checkWith(files: Readonly<Record<string, string>>): Promise<{ code: number; violations: Violation[] }> {
  const parent = path.join(projectRoot, 'out');
  mkdirSync(parent, { recursive: true });
  // Within the checkout, so that packages resolve in the same way.
  const copy = mkdtempSync(path.join(parent, 'layers-'));
  for (const name of ['src', 'tsconfig.json', 'package.json', '.dependency-cruiser.cjs']) {
    cpSync(path.join(projectRoot, name), path.join(copy, name), { recursive: true });
  }
  for (const [file, content] of Object.entries(files)) writeFileSync(path.join(copy, file), content);
  const cruiser = path.join(projectRoot, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
  return new Promise((resolve) => {
    execFile(process.execPath, [cruiser, 'src'], { cwd: copy, timeout: 300_000 }, (error, stdout) => {
      rmSync(copy, { recursive: true, force: true });
      const lines = stdout.matchAll(/^ *error ([\w-]+): (\S+)/gm);
      resolve({
        code: error === null ? 0 : Number(error.code),
        violations: Array.from(lines, ([, rule = '', from = '']) => ({ rule, from })),
      });
    });
  });
}

const SERVE = 'src/cli/commands/serve.ts';

/** Every kind of violation, each in its own file, except for the two of the command that starts the service. */
const BREACHES: readonly (readonly [title: string, file: string, content: string, rule: string])[] = [
  ['a module that imports one above it', 'src/stats/up.ts', "import '../metrics/index.ts';\n", 'layer-stats'],
  [
    'a type of one above it',
    'src/table/up.ts',
    "export type { MetricResult } from '../metrics/index.ts';\n",
    'layer-table',
  ],
  ['two modules of one tier', 'src/charts/side.ts', "import '../table/index.ts';\n", 'layer-charts'],
  ['the facade imported from inside', 'src/training/in.ts', "import '../index.ts';\n", 'facade-is-not-imported'],
  ['tfjs loaded outside the runtime', 'src/training/load.ts', "import '@tensorflow/tfjs';\n", 'tfjs-only-in-runtime'],
  ['DuckDB outside io', 'src/metrics/db.ts', "import '@duckdb/node-api';\n", 'duckdb-only-in-io'],
  ['a development dependency', 'src/io/dev.ts', "import 'chai';\n", 'not-to-dev-dependency'],
  [
    'the service loaded by the command line before it is needed',
    SERVE,
    "import '../../api/serve/serve.ts';\n",
    'serve-command-loads-lazily',
  ],
  [
    'a service module other than serve loaded by the command line',
    SERVE,
    "await import('../../api/app/create-app.ts');\nexport {};\n",
    'serve-command-knows-serve-only',
  ],
  [
    'a cycle',
    'src/internal/circle.ts',
    "import { x } from './circle.ts';\nexport const y = x;\nexport const x = 1;\n",
    'no-cycles',
  ],
];

describe('the layer check @slow', function () {
  this.timeout(300_000);

  it('passes on the unchanged sources', async () => {
    const { code, violations } = await checkWith({ 'src/internal/fine.ts': 'export const fine = 1;\n' });
    expect([code, violations]).to.deep.equal([0, []]);
  });

  describe('on sources with every violation', () => {
    let found: Violation[] = [];
    let exitCode = 0;

    before(async () => {
      const files: Record<string, string> = {};
      for (const [, file, content] of BREACHES) files[file] = (files[file] ?? '') + content;
      ({ code: exitCode, violations: found } = await checkWith(files));
    });

    it('fails', () => {
      expect(exitCode).to.be.above(0);
    });

    for (const [title, file, , rule] of BREACHES) {
      it(`reports ${title}, with its file and rule`, () => {
        expect(found.filter(({ from }) => from === file).map(({ rule: name }) => name)).to.include(rule);
      });
    }

    it('reports only the files with a violation', () => {
      const broken = new Set(BREACHES.map(([, file]) => file));
      expect(found.filter(({ from }) => !broken.has(from))).to.deep.equal([]);
    });
  });
});
