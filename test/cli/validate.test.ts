import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { loadData } from '../../src/io/index.ts';
import type { MetricResultJson } from '../../src/metrics/index.ts';
import { describeWithReference, readVectors, referencePath } from '../helpers/reference.ts';
import { joinLines, runCli, useTemporaryFolder } from '../helpers/run-cli.ts';

interface ValidationJson {
  readonly passed: boolean | null;
  readonly threshold: number | null;
  readonly verdict?: { readonly status: string } | null;
  readonly metrics?: Record<string, MetricResultJson>;
  readonly attributes?: Record<
    string,
    { readonly passed: boolean | null; readonly metrics: Record<string, MetricResultJson> }
  >;
}

const folder = useTemporaryFolder();

async function validateJson(
  args: readonly string[],
): Promise<{ code: number | null; body: ValidationJson; stderr: string }> {
  const { code, stdout, stderr } = await runCli(['validate', ...args, '--json']);
  return { code, body: JSON.parse(stdout) as ValidationJson, stderr };
}

/** Writes 40 women of whom 10 are selected, 40 men of whom 20 are selected, and 5 others. */
function makeFile(): string {
  const rows = (sex: string, n: number, selected: number): string[] =>
    Array.from({ length: n }, (_, row) => `${sex},${Number(row < selected)},${row % 2}`);
  const file = path.join(folder(), 'decisions.csv');
  writeFileSync(file, ['sex,p,y', ...rows('f', 40, 10), ...rows('m', 40, 20), ...rows('x', 5, 5)].join('\n'));
  return file;
}

