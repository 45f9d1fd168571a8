import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { createRandom } from '../../src/internal/random.ts';
import { describeWithReference, referencePath } from '../helpers/reference.ts';
import { runCli, useTemporaryFolder } from '../helpers/run-cli.ts';

const folder = useTemporaryFolder();

/** Writes decisions of people, some without a known sex or race. */
function decisions(): string {
  const random = createRandom(3);
  const lines = Array.from({ length: 600 }, (_, row) => {
    const sex = row % 50 === 0 ? '' : random.next() < 0.5 ? 'f' : 'm';
    const race = row % 60 === 1 ? '' : ['a', 'b', 'c'][random.integer(3)];
    const approved = Number(random.next() < (sex === 'f' ? 0.3 : 0.6));
    return `${sex},${race},${approved},${random.integer(2)},${random.next().toFixed(3)}`;
  });
  // A group that is too small for metrics.
  const file = path.join(folder(), 'people.csv');
  writeFileSync(file, ['sex,race,approved,repaid,fit', ...lines, 'x,a,1,1,0.5', 'x,a,0,1,0.4'].join('\n'));
  return file;
}

const COLUMNS = ['--sex', 'sex', '--race-ethnicity', 'race'];

describe('evenhand impact-ratio', () => {
  it('prints the numbers as JSON, as a table and in reports', async () => {
    const file = decisions();
    const [html, json, markdown] = ['html', 'json', 'md'].map((end) => path.join(folder(), `audit.${end}`));
    const args = ['impact-ratio', '--csv', file, '--selected', 'approved', ...COLUMNS];
    const { code, stdout } = await runCli([
      ...args,
      ...['--exclude-below', '0.02', '--justification', 'two people', '--json'],
      ...['--out', html as string, '--out', json as string, '--out', markdown as string],
    ]);
    expect(code).to.equal(0);
    const body = JSON.parse(stdout) as {
      n: number;
      tables: {
        by: string;
        unknown: number;
        categories: { category: string[]; applicants: number; is_excluded: boolean }[];
      }[];
    };
    expect(JSON.parse(readFileSync(json as string, 'utf8'))).to.deep.equal(body);
    const rows = readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => line.split(','));
    expect(body.n).to.equal(rows.length);
    expect(body.tables.map(({ by }) => by)).to.deep.equal(['sex', 'race_ethnicity', 'sex_and_race_ethnicity']);
    expect(body.tables.map(({ unknown }) => unknown)).to.deep.equal([
      rows.filter(([sex]) => sex === '').length,
      rows.filter(([, race]) => race === '').length,
      rows.filter(([sex, race]) => sex === '' || race === '').length,
    ]);
    for (const { category, applicants, is_excluded: isExcluded } of body.tables[2]?.categories ?? []) {
      const own = rows.filter(([sex, race]) => sex === category[0] && race === category[1]);
      expect(applicants).to.equal(own.length);
      expect(isExcluded).to.equal(own.length / rows.length < 0.02);
    }
    const text = readFileSync(markdown as string, 'utf8');
    expect(text).to.include('Justification: two people').and.include('excluded');
    expect(readFileSync(html as string, 'utf8')).to.include('Impact ratio');
    const shown = await runCli(args);
    expect(shown.stdout).to.include('Four-fifths rule').and.include('How to read this');
  });

  it('warns if the category with the highest rate has few applicants', async () => {
    const file = path.join(folder(), 'few.csv');
    const rows = Array.from({ length: 400 }, (_, row) => `${row % 2 === 0 ? 'f' : 'm'},a,${String(row % 3 === 0 ? 1 : 0)}`); // prettier-ignore
    writeFileSync(file, ['sex,race,approved', ...rows, ...Array.from({ length: 3 }, () => 'd,a,1')].join('\n'));
    const { stdout } = await runCli(['impact-ratio', '--csv', file, '--selected', 'approved', ...COLUMNS]);
    const warnings = stdout
      .replaceAll(/\s+/g, ' ')
      .match(/highest rate: d(?:, a)?\. Warning: it has 3 applicants, so that/g);
    expect(warnings).to.have.length(2);
  });

  it('notes what may be meant in another sense: rejections, unknown people, numbers of people, codes, short names', async () => {
    const notesOf = async (
      header: string,
      lines: readonly string[],
      outcome = '--selected',
      more: string[] = [],
    ): Promise<string> => {
      // prettier-ignore
      const file = path.join(folder(), 'noted.csv');
      writeFileSync(file, [header, ...lines].join('\n'));
      const [, , name = ''] = header.split(',');
      const { stdout } = await runCli(['impact-ratio', '--csv', file, outcome, name, ...COLUMNS, ...more, '--json']);
      return ((JSON.parse(stdout) as { notes?: string[] }).notes ?? []).join('\n');
    };
    const people = (line: (row: number) => string): string[] => Array.from({ length: 300 }, (_, row) => line(row));
    const sex = (row: number): string => 'fm'[row % 2] ?? '';
    const chosen = (row: number): string => String(Number(row % 5 < 2));
    expect(
      await notesOf(
        'sex,race,chosen',
        people((row) => `${sex(row)},a,${chosen(row)}`),
      ),
    ).to.equal('');
    expect(
      await notesOf(
        'sex,race,rejected',
        people((row) => `${sex(row)},a,${chosen(row)}`),
      ),
    ).to.match(/^column 'rejected' seems to hold unfavourable decisions/);
    expect(await notesOf('sex,race,chosen', people((row) => `${row % 9 === 0 ? 'Unknown' : sex(row)},a,${chosen(row)}`))).to.match(/^groups of 'sex' have names that often mean a missing value: 'Unknown' \(34 rows\)/); // prettier-ignore
    expect(await notesOf('sex,race,chosen', people((row) => `${sex(row)},a,${row % 2 === 0 && row % 3 === 0 ? '' : chosen(row)}`))).to.match(/^rows without an outcome are not equally common in all categories of 'sex' \(p < 0.001\): 33.3% of f, 0.0% of m\. If they are people/); // prettier-ignore
    expect(await notesOf('sex,race,chosen', people((row) => `${sex(row)},a,${row % 2 === 0 ? '' : chosen(row)}`))).to.match(/^no row of 1 category of 'sex' has an outcome, so that there is no rate: 'f'\. If they are people/); // prettier-ignore
    const decided = (row: number): string => (row % 5 < 2 ? 'rejected' : 'hired');
    expect(await notesOf('sex,race,chosen', people((row) => `${sex(row)},a,${decided(row)}`), '--selected', ['--positive-label', 'rejected'])).to.match(/^'rejected' counts as the positive label, and 'hired' as a negative one/); // prettier-ignore
    expect(await notesOf('sex,race,chosen', people((row) => `${sex(row)},a,${decided(row)}`), '--selected', ['--positive-label', 'hired'])).to.equal(''); // prettier-ignore
    expect(await notesOf('sex,race,chosen,n', people((row) => `${sex(row)},a,${chosen(row)},${String(row % 7)}`))).to.match(/^column 'n' looks like the number of people .* write one row for each person$/); // prettier-ignore
    expect(await notesOf('sex,race,fit', people((row) => `${sex(row)},a,${row % 9 === 0 ? '999' : String(row % 50)}`), '--score')).to.match(/^the score 999 occurs 34 times/); // prettier-ignore
    expect(await notesOf('sex,race,chosen', people((row) => `${['f', 'm', 'female'][row % 3] ?? ''},a,${chosen(row)}`))).to.match(/^groups of 'sex' may be one group each: 'f' and 'female'/); // prettier-ignore
  });

  it('takes scores, and rejects what the rule does not allow', async () => {
    const csv = ['impact-ratio', '--csv', decisions()];
    const scores = await runCli([...csv, '--score', 'fit', ...COLUMNS, '--json']);
    expect(scores.code).to.equal(0);
    expect(JSON.parse(scores.stdout)).to.include({ kind: 'scoring' });
    for (const [args, problem] of [
      [['--selected', 'approved', '--score', 'fit', ...COLUMNS], /--selected for decisions, or --score/],
      [COLUMNS, /--selected \(or --score\)/],
      [['--selected', 'approved', ...COLUMNS, '--exclude-below', '0.02'], /justification/],
      [['--selected', 'approved', ...COLUMNS, '--exclude-below', '0.1', '--justification', 'x'], /--exclude-below/],
      [['--selected', 'approved', '--sex', 'gender', '--race-ethnicity', 'race'], /gender/],
      [['--selected', 'fit', ...COLUMNS], /fit/],
    ] as const) {
      const { code, stderr } = await runCli([...csv, ...args]);
      expect(code, args.join(' ')).to.equal(2);
      expect(stderr).to.match(problem);
    }
  });
});

