import { spawnSync } from 'node:child_process';
import path from 'node:path';

import { expect } from 'chai';

import { projectRoot } from '../helpers/project-files.ts';

const SCRIPT = path.join(projectRoot, 'scripts/trials.sh');

function run(role: string) {
  return spawnSync(SCRIPT, [role], { encoding: 'utf8', timeout: 180_000 });
}

describe('the worst cases of new users and hostile clients @slow', function () {
  this.timeout(200_000);

  // The number of cases of each role, so that none is dropped by accident.
  for (const [role, cases] of [
    ['scientist', 10],
    ['gate', 20],
    ['platform', 5],
    ['auditor', 4],
  ] as const) {
    it(`have the expected result for the role ${role}`, () => {
      const { status, stdout, stderr } = run(role);
      expect(status, stdout + stderr).to.equal(0);
      expect(stdout).to.include(`${cases} cases: ${cases} right, 0 wrong`);
    });
  }

  it('are rejected for an unknown role', () => {
    const { status, stderr } = run('tourist');
    expect([status, stderr]).to.deep.equal([
      2,
      "ROLE must be one of scientist, gate, platform, auditor; got 'tourist'\n",
    ]);
  });
});
