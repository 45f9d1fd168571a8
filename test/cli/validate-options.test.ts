import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { sampleData, writeCsv } from '../../src/io/index.ts';
import { runCli, useTemporaryFolder } from '../helpers/run-cli.ts';

interface Body {
  readonly passed: boolean | null;
  readonly metrics: Record<
    string,
    {
      readonly value: number | null;
      readonly p_value: number | null;
      readonly ci: readonly [number, number] | null;
      readonly ci_method: string | null;
      readonly excluded: Record<string, { readonly numerator: number; readonly denominator: number }>;
    }
  >;
  readonly control?: { readonly warnings: string[]; readonly by_level: Record<string, unknown> };
}

describe('further options of evenhand validate', () => {
  const folder = useTemporaryFolder();

  async function berkeley(): Promise<string> {
    const file = path.join(folder(), 'berkeley.csv');
    await writeCsv(file, sampleData('berkeley'));
    return file;
  }

  /** Writes scores that rank group a perfectly and group b in reverse. */
  function scores(): string {
    const file = path.join(folder(), 'scores.csv');
    const rows = Array.from({ length: 80 }, (_, row) => {
      const truth = row % 2;
      const group = row < 40 ? 'a' : 'b';
      return `${group},${String(truth)},${String(group === 'a' ? 0.2 + 0.6 * truth : 0.8 - 0.6 * truth)},${String(row)}`;
    });
    writeFileSync(file, ['g,y,score,id', ...rows].join('\n'));
    return file;
  }

  async function validate(...args: string[]): Promise<{ code: number | null; body: Body }> {
    const { code, stdout } = await runCli(['validate', ...args, '--json']);
    return { code, body: JSON.parse(stdout) as Body };
  }

  it('give every metric an interval, unless --no-with-ci is given', async () => {
    const args = ['--csv', await berkeley(), '--y-pred', 'admitted', '--sensitive', 'gender'];
    const metricOf = async (...more: string[]) => (await validate(...args, ...more)).body.metrics['demographic_parity_difference']; // prettier-ignore
    const byDefault = await metricOf();
    expect(byDefault).to.deep.equal(await metricOf('--with-ci'));
    const [low, high] = byDefault?.ci ?? [NaN, NaN];
    const gap = 1198 / 2691 - 557 / 1835;
    expect(low).to.be.within(gap - 0.05, gap - 0.01);
    expect(high).to.be.within(gap + 0.01, gap + 0.05);
    const without = await metricOf('--no-with-ci');
    expect([without?.value, without?.ci]).to.deep.equal([byDefault?.value, null]);
  });

  it('apply the four-fifths rule: a ratio must be at least its threshold', async () => {
    const gate = ['--metric', 'demographic_parity_ratio', '--threshold'];
    const args = ['--csv', await berkeley(), '--y-pred', 'admitted', '--sensitive', 'gender', ...gate];
    const strict = await validate(...args, '0.8');
    // 557 of 1,835 women and 1,198 of 2,691 men.
    expect(strict.body.metrics['demographic_parity_ratio']?.value).to.be.closeTo(557 / 1835 / (1198 / 2691), 1e-12);
    expect([strict.code, strict.body.passed]).to.deep.equal([1, false]);
    expect((await validate(...args, '0.6')).code).to.equal(0);
  });

  it('warn if the gap changes its sign within the levels of a control feature', async () => {
    const { body } = await validate(
      ...['--csv', await berkeley(), '--y-pred', 'admitted', '--sensitive', 'gender', '--control', 'department'],
    );
    expect(body.control?.warnings.join()).to.match(
      /3 of 5 levels of the control feature \(A, D, F; 1 of 6 cannot be compared\).*Simpson/,
    );
    expect(Object.keys(body.control?.by_level ?? {})).to.deep.equal(['A', 'B', 'C', 'D', 'E', 'F']);
    // The control feature does not change the metric over all rows.
    expect(body.metrics['demographic_parity_difference']?.value).to.be.closeTo(1198 / 2691 - 557 / 1835, 1e-12);
  });

  it('show each difference within a level as if the file had only its rows, and list the undefined levels', async () => {
    const file = await berkeley();
    const args = ['--y-pred', 'admitted', '--sensitive', 'gender'];
    const { stdout } = await runCli(['validate', '--csv', file, ...args, '--control', 'department']);
    expect(stdout).to.include('Differences in selection rate by gender within each level of the control feature:');
    const [header = '', ...rows] = readFileSync(file, 'utf8').trim().split('\n');
    const inA = path.join(folder(), 'a.csv');
    writeFileSync(inA, [header, ...rows.filter((row) => row.startsWith('A,'))].join('\n'));
    const alone = await runCli(['validate', '--csv', inA, ...args]);
    // In department A, 89 of 108 women and 512 of 825 men were admitted.
    const value = (89 / 108 - 512 / 825).toFixed(4);
    const [, ci = ''] = new RegExp(`^Demographic parity difference +${value} +(\\S+ to \\S+) `, 'm').exec(alone.stdout) ?? []; // prettier-ignore
    expect(stdout).to.match(new RegExp(`^A +933 +${value} +${ci} +female and male$`, 'm'));
    expect(stdout).to.match(/^Level +n +Difference +95% interval +Between \(higher first\)$/m);
    // Only 25 women applied to department B.
    expect(stdout).to.match(/Undefined in 1 of 6 levels\n- B: only one group with at least 30 rows/);
    const plain = await runCli(['validate', '--csv', file, ...args, '--control', 'department', '--no-with-ci']);
    expect(plain.stdout).to.match(/^Level +n +Difference +Between \(higher first\)$/m);
  });

  it('say which values excluded rows lack, what they could change, and the p-value, in the terminal and in Markdown', async () => {
    const file = path.join(folder(), 'missing.csv');
    const cells = Array.from({ length: 800 }, (_, row) => [
      row % 40 === 0 ? '' : 'fm'[row % 2],
      row % 17 === 3 ? '' : (row * 7) % 10 < 4 + (row % 2) ? 1 : 0,
      row % 23 === 5 ? '' : row % 3 ? 1 : 0,
    ]);
    writeFileSync(file, ['sex,hired,repaid', ...cells.map((row) => row.join(','))].join('\n'));
    const out = path.join(folder(), 'missing.md');
    const args = ['--csv', file, '--y-pred', 'hired', '--y-true', 'repaid', '--sensitive', 'sex', '--with-p-value'];
    const { stdout } = await runCli(['validate', ...args, '--out', out]);
    const lacking = [0, 1, 2].map(
      (column) => cells.filter((row) => row[column] === '' && row.slice(0, column).every((cell) => cell !== '')).length,
    );
    const [group = 0, decision = 0, truth = 0] = lacking;
    const note = `${String(group + decision + truth)} rows were excluded because of missing values: ${String(group)} without a group ('sex'), ${String(decision)} without a decision ('hired'), ${String(truth)} without a true label ('repaid').`; // prettier-ignore
    const text = stdout.replaceAll(/\n {2}/g, ' ');
    expect(text).to.include(note);
    // All missing decisions of one group could be positive, and all of the other one negative.
    const rates = (sex: string, missing: number): number => {
      const known = cells.filter((row) => row[0] === sex).map((row) => (row[1] === '' ? missing : Number(row[1])));
      return known.reduce((sum, value) => sum + value, 0) / known.length;
    };
    // A row without a group could be in any, and is in no bounds.
    const gap = Math.max(Math.abs(rates('m', 1) - rates('f', 0)), Math.abs(rates('f', 1) - rates('m', 0))).toFixed(4);
    expect(text).to.match(
      new RegExp(
        `With the excluded rows that have a group, the value could be: demographic parity difference \\S+ to ${gap};`,
      ),
    );
    const written = readFileSync(out, 'utf8');
    expect(written).to.include(note);
    expect(written).to.include(`with the ${String(decision)} of them that have a group, the value could be `);
    expect(stdout).to.match(/^Metric +Value +95% interval +p-value +Between$/m);
    expect(stdout).to.match(/^Demographic parity difference +\S+ +\S+ to \S+ +(< )?0\.\d+ +m and f$/m);
  });

  it('say how scores become decisions', async () => {
    const args = ['validate', '--csv', scores(), '--score', 'score', '--sensitive', 'g'];
    const { stdout } = await runCli(args);
    expect(stdout).to.match(/decisions:\s+score\s+at\s+least\s+0\.5\s+\(default;\s+--score-threshold\s+changes\s+it\)/);
    const given = await runCli([...args, '--score-threshold', '0.25']);
    expect(given.stdout).to.match(/decisions:\s+score\s+at\s+least\s+0\.25$/m);
  });

  it('name a few undefined levels, and count the others', async () => {
    const file = path.join(folder(), 'towns.csv');
    const rows = Array.from(
      { length: 400 },
      (_, row) => `${'ab'[row % 2]},${row % 3 ? 1 : 0},t${Math.floor(row / 20)}`,
    );
    writeFileSync(file, ['g,y,town', ...rows].join('\n'));
    const args = ['--csv', file, '--y-pred', 'y', '--sensitive', 'g', '--control', 'town'];
    const { stdout } = await runCli(['validate', ...args]);
    expect(stdout).to.match(/Undefined in 20 of 20 levels\n- t0, t1, t10 and 17 more: no group with at least 30 rows/);
    expect(stdout).to.match(/^All levels +400 /m);
  });

  it('do not change the metric of the gate if the control feature has missing values', async () => {
    const file = path.join(folder(), 'gaps.csv');
    // Equal over all rows; unequal among the rows that have a level.
    const rows = Array.from({ length: 400 }, (_, row) => {
      const group = row % 2 === 0 ? 'a' : 'b';
      const hasLevel = row < 200;
      return `${group},${Number(hasLevel === (group === 'a'))},${hasLevel ? 'x' : ''}`;
    });
    writeFileSync(file, ['g,p,c', ...rows].join('\n'));
    const gate = ['--metric', 'demographic_parity_difference', '--threshold', '0.1'];
    for (const backend of ['duckdb', 'native']) {
      const args = [
        '--csv',
        file,
        '--y-pred',
        'p',
        '--sensitive',
        'g',
        '--control',
        'c',
        '--backend',
        backend,
        ...gate,
      ];
      const { code, body } = await validate(...args);
      expect([code, body.metrics['demographic_parity_difference']?.value]).to.deep.equal([0, 0]);
    }
  });

  it('combine a positive label with scores on every backend', async () => {
    const file = path.join(folder(), 'labelled.csv');
    const rows = Array.from(
      { length: 80 },
      (_, row) => `${row < 40 ? 'a' : 'b'},${row % 2 ? 'yes' : 'no'},${String((row % 7) / 7)}`,
    );
    writeFileSync(file, ['g,y,score', ...rows].join('\n'));
    const args = ['--csv', file, '--score', 'score', '--y-true', 'y', '--sensitive', 'g', '--positive-label', 'yes'];
    const [sql, native] = await Promise.all(
      ['duckdb', 'native'].map((backend) => validate(...args, '--metric', 'roc_auc_difference', '--backend', backend)),
    );
    expect(resultOf(native?.body)).to.deep.equal(resultOf(sql?.body));
  });

  it('measure the AUC of scores, and the decisions at the threshold', async () => {
    const { body } = await validate(
      ...['--csv', scores(), '--score', 'score', '--y-true', 'y', '--sensitive', 'g'],
      ...['--metric', 'roc_auc_difference', '--threshold', '0.1'],
    );
    expect(body.passed).to.equal(false);
    expect(body.metrics['roc_auc_difference']?.value).to.equal(1);
    expect(body.metrics['demographic_parity_difference']?.value).to.equal(0);
    expect(body.metrics['equalized_odds_difference']?.value).to.equal(1);
  });

  it('give the same output with every backend', async () => {
    const args = [
      ...['--csv', scores(), '--score', 'score', '--y-true', 'y', '--sensitive', 'g', '--with-ci', '--with-p-value'],
      ...['--with-effects', '--metric', 'calibration_difference', '--control', 'y'],
    ];
    const [sql, native, danfo] = await Promise.all(
      ['duckdb', 'native', 'danfo'].map((backend) => validate(...args, '--backend', backend)),
    );
    expect(resultOf(native?.body)).to.deep.equal(resultOf(sql?.body));
    expect(resultOf(danfo?.body)).to.deep.equal(resultOf(sql?.body));
  });

  it('add percentile intervals and p-values', async () => {
    const { body } = await validate(
      ...['--csv', await berkeley(), '--y-pred', 'admitted', '--sensitive', 'gender', '--with-ci', '--with-p-value'],
      ...['--ci-method', 'percentile', '--ci-samples', '200'],
    );
    const result = body.metrics['demographic_parity_difference'];
    expect(result?.ci_method).to.equal('percentile');
    expect(result?.p_value).to.be.closeTo(1 / 201, 1e-12);
  });

  it('follow the conventions of another library', async () => {
    const args = ['--csv', await berkeley(), '--y-pred', 'admitted', '--sensitive', 'gender'];
    const { body } = await validate(...args, '--compat', 'aif360', '--reference-group', 'male');
    expect(body.metrics['demographic_parity_difference']?.value).to.be.closeTo(557 / 1835 - 1198 / 2691, 1e-12);
  });

  it('write an HTML page without external resources', async () => {
    const out = path.join(folder(), 'report.html');
    await runCli([
      ...['validate', '--csv', await berkeley(), '--y-pred', 'admitted', '--sensitive', 'gender', '--with-ci'],
      ...['--out', out],
    ]);
    const page = readFileSync(out, 'utf8');
    expect(page).to.match(/^<!doctype html>/i);
    expect(page).to.include('<svg');
    expect(page).to.not.match(/\b(?:src|href)="(?:https?:)?\/\//);
  });

  for (const [title, args, message] of [
    ['an unknown metric', ['--metric', 'demographic_partiy_ratio'], /Did you mean 'demographic_parity_ratio'/],
    ['AUC without scores', ['--y-true', 'y', '--metric', 'roc_auc_difference'], /roc_auc_difference needs scores/],
    ['an unknown backend', ['--backend', 'pandas'], /--backend must be one of duckdb, native, danfo/],
    ['an unknown method', ['--ci-method', 'normal'], /--ci-method must be one of simultaneous, percentile, bca/],
    ['AIF360 without its privileged group', ['--compat', 'aif360'], /needs the privileged group.*'a', 'b'/],
    ['a reference group that does not exist', ['--method', 'to_reference', '--reference-group', 'z'], /no group 'z'/],
    ['an unknown control', ['--control', 'idd'], /no column 'idd'.*Did you mean 'id'/],
  ] as const) {
    it(`reject ${title} on one clear line with exit code 2`, async () => {
      const decisions = path.join(folder(), 'decisions.csv');
      writeFileSync(decisions, 'g,y,p,id\na,1,1,1\nb,0,1,2\n');
      const base = ['validate', '--csv', decisions, '--y-pred', 'p', '--sensitive', 'g'];
      const { code, stdout, stderr } = await runCli([...base, ...args]);
      expect([code, stdout]).to.deep.equal([2, '']);
      expect(stderr.trim().split('\n')).to.have.length(1);
      expect(stderr).to.match(message);
    });
  }
});

/** Returns the result without its manifest, which names the backend. */
function resultOf(body: object | undefined): object {
  return { ...body, manifest: undefined };
}