describe('evenhand validate with clusters', () => {
  /** Writes 10 equal rows for each of 60 people; every second woman and two of three men are selected. */
  function people(): string {
    const rows = Array.from({ length: 600 }, (_, row) => {
      const person = Math.floor(row / 10);
      const isWoman = person % 2 === 0;
      return `p${String(person)},${isWoman ? 'f' : 'm'},${Number(isWoman ? person % 4 === 0 : person % 6 !== 1)},${row % 3 === 0 ? 'north' : 'south'}`;
    });
    const file = path.join(folder(), 'people.csv');
    writeFileSync(file, ['person,sex,p,region', ...rows].join('\n'));
    return file;
  }
  const args = (): string[] => ['--csv', people(), '--y-pred', 'p', '--sensitive', 'sex'];

  it('has the interval and the verdict of the people, not of their rows', async () => {
    const gate = ['--metric', 'demographic_parity_difference', '--threshold', '0.1', '--with-p-value'];
    const rows = (await validateJson([...args(), ...gate])).body.metrics?.['demographic_parity_difference'];
    const clustered = (await validateJson([...args(), ...gate, '--cluster', 'person'])).body.metrics;
    const people = clustered?.['demographic_parity_difference'];
    // One row for each person: 15 of 30 women, and 20 of 30 men.
    expect(people?.value).to.be.closeTo(1 / 6, 1e-12);
    expect(people?.n_clusters).to.deep.equal({ f: 30, m: 30 });
    expect([rows?.ci?.[0] ?? 0, people?.ci?.[0]]).to.satisfy(([a, b]: number[]) => (a as number) > 0.05 && b === 0);
    expect([people?.ci_method, people?.p_value_method]).to.deep.equal(['cluster-t', 'cluster-t']);
    // Student's t of the 58 degrees of freedom: (1 / 6) / sqrt((1 / 4 + 2 / 9) / 29) = 1.306.
    expect(people?.p_value).to.be.closeTo(0.2, 0.02);
  });

  it('shows the number of clusters, and suggests them for a column that looks like people', async () => {
    const { stdout } = await runCli(['validate', ...args(), '--cluster', 'person']);
    expect(stdout)
      .to.match(/Group +n +Clusters/)
      .and.not.to.contain('--cluster person');
    const plain = await runCli(['validate', ...args()]);
    expect(plain.stdout.replaceAll(/\s+/g, ' ')).to.contain(
      "Column 'person' has about 10.0 rows for each of its values.",
    );
    expect(plain.stdout).to.contain('--cluster person');
  });

  it('says in each report which column weighs the rates', async () => {
    const file = path.join(folder(), 'weighted.csv');
    const rows = Array.from({ length: 200 }, (_, row) => ['fm'[row % 2], row % 3 ? 1 : 0, 1 + (row % 4)].join(','));
    writeFileSync(file, ['sex,y,importance', ...rows].join('\n'));
    const out = path.join(folder(), 'weighted.md');
    const common = ['validate', '--csv', file, '--y-pred', 'y', '--sensitive', 'sex', '--out', out];
    const weighted = await runCli([...common, '--sample-weight', 'importance']);
    const said = "rates weighted by 'importance', n without weights";
    expect(joinLines(weighted.stdout)).to.include(said);
    expect(readFileSync(out, 'utf8')).to.include(said);
    expect(joinLines((await runCli(common)).stdout)).to.not.include('weighted by');
    const counts = path.join(folder(), 'weighted-counts.csv');
    writeFileSync(
      counts,
      'sex,decision,n,weight,weight_squared\nf,0,40,40,40\nf,1,60,90,140\nm,0,50,50,50\nm,1,50,50,50\n',
    );
    const counted = await runCli(['validate', '--counts', counts, '--sensitive', 'sex']);
    expect(joinLines(counted.stdout)).to.include("rates weighted by 'weight', n without weights");
  });

  it('quotes the column that it suggests for a shell, and suggests no column of measured numbers', async () => {
    const file = path.join(folder(), 'patients.csv');
    const rows = Array.from({ length: 600 }, (_, row) =>
      [row % 60, row % 60, 20 + (row % 50), (row % 40) / 8, 'fm'[row % 2], row % 3 ? 1 : 0].join(','),
    );
    writeFileSync(file, ["patient's id,subject,patient age,session time,sex,y", ...rows].join('\n'));
    const { stdout } = await runCli(['validate', '--csv', file, '--y-pred', 'y', '--sensitive', 'sex']);
    const text = stdout.replaceAll(/\s+/g, ' ');
    expect(text).to.include("Column 'patient's id' has about 10.0 rows").and.include("(--cluster 'patient'\\''s id')");
    expect(text).to.include('(--cluster subject)');
    expect(text).to.not.include('patient age').and.not.include('session time');
  });

  it('suggests no column of rounded scores or percentages, also beside other texts', async () => {
    const file = path.join(folder(), 'scores.csv');
    const rows = Array.from({ length: 600 }, (_, row) => {
      const score = (row % 199) / 2 + 0.1;
      return [
        ...[row % 9 === 0 ? 'unknown' : score.toFixed(1), `${score.toFixed(0)}%`, row % 7 === 0 ? 'NA' : row % 100],
        ...[`p${String(row % 60)}`, 'fm'[row % 2], row % 3 ? 1 : 0],
      ].join(',');
    });
    writeFileSync(file, ['score_pct,patient_pct,points,reader,sex,y', ...rows].join('\n'));
    const { stdout } = await runCli(['validate', '--csv', file, '--y-pred', 'y', '--sensitive', 'sex']);
    expect(stdout.match(/--cluster \S+/g)).to.deep.equal(['--cluster reader),']);
  });

  it('notes a file without a line of names, whose first row is not counted', async () => {
    const file = path.join(folder(), 'headerless.csv');
    const rows = Array.from({ length: 120 }, (_, row) => `${'fm'[row % 2]},${row % 3 ? 1 : 0},${(row / 7).toFixed(3)}`);
    const note =
      /The first line of .*headerless\.csv looks like data and not like names of columns: 'f', '0', '0\.000'\./;
    const notesFor = async (lines: readonly string[], ...roles: readonly [string, string]): Promise<string> => {
      writeFileSync(file, lines.join('\n'));
      const { stdout } = await runCli(['validate', '--csv', file, '--y-pred', roles[0], '--sensitive', roles[1]]);
      return stdout.replaceAll(/\s+/g, ' ');
    };
    expect(await notesFor(rows, '0', 'f')).to.match(note);
    expect(await notesFor(['sex,p,x', ...rows], 'p', 'sex')).not.to.include('looks like data');
    // Two files with the same names that were joined.
    const joined = ['sex,p,x', ...rows, 'sex,p,x', ...rows].map((line) => line.replace(/,1,/, ',yes,').replace(/,0,/, ',no,')); // prettier-ignore
    expect(await notesFor(joined, 'p', 'sex')).not.to.include('looks like data');
    // Years are names of columns if the other names are names.
    expect(await notesFor(['sex,2026,2027', ...rows], '2026', 'sex')).not.to.include('looks like data');
  });

  it('finds people whose rows are far from each other, also with letters of several bytes', async () => {
    const file = path.join(folder(), 'far.csv');
    const rows = Array.from(
      { length: 4000 },
      (_, row) => `Zoë-${String(row % 2000)},${'fm'[row % 2]},${row % 3 ? 1 : 0}`,
    );
    writeFileSync(file, ['person,sex,y', ...rows].join('\n'));
    const { stdout } = await runCli(['validate', '--csv', file, '--y-pred', 'y', '--sensitive', 'sex']);
    expect(stdout.replaceAll(/\s+/g, ' ')).to.include("Column 'person' has about 2.0 rows for each of its values.");
  });

  const REFUSALS: readonly (readonly [string, string[], RegExp])[] = [
    ['an unknown column', ['--cluster', 'persn'], /no column 'persn'.*'person'/],
    ['small cells', ['--cluster', 'person', '--min-cell', '5'], /remove --min-cell, or --cluster and --strata/],
  ];
  for (const [what, own, message] of REFUSALS) {
    it(`rejects ${what} on one line`, async () => {
      const { code, stderr } = await runCli(['validate', ...args(), ...own]);
      expect(stderr.trimEnd()).to.match(message).and.not.to.contain('\n');
      expect(code).to.equal(2);
    });
  }
});

