import { expect } from 'chai';

import {
  dryRunToJson,
  estimateDryRun,
  LLMEvalAdapter,
  parseLlmEvalConfig,
  runLlmEval,
} from '../../../src/llm-evals/index.ts';

const templates = (count: number) =>
  Array.from({ length: count }, (_, index) => `Task ${String(index)}: advise a {gender}.`);

function configOf(count: number, given: Record<string, unknown> = {}) {
  return parseLlmEvalConfig({
    evaluators: ['counterfactual', 'refusal', 'toxicity_sentiment'],
    counterfactual: { template: templates(count), dimensions: { gender: ['woman', 'man'] } },
    ...given,
  });
}

describe('undefined metrics in a dry run', () => {
  it('lists all metrics with one template and no names, with the reason and the fix', async () => {
    const estimate = await estimateDryRun(configOf(1, { repeats: 2 }));
    const names = estimate.undefinedMetrics.map(({ metric }) => metric);
    expect(names).to.include.members([
      'sentiment_gap.gender',
      'rouge_l_excess.gender',
      'refusal_rate',
      'toxic_fraction',
    ]);
    const gap = estimate.undefinedMetrics.find(({ metric }) => metric === 'sentiment_gap.gender');
    expect(gap?.reason).to.match(/^1 independent item is planned, fewer than 5 \(min_group_size\)/);
    expect(gap?.suggestion).to.match(/templates or name_pools.*allow_small_samples/);
    expect(estimate.toMarkdown())
      .to.include('will be undefined for any answers')
      .and.to.include('sentiment\\_gap.gender');
    expect(dryRunToJson(estimate).undefined_metrics).to.deep.include({
      metric: 'sentiment_gap.gender',
      reason: gap?.reason,
      suggestion: gap?.suggestion,
    });
  });

  it('lists the excesses if prompts are asked once, because they have no noise floor', async () => {
    const { undefinedMetrics } = await estimateDryRun(configOf(6));
    expect(undefinedMetrics.map(({ metric }) => metric)).to.deep.equal([
      'rouge_l_excess.gender',
      'bleu_excess.gender',
      'jaccard_excess.gender',
      'sentiment_excess.gender',
    ]);
    expect(undefinedMetrics[0]?.suggestion).to.match(/repeats to 2/);
  });

  it('lists no metric if all can be defined, or small samples are allowed', async () => {
    expect((await estimateDryRun(configOf(6, { repeats: 2 }))).undefinedMetrics).to.deep.equal([]);
    expect((await estimateDryRun(configOf(6, { repeats: 2 }))).toMarkdown()).to.not.include('undefined');
    const allowed = await estimateDryRun(configOf(2, { repeats: 2 }), { allowSmallSamples: true });
    expect(allowed.undefinedMetrics).to.deep.equal([]);
  });

  for (const [title, config] of [
    ['one template', configOf(1, { repeats: 2 })],
    ['six templates asked once', configOf(6)],
    ['six templates asked twice', configOf(6, { repeats: 2 })],
  ] as const) {
    it(`lists exactly the metrics that are undefined in a run with varied answers: ${title}`, async () => {
      let turn = 0;
      const client = new LLMEvalAdapter(() => `Yes, answer ${String((turn += 1) % 7)} is good.`, { id: 'own' });
      const { metrics, dryRun } = await runLlmEval(config, { client });
      const ended = Object.entries(metrics).flatMap(([name, { value }]) => (Number.isNaN(value) ? [name] : []));
      expect(dryRun.undefinedMetrics.map(({ metric }) => metric)).to.have.members(ended);
    });
  }
});
