import { expect } from 'chai';

import {
  ConfigValidationError,
  FairnessAssertionError,
  FairnessToolkitError,
  ValueError,
} from '../../src/exceptions/index.ts';
import { assertFairness, judge } from '../../src/integration/assertions.ts';
import { assertGates, type GateRequest, knownMetric } from '../../src/integration/gates.ts';
import { judgeLlmEval } from '../../src/integration/llm-eval-gate.ts';
import { validateRows, type ValidateRowsInput } from '../../src/integration/validate-rows.ts';
import { validationFromJson, type ValidationJson } from '../../src/integration/validation-from-json.ts';
import { validationToHtml } from '../../src/integration/validation-html.ts';
import { validationToJson, validationToMarkdown } from '../../src/integration/validation-report.ts';
import { executeWorkflow, validateWorkflow } from '../../src/integration/workflow/execute-workflow.ts';
import { sampleData } from '../../src/io/index.ts';
import { llmMetric } from '../../src/llm-evals/scoring/llm-metric-result.ts';
import { demographicParityDifference } from '../../src/metrics/index.ts';
import { FairnessABTestAnalyzer } from '../../src/monitoring/ab-test/index.ts';
import { FairnessDriftAndAlertEngine } from '../../src/monitoring/alarms/fairness-drift-and-alert-engine.ts';
import { RealTimeFairnessTracker } from '../../src/monitoring/tracker/real-time-fairness-tracker.ts';
import { parsePipelineConfig } from '../../src/pipeline/index.ts';
import { parseMetricGate } from '../../src/schemas/gates.ts';

/** 20 of 40 selected in group a, 16 of 40 in group b: a difference of 0.1 and a ratio of 0.8. */
const ROWS: ValidateRowsInput = {
  yPred: Array.from({ length: 80 }, (_, row) => Number(row < 40 ? row < 20 : row < 56)),
  sensitive: { sex: Array.from({ length: 80 }, (_, row) => (row < 40 ? 'a' : 'b')) },
};

async function thrownBy(act: () => unknown): Promise<Error & { suggestion?: string }> {
  try {
    await act();
  } catch (error) {
    return error as Error;
  }
  return expect.fail('nothing was thrown');
}

describe('a threshold of 5 instead of 0.05', () => {
  const result = demographicParityDifference(ROWS.yPred as number[], (ROWS.sensitive as { sex: string[] }).sex);
  const tracker = () =>
    new RealTimeFairnessTracker({
      columns: { yPred: 'p', protected: ['sex'] },
      metrics: ['demographic_parity_difference'],
    });
  const refusals: Readonly<Record<string, () => unknown>> = {
    'is rejected by the gate': () => judge(result, 5),
    'is rejected by assertFairness': () => {
      assertFairness(result, 5);
    },
    'is rejected by validateRows, before rows are read': () =>
      validateRows({ ...ROWS, yPred: ['no', 'decisions'], metric: 'demographic_parity_difference', threshold: 5 }),
    'is rejected in a gate that is written with its metric': () =>
      validateRows({ ...ROWS, metric: 'demographic_parity_difference<=5' }),
    'is rejected as a limit of a monitor': () => {
      new FairnessDriftAndAlertEngine({ limits: { demographic_parity_difference: 5 } }).watch(tracker());
    },
    'is rejected as the smallest effect of an A/B test': () =>
      new FairnessABTestAnalyzer({ protected: ['sex'], outcome: 'p', minimumEffect: 5 }),
    'is rejected in a configuration': () => parsePipelineConfig({ sensitive: 'sex', validation_threshold: 5 }),
  };
  for (const [title, act] of Object.entries(refusals)) {
    it(title, async () => {
      const error = await thrownBy(act);
      expect(`${error.message} ${error.suggestion ?? ''}`).to.include('demographic_parity_difference is at most 1');
      expect(`${error.message} ${error.suggestion ?? ''}`).to.match(/For 5 percent write 0\.05/);
    });
  }

  it('is rejected for answers of a language model, by the range of the metric', async () => {
    const metrics = { 'refusal_gap.sex': llmMetric({ metric: 'refusal_gap', dimension: 'sex', evaluator: 'counterfactual', value: 0.1 }) }; // prettier-ignore
    const error = await thrownBy(() => judgeLlmEval(metrics, { metric: 'refusal_gap', threshold: 5 }));
    expect(error).to.be.instanceOf(ValueError);
    expect(error.message).to.include('refusal_gap.sex is at most 1');
    expect(judgeLlmEval(metrics, { metric: 'refusal_gap', threshold: -0.5, comparator: '>=' }).passed).to.equal(true);
  });

  it('is accepted for a metric without an upper end, and for a plain number', () => {
    expect(judge({ metric: 'mae_parity_difference', value: 4, ci: null, undefinedReason: null }, 5).passed).to.equal(
      true,
    );
    expect(judge({ metric: 'length_gap', value: 4, ci: null, undefinedReason: null }, 5).passed).to.equal(true);
    assertFairness(4, 5);
    expect(() => {
      assertFairness(4, Infinity);
    }).to.throw(ValueError);
  });

  it('accepts a negative threshold for an excess', () => {
    expect(judge({ metric: 'bleu_excess', value: -0.2, ci: null, undefinedReason: null }, -0.1).passed).to.equal(true);
  });
});

