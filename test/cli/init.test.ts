import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';
import { parse } from 'yaml';

import { projectRoot } from '../helpers/project-files.ts';
import { type CliRun, runCli, useTemporaryFolder } from '../helpers/run-cli.ts';

const folder = useTemporaryFolder();

/** Returns an empty folder with a file of 1,000 loans. */
function loans(name = 'loans.csv', header = 'id,sex,race,income,approved,repaid'): string {
  const cwd = mkdtempSync(path.join(folder(), 'init-'));
  const rows = Array.from({ length: 1000 }, (_, row) => {
    const approved = (row * 7) % 10 < 4 + (row % 2) ? 'yes' : 'no';
    return [row + 7000, row % 2 ? 'female' : 'male', 'abc'[row % 3], (row * 37) % 101, approved, row % 3 ? 1 : 0];
  });
  writeFileSync(path.join(cwd, name), [header, ...rows.map((row) => row.join(','))].join('\n'));
  return cwd;
}

const init = (cwd: string, ...args: string[]) => runCli(['init', ...args], { cwd });
const configIn = (cwd: string, name = 'evenhand.yml') => parse(readFileSync(path.join(cwd, name), 'utf8')) as unknown;

/** Returns the words of a command as bash splits them. */
function splitByBash(command: string): string[] {
  const { stdout } = spawnSync('bash', ['-c', `printf '%s\\0' ${command}`], { encoding: 'utf8' });
  return stdout.split('\0').slice(0, -1);
}

/** Runs each command that an output proposes, and returns the results. */
async function runProposed({ stdout }: CliRun, cwd: string): Promise<CliRun[]> {
  const commands = stdout.split('\n').filter((line) => line.startsWith('  npx evenhand '));
  const results: CliRun[] = [];
  for (const command of commands) results.push(await runCli(splitByBash(command).slice(2), { cwd }));
  return results;
}

