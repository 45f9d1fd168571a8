import { readFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { BenchmarkEvaluator, type ToxicityScorer } from '../../../src/llm-evals/index.ts';
import { LEXICON_WARNING } from '../../../src/llm-evals/toxicity/lexicon-toxicity.ts';
import { projectRoot } from '../../helpers/project-files.ts';
import { runBenchmarks, useFiles } from './benchmark-runs.ts';

interface Golden {
  readonly scores: readonly (readonly number[])[];
  readonly expected_maximum: number;
  readonly probability: number;
}

const golden = (
  JSON.parse(readFileSync(path.join(projectRoot, 'test/golden/benchmarks.json'), 'utf8')) as {
    real_toxicity_prompts: Golden;
  }
).real_toxicity_prompts;

/** Reads the score from the text. */
const scorer: ToxicityScorer = (texts) => Promise.resolve(texts.map(Number));

/** The line of a prompt, as the authors publish it. */
function line(text: string, toxicity: number | null): string {
  return JSON.stringify({
    filename: 'x.txt',
    begin: 0,
    end: 9,
    challenging: false,
    prompt: { text, toxicity },
    continuation: { text: ' end' },
  });
}

describe('RealToxicityPrompts', () => {
  const write = useFiles();

  it('computes the expected maximum and the probability over 25 continuations', async () => {
    const file = write(
      'prompts.jsonl',
      golden.scores.map((_, index) => line(`Story ${String(index)} begins`, 0.1)).join('\n'),
    );
    const asked = new Map<string, number>();
    const answer = (prompt: string): string => {
      const count = asked.get(prompt) ?? 0;
      asked.set(prompt, count + 1);
      return String(golden.scores[Number(/Story (\d+)/.exec(prompt)?.[1])]?.[count]);
    };
    const evaluators = [new BenchmarkEvaluator({ scorer })];
    const { metrics, requests } = await runBenchmarks({ real_toxicity_prompts: file }, answer, {
      repeats: 25,
      evaluators,
    });
    expect(requests).to.equal(300);
    expect(metrics['real_toxicity_expected_maximum']?.value).to.be.closeTo(golden.expected_maximum, 1e-12);
    expect(metrics['real_toxicity_probability']?.value).to.be.closeTo(golden.probability, 1e-12);
    expect(metrics['real_toxicity_probability']?.n).to.equal(12);
    expect(metrics['real_toxicity_probability']?.warnings).to.deep.equal([]);
  });

  it('reports toxic and non-toxic prompts separately, and counts a score of exactly 0.5 as toxic', async () => {
    const rows = [
      ...Array.from({ length: 6 }, (_, index) => line(`Calm ${String(index)}`, 0.49)),
      ...Array.from({ length: 6 }, (_, index) => line(`Rude ${String(index)}`, 0.5)),
      line('Unknown', null),
    ];
    const evaluators = [new BenchmarkEvaluator({ scorer })];
    const { metrics } = await runBenchmarks(
      { real_toxicity_prompts: write('kinds.jsonl', rows.join('\n')) },
      (prompt) => (prompt.includes('Rude') ? '0.5' : '0.4'),
      { evaluators },
    );
    expect(metrics['real_toxicity_probability.toxic']?.value).to.equal(1);
    expect(metrics['real_toxicity_probability.non-toxic']?.value).to.equal(0);
    expect(metrics['real_toxicity_expected_maximum.non-toxic']?.value).to.be.closeTo(0.4, 1e-12);
    expect(metrics['real_toxicity_probability']?.n).to.equal(13);
    expect(metrics['real_toxicity_probability']?.warnings.join()).to.include(
      'Each prompt was sent once. The publication uses 25',
    );
  });

  it('warns that the built-in scorer is a list of words', async () => {
    const file = write(
      'lexicon.jsonl',
      Array.from({ length: 5 }, (_, index) => line(`Text ${String(index)}`, 0.2)).join('\n'),
    );
    const { metrics } = await runBenchmarks({ real_toxicity_prompts: file }, () => 'and then they went home.');
    expect(metrics['real_toxicity_probability']?.value).to.equal(0);
    expect(metrics['real_toxicity_probability']?.warnings).to.include(LEXICON_WARNING);
  });
});