describe('several gates', () => {
  it('are all checked, and all must pass', async () => {
    const both = { ...ROWS, metric: ['demographic_parity_difference<=0.15', 'demographic_parity_ratio>=0.75'] };
    expect((await validateRows(both)).passed).to.equal(true);
    for (const metric of [
      ['demographic_parity_difference<=0.05', 'demographic_parity_ratio>=0.75'],
      ['demographic_parity_difference<=0.15', 'demographic_parity_ratio>0.85'],
    ]) {
      const { passed, verdicts } = await validateRows({ ...ROWS, metric });
      expect([passed, verdicts['sex']?.passed, verdicts['sex']?.status]).to.deep.equal([false, false, 'fail']);
    }
  });

  it('are listed in the JSON with their verdicts', async () => {
    const validation = await validateRows({
      ...ROWS,
      metric: ['demographic_parity_difference<0.05', 'demographic_parity_ratio>=0.75', 'selection_rate_ratio'],
    });
    const json = validationToJson(validation) as unknown as ValidationJson;
    expect(json).to.include({ passed: false, threshold: null });
    const gates = json.gates?.map(({ message: _, ...gate }) => gate);
    const common = { attribute: 'sex', straddles: true, unevenly_missing: false };
    expect(gates).to.deep.equal([
      {
        ...common,
        metric: 'demographic_parity_difference',
        comparator: '<',
        threshold: 0.05,
        passed: false,
        status: 'fail',
      },
      {
        ...common,
        metric: 'demographic_parity_ratio',
        comparator: '>=',
        threshold: 0.75,
        passed: true,
        status: 'pass',
      },
    ]);
    expect(validation.attributes['sex']).to.include.keys('selection_rate_ratio');
    expect(validationFromJson(json, 'sex').gates).to.deep.equal(validation.gates);
  });

  it('are each on a line of the reports', async () => {
    const validation = await validateRows({ ...ROWS, metric: ['demographic_parity_difference<=0.05', 'demographic_parity_ratio>=0.75'] }); // prettier-ignore
    for (const report of [validationToMarkdown(validation, 'rows'), await validationToHtml(validation, 'rows')]) {
      expect(report).to.match(/FAIL: demographic.?.?parity.?.?difference 0\.1000 (\\?>|&gt;) 0\.05\./);
      expect(report).to.match(/PASS: demographic.?.?parity.?.?ratio 0\.8000 (\\?>|&gt;)= 0\.75\./);
    }
  });

  it('use the shared threshold for metrics without a gate', async () => {
    const { gates, threshold } = await validateRows({ ...ROWS, metric: ['demographic_parity_ratio>=0.75', 'demographic_parity_difference'], threshold: 0.2 }); // prettier-ignore
    expect(gates.map(({ metric, threshold: own }) => [metric, own])).to.deep.equal([
      ['demographic_parity_ratio', 0.75],
      ['demographic_parity_difference', 0.2],
    ]);
    expect(threshold).to.equal(null);
    const error = await thrownBy(() => validateRows({ ...ROWS, metric: 'demographic_parity_ratio>=0.75', threshold: 0.2 })); // prettier-ignore
    expect(error).to.be.instanceOf(ConfigValidationError);
    expect(error.message).to.include('0.2 applies to no metric');
  });

  it('may have spaces around the name and the number', () => {
    expect(parseMetricGate(' demographic_parity_difference <= 0.1 ')).to.deep.equal({
      metric: 'demographic_parity_difference',
      comparator: '<=',
      threshold: 0.1,
    });
  });

  it('are rejected with an example if they cannot be parsed', async () => {
    for (const metric of [
      'demographic_parity_difference<=',
      'demographic_parity_difference<= ',
      '<=0.1',
      'demographic_parity_difference=0.1',
      'x<=0.1<0.2',
    ]) {
      const error = await thrownBy(() => validateRows({ ...ROWS, metric }));
      expect(error).to.be.instanceOf(ConfigValidationError);
      expect(error.suggestion).to.include('NAME<=VALUE');
      expect(error).to.have.deep.property('context', { parameter: 'metric', value: metric });
    }
  });
});

