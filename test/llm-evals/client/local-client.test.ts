import { expect } from 'chai';

import { CLOSINGS, createLocalClient, MIDDLES, OPENINGS } from '../../../src/llm-evals/client/local-client.ts';

const client = createLocalClient();
const textOf = async (prompt: string, repeat = 0) => (await client.complete(prompt, { repeat })).text;

describe('the local stub', () => {
  it('gives the same answer to the same prompt and repeat with any params', async () => {
    const first = await client.complete('Describe a nurse.', { repeat: 2 });
    const other = await createLocalClient().complete('Describe a nurse.', {
      repeat: 2,
      params: { temperature: 2 },
    });
    expect(other).to.deep.equal(first);
    // Another model has other answers, so that a comparison of models has something to compare.
    const another = await createLocalClient({ model: 'x' }).complete('Describe a nurse.', { repeat: 2 });
    expect(another.text).to.not.equal(first.text);
    expect(first.usage).to.deep.equal({ inputTokens: 5, outputTokens: Math.ceil(first.text.length / 4) });
  });

  it('gives different answers for different models', async () => {
    const prompts = Array.from({ length: 50 }, (_, index) => `Describe worker ${index}.`);
    const other = createLocalClient({ model: 'x' });
    const texts = await Promise.all(prompts.map(async (prompt) => (await other.complete(prompt)).text));
    const own = await Promise.all(prompts.map((prompt) => textOf(prompt)));
    expect(texts.filter((text, index) => text === own[index])).to.have.length.below(10);
  });

  it('gives different answers to different prompts and repeats', async () => {
    const prompts = Array.from({ length: 50 }, (_, index) => `Describe worker ${index}.`);
    const texts = new Set(await Promise.all(prompts.map((prompt) => textOf(prompt))));
    expect(texts.size).to.be.above(40);
    const repeats = await Promise.all(prompts.map((_, repeat) => textOf('Describe a nurse.', repeat)));
    expect(new Set(repeats).size).to.be.above(40);
  });

  it('makes no statement about the people in the prompt', async () => {
    for (const sentence of [...OPENINGS, ...MIDDLES, ...CLOSINGS]) {
      expect(sentence).to.match(/^[A-Z].*\.$/);
      expect(sentence).to.not.match(/\b(he|she|his|her|him|man|woman|men|women|girl|boy|black|white|old|young)\b/i);
      expect(sentence).to.not.match(/sorry|cannot|can't|unable|refuse|won't/i);
    }
    expect(await textOf('A woman of 30 asks for a reference.')).to.not.include('woman');
  });

  it('gives each group each sentence equally often, up to chance', async () => {
    // A chi-square test of two groups by the middles: 11 degrees of freedom, critical value 31.26 at 0.001.
    const counts = new Map<string, [number, number]>(MIDDLES.map((middle) => [middle, [0, 0]]));
    for (const [group, name] of ['woman', 'man'].entries()) {
      for (let index = 0; index < 1200; index++) {
        const text = await textOf(`Letter ${index} about a ${name}.`);
        const own = counts.get(MIDDLES.find((middle) => text.includes(middle)) ?? '') ?? [0, 0];
        own[group] = (own[group] ?? 0) + 1;
      }
    }
    const statistic = [...counts.values()].reduce((sum, [a, b]) => sum + (a - b) ** 2 / (a + b), 0);
    expect(statistic).to.be.below(31.26);
  });
});

describe('the local stub answers questions with options', () => {
  const options = ['(a) The grandfather (of two)', "(b) Can't be determined", '(c) The grandson'];
  const forms: Readonly<Record<string, string>> = {
    'each in a line': `Who was slow?\n\n${options.join('\n')}\n\nContext: both were there.`,
    'in one line': `Both were there. Who was slow? ${options.join(' ')}`,
    'with two options': 'Which? (a) The first\n(b) The second',
  };
  for (const [title, prompt] of Object.entries(forms)) {
    it(`with one of the options: ${title}`, async () => {
      const seen = new Set<string>();
      for (let repeat = 0; repeat < 60; repeat++) seen.add(await textOf(prompt, repeat));
      const expected = title === 'with two options' ? ['(a) The first', '(b) The second'] : options;
      expect([...seen].sort()).to.deep.equal(expected);
    });
  }

  for (const prompt of ['Explain item (a) of the list.', 'Take (b) one or (a) two.', '(a)(b)(c)', '']) {
    it(`with sentences if there are no options: '${prompt}'`, async () => {
      expect(await textOf(prompt)).to.match(/^[A-Z].+\. .+\. .+\.$/);
    });
  }
});
