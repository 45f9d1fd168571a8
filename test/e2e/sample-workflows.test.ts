import path from 'node:path';

import { expect } from 'chai';

import { describeWithReference, referencePath } from '../helpers/reference.ts';
import { runCli, useTemporaryFolder } from '../helpers/run-cli.ts';

/** The verdict in the results file. */
interface Results {
  readonly validation: { readonly passed: boolean; readonly final_metric_value: number };
}

describe('the sample configurations of the built-in samples', () => {
  const folder = useTemporaryFolder();
  for (const name of ['cps-wages', 'berkeley']) {
    it(`config/${name}.yml runs through all three steps and passes its own gate`, async () => {
      const csv = path.join(folder(), `${name}.csv`);
      await runCli(['sample-data', name, '--out', csv]);
      const { code, stdout, stderr } = await runCli(['run-pipeline', '--config', `config/${name}.yml`, '--csv', csv, '--json']); // prettier-ignore
      expect([code, stderr]).to.deep.equal([0, '']);
      expect((JSON.parse(stdout) as Results).validation.passed).to.equal(true);
    });
  }
});

describeWithReference('the sample configurations of well-known data', () => {
  for (const [name, file] of [
    ['compas', 'compas.csv'],
    ['german', 'german.csv'],
  ] as const) {
    it(`config/${name}.yml runs through all three steps and passes its own gate`, async () => {
      const csv = referencePath('data', file);
      const { code, stdout, stderr } = await runCli(['run-pipeline', '--config', `config/${name}.yml`, '--csv', csv, '--json']); // prettier-ignore
      expect([code, stderr]).to.deep.equal([0, '']);
      expect((JSON.parse(stdout) as Results).validation.passed).to.equal(true);
    });
  }
});