describe('evenhand validate', () => {
  it('shows labels that differ only by spaces in quotes', async () => {
    const file = path.join(folder(), 'spaces.csv');
    const rows = Array.from({ length: 300 }, (_, row) => `${['male', 'male ', 'female'][row % 3] ?? ''},${row % 2}`);
    writeFileSync(file, ['sex,p', ...rows].join('\n'));
    const { stdout } = await runCli(['validate', '--csv', file, '--y-pred', 'p', '--sensitive', 'sex']);
    expect(stdout).to.match(/^female +100 /m);
    expect(stdout).to.match(/^'male' +100 /m);
    expect(stdout).to.match(/^'male ' +100 /m);
  });

  it('says which label is positive: a ratio passes for one label and fails for the other', async () => {
    const file = path.join(folder(), 'answers.csv');
    const rows = (sex: string, yes: number): string[] =>
      Array.from({ length: 50 }, (_, row) => `${sex},${row < yes ? 'ja' : 'nein'}`);
    writeFileSync(file, ['sex,p', ...rows('f', 10), ...rows('m', 15)].join('\n'));
    const args = ['validate', '--csv', file, '--y-pred', 'p', '--sensitive', 'sex', '--metric', 'demographic_parity_ratio>=0.8', '--positive-label']; // prettier-ignore
    const [yes, no] = [await runCli([...args, 'ja']), await runCli([...args, 'nein'])];
    expect(yes).to.include({ code: 1 }).with.property('stdout').that.includes("decisions: 'ja' is positive");
    expect(no).to.include({ code: 0 }).with.property('stdout').that.includes("decisions: 'nein' is positive");
  });

  it('prints rates, the difference and the excluded groups', async () => {
    const { code, stdout } = await runCli(['validate', '--csv', makeFile(), '--y-pred', 'p', '--sensitive', 'sex']);
    expect(stdout).to.match(/^Demographic parity difference +0\.2500 /m);
    expect(stdout).to.include('x (5 rows): fewer than 30 rows');
    expect(code).to.equal(0);
  });

  it('exits with 0 below the threshold and with 1 above it, and prints the verdict', async () => {
    const gate = (threshold: string) =>
      runCli([
        'validate',
        '--csv',
        makeFile(),
        '--y-pred',
        'p',
        '--sensitive',
        'sex',
        '--metric',
        'demographic_parity_difference',
        '--threshold',
        threshold,
      ]);
    const [pass, fail] = [await gate('0.25'), await gate('0.2')];
    expect([pass.code, fail.code]).to.deep.equal([0, 1]);
    expect(pass.stdout).to.include('PASS: demographic_parity_difference 0.2500 <= 0.25.');
    expect(fail.stdout).to.include('FAIL: demographic_parity_difference 0.2500 > 0.2.');
  });

  it('is undefined with a reason for one group, and exits with 1 with a threshold and 0 without', async () => {
    const file = path.join(folder(), 'one-group.csv');
    writeFileSync(file, ['sex,p', ...Array<string>(40).fill('f,1')].join('\n'));
    const args = ['--csv', file, '--y-pred', 'p', '--sensitive', 'sex'];
    const gated = await validateJson([...args, '--metric', 'demographic_parity_difference', '--threshold', '0.9']);
    expect(gated.code).to.equal(1);
    expect(gated.body.passed).to.equal(false);
    expect(gated.body.verdict?.status).to.equal('undefined');
    expect(gated.body.metrics?.['demographic_parity_difference']).to.include({
      value: null,
      undefined_reason: 'only one group with at least 30 rows; two are needed, or a smaller minimum group size',
    });
    const free = await validateJson(args);
    expect([free.code, free.body.passed]).to.deep.equal([0, null]);
  });

  it('analyses repeated attributes separately and a comma-separated list together; the gate uses the worst value', async () => {
    const file = path.join(folder(), 'two.csv');
    const rows = Array.from({ length: 400 }, (_, row) => {
      const [sex, race] = [row % 2 ? 'f' : 'm', row % 4 < 2 ? 'x' : 'y'];
      return `${sex},${race},${Number(race === 'x' ? row % 8 === 0 : true)}`;
    });
    writeFileSync(file, ['sex,race,p', ...rows].join('\n'));
    const gate = ['--metric', 'demographic_parity_difference', '--threshold', '0.6'];
    const { code, body } = await validateJson([
      '--csv',
      file,
      '--y-pred',
      'p',
      '--sensitive',
      'sex',
      '--sensitive',
      'race',
      '--sensitive',
      'sex,race',
      ...gate,
    ]);
    const value = (name: string) => body.attributes?.[name]?.metrics['demographic_parity_difference']?.value;
    // Selected are 50 of 200 in x, all in even rows and therefore men, and all 200 in y.
    expect(value('race')).to.be.closeTo(0.75, 1e-12);
    expect(value('sex')).to.be.closeTo(150 / 200 - 100 / 200, 1e-12);
    expect(value('sex||race')).to.equal(1);
    expect([code, body.passed]).to.deep.equal([1, false]);
    expect(body.attributes?.['sex']?.passed).to.equal(true);
    expect(body.attributes?.['race']?.passed).to.equal(false);
  });

  it('keeps its verdict if the reader of its output closes early', async () => {
    const cli = path.resolve(import.meta.dirname, '../../dist/cli/main.js');
    const file = path.join(folder(), 'many-groups.csv');
    const rows = Array.from({ length: 90_000 }, (_, row) => `group ${row % 3000},${Number(row % 7 === 0)}`);
    writeFileSync(file, ['s,p', ...rows].join('\n'));
    const gate = ['--metric', 'demographic_parity_difference', '--threshold', '0.01'];
    const args = [cli, 'validate', '--csv', file, '--y-pred', 'p', '--sensitive', 's', ...gate];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] });
    child.stdout.once('data', () => child.stdout.destroy());
    const code = await new Promise((resolve) => child.on('close', resolve));
    expect(code).to.equal(1);
  });

  it('shows labels unchanged, without control characters for the terminal or markup in the report', async () => {
    const file = path.join(folder(), 'labels.csv');
    const labels = ['\u001b[31mred', '**bold**', '<script>'];
    writeFileSync(file, ['s,p', ...Array.from({ length: 120 }, (_, row) => `${labels[row % 3] ?? ''},1`)].join('\n'));
    const out = path.join(folder(), 'labels.md');
    const { stdout } = await runCli(['validate', '--csv', file, '--y-pred', 'p', '--sensitive', 's', '--out', out]);
    expect(stdout).to.not.include('\u001b');
    expect(stdout).to.include('**bold**').and.include('<script>');
    expect(readFileSync(out, 'utf8')).to.include('\\*\\*bold\\*\\*').and.include('\\<script\\>');
  });

  it('turns scores into decisions at a threshold', async () => {
    const file = path.join(folder(), 'scores.csv');
    writeFileSync(
      file,
      ['sex,score', ...Array.from({ length: 80 }, (_, row) => `${row % 2 ? 'f' : 'm'},${row / 80}`)].join('\n'),
    );
    const { body } = await validateJson([
      '--csv',
      file,
      '--score',
      'score',
      '--score-threshold',
      '0.9',
      '--sensitive',
      'sex',
    ]);
    expect(body.metrics?.['demographic_parity_difference']?.per_group).to.deep.equal({
      f: { selection_rate: 0.1 },
      m: { selection_rate: 0.1 },
    });
  });

  it('measures regression on request', async () => {
    const file = path.join(folder(), 'regression.csv');
    writeFileSync(
      file,
      ['sex,p,y', ...Array.from({ length: 80 }, (_, row) => (row % 2 ? 'f,1.5,1' : 'm,3,1'))].join('\n'),
    );
    const { body } = await validateJson([
      '--csv',
      file,
      '--y-pred',
      'p',
      '--y-true',
      'y',
      '--sensitive',
      'sex',
      '--metric',
      'mae_parity_difference',
      '--with-ci',
    ]);
    expect(body.metrics?.['mae_parity_difference']).to.include({ value: 1.5 });
    expect(body.metrics?.['mae_parity_difference']?.ci).to.deep.equal([1.5, 1.5]);
  });

  it('writes a Markdown report with a verdict section, and a JSON report equal to --json', async () => {
    const markdown = path.join(folder(), 'reports/report.md');
    const json = path.join(folder(), 'reports/report.json');
    const args = [
      'validate',
      '--csv',
      makeFile(),
      '--y-pred',
      'p',
      '--y-true',
      'y',
      '--sensitive',
      'sex',
      '--with-ci',
      '--metric',
      'equalized_odds_difference',
      '--threshold',
      '0.1',
    ];
    await runCli([...args, '--out', markdown]);
    const { stdout } = await runCli([...args, '--out', json, '--json']);
    expect(readFileSync(markdown, 'utf8')).to.match(/\n\n\*\*FAIL\*\*\n\n- sex: FAIL: /);
    expect(readFileSync(markdown, 'utf8')).to.match(
      /\| Group \| n +\| Selection rate +\| True positive rate +\| False positive rate +\|/,
    );
    expect(JSON.parse(readFileSync(json, 'utf8'))).to.deep.equal(JSON.parse(stdout));
  });

  it('prints only JSON on stdout with --json, and no remarks with --quiet', async () => {
    const { stderr } = await validateJson([
      '--csv',
      makeFile(),
      '--y-pred',
      'p',
      '--sensitive',
      'sex',
      '--quiet',
      '--out',
      path.join(folder(), 'q.md'),
    ]);
    expect(stderr).to.equal('');
  });
});

