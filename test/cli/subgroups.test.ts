import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { createRandom } from '../../src/internal/random.ts';
import { findSubgroups, subgroupsToJson } from '../../src/metrics/index.ts';
import { runCli, useTemporaryFolder } from '../helpers/run-cli.ts';

const folder = useTemporaryFolder();

/** Writes rows of which one site hires less. */
function writeSites(): string {
  const random = createRandom(5);
  const file = path.join(folder(), 'sites.csv');
  const lines = Array.from({ length: 4000 }, () => {
    const [site, sex] = [`<b>s${random.integer(4)}</b>`, random.next() < 0.5 ? 'f' : 'm'];
    const hired = Number(random.next() < (site === '<b>s0</b>' && sex === 'f' ? 0.1 : 0.4));
    return [site, sex, hired, random.next().toFixed(3)].join();
  });
  writeFileSync(file, ['site,sex,hired,score', ...lines, ''].join('\n'));
  return file;
}

const COLUMNS = ['--columns', 'site,sex', '--y-pred', 'hired'];
const LABEL = 'site = <b>s0</b> and sex = f';

describe('evenhand subgroups', () => {
  it('prints the JSON of the library, with a manifest', async () => {
    const file = writeSites();
    const { stdout, stderr, code } = await runCli(['subgroups', '--csv', file, ...COLUMNS, '--json']);
    expect([code, stderr]).to.deep.equal([0, '']);
    const { manifest, ...body } = JSON.parse(stdout) as { manifest: { rows: number; options: object } };
    const found = subgroupsToJson(await findSubgroups(file, { columns: ['site', 'sex'], yPred: 'hired' }));
    expect(body).to.deep.equal(JSON.parse(JSON.stringify(found)));
    expect(manifest.rows).to.equal(4000);
    expect(Object.keys(found.subgroups[0] ?? {})).to.include.members([
      ...['columns', 'label', 'n', 'value', 'rest', 'difference', 'ci', 'p_adjusted'],
    ]);
    expect(found.subgroups[0]).to.include({ label: LABEL }).and.deep.include({ columns: { site: '<b>s0</b>', sex: 'f' } }); // prettier-ignore
    expect(found.searched).to.equal(14);
  });

  it('shows the rows of a subgroup and the tested rows, of which the rate is a whole number', async () => {
    const args = ['subgroups', '--csv', writeSites(), ...COLUMNS];
    const { stdout } = await runCli(args);
    const [, n = '', tested = '', value = ''] =
      /^site = <b>s0<\/b> and sex = f +(\d+) +(\d+) +([\d.]+)%/m.exec(stdout) ?? [];
    expect(stdout).to.match(/^Subgroup +n +Tested +Value/m);
    expect(Number(tested)).to.be.below(0.6 * Number(n));
    const positives = (Number(value) / 100) * Number(tested);
    expect(positives).to.be.closeTo(Math.round(positives), 0.0001 * Number(tested));
    const all = await runCli([...args, '--method', 'max-t', '--samples', '100']);
    expect(all.stdout).to.match(/^Subgroup +n +Value/m);
  });

  it('writes a page with a picture, Markdown and JSON, in which labels are text', async () => {
    const file = writeSites();
    const outputs = ['html', 'md', 'json'].map((form) => path.join(folder(), `report.${form}`));
    const { code } = await runCli([
      'subgroups',
      '--csv',
      file,
      ...COLUMNS,
      ...outputs.flatMap((out) => ['--out', out]),
    ]);
    expect(code).to.equal(0);
    const [html = '', md = '', json = ''] = outputs.map((out) => readFileSync(out, 'utf8'));
    expect(html).to.include('<svg').and.not.include('<b>s0</b>');
    expect(html).to.include('site = &lt;b&gt;s0&lt;/b&gt; and sex = f');
    expect(md).to.include('A difference is not a cause').and.include('Minimum detectable difference');
    expect((JSON.parse(json) as { subgroups: { label: string }[] }).subgroups[0]?.label).to.equal(LABEL);
  });

  it('notes people with several rows, which are in both halves of the data, unless they are the clusters', async () => {
    const file = path.join(folder(), 'people.csv');
    const people = Array.from({ length: 200 }, (_, person) => `${String(person)},${'fm'[person % 2] ?? ''},r${String(person % 3)},${String(Number(person % 7 < 3))}`); // prettier-ignore
    writeFileSync(file, ['person,sex,region,hired', ...people, ...people, ...people].join('\n'));
    const warningsOf = async (...args: string[]): Promise<string> => {
      const given = ['subgroups', '--csv', file, '--y-pred', 'hired', '--columns', 'sex,region', '--json', ...args];
      return (JSON.parse((await runCli(given)).stdout) as { warnings: string[] }).warnings.join('\n');
    };
    expect(await warningsOf()).to.match(/column 'person' has about 3\.0 rows for each of its values\..* name it as the cluster \(--cluster person\)/); // prettier-ignore
    expect(await warningsOf('--cluster', 'person')).not.to.include("column 'person'");
  });

  it('says that nothing was found, and what this does not prove', async () => {
    const args = ['subgroups', '--csv', writeSites(), '--columns', 'site,sex', '--score', 'score'];
    const { stdout, code } = await runCli(args);
    expect(code).to.equal(0);
    expect(stdout).to.match(/No subgroup differs .* distinguishable\s+from chance/s);
    expect(stdout).to.match(/A subgroup that is not reported may differ too/);
  });

  it('names the option that is wrong, and writes nothing', async () => {
    const file = writeSites();
    const out = path.join(folder(), 'none.html');
    for (const [args, message] of [
      [['--columns', 'site,sexes', '--y-pred', 'hired'], /no column 'sexes'/],
      [[...COLUMNS, '--metric', 'accuracy'], /needs true labels \(--y-true\)/],
      [[...COLUMNS, '--score', 'score'], /not both or neither/],
      [['--columns', 'site'], /Missing: --y-pred \(or --score\)/],
      [['--y-pred', 'hired'], /Missing: --columns/],
      [[...COLUMNS, '--max-depth', '9'], /--max-depth/],
      [['--columns', 'score', '--y-pred', 'hired', '--bins', '1'], /--bins/],
    ] as const) {
      const { stderr, code } = await runCli(['subgroups', '--csv', file, ...args, '--out', out]);
      expect([code, stderr]).to.deep.include(2);
      expect(stderr).to.match(message);
      expect(existsSync(out)).to.equal(false);
    }
  });
});
