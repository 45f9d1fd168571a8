import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { loadData } from '../../src/io/index.ts';
import { projectRoot } from '../helpers/project-files.ts';
import { runCli, useTemporaryFolder } from '../helpers/run-cli.ts';
import { encodeByHand, type PlainValue, predictWithPlainTfjs, readCard } from '../training/models/plain-tfjs.ts';

const folder = useTemporaryFolder();
const at = (name: string): string => path.join(folder(), name);
const wages = ['--target', 'wage_above_median', '--sensitive', 'gender', '--features', 'education,experience,union'];

async function run(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCli(args);
  expect(code, stderr).to.equal(0);
  return stdout;
}

describe('evenhand predict', () => {
  before(async function () {
    this.timeout(120_000);
    await run('sample-data', 'cps-wages', '--out', at('wages.csv'));
    const shared = ['--csv', at('wages.csv'), ...wages];
    await run('train-reductions', ...shared, '--eps', '0.01', '--save-model', at('reductions'));
    await run('train-lagrangian', ...shared, '--epochs', '3', '--save-model', at('lagrangian'));
    const sweep = ['--etas', '0,0.5', '--epochs', '2', '--save-model', at('sweep')];
    await run('train-regularized', ...shared, ...sweep, '--min-group-size', '10');
  });

  const models: [string, string[], folder: string][] = [
    ['reductions', ['--model', 'reductions'], 'reductions'],
    ['a lagrangian network', ['--model', 'lagrangian'], 'lagrangian'],
    ['one network of a sweep, by its folder', ['--model', 'sweep/eta-0.5'], 'sweep/eta-0.5'],
    ["one network of a sweep, by the sweep's folder and eta", ['--model', 'sweep', '--eta', '0.5'], 'sweep/eta-0.5'],
  ];
  for (const [title, args, location] of models) {
    it(`adds the score of ${title} to every row, equal to plain TensorFlow.js`, async () => {
      const out = at('decisions.csv');
      const { code, stdout, stderr } = await runCli(['predict', ...args, '--csv', 'wages.csv', '--out-csv', out], { cwd: folder() }); // prettier-ignore
      expect([code, stderr]).to.deep.equal([0, `Wrote ${out}\n`]);
      expect(stdout).to.match(/^534 rows scored for 'wage_above_median' by a model of /);
      const [given, found] = [await loadData(at('wages.csv')), await loadData(out)];
      expect(found.columnNames).to.deep.equal([...given.columnNames, 'score', 'prediction']);
      const card = readCard(at(location));
      const rows = given.toRecords() as Record<string, PlainValue>[];
      const plain = await predictWithPlainTfjs(at(location), rows.map((row) => encodeByHand(card, row))); // prettier-ignore
      const predictions = found.numeric('prediction').values;
      found.numeric('score').values.forEach((score, row) => {
        expect(score).to.be.closeTo(plain[row] as number, 1e-6);
        if (location !== 'reductions') expect(predictions[row]).to.equal(Number(score >= 0.5));
        else expect(predictions[row]).to.be.oneOf([0, 1]);
      });
    });
  }

  it('shows its progress in rows', async () => {
    const args = ['predict', '--model', at('lagrangian'), '--csv', at('wages.csv'), '--out-csv', at('shown.csv')];
    expect((await runCli(args, { progressSeconds: 0 })).stderr).to.match(/^writing rows: 0 of 534 \(0%\)/m);
  });

  it('keeps the rows unchanged, byte for byte', async () => {
    await run('predict', '--model', at('lagrangian'), '--csv', at('wages.csv'), '--out-csv', at('same.csv'));
    const withoutLast = (line: string): string => line.split(',').slice(0, -2).join(',');
    const lines = (name: string): string[] => readFileSync(at(name), 'utf8').trimEnd().split('\n');
    expect(lines('same.csv').map(withoutLast)).to.deep.equal(lines('wages.csv'));
  });

  it('applies --threshold, and --seed and --randomization to the draw of a randomised model', async () => {
    const predict = async (model: string, ...args: string[]): Promise<Float64Array> => {
      await run('predict', '--model', at(model), '--csv', at('wages.csv'), '--out-csv', at('drawn.csv'), ...args);
      return (await loadData(at('drawn.csv'))).numeric('prediction').values;
    };
    const scores = async (): Promise<Float64Array> => (await loadData(at('drawn.csv'))).numeric('score').values;
    const low = await predict('lagrangian', '--threshold', '0.3');
    expect([...low]).to.deep.equal([...(await scores())].map((score) => Number(score >= 0.3)));
    const [first, again, other] = [await predict('reductions', '--seed', '1'), await predict('reductions', '--seed', '1'), await predict('reductions', '--seed', '2')]; // prettier-ignore
    expect(again).to.deep.equal(first);
    expect(other).to.not.deep.equal(first);
    const byRow = await predict('reductions', '--randomization', 'row');
    const inputs = (await loadData(at('wages.csv'))).toRecords().map(({ education, experience, union }) => [education, experience, union].join()); // prettier-ignore
    byRow.forEach((decision, row) => expect(decision).to.equal(byRow[inputs.indexOf(inputs[row] ?? '')]));
  });

  it('describes the output with --json', async () => {
    const args = ['--csv', at('wages.csv'), '--out-csv', at('json.csv'), '--json', '--quiet'];
    const body = JSON.parse(await run('predict', '--model', at('reductions'), ...args)) as Record<string, unknown>;
    expect(body).to.include({ n: 534, method: 'reductions', score_column: 'score', prediction_column: 'prediction' });
    const found = await loadData(at('json.csv'));
    expect(body['n_positive']).to.equal(found.numeric('prediction').values.reduce((sum, one) => sum + one, 0));
  });

  it('shows the options and examples with --help', async () => {
    const stdout = await run('predict', '--help');
    for (const option of ['--model', '--csv', '--out-csv', '--threshold', '--seed', '--json', '--quiet', '--verbose']) expect(stdout).to.include(option); // prettier-ignore
    expect(stdout).to.include('Examples:');
  });

  it('reads missing values by --na-values, as fields that are empty', async () => {
    const lines = readFileSync(at('wages.csv'), 'utf8').trimEnd().split('\n');
    const index = (lines[0] as string).split(',').indexOf('education');
    const predictionsOf = async (missing: string, ...args: string[]): Promise<Float64Array> => {
      const changed = lines.slice(0, 20).map((line, row) =>
        row % 3 === 1 ? line.split(',').map((field, column) => (column === index ? missing : field)).join(',') : line,
      ); // prettier-ignore
      writeFileSync(at('gaps.csv'), changed.join('\n'));
      await run(
        'predict',
        '--model',
        at('lagrangian'),
        '--csv',
        at('gaps.csv'),
        '--out-csv',
        at('gaps-out.csv'),
        ...args,
      );
      return (await loadData(at('gaps-out.csv'))).numeric('score').values;
    };
    const empty = await predictionsOf('');
    expect(await predictionsOf('?', '--na-values', '?')).to.deep.equal(empty);
    expect(await predictionsOf('-999', '--na-values', '-999')).to.deep.equal(empty);
    expect(await predictionsOf('-999')).to.not.deep.equal(empty);
  });

  it("reads missing values as the model's training did, from its card", async () => {
    const [header = '', ...rows] = readFileSync(at('wages.csv'), 'utf8').trimEnd().split('\n');
    const index = header.split(',').indexOf('education');
    const withMissing = (missing: string): string => {
      const lines = rows.map((line, row) =>
        row % 3 === 1 ? line.split(',').map((field, column) => (column === index ? missing : field)).join(',') : line,
      ); // prettier-ignore
      return write(`missing${missing}.csv`, [header, ...lines]);
    };
    const scoresOf = async (missing: string, ...args: string[]): Promise<Float64Array> => {
      const [csv, model] = [withMissing(missing), at(`model${missing}`)];
      await run('train-lagrangian', '--csv', csv, ...wages, '--epochs', '2', '--save-model', model, ...args);
      await run('predict', '--model', model, '--csv', csv, '--out-csv', at('scores.csv'));
      return (await loadData(at('scores.csv'))).numeric('score').values;
    };
    const empty = await scoresOf('');
    expect(await scoresOf('-999', '--na-values', '-999')).to.deep.equal(empty);
    expect(readCard(at('model-999'))).to.have.deep.nested.property('data.na_values', ['-999']);
    expect(readCard(at('model'))).to.have.nested.property('data.na_values', null);
  });

  const write = (name: string, lines: readonly string[]): string => {
    writeFileSync(at(name), `${lines.join('\n')}\n`);
    return at(name);
  };
  const refusals: [string, () => string[], RegExp][] = [
    ['nothing named', () => [], /Missing: --model and --csv\./],
    ['a sweep without an eta', () => ['--model', at('sweep'), '--csv', at('wages.csv')], /holds a sweep of 2 networks: eta-0, eta-0\.5\. Choose one of them \(--eta: 0\)/], // prettier-ignore
    ['an eta that the sweep has not', () => ['--model', at('sweep'), '--eta', '7', '--csv', at('wages.csv')], /but none for eta 7: eta-0, eta-0\.5/], // prettier-ignore
    ['no model', () => ['--model', at('nowhere'), '--csv', at('wages.csv')], /Cannot load the model '.*nowhere': card\.json: there is no such file/], // prettier-ignore
    ['missing columns', () => ['--model', at('reductions'), '--csv', write('less.csv', ['educatoin,union', '1,member'])], /lack 2 columns that the model needs: 'education' \(did you mean 'educatoin'\?\), 'experience'/], // prettier-ignore
    ['text for numbers', () => ['--model', at('reductions'), '--csv', write('text.csv', ['education,experience,union', 'much,1,x'])], /Column 'education' should hold numbers, but row 1 holds 'much'/], // prettier-ignore
    ['a seed for a model without chance', () => ['--model', at('lagrangian'), '--csv', at('wages.csv'), '--seed', '1'], /--seed must be left out: this model is not randomised/], // prettier-ignore
    ['a seed beside a threshold', () => ['--model', at('reductions'), '--csv', at('wages.csv'), '--seed', '1', '--threshold', '0.5'], /--seed must be left out if a threshold is set/], // prettier-ignore
    ['an unknown randomisation', () => ['--model', at('reductions'), '--csv', at('wages.csv'), '--randomization', 'coin'], /--randomization must be one of draw, row; got 'coin'/], // prettier-ignore
  ];
  for (const [title, args, pattern] of refusals) {
    it(`rejects ${title} on one line with exit code 2, and writes nothing`, async () => {
      const { code, stdout, stderr } = await runCli(['predict', ...args(), '--out-csv', at('new.csv')]);
      expect(stderr).to.match(pattern);
      expect(stderr.trimEnd().split('\n'), stderr).to.have.length(1);
      expect([code, stdout]).to.deep.equal([2, '']);
      expect(existsSync(at('new.csv'))).to.equal(false);
      expect(readdirSync(folder()).filter((name) => name.endsWith('.tmp'))).to.deep.equal([]);
    });
  }

  it('rejects an output path inside a file before the work starts', async () => {
    const args = ['--model', at('nowhere'), '--csv', at('wages.csv'), '--out-csv', path.join(at('wages.csv'), 'x.csv')];
    const { code, stderr } = await runCli(['predict', ...args]);
    expect(code).to.equal(2);
    expect(stderr).to.match(/a part of the path is a file/);
  });

  it('writes the format of the extension, and CSV if there is none', async () => {
    const rows = async (name: string): Promise<unknown> => {
      await run('predict', '--model', at('reductions'), '--csv', at('wages.csv'), '--out-csv', at(name));
      return (await loadData(at(name))).toColumns();
    };
    const csv = await rows('form.csv');
    for (const name of ['form.parquet', 'form.tsv', 'form.TSV', 'form']) expect(await rows(name)).to.deep.equal(csv);
    expect(readFileSync(at('form.parquet'), 'latin1').slice(0, 4)).to.equal('PAR1');
    expect(readFileSync(at('form.tsv'), 'utf8').split('\n')[0]).to.match(/\tscore\tprediction$/);
    expect(readFileSync(at('form'), 'utf8')).to.equal(readFileSync(at('form.csv'), 'utf8'));
  });

  it('writes CSV to a pipe', () => {
    const args = ['--model', at('reductions'), '--csv', at('wages.csv'), '--out-csv', '/dev/stdout', '--json'];
    const command = [process.execPath, path.join(projectRoot, 'dist/cli/main.js'), 'predict', ...args, '--quiet'];
    const env = { ...process.env, EVENHAND_TF_BACKEND: 'wasm' };
    const { stdout } = spawnSync('sh', ['-c', '"$0" "$@" | cat', ...command], { encoding: 'utf8', env });
    expect(stdout.slice(0, stdout.indexOf('\n{'))).to.equal(readFileSync(at('form.csv'), 'utf8').trimEnd());
  });

  it('writes numbers as numbers into Parquet, except those that would lose digits', async () => {
    const lines = ['id,code,card,education,experience,union', '1,007,9007199254740993,12,5,0', '2,0.5,1,9,1.50,1'];
    write('coded.csv', lines);
    const args = ['--csv', at('coded.csv'), '--out-csv', at('coded.parquet')];
    await run('predict', '--model', at('reductions'), ...args);
    const found = await loadData(at('coded.parquet'));
    expect(found.columnNames).to.deep.equal([...(lines[0] as string).split(','), 'score', 'prediction']);
    expect(found.toColumns()).to.deep.include({
      id: [1, 2],
      code: ['007', '0.5'],
      card: ['9007199254740993', '1'],
      experience: [5, 1.5],
    });
  });

  for (const name of ['out.json', 'out.csv.gz', 'out.xlsx', 'out.']) {
    it(`rejects the output ${name} before the work starts`, async () => {
      const args = ['--model', at('nowhere'), '--csv', at('wages.csv'), '--out-csv', at(name)];
      const { code, stderr } = await runCli(['predict', ...args]);
      expect(stderr).to.match(
        /^error: --out-csv must end in \.csv, \.tsv or \.parquet\. Got '.*out\..*' instead\. .*\n$/,
      );
      expect([code, existsSync(at(name))]).to.deep.equal([2, false]);
    });
  }

  for (const [title, csv, out] of [
    ['the same name', 'wages.csv', 'wages.csv'],
    ['another spelling of it', 'wages.csv', './wages.csv'],
    ['a link to it', 'wages.csv', 'output-link.csv'],
    ['what it is a link to', 'output-link.csv', 'wages.csv'],
  ] as const) {
    it(`does not overwrite its input: ${title}`, async () => {
      if (!existsSync(at('output-link.csv'))) symlinkSync('wages.csv', at('output-link.csv'));
      const before = readFileSync(at('wages.csv'), 'utf8');
      const args = ['--model', 'reductions', '--csv', csv, '--out-csv', out];
      const { code, stdout, stderr } = await runCli(['predict', ...args], { cwd: folder() });
      expect(stderr).to.equal(`error: The output '${out}' would replace the input '${csv}'. Choose another path for the output.\n`); // prettier-ignore
      expect([code, stdout]).to.deep.equal([2, '']);
      expect(readFileSync(at('wages.csv'), 'utf8')).to.equal(before);
    });
  }
});