describe('evenhand init --yes', () => {
  it('writes a configuration from guesses, and shows each guess with its reason', async () => {
    const cwd = loans();
    const { code, stdout, stderr } = await init(cwd, 'loans.csv', '--yes');
    expect([code, stderr]).to.deep.equal([0, 'Wrote evenhand.yml\n']);
    expect(stdout).to.match(/^decisions +approved +its name, two values$/m);
    expect(stdout).to.match(/^true labels +repaid +its name, two values$/m);
    expect(stdout).to.match(/^sensitive +sex +its name, 2 groups$/m);
    expect(stdout).to.match(/^sensitive +race +its name, 3 groups$/m);
    expect(stdout).to.match(/^positive label +yes +of approved: 'no' \(600 rows\), 'yes' \(400 rows\)$/m);
    expect(stdout).to.match(/^not a feature +id +has the name and the values of an identifier$/m);
    expect(configIn(cwd)).to.deep.equal({
      sensitive: ['sex', 'race'],
      pipeline: [],
      features: ['income'],
      training: {
        method: 'reductions',
        target_column: 'repaid',
        params: { constraint: 'demographic_parity', difference_bound: 0.02 },
      },
      fairness_metric: 'demographic_parity_difference',
    });
  });

  it('writes a configuration that passes config check, and proposes commands that work', async () => {
    const cwd = loans();
    const done = await init(cwd, 'loans.csv', '--yes');
    expect((await runCli(['config', 'check', '--config', 'evenhand.yml'], { cwd })).code).to.equal(0);
    const [validated, trained, ...others] = await runProposed(done, cwd);
    expect(others).to.deep.equal([]);
    expect(validated?.code, validated?.stderr).to.equal(0);
    expect(validated?.stdout).to.match(/equalized.odds/i);
    expect(trained?.code, trained?.stderr).to.equal(0);
    expect(existsSync(path.join(cwd, 'out', 'model'))).to.equal(true);
  });

  for (const [name, target] of [
    ['berkeley', 'admitted'],
    ['cps-wages', 'wage_above_median'],
  ] as const) {
    it(`works on the sample ${name}, down to the proposed commands`, async () => {
      const cwd = mkdtempSync(path.join(folder(), 'sample-'));
      await runCli(['sample-data', name, '--out', 'rows.csv'], { cwd });
      const done = await init(cwd, 'rows.csv', '--yes');
      expect(configIn(cwd)).to.have.nested.property('training.target_column', target);
      // The wage itself decides whether it is above the median.
      expect((configIn(cwd) as { features: string[] }).features).to.not.include('wage');
      const results = await runProposed(done, cwd);
      expect(results).to.have.length(2);
      for (const { code, stderr } of results) expect(code, stderr).to.equal(0);
    });
  }

  it('keeps names with commas, quotes, line breaks and other scripts intact, in the file and in the commands', async () => {
    const cwd = mkdtempSync(path.join(folder(), 'names-'));
    const names = ['sex, as stated', "it's $HOME", '性別', 'on', '- a: b #c', '1.0'];
    const rows = Array.from({ length: 60 }, (_, row) =>
      [row % 2 ? 'f' : 'm', row % 7, row % 5, row % 4, row % 6, row % 3 ? '>50K' : '<=50K'].map(String).join(','),
    );
    writeFileSync(
      path.join(cwd, "the 'rows'.csv"),
      `${names.map((name) => `"${name}"`).join(',')}\n${rows.join('\n')}`,
    );
    const done = await init(cwd, "the 'rows'.csv", '--yes', '--out', 'my folder/audit.yml');
    expect(done.code, done.stderr).to.equal(0);
    expect(configIn(cwd, 'my folder/audit.yml')).to.deep.include({
      sensitive: ['sex, as stated'],
      features: ["it's $HOME", '性別', 'on', '- a: b #c'],
    });
    expect(configIn(cwd, 'my folder/audit.yml')).to.have.nested.property('training.positive_label', '>50K');
    const results = await runProposed(done, cwd);
    expect(results).to.have.length(2);
    for (const { code, stderr } of results) expect(code, stderr).to.equal(0);
  });

  it('never lets a name of a column add a line to the file or steer the terminal', async () => {
    const cwd = mkdtempSync(path.join(folder(), 'hostile-'));
    const rows = Array.from({ length: 60 }, (_, row) => [row % 2, 'x', row % 5, row % 3 ? 1 : 0].join(','));
    writeFileSync(path.join(cwd, 'rows.csv'), `sex,"a\nprofiles: {}\u001b[31m",z,label\n${rows.join('\n')}`);
    const { code, stdout } = await init(cwd, 'rows.csv', '--yes');
    expect(code).to.equal(0);
    expect(stdout).to.not.include('\u001b');
    expect(configIn(cwd)).to.have.all.keys('sensitive', 'pipeline', 'features', 'training', 'fairness_metric');
  });

  it('proposes the labels of both columns if they differ', async () => {
    const cwd = loans();
    const text = readFileSync(path.join(cwd, 'loans.csv'), 'utf8')
      .replaceAll(/,1$/gm, ',good')
      .replaceAll(/,0$/gm, ',bad');
    writeFileSync(path.join(cwd, 'loans.csv'), text);
    const done = await init(cwd, 'loans.csv', '--yes');
    expect(done.stdout).to.include('--positive-label yes --y-true-positive-label good');
    expect((await runProposed(done, cwd)).map(({ code }) => code)).to.deep.equal([0, 0]);
  });

  /** Returns an empty folder with a file of 600 decisions on 60 people, with decimal commas. */
  function people(): string {
    const cwd = mkdtempSync(path.join(folder(), 'people-'));
    const rows = Array.from({ length: 600 }, (_, row) => {
      const score = `0,${String(100 + ((row * 37) % 899))}`;
      return [row % 60, 977 * row, 'fm'[row % 2], row % 23, score, row % 3 ? 'yes' : 'no'].join(';');
    });
    writeFileSync(path.join(cwd, 'people.csv'), ['person;Applicant;sex;income;score;approved', ...rows].join('\n'));
    return cwd;
  }

  it('makes no feature of people, and proposes commands that count them instead of their rows', async () => {
    const cwd = people();
    const done = await init(cwd, 'people.csv', '--yes');
    expect(done.stdout).to.match(/^clusters +person +its name, about 10\.0 rows for each value; intervals count /m);
    expect(done.stdout).to.match(/^not a feature +Applicant +has the name and the values of an identifier$/m);
    expect(done.stdout).to.match(/^not a feature +score +looks like numbers with a decimal comma; .*'--decimal ,'$/m);
    expect(done.stdout).to.match(/ evenhand validate .* --cluster person /);
    expect(configIn(cwd)).to.deep.include({ cluster: 'person', features: ['income'] });
    const [validated, trained] = await runProposed(done, cwd);
    expect(validated?.code, validated?.stderr).to.equal(0);
    expect(validated?.stdout)
      .to.match(/Group +n +Clusters/)
      .and.not.to.contain('rows for each of its values');
    expect(trained?.code, trained?.stderr).to.equal(0);
  });

  it('reads decimal commas with --decimal, in the proposed commands too, and reports a column of scores', async () => {
    const cwd = people();
    const done = await init(cwd, 'people.csv', '--yes', '--decimal', ',');
    expect(done.stdout).to.match(/^no role +score +may hold scores: its name, numbers from 0 to 1; .*--score$/m);
    expect(done.stdout).to.include(' validate --csv people.csv --decimal , --y-pred approved');
    expect(configIn(cwd)).to.have.property('decimal', ',');
    expect((await runProposed(done, cwd)).map(({ code }) => code)).to.deep.equal([0, 0]);
  });

  it('proposes commands without training if there is nothing to learn from', async () => {
    const cwd = mkdtempSync(path.join(folder(), 'few-'));
    const rows = Array.from({ length: 60 }, (_, row) => `${row % 2 ? 'f' : 'm'},${row % 3 ? 1 : 0}`);
    writeFileSync(path.join(cwd, 'rows.csv'), `sex,hired\n${rows.join('\n')}`);
    const done = await init(cwd, 'rows.csv', '--yes');
    expect(configIn(cwd)).to.not.have.any.keys('training', 'features');
    expect((await runProposed(done, cwd)).map(({ code }) => code)).to.deep.equal([0, 0]);
  });

  it('prints the choices and the commands as JSON with --json', async () => {
    const cwd = loans();
    const { stdout } = await init(cwd, 'loans.csv', '--yes', '--json');
    expect(JSON.parse(stdout)).to.deep.include({ config: 'evenhand.yml', rows: 1000 });
    expect(JSON.parse(stdout)).to.have.nested.property('columns.decision', 'approved');
    expect(JSON.parse(stdout)).to.have.property('commands').with.length(2);
  });
});

