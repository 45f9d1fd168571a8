import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';
import { parse } from 'yaml';

import { LLM_EVAL_SCHEMA_FILE, llmEvalSchemaText } from '../../../scripts/config-schema.ts';
import { ConfigValidationError } from '../../../src/exceptions/index.ts';
import { targetConfigs } from '../../../src/llm-evals/config/build-llm-eval-config.ts';
import { llmEvalConfigToJson, loadLlmEvalConfig, parseLlmEvalConfig } from '../../../src/llm-evals/config/index.ts';
import { lintPairs, planCounterfactual } from '../../../src/llm-evals/plan/counterfactual/index.ts';
import { projectRoot } from '../../helpers/project-files.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';
import { fits, type JsonSchema } from '../../schemas/pipeline/check-json-schema.ts';

const FULL = `
provider: compatible
model: llama
base_url: http://127.0.0.1:11434/v1/
system_prompt: Be brief.
evaluators: [counterfactual, stereotype]
prompt_templates:
  joke: Tell a joke.
  __proto__: Hello
counterfactual:
  template: "{name}, a {gender}, came on {day}."
  dimensions: { gender: [woman, man], day: [Monday, Friday] }
  defaults: { day: Friday }
  name_pools: { woman: [Ann, Eve], man: [Bob, Tom, Jim] }
  control_dimension: day
cache_dir: cache
replay_only: true
max_requests_per_run: 10
max_tokens_per_run: 1000
max_cost_usd: 0.5
max_minutes: 1.5
concurrency: 2
timeout_ms: 1000
repeats: 3
params: { temperature: 0, stop: [a, b], response_format: { type: text }, seed: null }
answers_path: answers.csv
prompts_path: prompts.csv
dimensions: [gender, age]
cluster: person
bbq_path: bbq.jsonl
bbq_formats: [arc, qonly]
outcome:
  decision: { json_path: $.hire }
  score: [{ number: { regex: '(\\d+) of 10', min: 1, max: 10 }, templates: [joke] }, { judge: { rubric: How good? } }]
judge: { model: grader, params: { max_tokens: 5 }, pairwise: Which is better? }
metrics: my-metrics.mjs
benchmarks:
  crows_pairs: pairs.csv
  winobias: [pro.txt, anti.txt]
  winogender: { path: templates.tsv, limit: 20, seed: 7 }
embedding: { provider: ollama, model: embedder, base_url: 'http://127.0.0.1:11434/', max_requests: 100 }
prices: { llama: { input: 0, output: 1.5, as_of: 2026-01-31 } }
allow_small_samples: true
`;

