import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

import { expect } from 'chai';

import { runCli, useTemporaryFolder } from '../helpers/run-cli.ts';
import { projectRoot } from '../helpers/project-files.ts';

describe('scripts/pareto-sweep.ts', () => {
  const folder = useTemporaryFolder();

  it('sweeps any table and writes points, plot and models', async () => {
    const file = path.join(folder(), 'berkeley.csv');
    await runCli(['sample-data', 'berkeley', '--out', file]);
    const out = path.join(folder(), 'sweep');
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [
        '--import',
        'tsx',
        'scripts/pareto-sweep.ts',
        file,
        '--target',
        'admitted',
        '--sensitive',
        'gender',
        '--etas',
        '0,2',
        '--epochs',
        '2',
        '--out',
        out,
      ],
      { cwd: projectRoot, timeout: 120_000 },
    );
    const report = JSON.parse(stdout) as { points: { eta: number; accuracy: number }[]; hypervolume: number };
    expect(report.points.map(({ eta }) => eta)).to.deep.equal([0, 2]);
    // Departments are predictive: a model of them is better than always rejecting (61% of applicants).
    expect(report.points[0]?.accuracy).to.be.greaterThan(0.61);
    expect(readdirSync(out).sort()).to.deep.equal(['models', 'pareto.json', 'pareto.svg']);
  });
});
