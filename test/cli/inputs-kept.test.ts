import { copyFileSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { runCli, useTemporaryFolder } from '../helpers/run-cli.ts';
import { makeWages, WAGES } from '../helpers/wages.ts';

describe('a command that trains or calibrates', () => {
  const folder = useTemporaryFolder();
  const cases: readonly (readonly string[])[] = [
    ['train-regularized', '--csv', 'in.csv', ...WAGES, '--etas', '0', '--out-json', './in.csv'],
    ['train-reductions', '--csv', 'in.csv', ...WAGES, '--out-json', 'in.csv'],
    ['train-lagrangian', '--csv', 'in.csv', ...WAGES, '--out-json', 'in.csv'],
    ['train-reductions', '--csv', 'wages.csv', '--test-csv', 'in.csv', ...WAGES, '--save-model', 'in.csv'],
    ['calibrate', '--csv', 'in.csv', '--score', 'age', '--target', 'wage_above_median', '--out-csv', 'in.csv'],
  ];
  for (const args of cases) {
    it(`does not overwrite its input: ${args.join(' ')}`, async () => {
      const wages = await makeWages(folder());
      copyFileSync(wages, path.join(folder(), 'in.csv'));
      const { code, stderr } = await runCli(args, { cwd: folder() });
      expect(code).to.equal(2);
      expect(stderr).to.match(/would replace the input 'in\.csv'/);
      expect(readFileSync(path.join(folder(), 'in.csv'), 'utf8')).to.equal(readFileSync(wages, 'utf8'));
    });
  }

  it('writes calibrated rows in the format of the extension, and rejects an unknown extension', async () => {
    await makeWages(folder());
    const args = ['calibrate', '--csv', 'wages.csv', '--score', 'union', '--target', 'wage_above_median', '--group', 'gender']; // prettier-ignore
    const { code } = await runCli([...args, '--out-csv', 'c.parquet'], { cwd: folder() });
    expect(code).to.equal(0);
    expect(readFileSync(path.join(folder(), 'c.parquet')).subarray(0, 4).toString()).to.equal('PAR1');
    expect((await runCli([...args, '--out-csv', 'c.xlsx'], { cwd: folder() })).code).to.equal(2);
  });
});
