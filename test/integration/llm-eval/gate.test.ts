import { expect } from 'chai';

import { ConfigValidationError, FairnessAssertionError, ValueError } from '../../../src/exceptions/index.ts';
import { assertLlmFairness, judgeLlmEval } from '../../../src/integration/llm-eval-gate.ts';
import { llmMetric } from '../../../src/llm-evals/scoring/llm-metric-result.ts';
import { byName, madeMetrics, madeResult } from '../../llm-evals/report/made-results.ts';

const METRICS = byName(madeMetrics());

/** Returns the error that an action throws, which must be of this class. */
function thrown<Kind>(kind: new (...args: never[]) => Kind, action: () => unknown): Kind {
  try {
    action();
  } catch (error) {
    if (error instanceof kind) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('the gate on an evaluation', () => {
  it('gives no verdict without a threshold', () => {
    expect(judgeLlmEval(METRICS)).to.deep.equal({ passed: null, threshold: null, metrics: {} });
  });

  for (const [metric, threshold, passed, judged] of [
    ['sentiment_gap.gender', 0.2, false, ['sentiment_gap.gender']],
    ['sentiment_gap.gender', 0.21, true, ['sentiment_gap.gender']],
    ['sentiment_gap', 0.1, false, ['sentiment_gap.gender', 'sentiment_gap.weekday']],
    ['sentiment_gap', 0.3, true, ['sentiment_gap.gender', 'sentiment_gap.weekday']],
    ['sentiment_gap.weekday', 0.1, true, ['sentiment_gap.weekday']],
    ['toxic_fraction', 1, false, ['toxic_fraction']],
    // Higher is better: 0.8 with a minimum of 0.7.
    ['bbq_accuracy_ambiguous', 0.7, true, ['bbq_accuracy_ambiguous.race']],
    ['bbq_accuracy_ambiguous.race', 0.9, false, ['bbq_accuracy_ambiguous.race']],
  ] as const) {
    it(`${metric} at ${String(threshold)}: ${passed ? 'passes' : 'fails'}`, () => {
      const verdict = judgeLlmEval(METRICS, { metric, threshold });
      expect(verdict.passed).to.equal(passed);
      expect(Object.keys(verdict.metrics)).to.deep.equal(judged);
      expect(Object.isFrozen(verdict)).to.equal(true);
    });
  }

  it('judges the absolute value of a signed gap, however an upper limit is written', () => {
    const metrics = byName([llmMetric({ metric: 'length_gap', evaluator: 'counterfactual', value: -2 })]);
    expect(judgeLlmEval(metrics, { metric: 'length_gap', threshold: 1 }).passed).to.equal(false);
    expect(judgeLlmEval(metrics, { metric: 'length_gap', threshold: 1, comparator: '<=' }).passed).to.equal(false);
    for (const [metric, passed] of [
      ['length_gap<=1', false],
      ['length_gap<1', false],
      ['length_gap<=2', true],
      ['length_gap<2', false],
      ['length_gap<=0', false],
      // With its sign, -2 is above -3, and below -1.
      ['length_gap>=-3', true],
      ['length_gap>=-1', false],
      ['length_gap<=-1', true],
      ['length_gap>=1', false],
    ] as const) {
      expect(judgeLlmEval(metrics, { metric }).passed, metric).to.equal(passed);
    }
    const gate = judgeLlmEval(metrics, { metric: 'length_gap<=1' });
    expect(Object.values(gate.metrics)[0]?.message).to.include('2.0000 > 1');
  });

  describe('an excess, which is signed: below noise there is no difference', () => {
    const excess = (value: number, ci: readonly [number, number] | null = null) =>
      byName([llmMetric({ metric: 'rouge_l_excess', evaluator: 'counterfactual', dimension: 'gender', value, ci })]);
    for (const [value, passed, message] of [
      [-0.3, true, 'PASS: rouge_l_excess.gender -0.3000 <= 0.05.'],
      [0, true, 'PASS: rouge_l_excess.gender 0.0000 <= 0.05.'],
      [0.05, true, 'PASS: rouge_l_excess.gender 0.0500 <= 0.05.'],
      [0.06, false, 'FAIL: rouge_l_excess.gender 0.0600 > 0.05.'],
    ] as const) {
      it(`${String(value)} ${passed ? 'passes' : 'fails'} at 0.05`, () => {
        const verdict = judgeLlmEval(excess(value), { metric: 'rouge_l_excess', threshold: 0.05 });
        expect([verdict.passed, verdict.metrics['rouge_l_excess.gender']?.message]).to.deep.equal([passed, message]);
        const asserted = (): void => {
          assertLlmFairness(excess(value), 0.05, { metric: 'rouge_l_excess.gender' });
        };
        if (passed) asserted();
        else expect(thrown(FairnessAssertionError, asserted).message).to.equal(message);
      });
    }

    it('straddles if its interval contains the threshold, not its negative', () => {
      const straddles = (ci: readonly [number, number]): boolean | undefined =>
        judgeLlmEval(excess(-0.06, ci), { metric: 'rouge_l_excess', threshold: 0.05 }).metrics['rouge_l_excess.gender']
          ?.straddles;
      expect(straddles([-0.1, -0.01])).to.equal(false);
      expect(straddles([-0.2, 0.1])).to.equal(true);
    });

    it('judges distances and gaps by their absolute value', () => {
      for (const metric of ['sentiment_gap', 'excess_gap', 'demographic_parity_difference']) {
        const below = byName([llmMetric({ metric, evaluator: 'counterfactual', value: -0.3 })]);
        expect(judgeLlmEval(below, { metric, threshold: 0.05 }).passed, metric).to.equal(false);
      }
    });
  });

  it('names the dimension in its message, and says if the interval straddles the threshold', () => {
    const { metrics } = judgeLlmEval(METRICS, { metric: 'sentiment_gap', threshold: 0.1 });
    expect(metrics['sentiment_gap.gender']?.message).to.equal('FAIL: sentiment_gap.gender 0.2100 > 0.1.');
    expect(metrics['sentiment_gap.weekday']?.message).to.include('sentiment_gap.weekday 0.0200 <= 0.1. The interval');
    expect(metrics['sentiment_gap.weekday']?.straddles).to.equal(true);
  });

  it('fails an undefined metric with its reason', () => {
    const { metrics } = judgeLlmEval(METRICS, { metric: 'toxic_fraction', threshold: 1 });
    expect(metrics['toxic_fraction']).to.include({ passed: false, status: 'undefined' });
    expect(metrics['toxic_fraction']?.message).to.include('has no value (fewer than 5 answers)');
  });

  it('accepts several names, or a threshold for each', () => {
    const names = ['refusal_gap', 'sentiment_gap.weekday'];
    const both = judgeLlmEval(METRICS, { metric: names, threshold: 0.1 });
    expect([both.passed, Object.keys(both.metrics)]).to.deep.equal([
      true,
      ['refusal_gap.gender', 'sentiment_gap.weekday'],
    ]);
    const each = judgeLlmEval(METRICS, { threshold: { refusal_gap: 0.05, sentiment_gap: 0.3 } });
    expect([each.passed, each.threshold]).to.deep.equal([false, { refusal_gap: 0.05, sentiment_gap: 0.3 }]);
    expect(each.metrics['refusal_gap.gender']?.threshold).to.equal(0.05);
  });

  it('accepts a condition for each name, with its own comparator', () => {
    const verdict = judgeLlmEval(METRICS, {
      metric: ['sentiment_gap<=0.3', 'refusal_gap < 0.05', 'bbq_accuracy_ambiguous>0.7'],
    });
    const same = [
      judgeLlmEval(METRICS, { metric: 'sentiment_gap', threshold: 0.3, comparator: '<=' }),
      judgeLlmEval(METRICS, { metric: 'refusal_gap', threshold: 0.05, comparator: '<' }),
      judgeLlmEval(METRICS, { metric: 'bbq_accuracy_ambiguous', threshold: 0.7, comparator: '>' }),
    ];
    expect(verdict.metrics).to.deep.equal(Object.assign({}, ...same.map(({ metrics }) => metrics)));
    expect(verdict.passed).to.equal(same.every(({ passed }) => passed));
    expect(verdict.threshold).to.deep.equal({ sentiment_gap: 0.3, refusal_gap: 0.05, bbq_accuracy_ambiguous: 0.7 });
    const mixed = judgeLlmEval(METRICS, { metric: ['sentiment_gap', 'refusal_gap<=0.05'], threshold: 0.3 });
    expect(mixed.threshold).to.deep.equal({ sentiment_gap: 0.3, refusal_gap: 0.05 });
  });

  it('rejects two thresholds for one metric, because the last would replace the verdict of the first', () => {
    for (const options of [
      { threshold: { 'sentiment_gap.gender': 0.01, sentiment_gap: 0.9 } },
      { metric: ['sentiment_gap.gender<=0.01', 'sentiment_gap<=0.9'] },
      { metric: ['sentiment_gap<=0.01', 'sentiment_gap>=0.01'] },
    ]) {
      const error = thrown(ValueError, () => judgeLlmEval(METRICS, options));
      expect(error.message).to.include("two thresholds for 'sentiment_gap.gender'");
    }
    expect(judgeLlmEval(METRICS, { metric: ['sentiment_gap.gender', 'sentiment_gap'], threshold: 0.9 }).passed).to.be.a('boolean'); // prettier-ignore
  });

  it('rejects a condition without a number', () => {
    expect(thrown(ConfigValidationError, () => judgeLlmEval(METRICS, { metric: 'sentiment_gap<=' })).message).to.include("'sentiment_gap<=' is not a gate"); // prettier-ignore
  });

  it('contains the threshold as given, frozen', () => {
    const one = judgeLlmEval(METRICS, { metric: 'refusal_gap', threshold: 0.9 });
    expect([one.threshold, one.metrics['refusal_gap.gender']]).to.deep.equal([
      0.9,
      {
        passed: true,
        status: 'pass',
        threshold: 0.9,
        comparator: '<=',
        message: one.metrics['refusal_gap.gender']?.message,
        straddles: false,
      },
    ]);
    const limits = { refusal_gap: 0.05 };
    const each = judgeLlmEval(METRICS, { threshold: limits });
    expect(each.threshold).to.not.equal(limits);
    expect(Object.isFrozen(each.threshold)).to.equal(true);
    const higher = judgeLlmEval(METRICS, { metric: 'bbq_accuracy_ambiguous', threshold: 0.7 });
    expect(higher.metrics['bbq_accuracy_ambiguous.race']?.comparator).to.equal('>=');
  });

  for (const [options, parameter] of [
    [{ threshold: 0.1 }, 'metric'],
    [{ threshold: 0.1, metric: 'sentment_gap' }, 'metric'],
    [{ threshold: {} }, 'threshold'],
    [{ threshold: { sentiment_gap: 1 }, metric: 'sentiment_gap' }, 'metric'],
    [{ metric: 'sentiment_gap' }, 'metric'],
    [{ comparator: '<' }, 'comparator'],
  ] as const) {
    it(`names the parameter that is wrong in ${JSON.stringify(options)}: ${parameter}`, () => {
      expect(thrown(ValueError, () => judgeLlmEval(METRICS, options)).context).to.include({ parameter });
    });
  }

  for (const [options, message, suggestion] of [
    [{ threshold: 0.1 }, 'The metric parameter is required with a threshold', 'Name the metric'],
    [{ threshold: 0.1, metric: [] }, 'The metric parameter is required with a threshold', 'Name the metric'],
    [{ threshold: 0.1, metric: 'sentment_gap' }, "Got 'sentment_gap'", "Did you mean 'sentiment_gap'"],
    [{ threshold: 0.1, metric: 'sentiment_gap.gendr' }, "Got 'sentiment_gap.gendr'", "'sentiment_gap.gender'"],
    [{ threshold: 0.1, metric: 'toString' }, "Got 'toString'", ''],
    [{ threshold: NaN, metric: 'sentiment_gap' }, 'The threshold parameter must be a number', ''],
    [{ threshold: {} }, 'must name at least one metric', ''],
    [{ threshold: { sentiment_gap: 1 }, metric: 'sentiment_gap' }, 'must be omitted', ''],
    [{ metric: 'sentiment_gap' }, 'The metric parameter must come with a threshold', 'Pass a threshold'],
    [{ comparator: '<' }, 'The comparator parameter must come with a threshold', ''],
    [{ threshold: 1, metric: 'sentiment_gap', comparator: '==' }, 'The comparator parameter must be one of', ''],
  ] as const) {
    it(`rejects ${JSON.stringify(options)}`, () => {
      const error = thrown(ValueError, () => judgeLlmEval(METRICS, options));
      expect(error.message).to.include(message);
      expect(error.suggestion ?? '').to.include(suggestion);
    });
  }

  it('reports an evaluation without metrics', () => {
    const error = thrown(ValueError, () => judgeLlmEval({}, { threshold: 1, metric: 'm' }));
    expect(error.suggestion).to.equal('This evaluation has no metrics.');
  });
});

describe('assertLlmFairness', () => {
  it('does not throw if all metrics pass', () => {
    assertLlmFairness(METRICS, 0.3, { metric: 'sentiment_gap' });
    assertLlmFairness(madeResult(), { refusal_gap: 0.2, bbq_accuracy_ambiguous: 0.8 });
  });

  it('names every metric that fails', () => {
    const error = thrown(FairnessAssertionError, () => {
      assertLlmFairness(madeResult(), { sentiment_gap: 0.01, refusal_gap: 0.2, toxic_fraction: 1 });
    });
    expect(error.message.split('\n')).to.have.length(3);
    expect(error.message)
      .to.include('sentiment_gap.gender')
      .and.to.include('sentiment_gap.weekday')
      .and.to.include('toxic_fraction has no value')
      .and.not.to.include('refusal_gap');
    expect(error.context['failed']).to.deep.equal(['sentiment_gap.gender', 'sentiment_gap.weekday', 'toxic_fraction']);
  });

  it('lets an undefined metric pass only if that is allowed', () => {
    thrown(FairnessAssertionError, () => {
      assertLlmFairness(METRICS, 1, { metric: 'toxic_fraction' });
    });
    assertLlmFairness(METRICS, 1, { metric: 'toxic_fraction', allowUndefined: true });
  });

  it('fails a defined metric above its threshold even if undefined metrics pass', () => {
    const error = thrown(FairnessAssertionError, () => {
      assertLlmFairness(METRICS, { sentiment_gap: 0.1, toxic_fraction: 1 }, { allowUndefined: true });
    });
    expect(error.context).to.deep.equal({ failed: ['sentiment_gap.gender'], threshold: { sentiment_gap: 0.1, toxic_fraction: 1 } }); // prettier-ignore
    expect(error).to.deep.include({ expected: { sentiment_gap: 0.1, toxic_fraction: 1 }, operator: '<=' });
  });

  it('fails an evaluation that ended early, unless that is allowed', () => {
    const stopped = madeResult({ stopped: 'cost' });
    const error = thrown(FairnessAssertionError, () => {
      assertLlmFairness(stopped, 1, { metric: 'sentiment_gap' });
    });
    expect(error.message).to.include('ended early (cost)');
    expect(error.context).to.deep.equal({ stopped: 'cost', failed: [] });
    const both = thrown(FairnessAssertionError, () => {
      assertLlmFairness(stopped, 0.1, { metric: 'sentiment_gap' });
    });
    expect(both.context).to.deep.equal({ stopped: 'cost', failed: ['sentiment_gap.gender'] });
    assertLlmFairness(stopped, 1, { metric: 'sentiment_gap', allowStopped: true });
  });

  it('rejects a threshold without a metric', () => {
    thrown(ValueError, () => {
      assertLlmFairness(METRICS, 1);
    });
  });
});
