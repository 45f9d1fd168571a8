import { execFile } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';

import { expect } from 'chai';

import { projectRoot } from '../helpers/project-files.ts';
import { describeWithRedis } from '../helpers/redis-server.ts';
import { killServer, startServer } from '../helpers/servers.ts';

const run = promisify(execFile);

describeWithRedis('a study on a queue', (redis) => {
  it('prints what it prints with threads, also if one of two processes is killed @slow', async function () {
    this.timeout(300_000);
    const args = ['--import', 'tsx', 'scripts/study/alarms.ts', '--quick', '--only', 'fresh-large,fresh-small'];
    const spread = [...args, '--redis', redis().url, '--workers', '1'];
    const servers = [1, 2].map(() =>
      startServer(process.execPath, [...spread, '--serve'], projectRoot, { asNobody: false }),
    );
    const local = run(process.execPath, args, { cwd: projectRoot });
    const shared = run(process.execPath, spread, { cwd: projectRoot });
    try {
      const hasBegun = (): boolean => /Simulated [1-9]/.test(servers[0]?.log() ?? '');
      for (const begun = performance.now(); !hasBegun() && performance.now() - begun < 60_000;) await pause(50);
      expect(hasBegun(), servers[0]?.log()).to.equal(true);
      await killServer(servers[0]?.child);
      const [expected, found] = await Promise.all([local, shared]);
      expect(expected.stdout).to.match(/\| a gap of 0.25 between the two largest of four groups, limit 0.1 +\| \d+/);
      expect(found.stdout).to.equal(expected.stdout);
    } finally {
      await Promise.all(servers.map(({ child }) => killServer(child)));
    }
  });
});
