import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { parsePipelineConfig } from '../../src/pipeline/config/index.ts';
import { projectRoot } from '../helpers/project-files.ts';
import { runCli, useTemporaryFolder } from '../helpers/run-cli.ts';

const folder = useTemporaryFolder();

function write(name: string, text: string): string {
  writeFileSync(path.join(folder(), name), text);
  return name;
}

const check = (...args: string[]) => runCli(['config', 'check', ...args], { cwd: folder() });

describe('evenhand config check', () => {
  it('prints a summary of a configuration', async () => {
    const file = path.join(projectRoot, 'config/adult.yml');
    const { code, stdout, stderr } = await check('--config', file);
    expect(stdout.split('\n')).to.deep.equal([
      `${file} is a valid configuration.`,
      '',
      '- Sensitive: sex; benchmarks for sex.',
      '- Detectors: alpha 0.05, proxy threshold 0.3.',
      '- Step 1: census-shares: InstanceReweighting (max_weight 5).',
      '- Training: reductions (constraint demographic_parity, difference_bound 0.01), predicts',
      "  income-per-year (1 if it is '>50K') from 12 features.",
      '- Gate: demographic_parity_difference at most 0.06.',
      '',
    ]);
    expect([code, stderr]).to.deep.equal([0, '']);
  });

  it('prints the gates of a file of gates, which it detects', async () => {
    const text =
      "- { metric: demographic_parity_difference, threshold: 0.1 }\n- { metric: precision_ratio, comparator: '>', threshold: 0.8, attributes: [sex, [sex, race]] }\n";
    const { code, stdout, stderr } = await check('--config', write('gates.yml', text));
    expect(stdout.split('\n')).to.deep.equal([
      'gates.yml is a valid file of gates.',
      '',
      '- demographic_parity_difference: at most 0.1 in size, for every attribute.',
      '- precision_ratio: above 0.8, for sex; sex and race.',
      "- Whether the data have these attributes is only known to 'evenhand validate --gate'.",
      '',
    ]);
    expect([code, stderr]).to.deep.equal([0, '']);
    const json = await check('--config', 'gates.yml', '--kind', 'gates', '--json');
    const body = JSON.parse(json.stdout) as { config: object[] };
    expect(body).to.include({ file: 'gates.yml', kind: 'gates', valid: true });
    expect(body.config[0]).to.deep.equal({ metric: 'demographic_parity_difference', threshold: 0.1 });
  });

  it('prints every error of a file of gates', async () => {
    const text = '- { metric: demographic_partiy_difference, threshold: 0.1 }\n- { metric: demographic_parity_difference, threshold: 2 }\n'; // prettier-ignore
    const { code, stdout } = await check('--config', write('bad-gates.yml', text));
    const [first, second, count] = stdout.trim().split('\n');
    expect(first).to.match(/^bad-gates\.yml:1:13: .*Did you mean 'demographic_parity_difference'/);
    expect(second).to.match(/^bad-gates\.yml:2:55: gates\[1\]\.threshold: /);
    expect([code, count]).to.deep.equal([2, '2 errors.']);
    const unknown = await check(
      '--config',
      write('key.yml', '- { metric: precision_ratio, treshold: 0.8 }\n'),
      '--json',
    );
    const { faults: problems, ...rest } = JSON.parse(unknown.stdout) as {
      faults: { line: number; message: string }[];
    };
    expect(rest).to.deep.equal({ file: 'key.yml', kind: 'gates', valid: false, config: null });
    expect(problems.map(({ line, message }) => [line, message])).to.deep.include([
      1,
      "gates[0]: unknown key 'treshold'",
    ]);
    const empty = await check('--config', write('empty.yml', ''), '--kind', 'gates');
    expect(empty.stdout).to.match(/^empty\.yml:1:1: the file is empty\..*\n1 error\.\n$/);
    const missing = await check('--config', 'no.yml', '--kind', 'gates');
    expect([missing.code, missing.stdout]).to.deep.equal([2, 'no.yml: there is no such file. Check the path.\n1 error.\n']); // prettier-ignore
  });

  it('says if a configuration only prepares data, and if the gate is a ratio', async () => {
    const text =
      'sensitive: [a, b]\nintersections: [[a, b]]\nfairness_metric: demographic_parity_ratio\nvalidation_threshold: 0.8\n';
    const { stdout } = await check('--config', write('few.yml', text));
    expect(stdout).to.include('- Sensitive: a, b; crossed: a and b.\n');
    expect(stdout).to.include(
      '- Steps: none.\n- Training: none, only the data are prepared.\n- Gate: demographic_parity_ratio at least 0.8.\n',
    );
  });

  it('prints every error with its line and column, and exits with 2', async () => {
    const { code, stdout, stderr } = await check('--config', write('bad.yml', 'sensitve: [sex]\nalpha: 2\n'));
    expect(stdout).to.equal(
      "bad.yml:1:1: unknown key 'sensitve'. Did you mean 'sensitive'?\n" +
        'bad.yml:2:8: alpha: must be a number above 0 and below 1; got 2. Correct the value, or leave the key out to use 0.05.\n' +
        '2 errors.\n',
    );
    expect([code, stderr]).to.deep.equal([2, '']);
  });

  it('prints the singular for one error', async () => {
    const { code, stdout } = await check('--config', 'none.yml');
    expect([code, stdout]).to.deep.equal([2, 'none.yml: there is no such file. Check the path.\n1 error.\n']);
  });

  it('prints the configuration in the form of a file with --json', async () => {
    const { code, stdout } = await check('--config', write('ok.yml', 'sensitive: sex\nsteps: [{ kind: ProxyDropper }]\n'), '--json'); // prettier-ignore
    const { config, ...rest } = JSON.parse(stdout) as { config: unknown };
    expect(rest).to.deep.equal({ file: 'ok.yml', valid: true, profile: null, profiles: [], faults: [] });
    expect(parsePipelineConfig(config).pipeline).to.have.lengthOf(1);
    expect(config).to.have.property('proxy_threshold', 0.3);
    expect(code).to.equal(0);
  });

  it('prints the errors with --json', async () => {
    const { code, stdout } = await check('--config', write('bad2.yml', 'sensitive: [sex]\nalpha: 2\n'), '--json');
    expect(JSON.parse(stdout)).to.deep.equal({
      file: 'bad2.yml',
      valid: false,
      profile: null,
      profiles: [],
      faults: [
        {
          file: 'bad2.yml',
          line: 2,
          column: 8,
          key: 'alpha',
          message: 'alpha: must be a number above 0 and below 1; got 2',
          suggestion: 'Correct the value, or leave the key out to use 0.05.',
        },
      ],
      config: null,
    });
    expect(code).to.equal(2);
  });

  const PROFILES = 'sensitive: [sex]\nprofiles:\n  dev: { alpha: 0.2 }\n  prod: { alpha: 1 }\n';

  it('checks every profile if none is selected', async () => {
    const { code, stdout } = await check('--config', write('profiles.yml', PROFILES));
    expect(stdout).to.match(/^profiles\.yml:4:18: alpha: must be .*\n1 error\.\n$/);
    expect(code).to.equal(2);
  });

  it('reports each error once, in the order of the file, although it is read with each profile', async () => {
    const text =
      'sensitive: [sex]\nprofiles:\n  dev: { <<: { alpha: 0.1 } }\n  prod: { alhpa: 1, colour: red }\n  test: { alpha: 2 }\nalpha: 3\n';
    const { stdout } = await check('--config', write('once.yml', text));
    expect(stdout.split('\n').map((line) => line.split('. ')[0])).to.deep.equal([
      'once.yml:3:10: profiles.dev: merge keys (<<) are not supported',
      "once.yml:4:11: profiles.prod: unknown key 'alhpa'",
      "once.yml:4:21: profiles.prod: unknown key 'colour'",
      'once.yml:5:18: alpha: must be a number above 0 and below 1; got 2',
      'once.yml:6:8: alpha: must be a number above 0 and below 1; got 3',
      '5 errors.',
      '',
    ]);
  });

  it('checks the selected profile', async () => {
    const file = write('profiles.yml', PROFILES);
    const { code, stdout } = await check('--config', file, '--profile', 'dev');
    expect(stdout).to.match(/^profiles\.yml is a valid configuration with the profile dev\.\n/);
    expect(stdout).to.include('alpha 0.2');
    expect(code).to.equal(0);
    expect((await check('--config', file, '--profile', 'prod')).code).to.equal(2);
    expect((await check('--config', file, '--profile', 'test')).stdout).to.include(
      "The profiles are 'dev' and 'prod'.",
    );
  });

  it('says if the top level is incomplete without a profile', async () => {
    const text = 'alpha: 0.1\nprofiles: { a: { sensitive: [x] }, b: { sensitive: [y] } }\n';
    const { code, stdout } = await check('--config', write('needs.yml', text));
    expect(stdout).to.equal(
      [
        'needs.yml is a valid configuration.',
        '',
        '- The top level alone is incomplete. Choose a profile.',
        '- All 2 profiles were checked. None is used unless --profile or EVENHAND_PROFILE selects it:',
        '- Profile a: changes sensitive. Gate: demographic_parity_difference is reported without a verdict.',
        '- Profile b: changes sensitive. Gate: demographic_parity_difference is reported without a verdict.',
        '',
      ].join('\n'),
    );
    expect(code).to.equal(0);
  });

  it('prints what each profile changes, and its gate, if none is selected', async () => {
    const text =
      'sensitive: [sex]\nvalidation_threshold: 0.1\nprofiles:\n  dev: { validation_threshold: 0.3 }\n' +
      '  release: { steps: [], fairness_metric: demographic_parity_ratio, validation_threshold: 0.8 }\n  same: {}\n';
    const { code, stdout } = await check('--config', write('each.yml', text));
    expect(stdout.split('\n').slice(-7)).to.deep.equal([
      '- Gate: demographic_parity_difference at most 0.1.',
      '- All 3 profiles were checked. None is used unless --profile or EVENHAND_PROFILE selects it:',
      '- Profile dev: changes validation_threshold. Gate: demographic_parity_difference at most 0.3.',
      '- Profile release: changes steps, fairness_metric, validation_threshold. Gate:',
      '  demographic_parity_ratio at least 0.8.',
      '- Profile same: changes nothing. Gate: demographic_parity_difference at most 0.1.',
      '',
    ]);
    expect(code).to.equal(0);
    const chosen = await check('--config', 'each.yml', '--profile', 'dev');
    expect(chosen.stdout)
      .to.match(/ with the profile dev\.\n/)
      .and.not.match(/^- Profile /m);
  });

  it('prints one line for each part, also if names contain line breaks', async () => {
    const text = 'sensitive: ["se\\nx"]\nsteps: [{ kind: ProxyDropper, name: "a\\u202eb" }]\n';
    const { stdout } = await check('--config', write('odd.yml', text));
    expect(stdout).to.include('\n- Sensitive: se\\nx.\n').and.include('\n- Step 1: a\\u202eb: ProxyDropper.\n');
  });

  it('finds the file from EVENHAND_CONFIG_PATH', async () => {
    const env = { EVENHAND_CONFIG_PATH: write('env.yml', 'sensitive: [sex]\n') };
    const { stdout } = await runCli(['config', 'check'], { cwd: folder(), env });
    expect(stdout).to.match(/^env\.yml is a valid configuration\./);
  });
});

