import { expect } from 'chai';

import { createRandom, type Random } from '../../../src/internal/random.ts';
import { LLMEvalAdapter } from '../../../src/llm-evals/client/llm-eval-adapter.ts';
import { parseLlmEvalConfig } from '../../../src/llm-evals/config/load-llm-eval-config.ts';
import { CounterfactualFairnessEvaluator } from '../../../src/llm-evals/evaluators/counterfactual-fairness-evaluator.ts';
import { runLlmTargets } from '../../../src/llm-evals/run/run-llm-targets.ts';
import { dimensionAnswers } from '../../../src/llm-evals/scoring/dimension-answers.ts';
import { distributionGap } from '../../../src/llm-evals/scoring/distribution-gap.ts';
import type { LLMEvaluator } from '../../../src/llm-evals/scoring/llm-evaluator.ts';
import type { LlmTargetDifference } from '../../../src/llm-evals/scoring/llm-target-difference.ts';
import { type AnswerFeature, pairedGap } from '../../../src/llm-evals/scoring/paired-gap.ts';
import { readDecision } from '../../../src/llm-evals/scoring/read-decision.ts';
import { scoreSettings } from '../../../src/llm-evals/scoring/score-settings.ts';
import { tokenizeWords } from '../../../src/llm-evals/text/words.ts';

const RUNS = 200;
const UNITS = 40;

const LENGTH: AnswerFeature = {
  metric: 'length_gap',
  measure: 'mean_words',
  isRate: false,
  of: ({ text }) => tokenizeWords(text).length,
};
const DECISION: AnswerFeature = {
  metric: 'decision_gap',
  measure: 'yes_rate',
  isRate: true,
  of: ({ text }) => readDecision(text),
};

/** The features of the built-in evaluator that the simulation needs. The other features would take most of the time. */
const evaluator: LLMEvaluator = {
  name: 'counterfactual',
  plan: (config) => new CounterfactualFairnessEvaluator().plan(config),
  score(transcripts, options) {
    const settings = scoreSettings(options);
    return dimensionAnswers(transcripts).flatMap((answers) => [
      pairedGap('counterfactual', answers, LENGTH, settings),
      pairedGap('counterfactual', answers, DECISION, settings),
      distributionGap('counterfactual', answers, { ...LENGTH, metric: 'length_distance' }, settings),
    ]);
  },
};

const config = parseLlmEvalConfig({
  evaluators: ['counterfactual'],
  counterfactual: {
    template: Array.from({ length: UNITS }, (_, index) => `Task ${String(index)}: may a {gender} do it?`),
    dimensions: { gender: ['woman', 'man'] },
  },
  repeats: 2,
  concurrency: 1,
  targets: [
    { name: 'a', params: { seed: 1 } },
    { name: 'b', params: { seed: 2 } },
  ],
});

/** What a simulated model does: the mean effects of the group, and how much they vary between units. */
interface Planted {
  /** The mean gap in words. */
  readonly words: number;
  /** The mean gap in the probability of yes. */
  readonly yes: number;
}

const SD_WORDS = 4;
const SD_YES = 0.1;

/** Returns a number from the standard normal distribution (Box and Muller). */
function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
}

/**
 * Creates a model whose answers depend on the unit (the task), on the group, and on chance. The targets share the
 * random effects of tasks on all answers, as two models find the same tasks hard. The effects of the group on a task
 * are drawn for each model.
 */
function model(id: string, { words, yes }: Planted, shared: readonly number[], random: Random): LLMEvalAdapter {
  const gaps = shared.map(() => ({ words: words + SD_WORDS * normal(random), yes: yes + SD_YES * normal(random) }));
  return new LLMEvalAdapter(
    (prompt) => {
      const task = Number(/Task (\d+)/.exec(prompt)?.[1] ?? 0);
      const side = prompt.includes('woman') ? 0.5 : -0.5;
      const gap = gaps[task] ?? { words: 0, yes: 0 };
      const length = 30 + 3 * (shared[task] ?? 0) + side * gap.words + 2 * normal(random);
      const rate = 0.5 + 0.1 * (shared[task] ?? 0) + side * gap.yes;
      const decision = random.next() < rate ? 'Yes, they may.' : 'No, they may not.';
      // The decision has three or four words; whole numbers of words are drawn so that their mean is the length.
      const count = Math.floor(length) + (random.next() < length - Math.floor(length) ? 1 : 0);
      return `${decision}${' it'.repeat(Math.max(0, count - tokenizeWords(decision).length))}`;
    },
    { id },
  );
}

async function differencesOf(seed: number, a: Planted, b: Planted): Promise<Record<string, LlmTargetDifference>> {
  const random = createRandom(seed);
  const shared = Array.from({ length: UNITS }, () => normal(random));
  const clients = { a: model('a', a, shared, random), b: model('b', b, shared, random) };
  const { differences } = await runLlmTargets(config, { clients, evaluators: [evaluator], seed });
  return differences;
}

const covers = (ci: readonly [number, number] | null | undefined, truth: number): boolean =>
  ci !== null && ci !== undefined && ci[0] <= truth && truth <= ci[1];

describe('differences between targets, in simulated runs', () => {
  it('have intervals that contain the true difference in 91 to 98% of runs @study', async function () {
    this.timeout(600_000);
    const truths: Record<string, number> = {
      'length_gap.gender[a-b]': 3,
      'decision_gap.gender[a-b]': 0.2,
      'length_gap_size.gender[a-b]': 3,
      'decision_gap_size.gender[a-b]': 0.2,
      'mean_words[a-b]': 0,
      'yes_rate[a-b]': 0,
    };
    const hits: Record<string, number> = {};
    let tested = 0;
    for (let run = 0; run < RUNS; run++) {
      const differences = await differencesOf(1000 + run, { words: 5, yes: 0.3 }, { words: 2, yes: 0.1 });
      for (const [name, truth] of Object.entries(truths)) {
        hits[name] = (hits[name] ?? 0) + Number(covers(differences[name]?.ci, truth));
      }
      tested += Number((differences['length_gap.gender[a-b]']?.pValue ?? 1) <= 0.05);
    }
    for (const [name, count] of Object.entries(hits)) {
      // The interval of a difference of sizes is wide if one of the gaps may be 0, because a size cannot be below 0.
      expect(count / RUNS, name).to.be.within(0.91, name.includes('_size') ? 1 : 0.98);
    }
    // A unit's gap in words has the variance 16 + 2 x (4 + 1/6) / 2, so that the difference has a standard error of
    // sqrt(2 x 20.2 / 40) = 1.0, and a t test finds a difference of 3 with probability 0.83.
    expect(tested / RUNS, 'power').to.be.within(0.75, 0.91);
  });

  it('are called in at most 8% of runs without a difference @study', async function () {
    this.timeout(600_000);
    const called: Record<string, number> = {};
    let any = 0;
    for (let run = 0; run < RUNS; run++) {
      const differences = await differencesOf(5000 + run, { words: 4, yes: 0.2 }, { words: 4, yes: 0.2 });
      const tests = Object.values(differences).filter(({ pValue }) => pValue !== null);
      for (const { key, pValue } of tests) called[key] = (called[key] ?? 0) + Number((pValue ?? 1) <= 0.05);
      any += Number(tests.some(({ adjustedPValue }) => (adjustedPValue ?? 1) <= 0.05));
    }
    for (const [name, count] of Object.entries(called)) expect(count / RUNS, name).to.be.at.most(0.08);
    expect(any / RUNS, 'any difference').to.be.at.most(0.08);
  });
});
