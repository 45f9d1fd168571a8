import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { countDecisions } from '../../src/io/count-decisions.ts';
import { loadData } from '../../src/io/load-data.ts';
import { validateFile } from '../../src/integration/validate-file.ts';
import { useTemporaryFolder } from '../helpers/run-cli.ts';

describe('labels that are numbers with many digits', function () {
  this.timeout(60_000);
  const folder = useTemporaryFolder();

  function csv(labels: readonly string[]): string {
    const file = path.join(folder(), 'labels.csv');
    writeFileSync(
      file,
      ['group,id,accepted', ...labels.map((label, row) => `${label},${label},${String(row % 2)}`), ''].join('\n'),
    );
    return file;
  }
  async function groupsOf(file: string): Promise<string[]> {
    const request = { attributes: [['group']], yPred: 'accepted', nanPolicy: 'exclude' } as const;
    const [counted] = await countDecisions(file, request);
    return (counted?.groups ?? []).map(({ label }) => label);
  }

  const WIDE = ['12345678901234567890', '12345678901234567891'];
  // The label of each value by hand, as written in the file.
  const cases: readonly (readonly [title: string, labels: readonly string[], expected: readonly string[]])[] = [
    ['whole numbers of 20 digits stay two groups', [...WIDE, ...WIDE], WIDE],
    ['and together with short ones', ['7', ...WIDE], ['7', ...WIDE]],
    [
      'and with a sign or a point',
      ['-12345678901234567890.0', '-12345678901234567891.0'],
      ['-12345678901234567890', '-12345678901234567891'],
    ],
    [
      'whole numbers of 17 digits do',
      ['12345678901234567', '12345678901234568'],
      ['12345678901234567', '12345678901234568'],
    ],
    [
      'also together with a fraction',
      ['12345678901234567', '12345678901234568', '0.5'],
      ['0.5', '12345678901234567', '12345678901234568'],
    ],
    ['ordinary fractions keep their labels', ['1.0', '1', '2.50'], ['1', '2.5']],
    ['powers keep theirs', ['1e300', '1.0'], ['1', '1e+300']],
  ];
  for (const [title, labels, expected] of cases) {
    it(title, async () => {
      expect((await groupsOf(csv(labels))).sort()).to.deep.equal([...expected].sort());
    });
  }

  for (const backend of ['duckdb', 'native'] as const) {
    it(`validateFile compares both groups through ${backend}`, async () => {
      const labels = [...WIDE, ...WIDE, ...WIDE, ...WIDE];
      const file = csv(labels);
      const { attributes } = await validateFile(file, {
        yPred: 'accepted',
        attributes: [['group']],
        minGroupSize: 1,
        backend,
      });
      // All rows of one group are 0, all rows of the other are 1.
      expect(attributes['group']?.['demographic_parity_difference']?.value).to.equal(1);
    });
  }

  it('loadData reads only the columns that name groups as text', async () => {
    for (const labels of [WIDE, ['12345678901234567', '12345678901234568']]) {
      const table = await loadData(csv(labels), { labels: ['group'] });
      const group = table.column('group');
      expect(group.kind === 'categorical' && [...group.labels].sort()).to.deep.equal(labels);
      expect(table.column('id').kind).to.equal('numeric');
    }
    const ordinary = await loadData(csv(['1.0', '2.5']), { labels: ['group'] });
    expect(ordinary.column('group').kind).to.equal('numeric');
  });
});
