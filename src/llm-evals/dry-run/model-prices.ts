import type { LLMEvalConfig } from '../../schemas/llm-eval/llm-eval-document.ts';

/** The list price of a model for a million tokens, in US dollars. */
export interface ListedPrice {
  readonly input: number;
  readonly output: number;
  readonly asOf: string;
  readonly source: string;
}

/** A family of models with the same price: its name, the prices, and the names of its dated releases. */
type PriceRow = readonly [name: string, input: number, output: number, releases?: readonly string[]];

/**
 * The source of the prices: LiteLLM's public table of list prices (model_prices_and_context_window.json), as of the
 * date in `asOf`, from github.com/Wei-Shaw/model-price-repo. Models whose price changed soon after that date are
 * omitted, because an unknown price is better than a wrong price.
 */
const LITELLM = { asOf: '2026-07-24', source: 'list price in the LiteLLM table' } as const;

const OPENAI: readonly PriceRow[] = [
  ['gpt-3.5-turbo', 0.5, 1.5, ['0125']],
  ['gpt-4-turbo', 10, 30, ['2024-04-09']],
  // The first release of this family costs more than the later releases.
  ['gpt-4o-2024-05-13', 5, 15],
  ['gpt-4o', 2.5, 10, ['2024-08-06', '2024-11-20']],
  ['gpt-4o-mini', 0.15, 0.6, ['2024-07-18']],
  ['gpt-4.1', 2, 8, ['2025-04-14']],
  ['gpt-4.1-mini', 0.4, 1.6, ['2025-04-14']],
  ['gpt-4.1-nano', 0.1, 0.4, ['2025-04-14']],
  ['gpt-5', 1.25, 10, ['2025-08-07']],
  ['gpt-5-mini', 0.25, 2, ['2025-08-07']],
  ['gpt-5-nano', 0.05, 0.4, ['2025-08-07']],
  ['gpt-5.1', 1.25, 10, ['2025-11-13']],
  ['gpt-5.2', 1.75, 14, ['2025-12-11']],
  ['gpt-5.4', 2.5, 15, ['2026-03-05']],
  ['gpt-5.4-mini', 0.75, 4.5, ['2026-03-17']],
  ['gpt-5.4-nano', 0.2, 1.25, ['2026-03-17']],
  ['gpt-5.5', 5, 30, ['2026-04-23']],
  ['o3', 2, 8, ['2025-04-16']],
  ['o3-mini', 1.1, 4.4, ['2025-01-31']],
  ['o4-mini', 1.1, 4.4, ['2025-04-16']],
];

const ANTHROPIC: readonly PriceRow[] = [
  ['claude-3-haiku', 0.25, 1.25, ['20240307']],
  ['claude-haiku-4-5', 1, 5, ['20251001']],
  ['claude-sonnet-4', 3, 15, ['20250514']],
  ['claude-sonnet-4-5', 3, 15, ['20250929']],
  ['claude-sonnet-4-6', 3, 15],
  ['claude-sonnet-5', 2, 10],
  ['claude-opus-4', 15, 75, ['20250514']],
  ['claude-opus-4-1', 15, 75, ['20250805']],
  ['claude-opus-4-5', 5, 25, ['20251101']],
  ['claude-opus-4-6', 5, 25, ['20260205']],
  ['claude-opus-4-7', 5, 25, ['20260416']],
  ['claude-opus-4-8', 5, 25],
  ['claude-opus-5', 5, 25],
];

/** List prices by provider and by the model name in requests. */
export const MODEL_PRICES: Readonly<Record<'openai' | 'anthropic', ReadonlyMap<string, ListedPrice>>> = {
  openai: byName(OPENAI),
  anthropic: byName(ANTHROPIC),
};

function byName(rows: readonly PriceRow[]): ReadonlyMap<string, ListedPrice> {
  return new Map(
    rows.flatMap(([name, input, output, releases = []]) => {
      const price = Object.freeze({ input, output, ...LITELLM });
      return [name, ...releases.map((release) => `${name}-${release}`)].map((each) => [each, price] as const);
    }),
  );
}

/** The parts of a configuration that determine the price. */
export type PricedModel = Pick<LLMEvalConfig, 'provider' | 'model' | 'prices'>;

const FREE = { input: 0, output: 0, asOf: 'always', source: 'nothing is sent to a provider' };
/** The price of a run that sends nothing. */
export const NOTHING_SENT: ListedPrice = Object.freeze(FREE);

/**
 * Returns the input price and the output price of a model, in US dollars per million tokens.
 *
 * `local` and `replay` cost nothing. For other providers, the price comes from `prices` in the configuration, by the
 * full name of the model. For `openai`, `openai_responses` and `anthropic`, the fallback is a built-in table of list
 * prices with their date. A dated release (`gpt-4o-2024-08-06`) has the price of its family if the table lists the release. Otherwise,
 * its price is unknown. The prices of all other providers are known only from the configuration. Discounts for batches
 * and cached input are ignored.
 * @returns null if the price is unknown; a price of 0 means that the model is free
 * @example
 * ```ts
 * import { priceOf } from 'evenhand/llm-evals';
 *
 * const price = priceOf({ provider: 'openai', model: 'gpt-4o-2024-08-06', prices: {} });
 * console.log(price?.input, price?.output, price?.asOf);
 * // 2.5 10 2026-07-24
 * console.log(priceOf({ provider: 'openai', model: 'gpt-4o-2031-01-01', prices: {} }));
 * // null
 * ```
 */
export function priceOf({ provider, model, prices }: PricedModel): ListedPrice | null {
  if (provider === 'local' || provider === 'replay') return NOTHING_SENT;
  const own = Object.hasOwn(prices, model) ? prices[model] : undefined;
  if (own !== undefined) return Object.freeze({ ...own, source: 'prices in the configuration' });
  const family = provider === 'openai_responses' ? 'openai' : provider;
  return family === 'openai' || family === 'anthropic' ? (MODEL_PRICES[family].get(model) ?? null) : null;
}

/**
 * Computes the cost of tokens, in US dollars: (input tokens x input price + output tokens x output price) / 1,000,000.
 * @returns null if the price is unknown
 */
export function costOf(
  price: Pick<ListedPrice, 'input' | 'output'> | null,
  inputTokens: number,
  outputTokens: number,
): number | null {
  return price === null ? null : (inputTokens * price.input + outputTokens * price.output) / 1e6;
}