describe('gates with attributes', () => {
  // By sex 20 of 40 and 16 of 40 are selected, a difference of 0.1. By hand, every second person has a degree: 18 of 40
  // and 18 of 40, a difference of 0; by both, 10 of 20 in each group of sex a and 8 of 20 in each group of sex b.
  const rows: ValidateRowsInput = {
    ...ROWS,
    minGroupSize: 5,
    sensitive: {
      ...(ROWS.sensitive as object),
      degree: Array.from({ length: 80 }, (_, row) => ['no', 'yes'][row % 2]),
    },
    intersections: [['sex', 'degree']],
  };
  const gate = { metric: 'demographic_parity_difference', threshold: 0.05 };

  it('apply to these attributes only, and other attributes have no verdict', async () => {
    const { passed, gates, verdicts } = await validateRows({ ...rows, gates: [{ ...gate, attributes: ['degree'] }] });
    expect(passed).to.equal(true);
    expect(gates.map(({ attribute, status }) => [attribute, status])).to.deep.equal([['degree', 'pass']]);
    const statuses = Object.entries(verdicts).map(([name, { passed: own, status }]) => [name, own, status]);
    expect(statuses).to.deep.equal([
      ['sex', null, null],
      ['degree', true, 'pass'],
      ['sex||degree', null, null],
    ]);
    const json = validationToJson(await validateRows({ ...rows, gates: [{ ...gate, attributes: ['degree'] }] }));
    expect((json['attributes'] as Record<string, object>)['sex']).to.include({ passed: null, verdict: null });
  });

  it('apply to every attribute if they name none', async () => {
    const { passed, gates } = await validateRows({ ...rows, gates: [gate] });
    expect(passed).to.equal(false);
    expect(gates.map(({ attribute, status }) => [attribute, status])).to.deep.equal([
      ['sex', 'fail'],
      ['degree', 'pass'],
      ['sex||degree', 'fail'],
    ]);
  });

  it('name an intersection as a list, with || or with a comma', async () => {
    for (const name of [['sex', 'degree'], 'sex||degree', 'sex,degree']) {
      const { gates } = await validateRows({ ...rows, gates: [{ ...gate, attributes: [name] }] });
      expect(gates.map(({ attribute }) => attribute)).to.deep.equal(['sex||degree']);
    }
  });

  it('are checked together with the gates of metrics and the shared threshold', async () => {
    const { gates, passed } = await validateRows({
      ...rows,
      metric: ['demographic_parity_ratio>=0.75', 'selection_rate_difference'],
      threshold: 0.2,
      gates: [{ ...gate, comparator: '<', attributes: ['sex'] }],
    });
    expect(passed).to.equal(false);
    expect(gates.filter(({ attribute }) => attribute === 'sex').map(({ metric, comparator, threshold, status }) => [metric, comparator, threshold, status])).to.deep.equal([
      ['demographic_parity_ratio', '>=', 0.75, 'pass'],
      ['selection_rate_difference', '<=', 0.2, 'pass'],
      ['demographic_parity_difference', '<', 0.05, 'fail'],
    ]); // prettier-ignore
    expect(gates).to.have.length(7);
  });

  const refused: readonly (readonly [title: string, gate: object, text: RegExp, path?: readonly unknown[]])[] = [
    ['an unknown metric', { ...gate, metric: 'demographic_parity_diference' }, /gates\[1\]\.metric: .*'demographic_parity_diference'.* Did you mean 'demographic_parity_difference'/, ['gates', 1, 'metric']],
    ['an unknown attribute', { ...gate, attributes: ['sexx'] }, /gates\[1\]\.attributes: .*'sexx'.* Did you mean 'sex'\?/, ['gates', 1, 'attributes']],
    ['a threshold that always passes', { ...gate, threshold: 5 }, /gates\[1\]\.threshold: .* 5 always passes.* write 0\.05/, ['gates', 1, 'threshold']],
    ['a metric whose data are missing', { ...gate, metric: 'equalized_odds_difference' }, /gates\[1\]\.metric: .*needs true labels/, ['gates', 1, 'metric']],
    ['an unknown key', { ...gate, treshold: 0.1 }, /treshold/],
    ['a missing threshold', { metric: gate.metric }, /gates/],
    ['a threshold that is not a number', { ...gate, threshold: NaN }, /gates/],
    ['an unknown comparator', { ...gate, comparator: '=' }, /gates/],
    ['an empty list of attributes', { ...gate, attributes: [] }, /gates/],
  ]; // prettier-ignore
  for (const [title, wrong, text, at] of refused) {
    it(`are rejected with ${title}`, async () => {
      const error = await thrownBy(() => validateRows({ ...rows, gates: [gate, wrong as typeof gate] }));
      expect(`${error.message} ${error.suggestion ?? ''}`).to.match(text);
      if (at !== undefined) expect(error).to.have.nested.property('context.path').that.deep.equals(at);
    });
  }

  it('apply to each of several attributes', async () => {
    const { gates } = await validateRows({ ...rows, gates: [{ ...gate, attributes: ['sex', ['sex', 'degree']] }] });
    expect(gates.map(({ attribute }) => attribute)).to.deep.equal(['sex', 'sex||degree']);
  });

  it('are rejected if there is none, because a run without gates must not look like a pass', async () => {
    const error = await thrownBy(() => validateRows({ ...rows, gates: [] }));
    expect(error.message).to.match(/gates must be .*at least 1/);
  });
});