describe('evenhand impact-ratio, for people with several rows', () => {
  it('counts rows, and says so', async () => {
    const file = path.join(folder(), 'several.csv');
    const rows = Array.from({ length: 600 }, (_, row) =>
      [`p${String(row % 200)}`, row % 2 === 0 ? 'f' : 'm', row % 3 === 0 ? 'a' : 'b', row % 5 < 2 ? 1 : 0].join(','),
    );
    writeFileSync(file, ['person,sex,race,hired', ...rows].join('\n'));
    const args = ['impact-ratio', '--csv', file, '--selected', 'hired', ...COLUMNS];
    const note =
      "olumn 'person' has about 3.0 rows for each of its values, and each row is counted. If a value stands for one person, keep one row for each person; 'evenhand validate' with --cluster person compares rates with several rows per person";
    const { stdout } = await runCli(args);
    const text = stdout.replaceAll(/\s+/g, ' ');
    expect(text).to.include(`C${note}.`).and.include('600 rows with a decision').and.not.include('600 people');
    expect((JSON.parse((await runCli([...args, '--json'])).stdout) as { notes: string[] }).notes).to.deep.equal([
      `c${note}`,
    ]);
    const alone = await runCli([...args.slice(0, -1), 'person', '--json']);
    expect(JSON.parse(alone.stdout)).to.not.have.property('notes');
  });
});

