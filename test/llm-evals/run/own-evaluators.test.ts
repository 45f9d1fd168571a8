import { expect } from 'chai';

import { ConfigValidationError, ValueError } from '../../../src/exceptions/index.ts';
import {
  LLMEvalAdapter,
  llmEvalToJson,
  llmEvalToMarkdown,
  type LLMEvaluator,
  LlmMetricResult,
  parseLlmEvalConfig,
  planCounterfactual,
  RefusalRateEvaluator,
  runLlmEval,
  type Transcript,
} from '../../../src/llm-evals/index.ts';
import { plannedMetrics } from '../../../src/llm-evals/run/score-run.ts';

const config = parseLlmEvalConfig({
  evaluators: ['counterfactual'],
  counterfactual: {
    template: Array.from({ length: 6 }, (_, index) => `Task ${String(index)}: advise a {gender}.`),
    dimensions: { gender: ['woman', 'man'] },
  },
});

const client = new LLMEvalAdapter((prompt: string) => (prompt.includes('woman') ? 'Be brave!' : 'Be calm.'), {
  id: 'own',
});

/** The share of answers with an exclamation mark. */
const shouting = {
  name: 'shouting',
  plan: (given: typeof config) => planCounterfactual(given, 'shouting'),
  score: (transcripts: readonly Transcript[]) => [
    { metric: 'shout_rate', value: transcripts.filter(({ text }) => text?.includes('!')).length / transcripts.length },
  ],
};

async function failure(evaluators: unknown): Promise<unknown> {
  return runLlmEval(config, { client, evaluators: evaluators as LLMEvaluator[] }).then(
    () => expect.fail('it was taken'),
    (error: unknown) => error,
  );
}

describe('custom evaluators', () => {
  it('run in addition to those of the configuration, with plain objects as results', async () => {
    const result = await runLlmEval(config, { client, evaluators: [shouting] });
    const metric = result.metrics['shout_rate'];
    expect(metric).to.be.instanceOf(LlmMetricResult);
    expect([metric?.value, metric?.evaluator]).to.deep.equal([0.5, 'shouting']);
    expect(result.metrics).to.include.keys('sentiment_gap.gender');
    // Both evaluators ask the same twelve prompts.
    expect(result.actual.requests).to.equal(12);
    expect(llmEvalToMarkdown(result)).to.include('Shout rate');
    const { metrics } = llmEvalToJson(result);
    expect(metrics['shout_rate']).to.include({ evaluator: 'shouting', value: 0.5 });
    expect(await plannedMetrics(config, { evaluators: [shouting] })).to.include.keys('shout_rate');
  });

  it('run even if the configuration does not name them, and replace built-in ones of the same name', async () => {
    const refusal = await runLlmEval(config, { client, evaluators: [new RefusalRateEvaluator()] });
    expect(refusal.metrics['refusal_rate']?.value).to.equal(0);
    const own = { ...shouting, name: 'counterfactual', plan: (given: typeof config) => planCounterfactual(given) };
    const replaced = await runLlmEval(config, { client, evaluators: [own] });
    expect(Object.keys(replaced.metrics)).to.deep.equal(['shout_rate']);
  });

  const refused: readonly (readonly [title: string, evaluators: unknown, message: RegExp])[] = [
    ['a name instead of an object', ['refusal'], /evaluators\[0\].*name, plan and score.*refusal/],
    ['an object without score', [{ name: 'x', plan: () => [] }], /evaluators\[0\].*score/],
    ['an empty name', [{ ...shouting, name: '' }], /evaluators\[0\].*name/],
    ['a class instead of an object of it', [RefusalRateEvaluator], /evaluators\[0\].*plan/],
    ['no list', shouting, /evaluators.*list/],
    ['the same name twice', [shouting, shouting], /unique names.*'shouting'/],
  ];
  for (const [title, evaluators, message] of refused) {
    it(`rejects ${title}`, async () => {
      const error = await failure(evaluators);
      expect(error).to.be.instanceOf(ValueError);
      expect((error as Error).message).to.match(message);
    });
  }

  it('rejects prompts planned under another name, whose answers would not be scored', async () => {
    const error = await failure([{ ...shouting, plan: (given: typeof config) => planCounterfactual(given) }]);
    expect(error).to.be.instanceOf(ConfigValidationError);
    expect((error as Error).message).to.match(/'shouting'.*'counterfactual'/);
  });

  it('rejects results without a name or a number', async () => {
    for (const bad of [[{ metric: 'x' }], [{ value: 1 }], 'x', [null]]) {
      const error = await failure([{ ...shouting, score: () => bad }]);
      expect(error).to.be.instanceOf(ConfigValidationError);
      expect((error as Error).message).to.match(/'shouting'/);
    }
  });
});

describe('models in the report', () => {
  it('does not call a custom client a stub', async () => {
    const result = await runLlmEval(config, { client });
    expect(result.warnings.join()).to.not.include('stub');
    const markdown = llmEvalToMarkdown(result);
    expect(markdown).to.not.include('canned answers').and.to.not.match(/stub/);
    expect(markdown).to.include('own (client)');
    const stub = await runLlmEval(config);
    expect(stub.warnings.join()).to.include('stub');
    expect(llmEvalToMarkdown(stub)).to.include('canned answers');
  });
});

describe('answers in other languages', () => {
  const german = 'Ich denke, dass sie eine sehr gute Kollegin ist und mit allen freundlich umgeht.';
  const english = 'I think that she is a very good colleague and is kind to all of the people.';

  it('are counted, with the metrics that assume English', async () => {
    const mixed = new LLMEvalAdapter((prompt: string) => (/Task [0-3]/.test(prompt) ? german : english), { id: 'own' });
    const evaluators = ['counterfactual', 'refusal', 'toxicity_sentiment'];
    const result = await runLlmEval(parseLlmEvalConfig({ ...raw, evaluators }), { client: mixed });
    const [warning = ''] = result.warnings.filter((text) => text.includes('English'));
    expect(warning).to.match(/^8 of 12 answers do not look English\./);
    for (const name of ['sentiment_gap', 'decision_gap', 'refusal_rate', 'toxic_fraction', 'negative_sentiment_gap']) {
      expect(warning).to.include(name);
    }
    expect(warning).to.not.include('length_gap');
    expect(llmEvalToMarkdown(result)).to.include('8 of 12 answers do not look English');
    expect(llmEvalToJson(result).warnings.join()).to.include('8 of 12 answers');
    const own = new LLMEvalAdapter(() => english, { id: 'own' });
    expect((await runLlmEval(config, { client: own })).warnings.join()).to.not.include('English');
  });

  const raw = {
    counterfactual: {
      template: Array.from({ length: 6 }, (_, index) => `Task ${String(index)}: advise a {gender}.`),
      dimensions: { gender: ['woman', 'man'] },
    },
  };
});
