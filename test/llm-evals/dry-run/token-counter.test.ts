import { expect } from 'chai';

import { parseLlmEvalConfig } from '../../../src/llm-evals/config/load-llm-eval-config.ts';
import { type TokenCounter, tokenCounter } from '../../../src/llm-evals/dry-run/token-counter.ts';
import { estimateDryRun } from '../../../src/llm-evals/run/dry-run.ts';
import { hasPackage } from '../../helpers/peers.ts';

/** Texts with their tokens in cl100k_base and o200k_base, from OpenAI's cookbook "How to count tokens with tiktoken". */
const COOKBOOK: readonly (readonly [text: string, cl100k: number, o200k: number])[] = [
  ['antidisestablishmentarianism', 6, 6],
  ['2 + 2 = 4', 7, 7],
  ['お誕生日おめでとう', 9, 8],
];

/** The tokens of a request for roles and markers in the cookbook: 3 for the message, 1 for its role, 3 for the answer. */
const FRAME = 7;

const isInstalled = hasPackage('gpt-tokenizer');

const counterOf = (
  provider: 'openai' | 'openai_responses' | 'anthropic' | 'compatible',
  model: string,
  systemPrompt: string | null = null,
) => tokenCounter({ provider, model, systemPrompt });

describe('tokenCounter', () => {
  it('estimates the tokens of models whose tokenizer is not known, for any packages', async () => {
    const counters: TokenCounter[] = [
      await counterOf('anthropic', 'gpt-4o'),
      await counterOf('compatible', 'gpt-4o'),
      await counterOf('openai', 'some-new-model'),
      await counterOf('openai', 'gpt-45'),
    ];
    for (const { encoding, install, inputTokens } of counters) {
      expect({ encoding, install }).to.deep.equal({ encoding: null, install: null });
      expect(inputTokens({ prompt: 'word' })).to.equal(9);
    }
  });

  it('reports in a dry run that tokens are counted, or how to install the tokenizer', async () => {
    const config = parseLlmEvalConfig({
      provider: 'openai',
      model: 'gpt-4o-mini',
      prompt_templates: { a: '2 + 2 = 4' },
    });
    const estimate = await estimateDryRun(config, { cache: null });
    const page = estimate.toMarkdown();
    if (isInstalled) {
      expect(estimate).to.include({ tokenizer: 'o200k_base', tokenizerInstall: null, estimatedInputTokens: 7 + FRAME });
      expect(page).to.include('The input tokens are counted exactly, with the tokenizer o200k\\_base.');
    } else {
      expect(estimate).to.include({ tokenizer: null, tokenizerInstall: 'npm install gpt-tokenizer@4' });
      expect(page).to.include('The input tokens are estimated. To count them: npm install gpt-tokenizer@4.');
    }
  });

  describe('with gpt-tokenizer', () => {
    before(function () {
      // The package is optional, and `npm run peers` installs it.
      if (!isInstalled) this.skip();
    });

    it('counts as tiktoken, for all names of a model', async () => {
      for (const [text, cl100k, o200k] of COOKBOOK) {
        for (const model of [
          'gpt-4o',
          'gpt-4o-mini-2024-07-18',
          'gpt-4.1',
          'gpt-5-mini',
          'o3-mini',
          'ft:gpt-4o:org:x:1',
        ]) {
          expect((await counterOf('openai', model)).inputTokens({ prompt: text }), model).to.equal(o200k + FRAME);
        }
        for (const model of ['gpt-4', 'gpt-4-turbo', 'gpt-3.5-turbo-0125']) {
          expect((await counterOf('openai', model)).inputTokens({ prompt: text }), model).to.equal(cl100k + FRAME);
        }
      }
    });

    it('counts each message of a conversation with its role, and no turns of the model', async () => {
      const messages = ['2 + 2 = 4', null, '2 + 2 = 4'].map((content) => ({ content }));
      for (const provider of ['openai', 'openai_responses'] as const) {
        const { inputTokens } = await counterOf(provider, 'gpt-4o', '2 + 2 = 4');
        // The system prompt and two messages of 7 tokens, 4 for the role of each of the four messages, and 3.
        expect(inputTokens({ prompt: 'unused', messages })).to.equal(3 * 7 + 4 * 4 + 3);
      }
    });

    it('counts the system prompt as a message, and marks of the model as text', async () => {
      expect((await counterOf('openai', 'gpt-4o', '2 + 2 = 4')).inputTokens({ prompt: '2 + 2 = 4' })).to.equal(
        2 * (7 + 4) + 3,
      );
      expect((await counterOf('openai', 'gpt-4o')).inputTokens({ prompt: '<|endoftext|>' })).to.be.above(FRAME + 1);
    });
  });
});