describe('parseLlmEvalConfig', () => {
  it('accepts a dimension called name if there are no name_pools', () => {
    const counterfactual = { template: 'Describe {name}.', dimensions: { name: ['Ada', 'Ben'] } };
    const config = parseLlmEvalConfig({ counterfactual });
    expect(planCounterfactual(config).map(({ group, prompt }) => [group, prompt])).to.deep.equal([
      ['Ada', 'Describe Ada.'],
      ['Ben', 'Describe Ben.'],
    ]);
  });

  it('fills in every default', () => {
    expect(parseLlmEvalConfig({ prompt_templates: { a: 'Hello' } })).to.deep.equal({
      provider: 'local',
      model: 'stub',
      baseUrl: null,
      http: null,
      command: null,
      commandInput: 'text',
      systemPrompt: null,
      evaluators: ['refusal', 'toxicity_sentiment', 'stereotype'],
      promptTemplates: { a: 'Hello' },
      counterfactual: null,
      outcome: {},
      judge: null,
      metrics: null,
      cacheDir: '.evenhand/llm-cache',
      replayOnly: false,
      replayPath: null,
      answers: null,
      answersPath: null,
      promptsPath: null,
      dimensions: null,
      cluster: null,
      maxRequestsPerRun: null,
      maxTokensPerRun: null,
      maxCostUsd: null,
      maxMinutes: null,
      concurrency: 4,
      timeoutMillis: 60_000,
      repeats: 1,
      params: {},
      bbqPath: null,
      bbqFormats: ['race'],
      benchmarks: null,
      embedding: null,
      prices: {},
      allowSmallSamples: false,
      targets: null,
    });
  });

  it('reads every key of a text', async () => {
    const config = await parseLlmEvalConfig(FULL);
    expect({ ...config, promptTemplates: Object.entries(config.promptTemplates) }).to.deep.equal({
      provider: 'compatible',
      model: 'llama',
      baseUrl: 'http://127.0.0.1:11434/v1',
      http: null,
      command: null,
      commandInput: 'text',
      systemPrompt: 'Be brief.',
      evaluators: ['counterfactual', 'stereotype'],
      promptTemplates: [
        ['joke', 'Tell a joke.'],
        ['__proto__', 'Hello'],
      ],
      counterfactual: {
        template: ['{name}, a {gender}, came on {day}.'],
        dimensions: { gender: ['woman', 'man'], day: ['Monday', 'Friday'] },
        defaults: { day: 'Friday' },
        namePools: { woman: ['Ann', 'Eve'], man: ['Bob', 'Tom', 'Jim'] },
        controlDimension: 'day',
      },
      outcome: {
        decision: [{ jsonPath: '$.hire' }],
        score: [
          { number: { regex: '(\\d+) of 10', min: 1, max: 10 }, templates: ['joke'] },
          { judge: { rubric: 'How good?' } },
        ],
      },
      judge: {
        provider: 'compatible',
        model: 'grader',
        baseUrl: 'http://127.0.0.1:11434/v1',
        params: { max_tokens: 5, temperature: 0 },
        blind: true,
        repeats: 1,
        pairwise: 'Which is better?',
        controls: 10,
      },
      metrics: 'my-metrics.mjs',
      cacheDir: 'cache',
      replayOnly: true,
      replayPath: null,
      answers: null,
      answersPath: 'answers.csv',
      promptsPath: 'prompts.csv',
      dimensions: ['gender', 'age'],
      cluster: 'person',
      maxRequestsPerRun: 10,
      maxTokensPerRun: 1000,
      maxCostUsd: 0.5,
      maxMinutes: 1.5,
      concurrency: 2,
      timeoutMillis: 1000,
      repeats: 3,
      params: { temperature: 0, stop: ['a', 'b'], response_format: { type: 'text' }, seed: null },
      bbqPath: 'bbq.jsonl',
      bbqFormats: ['arc', 'qonly'],
      benchmarks: {
        crows_pairs: { path: ['pairs.csv'], seed: 42 },
        winobias: { path: ['pro.txt', 'anti.txt'], seed: 42 },
        winogender: { path: ['templates.tsv'], limit: 20, seed: 7 },
      },
      embedding: { provider: 'ollama', model: 'embedder', baseUrl: 'http://127.0.0.1:11434', maxRequests: 100 },
      prices: { llama: { input: 0, output: 1.5, asOf: '2026-01-31' } },
      allowSmallSamples: true,
      targets: null,
    });
  });

  it('round-trips its result, as parsed and as in a file', async () => {
    const texts = [
      FULL,
      'bbq_path: b.jsonl',
      'benchmarks: { crows_pairs: pairs.csv }',
      'prompt_templates: { a: "{g}" }\ncounterfactual: { dimensions: { g: [x, y] } }',
    ];
    for (const text of texts) {
      const config = await parseLlmEvalConfig(text);
      expect(parseLlmEvalConfig(config)).to.deep.equal(config);
      expect(parseLlmEvalConfig(llmEvalConfigToJson(config))).to.deep.equal(config);
      expect(await parseLlmEvalConfig(JSON.stringify(llmEvalConfigToJson(config)))).to.deep.equal(config);
    }
  });

  it('uses all evaluators with material, unless some are named', () => {
    const counterfactual = { template: 'A {g}', dimensions: { g: ['x', 'y'] } };
    const evaluators = (given: object): string => parseLlmEvalConfig(given).evaluators.join(' ');
    expect(evaluators({ bbq_path: 'b' })).to.equal('stereotype');
    expect(evaluators({ counterfactual })).to.equal('counterfactual refusal toxicity_sentiment stereotype');
    expect(evaluators({ bbq_path: 'b', prompt_templates: { a: 'x' } })).to.equal(
      'refusal toxicity_sentiment stereotype',
    );
    expect(evaluators({ counterfactual, evaluators: ['refusal'] })).to.equal('refusal');
  });

  it('requires no model name for providers with only one model', () => {
    const model = (given: object): string => parseLlmEvalConfig({ ...given, bbq_path: 'b' }).model;
    expect(model({})).to.equal('stub');
    expect(model({ provider: 'replay', replay_path: 'a.ndjson' })).to.equal('replay');
    expect(model({ provider: 'anthropic', model: 'claude' })).to.equal('claude');
  });

  it('is frozen, and shares no part with the input', () => {
    const given = { prompt_templates: { a: 'x' }, params: { stop: ['a'] }, evaluators: ['refusal'] };
    const config = parseLlmEvalConfig(given);
    expect(
      [config, config.params, config.params['stop'], config.promptTemplates, config.bbqFormats].every(Object.isFrozen),
    ).to.equal(true);
    expect(Object.isFrozen(given.params.stop)).to.equal(false);
    expect(() => given.evaluators.push('stereotype')).not.to.throw();
  });

  it('rejects data that are not a mapping, or contain values that JSON does not support', () => {
    expect(() => parseLlmEvalConfig([])).to.throw(
      ConfigValidationError,
      /must be a mapping of keys; got an empty list/,
    );
    const withFunction = { promptTemplates: { a: 'x' }, params: { f: () => 1 } };
    expect(() => parseLlmEvalConfig(withFunction, 'mine')).to.throw(
      /^mine: params\.f: must be a string, number or boolean/,
    );
    const params: Record<string, unknown> = {};
    params['self'] = params;
    expect(() => parseLlmEvalConfig({ promptTemplates: { a: 'x' }, params })).to.throw(/is nested too deeply/);
    expect(() => parseLlmEvalConfig({ promptTemplates: { a: 'x' }, prompt_templates: { a: 'y' } })).to.throw(
      /the keys 'promptTemplates' and 'prompt_templates' are the same/,
    );
  });
});

