import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';
import { parse } from 'yaml';

import { projectRoot } from '../helpers/project-files.ts';

const read = (name: string): string => readFileSync(path.join(projectRoot, name), 'utf8');

interface Package {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly author: string;
  readonly homepage: string;
  readonly repository: { readonly url: string };
  readonly bugs: { readonly url: string };
}

describe('the metadata of the package', () => {
  const { name, version, description, license, author, homepage, repository, bugs } = JSON.parse(
    read('package.json'),
  ) as Package;
  const base = repository.url.slice('git+'.length, -'.git'.length);

  it('names one repository in package.json', () => {
    expect(repository.url).to.match(/^git\+https:\/\/[\w./-]+\/evenhand\.git$/);
    expect([homepage, bugs.url]).to.deep.equal([`${base}#readme`, `${base}/issues`]);
  });

  it('is the same in CITATION.cff, in the format of version 1.2.0', () => {
    const citation = parse(read('CITATION.cff')) as Record<string, unknown>;
    expect(citation).to.deep.include({
      'cff-version': '1.2.0',
      type: 'software',
      title: name,
      version,
      abstract: description,
      license,
      'repository-code': base,
      authors: [{ name: author }],
    });
    expect(citation['message']).to.be.a('string');
    expect(citation['references']).to.be.an('array').that.is.not.empty;
  });
});

describe('SECURITY.md', () => {
  it('names for each defence a test that exists', () => {
    const rows = read('SECURITY.md')
      .split('\n')
      .filter((line) => line.startsWith('| ') && !/^\| (attack|-)/.test(line));
    expect(rows.length).to.be.above(10);
    for (const row of rows) {
      const tests = [...row.matchAll(/`(test\/[\w./-]+)`/g)].map(([, file]) => file as string);
      expect(tests, row).to.not.be.empty;
      for (const file of tests) expect(existsSync(path.join(projectRoot, file)), file).to.equal(true);
    }
  });
});
