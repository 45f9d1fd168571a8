import { expect } from 'chai';
import fc from 'fast-check';

import { ConfigValidationError } from '../../../src/exceptions/index.ts';
import {
  parseConfigText,
  parsePipelineConfig,
  type PipelineConfigInput,
  pipelineConfigToJson,
} from '../../../src/pipeline/config/index.ts';
import { TRANSFORMER_KINDS } from '../../../src/schemas/pipeline/transformer-params.ts';

const FULL = {
  sensitive: ['sex', 'race'],
  intersections: [['sex', 'race']],
  benchmarks: { sex: { female: 0.51, male: 0.49 } },
  alpha: 0.01,
  proxy_threshold: 0.2,
  report_out: 'report.md',
  pipeline: [
    { name: 'weigh', transformer: 'InstanceReweighting', params: { max_weight: 5, benchmarks: { sex: { a_b: 1 } } } },
    {
      transformer: 'ReweighingTransformer',
      params: { positive_label: 1, targets: { snake_case: 0.5, camelCase: 0.5 } },
    },
    {
      transformer: 'DisparateImpactRemover',
      params: { repair_level: 0.5, min_group_size: 30, sensitive: ['sex', 'race'] },
    },
  ],
  features: ['age', 'hours'],
  training: {
    method: 'reductions',
    target_column: 'income',
    positive_label: '>50K',
    params: {
      T: 20,
      difference_bound: 0.01,
      class_weight: { 0: 1, 1: 5 },
      costs: { false_positive: 1, false_negative: 2 },
    },
  },
  fairness_metric: 'equalized_odds_difference',
  validation_threshold: 0.1,
} as const;

describe('parsePipelineConfig', () => {
  it('fills in the documented defaults', () => {
    expect(parsePipelineConfig({ sensitive: 'sex' })).to.deep.equal({
      sensitive: ['sex'],
      intersections: [],
      benchmarks: {},
      alpha: 0.05,
      proxyThreshold: 0.3,
      pipeline: [],
    });
  });

  it('converts declared keys to camelCase, and keeps keys that are data', () => {
    const config = parsePipelineConfig(FULL);
    expect(config).to.deep.equal({
      sensitive: ['sex', 'race'],
      intersections: [['sex', 'race']],
      benchmarks: { sex: { female: 0.51, male: 0.49 } },
      alpha: 0.01,
      proxyThreshold: 0.2,
      reportOut: 'report.md',
      pipeline: [
        {
          name: 'weigh',
          transformer: 'InstanceReweighting',
          params: { maxWeight: 5, benchmarks: { sex: { a_b: 1 } } },
        },
        {
          name: 'ReweighingTransformer',
          transformer: 'ReweighingTransformer',
          params: { positiveLabel: '1', targets: { snake_case: 0.5, camelCase: 0.5 } },
        },
        {
          name: 'DisparateImpactRemover',
          transformer: 'DisparateImpactRemover',
          params: { repairLevel: 0.5, minGroupSize: 30, sensitive: ['sex', 'race'] },
        },
      ],
      features: ['age', 'hours'],
      training: {
        method: 'reductions',
        targetColumn: 'income',
        positiveLabel: '>50K',
        params: {
          T: 20,
          differenceBound: 0.01,
          classWeight: { 0: 1, 1: 5 },
          costs: { falsePositive: 1, falseNegative: 2 },
        },
      },
      fairnessMetric: 'equalized_odds_difference',
      validationThreshold: 0.1,
    });
  });

  it('accepts its own output and that of pipelineConfigToJson', () => {
    const config = parsePipelineConfig(FULL);
    expect(parsePipelineConfig(config)).to.deep.equal(config);
    expect(parsePipelineConfig(pipelineConfigToJson(config))).to.deep.equal(config);
    expect(parsePipelineConfig(JSON.parse(JSON.stringify(pipelineConfigToJson(config))))).to.deep.equal(config);
  });

  it('treats keys with the value undefined as omitted', () => {
    const config: PipelineConfigInput = { sensitive: ['sex'], training: undefined, features: undefined };
    expect(parsePipelineConfig(config)).to.have.all.keys(
      'sensitive',
      'intersections',
      'benchmarks',
      'alpha',
      'proxyThreshold',
      'pipeline',
    );
  });

  it('ignores any key with the value undefined, whatever its name', () => {
    const given = { sensitive: 'sex', pipeline: [{ transformer: 'ProxyDropper', kind: undefined }], steps: undefined };
    expect(parsePipelineConfig({ ...given, nonsense: undefined }).pipeline).to.have.lengthOf(1);
  });

  it('freezes the complete result, but not its input', () => {
    const given = structuredClone(FULL) as Record<string, unknown>;
    const walk = (value: unknown, check: (part: object) => void): void => {
      if (typeof value !== 'object' || value === null) return;
      check(value);
      Object.values(value).forEach((inner) => {
        walk(inner, check);
      });
    };
    walk(parsePipelineConfig(given), (part) => expect(part).to.be.frozen);
    walk(given, (part) => expect(part).not.to.be.frozen);
  });

  it('keeps labels like __proto__ and constructor without harm', async () => {
    const text = 'sensitive: [__proto__, constructor]\nbenchmarks:\n  __proto__: { __proto__: 0.5, toString: 0.5 }\n';
    const { benchmarks, sensitive } = await parseConfigText(text);
    expect(sensitive).to.deep.equal(['__proto__', 'constructor']);
    expect(Object.keys(benchmarks)).to.deep.equal(['__proto__']);
    expect(Object.entries(Object.values(benchmarks)[0] ?? {})).to.deep.equal([
      ['__proto__', 0.5],
      ['toString', 0.5],
    ]);
    expect(({} as { toString: unknown }).toString).to.be.a('function');
    const again = parsePipelineConfig(pipelineConfigToJson(await parseConfigText(text)));
    expect(JSON.stringify(again.benchmarks)).to.equal('{"__proto__":{"__proto__":0.5,"toString":0.5}}');
  });

  it('reports the path and the name of the configuration', () => {
    const parse = () => parsePipelineConfig({ sensitive: ['sex'], steps: [{ kind: 'ProxyDropper', params: { maxDrop: -1 } }] }, 'the body'); // prettier-ignore
    expect(parse).to.throw(
      ConfigValidationError,
      'the body: pipeline[0].params.max_drop: must be a whole number of 0 or more; got -1. Correct it.',
    );
  });

  it('rejects a key given in both cases', () => {
    expect(() => parsePipelineConfig({ sensitive: 'sex', proxy_threshold: 0.1, proxyThreshold: 0.2 })).to.throw(
      ConfigValidationError,
      "the keys 'proxy_threshold' and 'proxyThreshold' are the same. Keep one of the two.",
    );
  });

  for (const value of [undefined, null, 1, 'sensitive: [sex]', [], [{}], true, () => 1, Symbol('x'), 1n, new Map()]) {
    it(`rejects ${typeof value === 'object' ? JSON.stringify(value) : typeof value} with a ConfigValidationError`, () => {
      expect(() => parsePipelineConfig(value)).to.throw(ConfigValidationError);
    });
  }

  it('returns a configuration or throws a ConfigValidationError for any input', () => {
    const anything = fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true });
    const keys = fc.constantFrom(...Object.keys(FULL), 'steps', 'profiles', 'nonsense', '__proto__');
    const nearly = fc.dictionary(keys, fc.oneof(anything, fc.constantFrom(...Object.values(FULL))));
    fc.assert(
      fc.property(fc.oneof(anything, nearly), (value) => {
        try {
          const config = parsePipelineConfig(value);
          expect(parsePipelineConfig(pipelineConfigToJson(config))).to.deep.equal(config);
        } catch (error) {
          if (!(error instanceof ConfigValidationError)) throw error;
        }
      }),
      { seed: 42, numRuns: 500 },
    );
  });
});