describe('loadLlmEvalConfig', () => {
  const folder = useTemporaryFolder();

  it('reads a file, and names it in errors', async () => {
    const file = path.join(folder(), 'a.yml');
    writeFileSync(file, 'prompt_templates: { a: Hello }\n');
    expect((await loadLlmEvalConfig(file)).promptTemplates).to.deep.equal({ a: 'Hello' });
    writeFileSync(file, 'prompt_template: { a: Hello }\n');
    const problem = await loadLlmEvalConfig(file).catch(String);
    expect(problem).to.include(`${file}:1:1: unknown key 'prompt_template'. Did you mean 'prompt_templates'`);
  });

  it('rejects a missing file', async () => {
    const problem = await loadLlmEvalConfig(path.join(folder(), 'none.yml')).catch(String);
    expect(problem).to.match(/^ConfigValidationError: .*none\.yml: there is no such file\. Check the path\.$/);
  });
});

describe('config/llm-eval.yml', () => {
  const file = path.join(projectRoot, 'config/llm-eval.yml');

  it('has enough names for each dimension, with items that differ only in the dimension', async () => {
    const config = await loadLlmEvalConfig(file);
    const plan = planCounterfactual(config, 'counterfactual');
    expect(lintPairs(plan).findings).to.deep.equal([]);
    for (const dimension of ['gender', 'weekday']) {
      const items = new Set(plan.filter((each) => each.dimension === dimension).map((each) => each.item));
      // 3 templates x 12 names x 2 values of the other dimension. Gender is in two more templates.
      expect(items.size, dimension).to.equal(dimension === 'gender' ? 74 : 72);
      const units = new Set(plan.filter((each) => each.dimension === dimension).map((each) => each.unit));
      // 12 pairs of names and 2 templates; by day, each of the 24 names.
      expect(units.size, dimension).to.equal(dimension === 'gender' ? 14 : 24);
    }
    // 3 templates x 12 names x 2 days x 2 genders, 2 templates of 2 genders, 1 without: 149 prompts, twice each.
    expect(new Set(plan.map(({ prompt, repeat }) => `${String(repeat)} ${prompt}`)).size).to.equal(298);
    expect(config.maxRequestsPerRun).to.be.greaterThan(298);
  });

  it('sends nothing to a provider, and costs nothing', async () => {
    const { provider, controlDimension } = {
      ...(await loadLlmEvalConfig(file)),
      ...(await loadLlmEvalConfig(file)).counterfactual,
    };
    expect([provider, controlDimension]).to.deep.equal(['local', 'weekday']);
  });
});

