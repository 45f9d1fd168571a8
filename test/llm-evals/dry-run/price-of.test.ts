import { expect } from 'chai';

import { costOf, MODEL_PRICES, priceOf } from '../../../src/llm-evals/dry-run/model-prices.ts';

const prices = {};

describe('priceOf', () => {
  /** Prices from the providers' price pages in 2025 and 2026. */
  const listed = [
    ['openai', 'gpt-4o', 2.5, 10],
    ['openai', 'gpt-4o-2024-08-06', 2.5, 10],
    ['openai', 'gpt-4o-2024-05-13', 5, 15],
    ['openai', 'gpt-4o-mini', 0.15, 0.6],
    ['openai', 'gpt-4.1-mini-2025-04-14', 0.4, 1.6],
    ['anthropic', 'claude-opus-4-1-20250805', 15, 75],
    ['anthropic', 'claude-sonnet-4-20250514', 3, 15],
    ['anthropic', 'claude-haiku-4-5', 1, 5],
  ] as const;
  for (const [provider, model, input, output] of listed) {
    it(`returns the list price of ${model}, with its date and source`, () => {
      const price = priceOf({ provider, model, prices });
      expect(price).to.include({ input, output });
      expect(price?.asOf).to.match(/^20\d\d-\d\d-\d\d$/);
      expect(price?.source).to.not.equal('');
    });
  }

  const unknown = [
    ['openai', 'gpt-4o-2031-01-01'],
    ['openai', 'gpt-4o-mini-latest'],
    ['openai', 'claude-haiku-4-5'],
    ['anthropic', 'gpt-4o'],
    ['openai', ''],
    ['openai', 'toString'],
    ['compatible', 'gpt-4o'],
  ] as const;
  for (const [provider, model] of unknown) {
    it(`returns null, not 0, for '${model}' of ${provider}`, () => {
      expect(priceOf({ provider, model, prices })).to.equal(null);
    });
  }

  it('uses the configured price first, also for a compatible server', () => {
    const own = { 'gpt-4o': { input: 7, output: 8, asOf: '2026-01-31' } };
    for (const provider of ['openai', 'compatible'] as const) {
      expect(priceOf({ provider, model: 'gpt-4o', prices: own })).to.deep.equal({
        ...own['gpt-4o'],
        source: 'prices in the configuration',
      });
    }
  });

  it('returns 0 for local and replay, with any model', () => {
    for (const provider of ['local', 'replay'] as const) {
      expect(priceOf({ provider, model: 'anything', prices })).to.include({ input: 0, output: 0 });
    }
  });

  it('lists output prices above input prices, and no price of 0', () => {
    for (const table of Object.values(MODEL_PRICES)) {
      for (const [model, price] of table) {
        expect(price.input, model).to.be.greaterThan(0);
        expect(price.output, model).to.be.greaterThan(price.input);
      }
    }
  });
});

describe('costOf', () => {
  it('adds the two prices for a million tokens of each', () => {
    expect(costOf({ input: 2.5, output: 10 }, 1_000_000, 1_000_000)).to.equal(12.5);
    expect(costOf({ input: 2, output: 8 }, 500, 250)).to.equal(0.003);
  });

  it('returns an unknown cost for an unknown price', () => {
    expect(costOf(null, 0, 0)).to.equal(null);
  });
});
