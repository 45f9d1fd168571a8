import { readFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { isAllowed } from '../../scripts/licences.ts';
import { billOfMaterials } from '../../scripts/sbom.ts';
import { bundledPackages, installedPackages } from '../../scripts/third-party.ts';
import { projectRoot } from '../helpers/project-files.ts';

interface Package {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const { version, dependencies, devDependencies } = JSON.parse(
  readFileSync(path.join(projectRoot, 'package.json'), 'utf8'),
) as Package;

describe('the list of third-party packages', () => {
  it('has every dependency, and no package that only development needs', () => {
    const names = installedPackages().map(({ name }) => name);
    expect(names).to.include.members(Object.keys(dependencies));
    expect(names).to.not.include.members(['eslint', 'mocha', 'typescript']);
  });

  it('has the development dependencies that the build bundles or copies', () => {
    const bundled = ['echarts', 'preact', 'redoc', 'swagger-ui-dist', '@expo-google-fonts/inter'];
    expect(Object.keys(devDependencies)).to.include.members(bundled);
    expect(bundledPackages().map(({ name }) => name)).to.include.members([...bundled, 'zrender']);
  });
});

describe('the list of allowed licences', () => {
  for (const [expression, allowed] of [
    ['MIT', true],
    ['Apache-2.0 AND BSL-1.0', true],
    ['(MIT OR GPL-3.0-only)', true],
    ['GPL-3.0-only', false],
    ['MIT AND GPL-3.0-only', false],
    ['UNLICENSED', false],
    ['none', false],
  ] as const) {
    it(`${allowed ? 'allows' : 'rejects'} ${expression}`, () => {
      expect(isAllowed(expression)).to.equal(allowed);
    });
  }

  it('allows all packages that users get', () => {
    const rejected = [...installedPackages(), ...bundledPackages()].filter(({ license }) => !isAllowed(license));
    expect(rejected).to.deep.equal([]);
  });
});

describe('the software bill of materials', () => {
  const bill = billOfMaterials();

  it('lists each package once, in the format of CycloneDX, and is the same each time', () => {
    expect(bill).to.deep.include({ bomFormat: 'CycloneDX', specVersion: '1.5' });
    expect(bill.metadata.component).to.include({ name: 'evenhand', purl: `pkg:npm/evenhand@${version}` });
    const names = bill.components.map(({ name }) => name);
    expect(names).to.include.members([...Object.keys(dependencies), 'echarts', 'preact']);
    const references = bill.components.map((component) => component['bom-ref']);
    expect(new Set(references).size).to.equal(references.length);
    for (const component of bill.components) {
      expect(decodeURIComponent(component.purl)).to.equal(`pkg:npm/${component.name}@${component.version}`);
    }
    expect(billOfMaterials()).to.deep.equal(bill);
  });

  it('has a checksum of each installed package, and reaches each of them from evenhand', () => {
    const hashed = bill.components.filter(({ hashes }) => hashes !== undefined);
    for (const { hashes } of hashed) expect(hashes?.[0]?.content).to.match(/^[0-9a-f]{128}$/);
    const edges = new Map(bill.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
    const reached = new Set(edges.get(`evenhand@${version}`));
    for (const reference of reached) for (const next of edges.get(reference) ?? []) reached.add(next);
    expect([...reached].sort()).to.deep.equal(hashed.map((component) => component['bom-ref']).sort());
  });
});