describe('evenhand model-card', () => {
  const SECTIONS = [
    ...['Model details', 'Intended use', 'Factors', 'Metrics', 'Evaluation data', 'Training data'],
    ...['Quantitative analyses', 'Ethical considerations', 'Caveats and recommendations'],
  ];

  async function validated(): Promise<string> {
    const result = path.join(folder(), 'result.json');
    const args = ['--y-pred', 'approved', '--y-true', 'repaid', '--sensitive', 'sex', '--sensitive', 'sex,race'];
    await runCli(['validate', '--csv', decisions(), ...args, '--metric', 'demographic_parity_difference<=0.1', '--metric', 'equalized_odds_difference', '--out', result]); // prettier-ignore
    return result;
  }

  it('has all sections of the paper, every number of the result, and marks for a person', async () => {
    const result = await validated();
    const [markdown, html] = ['md', 'html'].map((end) => path.join(folder(), `card.${end}`));
    const { code, stdout } = await runCli(['model-card', result, '--name', 'Loans <b>1</b>', '--out', markdown as string, '--out', html as string, '--json']); // prettier-ignore
    expect(code).to.equal(0);
    const text = readFileSync(markdown as string, 'utf8');
    const titles = [...text.matchAll(/^## (.*)$/gm)].map(([, title]) => title);
    expect(titles.slice(0, 9)).to.deep.equal(SECTIONS);
    const plain = text.replaceAll('\\', '');
    const { attributes, manifest } = JSON.parse(readFileSync(result, 'utf8')) as {
      attributes: Record<string, { metrics: Record<string, Record<string, never>> }>;
      manifest: { inputs: { sha256: string }[] };
    };
    expect(plain).to.include(manifest.inputs[0]?.sha256);
    for (const [attribute, { metrics }] of Object.entries(attributes)) {
      expect(plain).to.include(`results by ${attribute}`);
      for (const metric of Object.values(metrics)) {
        const {
          value,
          ci,
          n_per_group: sizes,
          per_group: groups,
          excluded,
        } = metric as unknown as {
          value: number;
          ci: [number, number];
          n_per_group: Record<string, number>;
          per_group: Record<string, Record<string, number>>;
          excluded: Record<string, { n: number; reason: string }>;
        };
        expect(plain)
          .to.include(value.toFixed(4))
          .and.include(`${ci[0].toFixed(4)} to ${ci[1].toFixed(4)}`);
        for (const [group, n] of Object.entries(sizes)) {
          expect(plain).to.match(new RegExp(`\\| ${group.replaceAll('|', '\\|')} +\\| ${n} `));
          for (const rate of Object.values(groups[group] ?? {}))
            expect(plain).to.include(`${(100 * rate).toFixed(2)}%`);
        }
        for (const [group, { reason }] of Object.entries(excluded)) expect(plain).to.include(group).and.include(reason);
      }
    }
    for (const title of ['Intended use', 'Training data', 'Ethical considerations']) {
      expect(text.slice(text.indexOf(`## ${title}`)).split('\n## ')[0]).to.include('To be filled in by');
    }
    expect(text).to.not.match(/\*\*(?:undefined|null)|\bNaN\b|\| (?:undefined|null)/);
    expect(readFileSync(html as string, 'utf8'))
      .to.include('Loans &lt;b&gt;1')
      .and.not.include('Loans <b>');
    const { sections } = JSON.parse(stdout) as { sections: { section: string; to_fill: string[] }[] };
    expect(sections.map(({ section }) => section)).to.deep.equal(SECTIONS);
    expect(sections[1]?.to_fill).to.have.lengthOf(3);
  });

  it('describes the final model of a workflow', async () => {
    await runCli(['sample-data', 'cps-wages'], { cwd: folder() });
    const run = await runCli(['run-pipeline', '--config', 'cps-wages', '--csv', 'cps-wages.csv', '--output-dir', 'out', '--quiet', '--json'], { cwd: folder() }); // prettier-ignore
    const workflow = path.join(folder(), 'workflow.json');
    writeFileSync(workflow, run.stdout);
    const { final_metrics: final, split } = JSON.parse(run.stdout) as {
      final_metrics: { attributes: { gender: { demographic_parity_difference: { value: number } } } };
      split: { n_train: number; n_test: number };
    };
    const card = path.join(folder(), 'workflow.md');
    expect((await runCli(['model-card', workflow, '--out', card])).code).to.equal(0);
    const text = readFileSync(card, 'utf8');
    expect(text).to.include(final.attributes.gender.demographic_parity_difference.value.toFixed(4));
    expect(text).to.include(`Rows for training: **${split.n_train}**`);
    expect(text).to.include(`Rows held out for evaluation: **${split.n_test}**`);
    expect(text).to.include('Rows read: **534** (with those for training)').and.include('Method: **reductions**');
  });

  it('says that the result was changed after it was written', async () => {
    const result = await validated();
    const card = path.join(folder(), 'card.md');
    const cardOf = async (): Promise<string> => {
      expect((await runCli(['model-card', result, '--out', card])).code).to.equal(0);
      return readFileSync(card, 'utf8').replaceAll('\\', '');
    };
    expect(await cardOf()).not.to.include('is not as it was written');
    const body = JSON.parse(readFileSync(result, 'utf8')) as { passed: boolean | null };
    writeFileSync(result, JSON.stringify({ ...body, passed: body.passed !== true }));
    expect(await cardOf()).to.include('is not as it was written, so that its numbers may be wrong. The results were changed'); // prettier-ignore
  });

  it('rejects files that are no results', async () => {
    const other = path.join(folder(), 'other.json');
    for (const [content, problem] of [
      ['{"metrics": 3}', /not a result of validate/],
      ['[1]', /not a result of validate/],
      ['no json', /not a result of validate/],
      ['{"attributes": {"sex": {"metrics": {"m": {"value": "x"}}}}}', /not a result of validate/],
    ] as const) {
      writeFileSync(other, content);
      const { code, stderr } = await runCli(['model-card', other]);
      expect(code, content).to.equal(2);
      expect(stderr).to.match(problem);
    }
    const missing = await runCli(['model-card', path.join(folder(), 'none.json')]);
    expect(missing.code).to.equal(2);
    expect(missing.stderr).to.match(/none\.json/);
    expect((await runCli(['model-card'])).code).to.equal(2);
    const own = await runCli(['model-card', await validated(), '--out', path.join(folder(), 'result.json')]);
    expect(own.code).to.equal(2);
  });
});

describeWithReference('the model card of the Adult data', () => {
  it('has the counts and rates of every group, as plain counts give them', async () => {
    const file = referencePath('data/adult.test.csv');
    const [header = '', ...lines] = readFileSync(file, 'utf8').trim().split('\n');
    const names = header.trim().split(',');
    const rows = lines.map((line) => line.trim().split(','));
    const [sex, race, income] = ['sex', 'race', 'income-per-year'].map((name) => names.indexOf(name)) as [number, number, number]; // prettier-ignore
    const result = path.join(folder(), 'adult.json');
    const markdown = path.join(folder(), 'adult.md');
    const groups = ['--sensitive', 'sex', '--sensitive', 'race', '--sensitive', 'sex,race'];
    await runCli(['validate', '--csv', file, '--y-pred', 'income-per-year', '--positive-label', '>50K', ...groups, '--min-group-size', '60', '--out', result]); // prettier-ignore
    expect((await runCli(['model-card', result, '--out', markdown])).code).to.equal(0);
    const text = readFileSync(markdown, 'utf8').replaceAll('\\', '');
    expect(text).to.include(`Rows read: **${rows.length.toLocaleString('en-US')}**`);
    const counts = new Map<string, [n: number, positive: number]>();
    for (const row of rows) {
      for (const group of [row[sex], row[race], `${row[sex] ?? ''}||${row[race] ?? ''}`]) {
        const [n, positive] = counts.get(group as string) ?? [0, 0];
        counts.set(group as string, [n + 1, positive + Number(row[income] === '>50K')]);
      }
    }
    expect(counts.size).to.equal(2 + 5 + 10);
    for (const [group, [n, positive]] of counts) {
      const name = group.replaceAll('|', String.raw`\|`);
      const count = n.toLocaleString('en-US');
      // The table of factors has every group, with the reason if it is excluded.
      expect(text).to.match(new RegExp(`\\| ${name} +\\| ${count} +\\| ${n < 60 ? '[^–]' : '–'}`), group);
      // The table of results has the rate of each group that is compared.
      const rate = ((100 * positive) / n).toFixed(2);
      const shown = new RegExp(`\\| ${name} +\\| ${count} +\\| ${rate}%`).test(text);
      expect(shown, `${group}: ${rate}%`).to.equal(n >= 60);
    }
  });
});

describe('evenhand monitor with strata', () => {
  it('reports gaps within periods and within a column, and resumes from its state', async () => {
    const random = createRandom(5);
    const events = Array.from({ length: 4000 }, (_, index) => {
      const cycle = Math.sin((2 * Math.PI * index) / 1000);
      const isFirst = random.next() < 0.5 + 0.4 * cycle;
      const approved = Number(random.next() < 0.5 + 0.3 * cycle);
      const at = new Date(index * 86_400).toISOString();
      return { at, region: `r${index % 3}`, sex: isFirst ? 'm' : 'f', approved };
    });
    const file = path.join(folder(), 'drift.csv');
    const lines = events.map(({ at, region, sex, approved }) => `${at},${region},${sex},${approved}`);
    writeFileSync(file, ['at,region,sex,approved', ...lines].join('\n'));
    const columns = ['--y-pred', 'approved', '--sensitive', 'sex', '--timestamp', 'at', '--json'];
    const { code, stdout } = await runCli(['monitor', '--csv', file, ...columns, '--within-time', '3600']);
    expect(code).to.equal(1);
    const { alerts, states, metrics } = JSON.parse(stdout) as {
      alerts: { within: { is_reason: boolean; is_above: boolean; n: number }; reason: string }[];
      states: { sex: Record<string, string> };
      metrics: { sex: Record<string, { value: number; n: number }> };
    };
    expect(alerts.length).to.be.at.least(1);
    expect(alerts.every(({ within }) => !within.is_reason && !within.is_above)).to.equal(true);
    expect(alerts[0]?.reason).to.include('Within strata');
    expect(states.sex['demographic_parity_difference_within_strata']).to.equal('within');
    expect(metrics.sex['demographic_parity_difference_within_strata']?.value).to.be.below(0.06);
    const state = path.join(folder(), 'state.json');
    const half = (from: number, to: number): string =>
      events.slice(from, to).map((event) => JSON.stringify(event)).join('\n'); // prettier-ignore
    const stream = ['monitor', ...columns, '--within', 'region', '--state', state];
    const first = await runCli(stream, { input: half(0, 2000) });
    expect(first.code, first.stderr).to.equal(1);
    const second = await runCli(stream, { input: half(2000, 4000) });
    const once = await runCli(['monitor', ...columns, '--within', 'region'], { input: half(0, 4000) });
    const within = (text: string): unknown =>
      (JSON.parse(text) as typeof metrics extends never ? never : { metrics: { sex: Record<string, unknown> } }).metrics
        .sex['demographic_parity_difference_within_strata'];
    expect(within(second.stdout)).to.deep.equal(within(once.stdout));
    const other = await runCli([...stream.slice(0, -4), '--within-time', '60', '--state', state], {
      input: half(0, 1),
    });
    expect(other.code).to.equal(2);
    expect(other.stderr).to.include('within');
    const both = await runCli([...stream, '--within-time', '60'], { input: half(0, 1) });
    expect(both.code).to.equal(2);
    expect(both.stderr).to.match(/--within-time and --within/);
  });
});