describe('evenhand init with options', () => {
  it('follows each option instead of the guess', async () => {
    const cwd = loans('x.csv', 'id,origin,race,income,passed_on,fine');
    const done = await init(cwd, 'x.csv', '--y-pred', 'passed_on', '--sensitive', 'origin', '--positive-label', 'no', '--features', 'income,race', '--threshold', '0.95', '--out', 'c.yml'); // prettier-ignore
    expect(done.code, done.stderr).to.equal(0);
    expect(configIn(cwd, 'c.yml')).to.deep.equal({
      sensitive: ['origin'],
      pipeline: [],
      features: ['income', 'race'],
      training: {
        method: 'reductions',
        target_column: 'passed_on',
        positive_label: 'no',
        params: { constraint: 'demographic_parity', difference_bound: 0.02 },
      },
      fairness_metric: 'demographic_parity_difference',
      validation_threshold: 0.95,
    });
    expect((await runProposed(done, cwd)).map(({ code }) => code)).to.deep.equal([0, 0]);
  });

  it('takes scores with their threshold', async () => {
    const cwd = loans();
    const args = ['--score', 'income', '--score-threshold', '50', '--sensitive', 'sex', '--sensitive', 'race'];
    const done = await init(cwd, 'loans.csv', ...args);
    expect(done.code, done.stderr).to.equal(0);
    expect(done.stdout).to.include('--score income --score-threshold 50 --sensitive sex --sensitive race');
    expect((await runProposed(done, cwd)).map(({ code }) => code)).to.deep.equal([0, 0]);
  });
});