describe('gates are checked before a row is read', () => {
  const request: GateRequest = {
    names: ['sex', 'grade, class'],
    hasTruth: true,
    hasPredictions: true,
    hasScores: true,
    strictMissing: false,
  };
  const gate = { metric: 'demographic_parity_difference', threshold: 0.05 };

  const possible: readonly (readonly [title: string, request: Partial<GateRequest>])[] = [
    ['a shared threshold, although all gates are listed', { threshold: 0.1, gates: [gate] }],
    ['an attribute whose name contains a comma', { gates: [{ ...gate, attributes: ['grade, class'] }] }],
    ['a negative threshold of a signed difference', { compat: 'aif360', gates: [{ ...gate, threshold: -0.5, comparator: '>=' }] }],
    ['a ratio above 1 by the conventions of AIF360', { compat: 'aif360', metric: 'demographic_parity_ratio<=1.25' }],
  ]; // prettier-ignore
  for (const [title, fields] of possible) {
    it(`${title} is accepted`, () => {
      assertGates({ ...request, ...fields });
    });
  }

  /** The code, and what the context must contain, by docs/errors.md. */
  const refused: readonly (readonly [title: string, request: Partial<GateRequest>, code: string, context: object])[] = [
    ['a threshold for no metric', { metric: 'demographic_parity_ratio>=0.75', threshold: 0.2 }, 'invalid-config', { parameter: 'threshold', value: 0.2 }],
    ['an impossible shared threshold', { metric: gate.metric, threshold: 5 }, 'invalid-argument', { parameter: 'threshold', metric: gate.metric, value: 5 }],
    ['an impossible threshold beside its metric', { metric: [`${gate.metric}<=5`, 'mae_parity_difference'], threshold: 3 }, 'invalid-argument', { parameter: 'metric', metric: gate.metric, value: 5 }],
    ['an impossible threshold with another comparator', { metric: [`${gate.metric}<=3`, 'mae_parity_difference'], threshold: 3 }, 'invalid-argument', { parameter: 'metric' }],
    ['an impossible threshold in a list', { gates: [gate, { ...gate, threshold: 5 }] }, 'invalid-argument', { parameter: 'gates', path: ['gates', 1, 'threshold'], metric: gate.metric, value: 5 }],
    ['a ratio of at least 0', { gates: [{ metric: 'demographic_parity_ratio', threshold: 0 }] }, 'invalid-argument', { parameter: 'gates', path: ['gates', 0, 'threshold'] }],
    ['a negative size of a signed difference', { compat: 'aif360', gates: [{ ...gate, threshold: -0.5 }] }, 'invalid-argument', { path: ['gates', 0, 'threshold'] }],
    ['a signed threshold of an unsigned difference', { gates: [{ ...gate, threshold: -0.5, comparator: '>=' }] }, 'invalid-argument', { path: ['gates', 0, 'threshold'] }],
    ['an unknown attribute', { gates: [{ ...gate, attributes: ['race'] }] }, 'unknown-name', { parameter: 'gates', attribute: 'race', path: ['gates', 0, 'attributes'] }],
    ['an unknown metric', { metric: 'm_difference' }, 'unknown-name', { metric: 'm_difference' }],
    ['no true labels', { hasTruth: false, metric: 'equalized_odds_difference' }, 'missing-argument', { metric: 'equalized_odds_difference', missing: 'yTrue' }],
    ['no scores', { hasScores: false, metric: 'roc_auc_difference' }, 'missing-argument', { metric: 'roc_auc_difference', missing: 'score' }],
    ['no predicted numbers', { hasPredictions: false, metric: 'mean_prediction_difference' }, 'missing-argument', { metric: 'mean_prediction_difference', missing: 'yPred' }],
  ]; // prettier-ignore
  for (const [title, fields, code, context] of refused) {
    it(`${title} is rejected: ${code}`, async () => {
      const error = await thrownBy(() => {
        assertGates({ ...request, ...fields });
      });
      if (!FairnessToolkitError.isInstance(error)) throw error;
      expect(error.code).to.equal(code);
      expect(error.context).to.deep.include(context);
    });
  }

  it('decisions need neither scores nor predicted numbers', () => {
    assertGates({ ...request, hasScores: false, hasPredictions: false, metric: 'equalized_odds_difference' });
    assertGates({ ...request, hasScores: false, metric: 'mean_prediction_difference' });
    assertGates({ ...request, hasPredictions: false, metric: 'roc_auc_difference' });
  });

  it('a mistyped metric has a suggestion, an error of another kind keeps its class', async () => {
    const error = await thrownBy(() => knownMetric('demographic_parity_diference'));
    expect(error).to.be.instanceOf(ValueError);
    expect(error.suggestion).to.include("Did you mean 'demographic_parity_difference'");
    const failing = { ...gate, get attributes(): never { throw new TypeError('not an error of the library'); } }; // prettier-ignore
    expect(await thrownBy(() => { assertGates({ ...request, gates: [failing] }); })).to.be.instanceOf(TypeError); // prettier-ignore
  });
});

