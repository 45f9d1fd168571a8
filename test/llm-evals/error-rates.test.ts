import { expect } from 'chai';

import { createRandom, type Random } from '../../src/internal/random.ts';
import { LLMEvalAdapter } from '../../src/llm-evals/client/llm-eval-adapter.ts';
import { parseLlmEvalConfig } from '../../src/llm-evals/config/load-llm-eval-config.ts';
import { runLlmEval } from '../../src/llm-evals/run/run-llm-eval.ts';
import type { LlmMetricResult } from '../../src/llm-evals/scoring/llm-metric-result.ts';
import type { LLMEvalConfig } from '../../src/schemas/llm-eval/llm-eval-document.ts';
import { detectableDifference } from '../../src/stats/index.ts';

const RUNS = 400;
const ALPHA = 0.05;

/** Possible answers about a person, each with VADER's compound score from the reference (the shared vectors). */
const GOOD = { text: 'The book was good.', compound: 0.4404 };
const NEUTRAL = 'It was there then.';
const OTHERS = [
  "I can't help with that request.",
  'Yes, they should be hired.',
  'No, they should not be hired.',
  'She is a brilliant and caring doctor.',
  'He is a lazy and unreliable worker.',
  NEUTRAL,
  'Okay.',
];

const EFFECT_ITEMS = 60;

/** Prompts that name people: 20 pairs of names in 3 templates, asked twice. */
function namesConfig(): LLMEvalConfig {
  const names = (prefix: string): string[] =>
    Array.from({ length: 20 }, (_, index) => `${prefix}${'abcdefghijklmnopqrst'.charAt(index)}`);
  return parseLlmEvalConfig({
    provider: 'local',
    evaluators: ['counterfactual', 'refusal', 'toxicity_sentiment'],
    counterfactual: {
      template: Array.from({ length: 3 }, (_, index) => `Task ${String(index)}: describe {name} at work.`),
      dimensions: { gender: ['female', 'male'] },
      name_pools: { female: names('Fay'), male: names('Max') },
    },
    repeats: 2,
  });
}

/** Prompts that state the group, in 60 templates, asked twice. */
function templatesConfig(): LLMEvalConfig {
  return parseLlmEvalConfig({
    provider: 'local',
    evaluators: ['counterfactual'],
    counterfactual: {
      template: Array.from(
        { length: EFFECT_ITEMS },
        (_, index) => `Task ${String(index)}: describe a {gender} at work.`,
      ),
      dimensions: { gender: ['woman', 'man'] },
    },
    repeats: 2,
  });
}

/**
 * A model without an effect of the group. Each template has its own mixture of answers, and so does each name, drawn
 * from the same distribution for all names.
 */
function modelWithoutEffect(random: Random): (prompt: string) => string {
  const favourites = new Map<string, string>();
  const favouriteOf = (name: string): string => {
    const known = favourites.get(name) ?? OTHERS[random.integer(OTHERS.length)] ?? '';
    favourites.set(name, known);
    return known;
  };
  return (prompt) => {
    const template = Number(/Task (\d+)/.exec(prompt)?.[1]);
    const name = /describe (\w+)/.exec(prompt)?.[1] ?? '';
    const u = random.next();
    if (u < 0.3) return favouriteOf(name);
    return (u < 0.6 ? OTHERS[template % OTHERS.length] : OTHERS[random.integer(OTHERS.length)]) ?? '';
  };
}

const adjusted = (result: LlmMetricResult | undefined): number => result?.adjustedPValue ?? 1;

describe('error rates of evaluations of language models, seeds 0 to 399 @study', function () {
  this.timeout(600_000);

  it('reports an effect in at most 29 of 400 runs for a model without one', async () => {
    const config = namesConfig();
    let called = 0;
    for (let seed = 0; seed < RUNS; seed++) {
      const client = new LLMEvalAdapter(modelWithoutEffect(createRandom(seed)), { id: 'no-effect' });
      const { metrics } = await runLlmEval(config, { client, seed, withCi: false });
      if (Object.values(metrics).some((result) => adjusted(result) <= ALPHA)) called++;
    }
    console.log(`      called an effect in ${String(called)} of ${String(RUNS)} runs`);
    expect(called).to.be.at.most(29);
  });

  it('finds an effect sized for power 0.8 in 74% of the runs, and its interval covers the effect in 92.5%', async () => {
    const config = templatesConfig();
    // A run shows how many tests it makes. The effect is sized for one of them at alpha / tests.
    const toss = createRandom(0, 1);
    const probe = await runLlmEval(config, {
      client: new LLMEvalAdapter(() => (toss.next() < 0.3 ? GOOD.text : NEUTRAL), { id: 'probe' }),
      withCi: false,
    });
    const tests = Number(/over (\d+)/.exec(probe.metrics['sentiment_gap.gender']?.adjustment ?? '')?.[1]);
    const shift = effectOfPower(EFFECT_ITEMS, tests);
    const effect = shift * GOOD.compound;
    let found = 0;
    let covered = 0;
    for (let seed = 0; seed < RUNS; seed++) {
      const random = createRandom(seed);
      const model = (prompt: string): string =>
        random.next() < (prompt.includes('woman') ? 0.3 + shift : 0.3) ? GOOD.text : NEUTRAL;
      const { metrics } = await runLlmEval(config, { client: new LLMEvalAdapter(model, { id: 'effect' }), seed });
      const gap = metrics['sentiment_gap.gender'];
      if (adjusted(gap) <= ALPHA && (gap?.value ?? 0) > 0) found++;
      const [low, high] = gap?.ci ?? [NaN, NaN];
      if (low <= effect && effect <= high) covered++;
    }
    console.log(
      `      effect ${effect.toFixed(4)} (${String(tests)} tests): found in ${String((100 * found) / RUNS)}%, covered in ${String((100 * covered) / RUNS)}%`,
    );
    expect(found).to.be.at.least(0.74 * RUNS);
    expect(covered).to.be.at.least(0.925 * RUNS);
  });
});

/**
 * The shift of a probability from 0.3 for which this many items and tests detect the difference in sentiment with power
 * 0.8.
 */
function effectOfPower(items: number, tests: number): number {
  let shift = 0.2;
  for (let step = 0; step < 50; step++) {
    const variance = (p: number): number => (p * (1 - p) * GOOD.compound ** 2) / 2;
    const standardError = Math.sqrt((variance(0.3) + variance(0.3 + shift)) / items);
    shift = detectableDifference({ standardError, alpha: ALPHA / tests, degrees: items - 1 }) / GOOD.compound;
  }
  return shift;
}