describe('evenhand config schema', () => {
  it('prints the schema that is stored with the sample configurations', async () => {
    const { code, stdout } = await runCli(['config', 'schema']);
    const file = readFileSync(path.join(projectRoot, 'config/pipeline.schema.json'), 'utf8');
    expect(JSON.parse(stdout)).to.deep.equal(JSON.parse(file));
    expect(code).to.equal(0);
  });

  it('writes the schema to a file with --out', async () => {
    const { stdout, stderr } = await runCli(['config', 'schema', '--out', 'schema.json'], { cwd: folder() });
    expect([stdout, stderr]).to.deep.equal(['', 'Wrote schema.json\n']);
    expect(readFileSync(path.join(folder(), 'schema.json'), 'utf8')).to.match(/^\{\n {2}"\$schema": /);
  });
});

describe('evenhand config', () => {
  it('lists its commands with --help, and their help lists the common options', async () => {
    expect((await runCli(['config', '--help'])).stdout).to.match(/^ {2}check [^]*^ {2}schema /m);
    for (const name of ['check', 'schema']) {
      const { code, stdout } = await runCli(['config', name, '--help']);
      for (const option of ['--json', '--quiet', '--verbose', 'Examples:']) expect(stdout).to.include(option);
      expect(code).to.equal(0);
    }
  });

  for (const { title, args, says } of [
    {
      title: 'an unknown command',
      args: ['config', 'chek'],
      says: /unknown command 'chek'.*\bcheck\b.*Run 'evenhand config --help'/s,
    },
    {
      title: 'an unknown option',
      args: ['config', 'check', '--cnfig', 'x'],
      says: /unknown option '--cnfig'.*Run 'evenhand config check --help' for the options\.\n$/s,
    },
  ]) {
    it(`rejects ${title} with exit code 2, on one line with what to do`, async () => {
      const { code, stderr } = await runCli(args);
      expect(stderr).to.match(says);
      expect(stderr.trim().split('\n')).to.have.lengthOf(1);
      expect(code).to.equal(2);
    });
  }
});

describe('the name of a configuration that comes with evenhand', () => {
  /** Runs a command in an empty folder that has only the given files. */
  const runWith = (files: Readonly<Record<string, string>>, ...args: string[]) => {
    const cwd = mkdtempSync(path.join(folder(), 'empty-'));
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(path.dirname(path.join(cwd, name)), { recursive: true });
      writeFileSync(path.join(cwd, name), text);
    }
    return runCli(args, { cwd });
  };
  const packed = (name: string): string => path.join(projectRoot, 'config', name);

  for (const given of ['cps-wages', 'cps-wages.yml', 'config/cps-wages.yml', './config/cps-wages.yml']) {
    it(`is found in the package as ${given}, and stderr says so`, async () => {
      const { code, stdout, stderr } = await runWith({}, 'config', 'check', '--config', given);
      expect(stdout).to.include(`${packed('cps-wages.yml')} is a valid configuration.`);
      expect([code, stderr]).to.deep.equal([
        0,
        `Using ${packed('cps-wages.yml')}, which comes with evenhand, because there is no file '${given}' here.\n`,
      ]);
    });
  }

  it('is found by each command that reads one', async () => {
    for (const args of [
      ['llm-eval', '--config', 'llm-eval', '--dry-run'],
      ['config', 'check', '--config', 'llm-eval'],
      ['config', 'check', '--config', 'adult'],
    ]) {
      const { code, stderr } = await runWith({}, ...args);
      expect(code, stderr).to.equal(0);
    }
  });

  it('gives way to a file of the user, also without its folder and extension', async () => {
    const own = 'sensitive: [mine]\n';
    for (const [file, given, used] of [
      ['config/adult.yml', 'config/adult.yml', undefined],
      ['adult', 'adult', undefined],
      ['adult.yml', 'adult', 'adult.yml'],
      ['config/adult.yml', 'adult', path.join('config', 'adult.yml')],
    ] as const) {
      const { stdout, stderr } = await runWith({ [file]: own }, 'config', 'check', '--config', given);
      expect(stdout).to.include('Sensitive: mine.');
      expect(stderr).to.equal(used === undefined ? '' : `Using ${used}, because there is no file '${given}' here.\n`);
    }
  });

  it('is used without a remark with --quiet', async () => {
    const { code, stderr } = await runWith({}, 'config', 'check', '--config', 'german', '--quiet');
    expect([code, stderr]).to.deep.equal([0, '']);
  });

  it('is not searched for in another folder, or under an unknown name', async () => {
    for (const given of [
      'other/adult.yml',
      '../config/adult.yml',
      '/adult.yml',
      'adults',
      'pipeline.schema.json',
      '',
    ]) {
      const { code, stdout, stderr } = await runWith({}, 'config', 'check', '--config', given);
      expect([code, stderr], given).to.deep.equal([2, '']);
      expect(stdout).to.include('there is no such file');
    }
  });
});