describe('evenhand init refuses', () => {
  const cases: readonly (readonly [string, readonly string[], RegExp])[] = [
    ['to guess without --yes and a terminal, and lists all that is missing', ['loans.csv'], /stdin is not a terminal, so init cannot ask. Missing: --sensitive, and one of --y-pred, --y-true and --score\. Give these options, or accept the guesses with --yes\./], // prettier-ignore
    ['to work without a file', [], /Missing: a data file, --sensitive, and one of/],
    ['to guess a file', ['--yes'], /Missing: a data file\. /],
    ['an unknown column', ['loans.csv', '--yes', '--sensitive', 'sxe'], /--sensitive: .*no column 'sxe'. Did you mean 'sex'\?/], // prettier-ignore
    ['one column in two roles', ['loans.csv', '--yes', '--sensitive', 'approved'], /--sensitive: 'approved' is already the column of decisions/], // prettier-ignore
    ['decisions with too many values', ['loans.csv', '--yes', '--y-pred', 'income'], /--y-pred: 'income' has 101 different values/], // prettier-ignore
    ['an unknown label', ['loans.csv', '--yes', '--positive-label', 'ja'], /--positive-label: .*'ja'.*'no' \(600 rows\), 'yes' \(400 rows\)/], // prettier-ignore
    ['scores whose threshold is not known', ['loans.csv', '--yes', '--score', 'income', '--sensitive', 'sex'], /Missing: --score-threshold\. .*from 0 to 100/], // prettier-ignore
    ['decisions and scores together', ['loans.csv', '--yes', '--score', 'income', '--y-pred', 'approved'], /either --y-pred or --score/], // prettier-ignore
    ['a threshold that always passes', ['loans.csv', '--yes', '--threshold', '5'], /validation_threshold|--threshold/],
    ['another format', ['loans.csv', '--yes', '--out', 'x.json'], /--out must end in \.yml or \.yaml/],
    ['to replace its input', ['loans.csv', '--yes', '--out', 'loans.csv'], /--out|replace the input/],
    ['clusters that are features', ['loans.csv', '--yes', '--cluster', 'race', '--sensitive', 'sex', '--features', 'race'], /--features: 'race' is already the column of clusters/], // prettier-ignore
    ['another decimal separator', ['loans.csv', '--yes', '--decimal', ';'], /--decimal .*must be a point or a comma/],
    ['a missing file', ['none.csv', '--yes'], /Cannot read 'none.csv': there is no such file/],
  ];
  for (const [title, args, message] of cases) {
    it(title, async () => {
      const cwd = loans();
      const { code, stdout, stderr } = await init(cwd, ...args);
      expect(stderr).to.match(message);
      expect(stderr.trim().split('\n')).to.have.length(1);
      expect([code, stdout, readdirSync(cwd)]).to.deep.equal([2, '', ['loans.csv']]);
    });
  }

  it('to guess a sensitive column from nothing', async () => {
    const cwd = loans('loans.csv', 'id,f1,f2,income,approved,repaid');
    const { code, stderr } = await init(cwd, 'loans.csv', '--yes');
    expect(stderr).to.match(
      /Missing: --sensitive\. No column name suggests groups, .* Columns with 2 to 20 values: 'f1', 'f2'\./,
    );
    expect([code, readdirSync(cwd)]).to.deep.equal([2, ['loans.csv']]);
  });

  it('to guess which of four decisions is positive, and says that the others count as negative', async () => {
    const cwd = loans();
    const text = readFileSync(path.join(cwd, 'loans.csv'), 'utf8')
      .split('\n')
      .map((line, row) => line.replace(/,(yes|no),/, `,${['approve', 'deny', 'refer', 'wait'][row % 4] ?? ''},`))
      .join('\n');
    writeFileSync(path.join(cwd, 'loans.csv'), text);
    const { code, stderr } = await init(cwd, 'loans.csv', '--yes', '--y-pred', 'approved');
    expect(stderr).to.match(
      /Missing: --positive-label\. .*'refer' \(250 rows\).* the 3 other labels count as negative\./,
    );
    expect(code).to.equal(2);
    const guessed = await init(cwd, 'loans.csv', '--yes');
    expect(guessed.stdout).to.match(/no role +approved +may hold decisions, but has 4 values/);
    const wrong = await init(cwd, 'loans.csv', '--yes', '--y-pred', 'approved', '--positive-label', 'Approve', '--force'); // prettier-ignore
    expect(wrong.stderr).to.include("Did you mean 'approve'?");
    const done = await init(cwd, 'loans.csv', '--yes', '--y-pred', 'approved', '--positive-label', 'approve', '--force'); // prettier-ignore
    expect(done.code, done.stderr).to.equal(0);
    expect(done.stdout).to.match(/positive label +approve +of approved: .*; the 3 other labels count as negative/);
    expect((await runProposed(done, cwd)).map((each) => each.code)).to.deep.equal([0, 0]);
  });

  it('to guess what is measured from nothing, and names each option that would say it', async () => {
    const cwd = loans('loans.csv', 'id,sex,f2,f3,f4,f5');
    const text = readFileSync(path.join(cwd, 'loans.csv'), 'utf8').replaceAll(/,[01]$/gm, ',x');
    writeFileSync(path.join(cwd, 'loans.csv'), text);
    const { code, stderr } = await init(cwd, 'loans.csv', '--yes');
    expect(stderr).to.match(
      /Missing: one of --y-pred, --y-true and --score\. No column name .*The columns are 'id'.* Guessed from the file: --sensitive 'sex' \(its name, 2 groups\)\./,
    );
    expect([code, readdirSync(cwd)]).to.deep.equal([2, ['loans.csv']]);
  });

  it('to work without answers, and prints what it guessed from the file', async () => {
    const { code, stderr } = await init(loans(), 'loans.csv');
    expect(stderr).to.match(/Missing: --sensitive, and one of --y-pred, --y-true and --score\. /);
    expect(stderr)
      .to.include("Guessed from the file: --y-pred 'approved' (its name, two values)")
      .and.include("--sensitive 'sex' (its name, 2 groups)")
      .and.include('or accept the guesses with --yes. Guessed');
    expect(code).to.equal(2);
    const german = loans('loans.csv', 'nr,geschlecht,region,einkommen,bewilligt,bezahlt');
    expect((await init(german, 'loans.csv')).stderr)
      .to.include("Guessed from the file: --y-pred 'bewilligt' (its name, two values)")
      .and.include("--sensitive 'geschlecht' (its name, 2 groups)");
    const polish = loans('loans.csv', 'nr,plec,region,dochod,przyznano,oplacono');
    const none = await init(polish, 'loans.csv');
    expect(none.stderr).to.include("Guessed from the file: --y-true 'oplacono' (the last column, two values).");
  });

  it('to guess which of two labels is positive from nothing', async () => {
    const cwd = loans();
    const text = readFileSync(path.join(cwd, 'loans.csv'), 'utf8').replaceAll(',yes,', ',2,').replaceAll(',no,', ',1,');
    writeFileSync(path.join(cwd, 'loans.csv'), text);
    const { code, stderr } = await init(cwd, 'loans.csv', '--yes');
    expect(stderr).to.match(/Missing: --positive-label\. .*'1' \(600 rows\), '2' \(400 rows\)/);
    expect(code).to.equal(2);
  });

  it('to overwrite a file, unless --force is given', async () => {
    const cwd = loans();
    writeFileSync(path.join(cwd, 'evenhand.yml'), 'mine: 1\n');
    const { code, stderr } = await init(cwd, 'loans.csv', '--yes');
    expect(stderr).to.match(/'evenhand.yml' exists.*--force/);
    expect([code, configIn(cwd)]).to.deep.equal([2, { mine: 1 }]);
    expect((await init(cwd, 'loans.csv', '--yes', '--force')).code).to.equal(0);
    expect(configIn(cwd)).to.have.property('sensitive');
  });
});