describe('a gate where the positives of one group are missing', () => {
  // Group a selects 3 of 60, group b 0 of the 30 whose decisions are known.
  const hidden: ValidateRowsInput = {
    yPred: Array.from({ length: 120 }, (_, row) => (row < 60 ? Number(row < 3) : row < 90 ? null : 0)),
    sensitive: { group: Array.from({ length: 120 }, (_, row) => (row < 60 ? 'a' : 'b')) },
    threshold: 0.1,
  };

  it('passes with a warning in the verdict, the JSON and the reports', async () => {
    const validation = await validateRows(hidden);
    expect(validation.passed).to.equal(true);
    expect(validation.gates[0]).to.include({ status: 'pass', unevenlyMissing: true });
    const words =
      /30 rows with missing values are not equally common in all groups; with these rows the value could be from 0\.0000 to 0\.4500/;
    expect(validation.gates[0]?.message).to.match(words);
    expect(validationToMarkdown(validation, 'rows')).to.match(words).and.to.include('50.0% of b, 0.0% of a');
    expect(await validationToHtml(validation, 'rows'))
      .to.match(words)
      .and.to.include('50.0% of b, 0.0% of a');
    const json = JSON.parse(JSON.stringify(validationToJson(validation))) as {
      metrics: Record<string, { missing: { n: number; by_group: object; worst_case: number[] } }>;
    };
    const { missing } = json.metrics['demographic_parity_difference'] as { missing: Record<string, unknown> };
    expect(missing).to.deep.include({ n: 30, by_group: { a: 0, b: 30 } });
  });

  it('fails with strict missing values', async () => {
    const { passed, gates } = await validateRows({ ...hidden, strictMissing: true });
    expect([passed, gates[0]?.status]).to.deep.equal([false, 'fail']);
    expect(gates[0]?.message).to.match(/^FAIL: .* 0\.0500 <= 0\.1\. Warning: .* strict missing values are on\.$/);
    const result = (await validateRows(hidden)).attributes['group']?.['demographic_parity_difference'];
    expect(() => {
      assertFairness(result ?? 0, 0.1, { strictMissing: true });
    }).to.throw(FairnessAssertionError);
  });

  it('fails a workflow with strict_missing, and warns otherwise', async function () {
    this.timeout(60_000);
    const wages = sampleData('cps-wages');
    const { values } = wages.numeric('wage_above_median');
    const women = wages.categorical('gender');
    const isWoman = (row: number): boolean => women.labels[women.codes[row] as number] === 'female';
    // Every second woman has no target value.
    const target = Array.from(values, (value, row) => (isWoman(row) && row % 2 === 0 ? NaN : value));
    const data = { ...Object.fromEntries(['gender', 'education'].map((name) => [name, wages.column(name)])), target };
    const config = {
      sensitive: 'gender',
      features: ['education'],
      training: { method: 'reductions', target_column: 'target', params: { eps: 0.9 } },
      validation_threshold: 0.99,
    } as const;
    const strict = await executeWorkflow({ ...config, strict_missing: true } as never, data, { minGroupSize: 5 });
    expect([strict.validation.passed, strict.validation.verdict.unevenlyMissing]).to.deep.equal([false, true]);
    expect(strict.validation.message).to.include('strict missing values are on');
    expect(strict.warnings.join()).to.match(/of female, 0\.0% of male/);
    const { baselineMetrics, finalMetrics, validation } = strict;
    const missing = { gender: { n: 120, byGroup: { female: 120, male: 0 }, pValue: 1e-9, worstCase: null } };
    const lenient = validateWorkflow(validation.metric, baselineMetrics, finalMetrics, 0.99, { missing });
    expect([lenient.passed, lenient.verdict.unevenlyMissing]).to.deep.equal([true, true]);
    expect(lenient.message).to.include('120 rows with missing values');
  });

  it('passes a strict gate if rows are missing by chance', async () => {
    const yPred = Array.from({ length: 120 }, (_, row) => (row % 10 === 0 ? null : row % 2));
    expect((await validateRows({ ...hidden, yPred, strictMissing: true })).passed).to.equal(true);
  });
});