describe('config/llm-eval.schema.json', () => {
  const text = readFileSync(LLM_EVAL_SCHEMA_FILE, 'utf8');
  const schema = JSON.parse(text) as JsonSchema;

  it('matches the output of its script byte for byte', async () => {
    expect(text).to.equal(await llmEvalSchemaText());
  });

  it('describes every key', () => {
    const properties = schema['properties'] as Record<string, JsonSchema>;
    const inner = (properties['counterfactual'] as { properties: Record<string, JsonSchema> }).properties;
    for (const [key, { description }] of [...Object.entries(properties), ...Object.entries(inner)]) {
      expect(description, key).to.be.a('string').that.matches(/\.$/);
    }
  });

  const texts: readonly (readonly [text: string, isValid: boolean])[] = [
    [FULL.replace('  __proto__: Hello\n', ''), true],
    ['provider: local', false],
    ['prompt_templates: { a: Hello }', true],
    ["prompt_templates: { a: ' ' }", false],
    ['prompt_templates: { a: Hello }\nprovider: opnai', false],
    ['prompt_templates: { a: Hello }\nrepeats: 0', false],
    ['prompt_templates: { a: Hello }\nconcurrency: 65', false],
    ['prompt_templates: { a: Hello }\nmax_cost_usd: 0', false],
    ['prompt_templates: { a: Hello }\napi_key: x', false],
    ['counterfactual: { template: "A {g}", dimensions: { g: [x] } }', false],
    ['counterfactual: { template: "A {g}", dimensions: { g: [x, y] } }', true],
    ['counterfactual: { template: ["A {g}"], dimensions: { g: [x, y] }, nam_pools: {} }', false],
    ['bbq_path: b.jsonl\nprices: { m: { input: 1, output: 1 } }', false],
    ['bbq_path: b.jsonl\nprices: { m: { input: 1, output: 1, as_of: 2026-13-01 } }', false],
    ['bbq_path: b.jsonl\nbbq_formats: []', false],
    ['benchmarks: { winobias: [a.txt, b.txt] }', true],
    ['benchmarks: { winobias: [] }', false],
  ];
  for (const [given, isValid] of texts) {
    it(`${isValid ? 'takes' : 'refuses'} what a reader ${isValid ? 'takes' : 'refuses'}: ${given.trim().split('\n').slice(-1).join()}`, async () => {
      const isRead = await parseLlmEvalConfig(given).then(
        () => true,
        () => false,
      );
      expect({ isRead, fits: fits(parse(given), schema) }).to.deep.equal({ isRead: isValid, fits: isValid });
    });
  }
});

describe('targets', () => {
  const parsed = () =>
    parseLlmEvalConfig({
      provider: 'openai',
      model: 'm',
      base_url: 'http://127.0.0.1:1/v1',
      prompt_templates: { a: 'Hello', password: 'Forgot it' },
      params: { temperature: 1 },
      targets: [
        { name: 'same', params: { temperature: 0 } },
        { name: 'other', provider: 'local', systemPrompt: 'Be brief.', prompt_templates: { password: 'Lost it' } },
      ],
    });

  it('replace keys of the configuration, and inherit the rest', () => {
    const { same, other } = targetConfigs(parsed());
    expect(same).to.deep.include({ provider: 'openai', model: 'm', params: { temperature: 0 }, targets: null });
    expect(same?.promptTemplates).to.deep.equal({ a: 'Hello', password: 'Forgot it' });
    // The model and the address belong to the provider.
    expect(other).to.deep.include({ provider: 'local', model: 'stub', baseUrl: null, systemPrompt: 'Be brief.' });
    expect(other).to.deep.include({ params: { temperature: 1 }, promptTemplates: { password: 'Lost it' } });
  });

  it('are the same after a round trip through JSON', () => {
    expect(parseLlmEvalConfig(llmEvalConfigToJson(parsed()))).to.deep.equal(parsed());
    expect(parseLlmEvalConfig(parsed())).to.deep.equal(parsed());
  });
});