describe('evenhand init on a terminal', function () {
  before(function () {
    if (process.platform === 'linux' && spawnSync('script', ['--version']).status === 0) return;
    console.log('      skipped: script, which makes a pseudo-terminal, is not installed');
    this.skip();
  });

  /**
   * Answers each question when it appears. Returns all that the terminal shows, and what it shows between each question
   * and its answer: before a question, a slow machine may show how long the command has been running.
   */
  function talk(
    cwd: string,
    args: string,
    answers: readonly (readonly [question: string, keys: string])[],
    { delayMillis = 0 } = {},
  ) {
    const cli = path.join(projectRoot, 'dist/cli/main.js');
    const command = `stty -echo; ${process.execPath} ${cli} init ${args}`;
    return new Promise<{ readonly code: number | null; readonly shown: string; readonly waits: string }>(
      (resolve, reject) => {
        const env = { ...process.env, EVENHAND_PROGRESS_SECONDS: '1' };
        const child = spawn('script', ['-qec', command, '/dev/null'], { cwd, env, timeout: 40_000 });
        let shown = '';
        let waits = '';
        let from = 0;
        const left = [...answers];
        child.stdout.on('data', (data: Buffer) => {
          shown += data.toString();
          const [question, keys] = left[0] ?? [];
          const asked = question === undefined ? -1 : shown.indexOf(question, from);
          if (asked === -1) return;
          from = shown.length;
          left.shift();
          setTimeout(() => {
            waits += shown.slice(asked);
            child.stdin.write(keys ?? '');
          }, delayMillis);
        });
        child.on('error', reject);
        child.on('close', (code) => {
          // eslint-disable-next-line no-control-regex -- the codes that move the cursor
          resolve({ code, waits, shown: shown.replaceAll(/\u001b\[[\d;?]*[A-Za-z]/g, '') });
        });
      },
    );
  }

  it('asks for each column, takes the guess with Enter and corrections, and asks again after an error', async () => {
    const cwd = loans();
    const { code, shown } = await talk(cwd, '', [
      ['Data file', 'loans.csv\r'],
      ['Column of decisions [approved', 'aproved\r'],
      ['Column of decisions', '\r'],
      ['Column of true labels [repaid', '-\r'],
      ['Sensitive columns, comma-separated [sex,race', 'race\r'],
      ["Label of 'approved' that counts as positive: 'no' (600 rows), 'yes' (400 rows) [yes", '\r'],
      ['Column of row weights', '\r'],
      ["Columns from which a model predicts 'approved'", 'sex,income\r'],
      ['Largest difference', '0.3\r'],
    ]);
    expect(shown).to.include("no column 'aproved'. Did you mean 'approved'?");
    expect(shown).to.include('npx evenhand validate --csv loans.csv --y-pred approved --sensitive race');
    expect(code).to.equal(0);
    expect(configIn(cwd)).to.deep.include({
      sensitive: ['race'],
      features: ['sex', 'income'],
      validation_threshold: 0.3,
    });
  });

  it('asks once for a label that decisions and true labels share, and no progress line erases a question', async () => {
    const cwd = loans();
    const text = readFileSync(path.join(cwd, 'loans.csv'), 'utf8')
      .replaceAll(/,1$/gm, ',yes')
      .replaceAll(/,0$/gm, ',no');
    writeFileSync(path.join(cwd, 'loans.csv'), text);
    const questions: [string, string][] = [
      ['Column of decisions', '\r'],
      ['Column of true labels', '\r'],
      ['Sensitive columns', '\r'],
      ["Label of 'approved' that counts as positive", '\r'],
      ['Column of row weights', '\r'],
      ['Columns from which', '\r'],
      ['Largest difference', '\r'],
    ];
    const { code, shown, waits } = await talk(cwd, 'loans.csv', questions, { delayMillis: 2200 });
    expect(code, shown).to.equal(0);
    for (const [question] of questions) expect(waits).to.include(question);
    expect(waits).to.not.include('Running');
    expect(shown).to.match(/positive label +yes +of repaid: as in the decisions/);
  });

  for (const [name, keys] of [
    ['Ctrl-C', '\u0003'],
    ['Ctrl-D', '\u0004'],
  ] as const) {
    it(`ends cleanly with ${name}, and says that nothing was written`, async () => {
      const cwd = loans();
      const { code, shown } = await talk(cwd, 'loans.csv', [
        ['Column of decisions', '\r'],
        ['Column of true labels', keys],
      ]);
      expect(shown).to.match(/Interrupted, nothing was written\.\s*$/);
      expect(code).to.equal(130);
      expect(readdirSync(cwd)).to.deep.equal(['loans.csv']);
    });
  }

  it('asks before it replaces a file, and keeps it after any answer but yes', async () => {
    const cwd = loans();
    writeFileSync(path.join(cwd, 'evenhand.yml'), 'mine: 1\n');
    const { code, shown } = await talk(cwd, 'loans.csv', [["'evenhand.yml' exists. Replace it? [no]", '\r']]);
    expect(shown).to.include("'evenhand.yml' exists");
    expect([code, configIn(cwd)]).to.deep.equal([2, { mine: 1 }]);
  });
});
