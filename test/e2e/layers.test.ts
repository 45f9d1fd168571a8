import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { projectRoot } from '../helpers/project-files.ts';

/** Runs the layer check on a copy of the sources with one file more. */
function checkWith(file: string, content: string): Promise<{ code: number; output: string }> {
  const parent = path.join(projectRoot, 'out');
  mkdirSync(parent, { recursive: true });
  // Inside the checkout, so that packages resolve as they do there.
  const copy = mkdtempSync(path.join(parent, 'layers-'));
  for (const name of ['src', 'tsconfig.json', 'package.json', '.dependency-cruiser.cjs']) {
    cpSync(path.join(projectRoot, name), path.join(copy, name), { recursive: true });
  }
  writeFileSync(path.join(copy, file), content);
  const cruiser = path.join(projectRoot, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
  return new Promise((resolve) => {
    execFile(process.execPath, [cruiser, 'src'], { cwd: copy, timeout: 60_000 }, (error, stdout, stderr) => {
      rmSync(copy, { recursive: true, force: true });
      resolve({ code: error === null ? 0 : 1, output: stdout + stderr });
    });
  });
}

describe('the layer check', () => {
  const breaches: [title: string, file: string, content: string, rule: string][] = [
    ['a module that imports one above it', 'src/stats/up.ts', "import '../metrics/index.ts';\n", 'layer-stats'],
    [
      'a type of one above it',
      'src/table/up.ts',
      "export type { MetricResult } from '../metrics/index.ts';\n",
      'layer-table',
    ],
    ['two modules of one tier', 'src/charts/side.ts', "import '../table/index.ts';\n", 'layer-charts'],
    ['the facade imported from inside', 'src/training/in.ts', "import '../index.ts';\n", 'facade-is-not-imported'],
    ['tfjs loaded beside the runtime', 'src/training/load.ts', "import '@tensorflow/tfjs';\n", 'tfjs-only-in-runtime'],
    ['DuckDB beside io', 'src/metrics/db.ts', "import '@duckdb/node-api';\n", 'duckdb-only-in-io'],
    ['a development dependency', 'src/io/dev.ts', "import 'chai';\n", 'not-to-dev-dependency'],
    [
      'the service loaded by the command line before it is asked for',
      'src/cli/commands/serve.ts',
      "import '../../api/serve/serve.ts';\n",
      'serve-command-loads-lazily',
    ],
    [
      'more of the service known to the command line than how it is started',
      'src/cli/commands/serve.ts',
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

  it('passes on the sources as they are', async () => {
    const { code, output } = await checkWith('src/internal/fine.ts', 'export const fine = 1;\n');
    expect(code, output).to.equal(0);
  });

  for (const [title, file, content, rule] of breaches) {
    it(`fails on ${title}`, async () => {
      const { code, output } = await checkWith(file, content);
      expect(code).to.equal(1);
      expect(output).to.include(rule);
    });
  }
});