describe('names of steps', () => {
  const namesOf = (steps: object[]): string[] =>
    parsePipelineConfig({ sensitive: 'sex', steps }).pipeline.map(({ name }) => name);
  const kind = 'ProxyDropper';

  for (const { title, steps, names } of [
    {
      title: 'are those of their transformers',
      steps: TRANSFORMER_KINDS.map((each) => ({ kind: each })),
      names: TRANSFORMER_KINDS,
    },
    {
      title: 'are numbered if a transformer is repeated',
      steps: [{ kind }, { kind }, { kind }],
      names: [kind, `${kind}_2`, `${kind}_3`],
    },
    {
      title: 'skip names that were given',
      steps: [{ kind }, { kind: 'CorrelationRemover', name: kind }],
      names: [`${kind}_2`, kind],
    },
    {
      title: 'skip numbers that were given',
      steps: [{ kind, name: `${kind}_2` }, { kind }, { kind }],
      names: [`${kind}_2`, kind, `${kind}_3`],
    },
  ]) {
    it(title, () => {
      expect(namesOf(steps)).to.deep.equal(names);
    });
  }
});

describe('labels and names in a file', () => {
  const labels = [
    ['1', '1'],
    ['1.0', '1.0'],
    ['01', '01'],
    ['true', 'true'],
    ['no', 'no'],
    ["'>50K'", '>50K'],
    ['<=50K', '<=50K'],
    ['"1"', '1'],
    ['2024-01-31', '2024-01-31'],
    ['1e3', '1e3'],
  ] as const;
  for (const [written, label] of labels) {
    it(`positive_label: ${written} is '${label}', in training and in steps`, async () => {
      const config = await parseConfigText(
        `sensitive: [sex]\ntraining: { method: lagrangian, target_column: y, positive_label: ${written} }\n` +
          `steps: [{ kind: ReweighingTransformer, params: { positive_label: ${written} } }]\n`,
      );
      expect(config.training?.positiveLabel).to.equal(label);
      expect(config.pipeline[0]?.params['positiveLabel']).to.equal(label);
    });
  }

  it('converts a numeric label of an object to text', () => {
    const training = { method: 'reductions', target_column: 'y', positive_label: 1 };
    expect(parsePipelineConfig({ sensitive: 's', training }).training?.positiveLabel).to.equal('1');
  });

  it('reads a group written as a number as text', async () => {
    const { benchmarks } = await parseConfigText(
      'sensitive: [g]\nbenchmarks: { g: { 1: 0.25, true: 0.25, 1.0: 0.5 } }',
    );
    expect(benchmarks).to.deep.equal({ g: { 1: 0.25, true: 0.25, '1.0': 0.5 } });
  });

  it('reads an attribute named no as text', async () => {
    expect((await parseConfigText('sensitive: [no, yes]')).sensitive).to.deep.equal(['no', 'yes']);
  });
});