describeWithReference('evenhand validate on COMPAS, with decile scores of at least 5', () => {
  /** Writes a file with predictions from the published score. */
  async function makeCompas(): Promise<string> {
    const table = await loadData(referencePath('data/compas.csv'), {
      columns: ['race', 'sex', 'decile_score', 'two_year_recid'],
    });
    const rows = table
      .toRecords()
      .map((row) =>
        [row['race'], row['sex'], row['two_year_recid'], Number(Number(row['decile_score']) >= 5)].join(','),
      );
    const file = path.join(folder(), 'compas.csv');
    writeFileSync(file, ['race,sex,two_year_recid,prediction', ...rows].join('\n'));
    expect(rows).to.have.length(7214);
    return file;
  }

  const { fairlearn_on_compas: reference } = readVectors('real_data_reference_part1.json') as {
    fairlearn_on_compas: { values: Record<string, number> };
  };

  it('gives the reference values for race and sex with every group', async () => {
    const columns = [
      '--y-pred',
      'prediction',
      '--y-true',
      'two_year_recid',
      '--sensitive',
      'race',
      '--sensitive',
      'sex',
    ];
    const { body } = await validateJson(['--csv', await makeCompas(), ...columns, '--min-group-size', '1']);
    for (const attribute of ['race', 'sex']) {
      for (const metric of ['demographic_parity_difference', 'equalized_odds_difference']) {
        const value = body.attributes?.[attribute]?.metrics[metric]?.value;
        expect(value).to.be.closeTo(reference.values[`${metric}|${attribute}`] ?? NaN, 1e-9);
      }
    }
  });

  it('lists Native American (18 rows) as excluded with the default minimum', async () => {
    const { body } = await validateJson(['--csv', await makeCompas(), '--y-pred', 'prediction', '--sensitive', 'race']);
    const result = body.metrics?.['demographic_parity_difference'];
    expect(result?.value).to.be.closeTo(0.378654391585, 1e-12);
    expect(result?.excluded).to.deep.equal({
      'Native American': {
        n: 18,
        reason: 'fewer than 30 rows',
        numerator: 12,
        denominator: 18,
      },
    });
  });
});
