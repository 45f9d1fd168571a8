import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { projectRoot } from '../helpers/project-files.ts';

/** Returns the paths of the files that npm packs. */
function packedFiles(): ReadonlySet<string> {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const text = execFileSync('npm', args, { cwd: projectRoot, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  const parsed = JSON.parse(text) as Record<string, { readonly files: readonly { readonly path: string }[] }>;
  return new Set(Object.values(parsed).flatMap(({ files }) => files.map((file) => file.path)));
}

describe('the package as npm packs it @slow', () => {
  it('has the target of every relative link in its pages', () => {
    const packed = packedFiles();
    const pages = [...packed].filter((file) => file.endsWith('.md'));
    expect(pages).to.include.members(['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'docs/installing.md']);
    const broken = pages.flatMap((page) => {
      const text = readFileSync(path.join(projectRoot, page), 'utf8');
      const targets = [...text.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)].map(([, target = '']) => target);
      return targets
        .filter((target) => !/^[a-z]+:/.test(target))
        .filter((target) => !packed.has(path.posix.join(path.posix.dirname(page), target)))
        .map((target) => `${page}: ${target}`);
    });
    expect(broken).to.deep.equal([]);
  });
});
