import { expect } from 'chai';

import { createRandom } from '../../src/internal/random.ts';
import type { Detector, DetectorFinding } from '../../src/pipeline/detectors/detector.ts';
import { DETECTOR_NAMES, DETECTORS } from '../../src/pipeline/detectors/detectors.ts';
import { type DetectorConfig, runDetectors } from '../../src/pipeline/detectors/index.ts';
import { Table, type TableSource } from '../../src/table/index.ts';

const ROWS = 300;
const random = createRandom(5);
const groups = Array.from({ length: ROWS }, () => ['a', 'b', 'c'][random.integer(3)] as string);
const holes = <Value>(values: readonly Value[], share: number) =>
  values.map((value, row) => (random.next() < (groups[row] === 'a' ? share : share / 3) ? null : value));

/** Groups with some columns that differ and some that do not, and with more missing values in one group. */
const DATA = {
  group: groups,
  tied: groups.map((group) => (random.next() < 0.8 ? group : 'd')),
  noise: groups.map(() => random.normal()),
  shifted: groups.map((group) => random.normal() + Number(group === 'b')),
  patchy: holes(groups.map(() => random.integer(4)), 0.4), // prettier-ignore
};
const CONFIG: DetectorConfig = { sensitive: ['group'], benchmarks: { group: { a: 0.5, b: 0.25, c: 0.25 } } };
const SETTINGS = { alpha: 0.05, proxyThreshold: 0.3 };

const RELABELLED: Readonly<Record<string, string>> = { a: 'z', b: 'y', c: 'x' };
const relabel = (label: string) => RELABELLED[label] ?? label;

/** Returns the numbers of a finding without their labels, in sorted order. */
const numbersOf = (value: unknown): number[] =>
  typeof value === 'number'
    ? [value]
    : typeof value === 'object' && value !== null
      ? Object.values(value).flatMap(numbersOf)
      : [];

function expectSameNumbers(actual: readonly DetectorFinding[], expected: readonly DetectorFinding[]): void {
  const sorted = (findings: readonly DetectorFinding[]) => numbersOf(findings).sort((a, b) => a - b);
  const [left, right] = [sorted(actual), sorted(expected)];
  expect(left).to.have.length(right.length);
  left.forEach((value, index) => {
    const other = right[index] as number;
    expect(value).to.be.closeTo(other, 1e-9 * Math.max(Math.abs(other), 1e-12));
  });
}

const DEGENERATE: readonly (readonly [title: string, data: TableSource, config: DetectorConfig])[] = [
  ['one row', { group: ['a'], x: [1] }, CONFIG],
  ['one group', { group: Array<string>(40).fill('a'), x: groups.slice(0, 40) }, CONFIG],
  ['groups that are missing', { group: [null, null], x: [1, 2] }, CONFIG],
  ['no other column', { group: ['a', 'b'] }, CONFIG],
  ['columns without values', { group: ['a', 'b'], x: [null, null] }, CONFIG],
  ['values in one group alone', { group: ['a', 'a', 'b', 'b'], x: ['u', 'v', null, null], y: [1, 2, null, null] }, CONFIG], // prettier-ignore
  ['one row per group', { group: groups.map((_, row) => `g${row}`), x: DATA.noise }, { sensitive: ['group'] }],
  ['no variation within groups', { group: groups, x: groups.map((group) => group.charCodeAt(0)) }, CONFIG],
];

for (const name of DETECTOR_NAMES) {
  const detector = DETECTORS[name] as Detector;
  const findingsOf = async (data: TableSource, config = CONFIG): Promise<readonly DetectorFinding[]> =>
    (await runDetectors(data, config)).body[name];

  describe(`the conformance of the detector of ${name}`, () => {
    it('has the name of its part of the report, and finds something here', async () => {
      expect(detector.name).to.equal(name);
      const findings = await findingsOf(DATA);
      expect(findings).to.have.length.above(0);
      for (const { attribute } of findings) expect(attribute).to.equal('group');
      expect(detector.summarise(findings, SETTINGS)).to.have.length.above(0);
    });

    it('does not change with the order of rows', async () => {
      const table = Table.from(DATA);
      const reversed = table.take(Array.from({ length: ROWS }, (_, row) => ROWS - 1 - row));
      expectSameNumbers(await findingsOf(reversed), await findingsOf(table));
    });

    it('does not change with the names of groups', async () => {
      const renamed = { ...DATA, group: groups.map(relabel) };
      const benchmarks = { group: { z: 0.5, y: 0.25, x: 0.25 } };
      expectSameNumbers(await findingsOf(renamed, { ...CONFIG, benchmarks }), await findingsOf(DATA));
    });

    it('does not change with columns without values', async () => {
      const more = { ...DATA, nothing: groups.map(() => null) };
      expect(await findingsOf(more)).to.deep.equal(await findingsOf(DATA));
    });

    it('gives each finding a severity from 0 to 1, and reports no more than was tested', async () => {
      for (const { text, severity } of detector.summarise(await findingsOf(DATA), SETTINGS)) {
        expect(severity).to.be.within(0, 1);
        expect(text)
          .to.match(/\.$/)
          .and.not.match(/bias|unfair|discriminat|NaN|undefined|Infinity/i);
      }
    });

    it('creates tables whose rows are as wide as their header', async () => {
      const { title, intro, tables } = detector.section(await findingsOf(DATA), SETTINGS);
      expect(title).to.not.equal('');
      expect(intro).to.match(/\.$/);
      expect(tables).to.have.length.above(0);
      for (const { header, rows } of tables) {
        for (const cells of rows) expect(cells).to.have.length(header.length);
      }
    });

    for (const [title, data, config] of DEGENERATE) {
      it(`accepts ${title}`, async () => {
        const findings = await findingsOf(data, config);
        const text = JSON.stringify([detector.section(findings, SETTINGS), detector.summarise(findings, SETTINGS)]);
        expect(text).to.not.match(/NaN|Infinity|\[object/);
      });
    }

    it('reports nothing without findings', () => {
      expect(detector.summarise([], SETTINGS)).to.deep.equal([]);
      expect(detector.section([], SETTINGS).tables).to.deep.equal([]);
    });
  });
}