describe('numbers at the limits of their ranges', () => {
  const texts: readonly (readonly [string, boolean])[] = [
    ['alpha: 0', false],
    ['alpha: 1e-300', true],
    ['alpha: 0.999', true],
    ['alpha: 1', false],
    ['proxy_threshold: 0', true],
    ['proxy_threshold: 1', true],
    ['proxy_threshold: -1e-9', false],
    ['validation_threshold: 0', true],
    ['validation_threshold: 1', true],
    ['validation_threshold: 1.001', false],
    ['fairness_metric: demographic_parity_ratio\nvalidation_threshold: 1', true],
    ['fairness_metric: demographic_parity_ratio\nvalidation_threshold: 1.001', false],
    ...['mae_parity', 'rmse_parity', 'mean_prediction', 'mean_squared_error', 'log_loss', 'count'].map(
      (name) => [`fairness_metric: ${name}_difference\nvalidation_threshold: 7`, true] as const,
    ),
    ['validation_threshold: -0.1', false],
    ['validation_threshold: -.inf', false],
    ['fairness_metric: demographic_parity_ratio', true],
    ['fairness_metric: true_positive_rate_difference', true],
    ['fairness_metric: foo_difference', false],
    ['fairness_metric: demographic_parity_ratio_', false],
    ['features: ["age\\nin years", "a\\tb"]', true],
    ['features: ["a\\u007f"]', false],
    ['features: ["a\\u0085"]', false],
    ['report_out: out/data.v2.html', true],
    ['report_out: ./a..b/..c.md', true],
    ['report_out: a/..', false],
    [`steps: [{ kind: ProxyDropper, name: ${'n'.repeat(200)} }]`, true],
    ['steps: [{ kind: LearnedFairRepresentations, params: { prototypes: 1000, max_iterations: 1000000 } }]', true],
    [`training: { method: regularized, target_column: y, params: { hidden: [${'4096,'.repeat(16)}] } }`, true],
    ['training: { method: reductions, target_column: y, params: { T: 1000000 } }', true],
    ['benchmarks: { s: { a: 0.3333333, b: 0.3333333, c: 0.3333333 } }', true],
    ['benchmarks: { s: { a: 0.33333, b: 0.33333, c: 0.33333 } }', false],
    ['benchmarks: { s: {} }', false],
    ['benchmarks: { s: { a: 1 } }', true],
  ];
  for (const [text, isValid] of texts) {
    it(`${text.replaceAll('\n', ', ')} is ${isValid ? 'accepted' : 'rejected'}`, async () => {
      const outcome = await parseConfigText(`sensitive: [s]\n${text}\n`).catch((error: unknown) => error);
      expect(outcome instanceof ConfigValidationError).to.equal(!isValid);
    });
  }
});

describe('pipelineConfigToJson', () => {
  it('has the keys of a file, in the same order as declared, whatever the order of the input', () => {
    const backwards = Object.fromEntries(Object.entries(FULL).reverse());
    const [text, other] = [FULL, backwards].map((each) =>
      JSON.stringify(pipelineConfigToJson(parsePipelineConfig(each))),
    );
    expect(other).to.equal(text);
    expect(Object.keys(JSON.parse(String(text)) as object)).to.deep.equal([
      'sensitive',
      'intersections',
      'benchmarks',
      'alpha',
      'proxy_threshold',
      'report_out',
      'pipeline',
      'features',
      'training',
      'fairness_metric',
      'validation_threshold',
    ]);
  });

  it('keeps parameters in the order of their declaration', () => {
    const json = (params: object): string =>
      JSON.stringify(pipelineConfigToJson(parsePipelineConfig({ sensitive: 's', steps: [{ kind: 'ProxyDropper', params }] }))); // prettier-ignore
    expect(json({ max_drop: 1, threshold: 0.5 })).to.equal(json({ threshold: 0.5, maxDrop: 1 }));
  });

  it('keeps the input as it was written', () => {
    const { training } = pipelineConfigToJson(parsePipelineConfig(FULL)) as typeof FULL;
    expect(training).to.deep.equal(FULL.training);
  });
});
