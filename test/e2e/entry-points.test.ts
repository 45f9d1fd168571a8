import { readFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';
import { projectRoot } from '../helpers/project-files.ts';

const { exports: entries } = JSON.parse(readFileSync(path.join(projectRoot, 'package.json'), 'utf8')) as {
  exports: Record<string, unknown>;
};

describe('entry points', () => {
  const names = Object.keys(entries).filter((name) => name !== './package.json' && !name.includes('*') && name !== '.');

  it('are the folders that have an index', () => {
    expect(names).to.include.members([
      './metrics',
      './pipeline',
      './integration',
      './training',
      './exceptions',
      './io',
      './stats',
    ]);
  });

  for (const name of names) {
    it(`evenhand${name.slice(1)} and the older evenhand/fairness-toolkit${name.slice(1)} are the same module`, async () => {
      const current = (await import(`evenhand${name.slice(1)}`)) as Record<string, unknown>;
      const older = (await import(`evenhand/fairness-toolkit${name.slice(1)}`)) as Record<string, unknown>;
      expect(Object.keys(current)).to.not.deep.equal([]);
      for (const [key, value] of Object.entries(current)) expect(older[key], key).to.equal(value);
    });
  }

  it('the facade gives the classes of the entry points', async () => {
    const facade = (await import('evenhand')) as Record<string, unknown>;
    const parts = await Promise.all(names.map((name) => import(`evenhand${name.slice(1)}`) as Promise<object>));
    const all = Object.assign({}, ...parts) as Record<string, unknown>;
    for (const [key, value] of Object.entries(facade)) if (key in all) expect(value, key).to.equal(all[key]);
  });
});
