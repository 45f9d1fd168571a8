import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { apiReports } from '../../scripts/api-report.ts';
import { readEntryPoints } from '../../scripts/reference/entry-points.ts';
import { findDrift } from '../../scripts/reference/generated-files.ts';
import { useTemporaryFolder } from '../helpers/run-cli.ts';

const SHAPE = `/** A shape. */
export declare class Shape {
    private readonly cache;
    readonly sides: number;
    /** Returns the area. */
    area(unit?: Unit): number;
}
type Unit = 'm' | 'ft';
export {};
`;

const INDEX = `export { Shape } from './shapes.ts';
/** Reads a shape. */
export declare function readShape(text: string): Shape;
import { Shape } from './shapes.ts';
`;

describe('the API report', function () {
  this.timeout(60_000);
  const folder = useTemporaryFolder();

  async function reportsOf(shape: string): Promise<Map<string, string>> {
    const files = { 'shapes.d.ts': shape, 'index.d.ts': INDEX };
    mkdirSync(folder(), { recursive: true });
    for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder(), name), text);
    return apiReports(
      readEntryPoints(
        new Map([
          ['evenhand', path.join(folder(), 'index.d.ts')],
          ['evenhand/shapes', path.join(folder(), 'shapes.d.ts')],
        ]),
      ),
    );
  }

  it('shows each declaration once, without comments and private members', async () => {
    const reports = await reportsOf(SHAPE);
    expect([...reports.keys()]).to.have.members(['evenhand.api.md', 'shapes.api.md', 'not-exported.api.md']);
    expect(reports.get('evenhand.api.md')).to.include('- `Shape`: see evenhand/shapes');
    expect(reports.get('evenhand.api.md')).to.include('export declare function readShape(text: string): Shape;');
    expect(reports.get('shapes.api.md')).to.include(
      '## Shape\n\n```ts\nexport declare class Shape {\n  readonly sides: number;\n  area(unit?: Unit): number;\n}\n```\n',
    );
    expect(reports.get('not-exported.api.md')).to.include("## Unit\n\n```ts\ntype Unit = 'm' | 'ft';\n```\n");
  });

  it('changes with a type, and not with a comment', async () => {
    const before = await reportsOf(SHAPE);
    expect(await reportsOf(SHAPE.replace('Returns the area.', 'Computes the area.'))).to.deep.equal(before);
    expect(await reportsOf(SHAPE.replace('unit?: Unit', 'unit: Unit'))).to.not.deep.equal(before);
    expect(await reportsOf(SHAPE.replace("'ft'", "'in'"))).to.not.deep.equal(before);
  });
});

describe('the check of generated files', () => {
  const folder = useTemporaryFolder();

  it('names files that differ, are missing, or are no longer generated', () => {
    writeFileSync(path.join(folder(), 'same.md'), 'same');
    writeFileSync(path.join(folder(), 'old.md'), 'old');
    writeFileSync(path.join(folder(), 'changed.md'), 'before');
    const files = new Map([
      ['same.md', 'same'],
      ['changed.md', 'after'],
      ['new.md', 'new'],
    ]);
    expect(findDrift(folder(), files)).to.have.members([
      'changed.md is out of date.',
      'new.md does not exist.',
      'old.md is no longer generated.',
    ]);
  });
});
