import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { parseLlmEvalConfig } from '../../../src/llm-evals/config/index.ts';
import { projectRoot } from '../../helpers/project-files.ts';
import { runCli, useTemporaryFolder } from '../../helpers/run-cli.ts';

const folder = useTemporaryFolder();

const check = (...args: string[]) => runCli(['config', 'check', ...args], { cwd: folder() });

function write(name: string, text: string): string {
  writeFileSync(path.join(folder(), name), text);
  return name;
}

describe('evenhand config check of an evaluation', () => {
  const SMALL =
    'prompt_templates: { a: "The {g} asked."\n }\ncounterfactual: { dimensions: { g: [woman, man] } }\nmax_cost_usd: 2\n';

  it('is detected from its keys, and prints what is asked', async () => {
    const { code, stdout } = await check('--config', write('llm.yml', SMALL));
    expect(stdout).to.equal(
      [
        'llm.yml is a valid configuration of a language-model evaluation.',
        '',
        '- Model: stub (local).',
        '- Scores: counterfactual, refusal, toxicity_sentiment, stereotype.',
        '- Compares: a, g: 1 item of woman, man; differing in woman/man.',
        '- Prompts of templates: 2, each asked once, so that there is no noise floor.',
        '- Limits: 2 US dollars.',
        '',
      ].join('\n'),
    );
    expect(code).to.equal(0);
  });

  it('accepts the sample configuration', async () => {
    const { code, stdout } = await check('--config', path.join(projectRoot, 'config/llm-eval.yml'));
    expect(stdout).to.include('\n- Prompts of templates: 149, each asked 2 times.\n');
    expect(code).to.equal(0);
  });

  it('prints every error with its line and column, and exits with 2', async () => {
    const { code, stdout } = await check('--config', write('bad.yml', 'provider: opnai\nrepeats: 0\n'));
    expect(stdout.split('\n').map((line) => line.split(': ')[0])).to.deep.equal([
      'bad.yml:1:1',
      'bad.yml:1:11',
      'bad.yml:2:10',
      '3 errors.',
      '',
    ]);
    expect(code).to.equal(2);
  });

  it('rejects prompts that differ in more than the dimension', async () => {
    const text = SMALL.replace('The {g} asked.', 'The {g} did her work.');
    const { code, stdout } = await check('--config', write('pairs.yml', text));
    expect(stdout).to.match(
      /^pairs\.yml: The prompts of an item must differ .*the variant 'man' says 'her'.*\n1 error\.\n$/,
    );
    expect(code).to.equal(2);
  });

  it('tells the benchmarks of language models from the proportions of a pipeline', async () => {
    const models = await check('--config', write('models.yml', 'benchmarks: { crows_pairs: pairs.csv }\n'));
    expect(models.stdout).to.include('- Scores: benchmarks.').and.to.include('- Benchmark crows_pairs: pairs.csv.');
    const pipeline = await check('--config', write('pipeline.yml', 'benchmarks: { sex: { F: 0.5, M: 0.5 } }\n'));
    expect(pipeline.stdout).to.include('sensitive: is missing');
  });

  it('uses --kind if the keys are ambiguous', async () => {
    const file = write('odd.yml', 'alpha: 1\n');
    expect((await check('--config', file)).stdout).to.include('sensitive: is missing');
    expect((await check('--config', file, '--kind', 'llm-eval')).stdout).to.include("unknown key 'alpha'");
    expect((await check('--config', write('llm.yml', SMALL), '--kind', 'pipeline')).code).to.equal(2);
  });

  it('prints the configuration in the format of a file with --json', async () => {
    const { stdout } = await check('--config', write('llm.yml', SMALL), '--json');
    const { config, ...rest } = JSON.parse(stdout) as { config: object };
    expect(rest).to.deep.equal({ file: 'llm.yml', kind: 'llm-eval', valid: true, faults: [] });
    expect(parseLlmEvalConfig(config)).to.deep.equal(await parseLlmEvalConfig(SMALL));
  });
});

describe('evenhand config schema --kind llm-eval', () => {
  it('prints the schema stored beside the sample configuration', async () => {
    const { code, stdout } = await runCli(['config', 'schema', '--kind', 'llm-eval']);
    const file = readFileSync(path.join(projectRoot, 'config/llm-eval.schema.json'), 'utf8');
    expect(JSON.parse(stdout)).to.deep.equal(JSON.parse(file));
    expect(code).to.equal(0);
  });
});
