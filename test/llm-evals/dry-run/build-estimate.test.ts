import { createHash } from 'node:crypto';

import { expect } from 'chai';

import { ValueError } from '../../../src/exceptions/index.ts';
import { dryRunToJson } from '../../../src/llm-evals/dry-run/dry-run-json.ts';
import { buildEstimate, type EstimateInput, type PlannedPart } from '../../../src/llm-evals/dry-run/build-estimate.ts';
import { estimatingCounter } from '../../../src/llm-evals/dry-run/token-counter.ts';

const PRICE = { input: 2, output: 8, asOf: '2026-01-31', source: 'a price list' };

/** `count` requests of the one-token prompt 'word', which has 9 input tokens with the frame. */
function requests(first: number, count: number, cached = 0) {
  return Array.from({ length: count }, (_, index) => ({
    key: `key-${String(first + index).padStart(4, '0')}`,
    prompt: 'word',
    isShared: false,
    isCached: index < cached,
  }));
}

function part(template: string, first: number, count: number, cached = 0): PlannedPart {
  return { evaluator: 'refusal', template, requests: requests(first, count, cached) };
}

/** Marks requests of earlier parts as shared. */
function marked(parts: readonly PlannedPart[]): PlannedPart[] {
  const seen = new Set<string>();
  return parts.map((each) => ({
    ...each,
    requests: each.requests.map((request) => {
      const isShared = seen.has(request.key);
      seen.add(request.key);
      return { ...request, isShared };
    }),
  }));
}

function estimate(parts: readonly PlannedPart[], more: Partial<EstimateInput> = {}) {
  return buildEstimate({
    parts: marked(parts),
    model: 'a-model',
    price: PRICE,
    maxTokens: 256,
    tokens: estimatingCounter(null),
    ...more,
  });
}

describe('buildEstimate', () => {
  it('requests an answer that two parts need only once', () => {
    const { requestCount, cachedCount, breakdown } = estimate([part('a', 0, 10, 2), part('b', 5, 10)]);
    expect({ requestCount, cachedCount }).to.deep.equal({ requestCount: 13, cachedCount: 2 });
    expect(breakdown.map(({ planned, shared, cached, requests }) => [planned, shared, cached, requests])).to.deep.equal(
      [
        [10, 0, 2, 8],
        [10, 5, 0, 5],
      ],
    );
  });

  it('sums the parts to the totals', () => {
    const result = estimate([part('a', 0, 10, 2), part('b', 5, 10), part('bbq race', 100, 7)]);
    const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
    expect(sum(result.breakdown.map(({ requests }) => requests))).to.equal(result.requestCount);
    expect(sum(result.breakdown.map(({ inputTokens }) => inputTokens))).to.equal(result.estimatedInputTokens);
    for (const end of ['low', 'expected', 'ceiling'] as const) {
      expect(sum(result.breakdown.map(({ outputTokens }) => outputTokens[end]))).to.equal(
        result.estimatedOutputTokens[end],
      );
    }
  });

  it('counts 8 tokens for the frame, plus the prompt and the system prompt', () => {
    expect(estimate([part('a', 0, 10)]).estimatedInputTokens).to.equal(90);
    expect(estimate([part('a', 0, 10)], { tokens: estimatingCounter('be kind') }).estimatedInputTokens).to.equal(110);
  });

  describe('output tokens', () => {
    const twenty = Array.from({ length: 20 }, (_, index) => index + 1);
    const cases: readonly (readonly [string, PlannedPart, Partial<EstimateInput>, number, number, number])[] = [
      ['free text: 200, and half of it', part('a', 0, 10), {}, 1000, 2000, 2560],
      ['free text under a lower max_tokens', part('a', 0, 10), { maxTokens: 50 }, 500, 500, 500],
      ['BBQ: 15', part('bbq race', 0, 10), {}, 75, 150, 2560],
      // Mean 10.5; the lower quartile of 1 to 20 is 5.75 (type 7).
      ['20 known answers of the plan', part('a', 0, 10), { knownOutputTokens: twenty }, 57, 105, 2560],
      ['19 known answers are too few', part('a', 0, 10), { knownOutputTokens: twenty.slice(1) }, 1000, 2000, 2560],
      [
        "the part's own answers come first",
        { ...part('a', 0, 10), knownOutputTokens: Array.from({ length: 20 }, () => 30) },
        { knownOutputTokens: twenty },
        300,
        300,
        2560,
      ],
      [
        'a few very long answers: low is never above expected',
        part('a', 0, 10),
        { knownOutputTokens: [...Array.from({ length: 5 }, () => 0), ...Array.from({ length: 95 }, () => 100)] },
        950,
        950,
        2560,
      ],
      ['nothing to send', part('a', 0, 10, 10), {}, 0, 0, 0],
    ];
    for (const [title, planned, more, low, expected, ceiling] of cases) {
      it(title, () => {
        expect(estimate([planned], more).estimatedOutputTokens).to.deep.equal({ low, expected, ceiling });
      });
    }
  });

  it('computes the cost of input and output at their prices, for each bound of the range', () => {
    // 100 requests: 900 tokens in; 10,000, 20,000 or 25,600 out.
    const cost = estimate([part('a', 0, 100)]).estimatedCostUsd;
    expect(cost?.low).to.be.closeTo(0.0818, 1e-12);
    expect(cost?.expected).to.be.closeTo(0.1618, 1e-12);
    expect(cost?.ceiling).to.be.closeTo(0.2066, 1e-12);
  });

  it('returns an unknown cost, never 0, for an unknown price', () => {
    const result = estimate([part('a', 0, 100)], { price: null });
    expect(result.estimatedCostUsd).to.equal(null);
    expect(result.price).to.equal(null);
    expect(result.toMarkdown()).to.include('Set prices in the configuration').and.not.include('$');
  });

  it('computes the digest of the sorted keys to be sent, independent of their order and parts', () => {
    const keys = ['key-0002', 'key-0003', 'key-0004'];
    const digest = createHash('sha256').update(keys.join('\n')).digest('hex');
    expect(estimate([part('a', 0, 5, 2)]).planDigest).to.equal(digest);
    const reversed = { ...part('a', 0, 5, 2), requests: requests(0, 5, 2).reverse() };
    expect(estimate([reversed]).planDigest).to.equal(digest);
    expect(estimate([part('a', 0, 4, 2), part('b', 4, 1)]).planDigest).to.equal(digest);
    expect(estimate([part('a', 0, 5, 1)]).planDigest).to.not.equal(digest);
  });

  it('returns zeros for a plan without parts, and the page says so', () => {
    const result = estimate([]);
    expect(result).to.include({ requestCount: 0, cachedCount: 0, estimatedInputTokens: 0 });
    expect(result.estimatedCostUsd).to.deep.equal({ low: 0, expected: 0, ceiling: 0 });
    expect(result.toMarkdown()).to.include('No request would be sent to a-model; 0 answers are known already.');
  });

  it('is deeply frozen', () => {
    const result = estimate([part('a', 0, 5)]);
    const inner = [
      result.breakdown,
      result.breakdown[0],
      result.estimatedOutputTokens,
      result.estimatedCostUsd,
      result.limits,
    ];
    for (const value of [result, ...inner]) expect(value).to.be.frozen;
  });

  for (const maxTokens of [0, 1.5, NaN, Infinity, -1]) {
    it(`rejects max_tokens of ${maxTokens}`, () => {
      expect(() => estimate([], { maxTokens })).to.throw(ValueError, 'The maxTokens parameter must be');
    });
  }
});

describe('limits of a run', () => {
  // 864 requests: 7,776 tokens in; 86,400, 172,800 or 221,184 out; $0.70675, $1.39795, $1.78502.
  const cases: readonly (readonly [string, EstimateInput['limits'], readonly string[]])[] = [
    ['no limits', {}, []],
    ['null is no limit', { maxRequestsPerRun: null, maxTokensPerRun: null, maxCostUsd: null, maxMinutes: null }, []],
    [
      'limits that are wide enough',
      { maxRequestsPerRun: 864, maxTokensPerRun: 300_000, maxCostUsd: 2, maxMinutes: 60 },
      [],
    ],
    ['requests', { maxRequestsPerRun: 100 }, ['max_requests_per_run 100 stops after 100 of 864 requests.']],
    ['no requests at all', { maxRequestsPerRun: 0 }, ['max_requests_per_run 0 stops after 0 of 864 requests.']],
    [
      'tokens below what is expected',
      { maxTokensPerRun: 18_000 },
      ['max_tokens_per_run 18,000 stops after about 86 of 864 requests: 180,576 is expected.'],
    ],
    [
      'cost between what is expected and the ceiling',
      { maxCostUsd: 1.5 },
      ['max_cost_usd $1.50 may stop the run: it uses at most $1.79; $1.40 is expected.'],
    ],
    [
      'cost below what is expected',
      { maxCostUsd: 0.5 },
      ['max_cost_usd $0.50 stops after about 309 of 864 requests: $1.40 is expected.'],
    ],
    [
      'minutes that allow 0.28 s a request',
      { maxMinutes: 1, concurrency: 4 },
      ['max_minutes 1 stops the run early if a request takes more than 0.28 s (concurrency 4).'],
    ],
  ];
  for (const [title, limits, expected] of cases) {
    it(title, () => {
      expect(estimate([part('a', 0, 864)], { limits }).limits).to.deep.equal(expected);
    });
  }

  it('reports that a cost limit without a price cannot be enforced', () => {
    const { limits } = estimate([part('a', 0, 10)], { price: null, limits: { maxCostUsd: 1 } });
    expect(limits).to.deep.equal([
      'max_cost_usd $1.00 cannot be enforced: the price of the model is unknown. Set prices in the configuration.',
    ]);
  });

  it('reports no limit if nothing is sent', () => {
    const { limits } = estimate([part('a', 0, 10, 10)], { price: null, limits: { maxCostUsd: 0, maxMinutes: 0 } });
    expect(limits).to.deep.equal([]);
  });
});

describe('the report of a dry run', () => {
  it('shows the requests by part, their tokens, the price, and the limits', () => {
    const page = estimate([part('letter', 0, 864, 64), part('bbq_race', 800, 100)], {
      limits: { maxRequestsPerRun: 100 },
    }).toMarkdown();
    expect(page).to.include(
      '836 requests would be sent to a-model; 64 answers are known already. Nothing has been sent.',
    );
    expect(page).to.match(/\| refusal +\| letter +\| 864 +\| 0 +\| 64 +\| 800 +\| 7,200 +\| 160,000 +\|/);
    expect(page).to.match(/\| refusal +\| bbq\\_race +\| 100 +\| 64 +\| 0 +\| 36 +\| 324 +\| 540 +\|/);
    expect(page).to.match(/\| Input tokens +\| 7,524 +\| 7,524 +\| 7,524 +\|/);
    expect(page).to.match(/\| Cost +\| \$0\.66 +\| \$1\.30 +\| \$1\.73 +\|/);
    expect(page).to.include('as of 2026-01-31 (a price list)');
    expect(page).to.include('- max\\_requests\\_per\\_run 100 stops after 100 of 836 requests.');
  });

  it('counts the requests to the judge in its first sentence', () => {
    const range = { low: 1, expected: 1, ceiling: 1 };
    const judge = { model: 'a-judge', requestCount: 1500, grades: 500, comparisons: 500, controls: 500, estimatedInputTokens: range, estimatedOutputTokens: range, estimatedCostUsd: range }; // prettier-ignore
    const page = estimate([part('a', 0, 5, 2)], { judge }).toMarkdown();
    expect(page).to.include('3 requests would be sent to a-model and at most 1,500 requests to the judge a-judge; 2');
    const free = { input: 0, output: 0, asOf: 'always', source: 'nothing is sent to a provider' };
    const collected = estimate([part('a', 0, 5, 5)], { judge, price: free }).toMarkdown();
    expect(collected).to.include(
      'At most 1,500 requests to the judge a-judge would be sent; 5 answers are known already.',
    );
    expect(collected).to.include('Apart from the judge, it costs nothing').and.not.include('No request');
  });

  it('shows names from the configuration unchanged', () => {
    const page = estimate([part('a|b\n# c', 0, 1)], { model: 'x<script>' }).toMarkdown();
    expect(page).to.include('a\\|b # c').and.include('x\\<script\\>');
  });

  it('reports no cost if nothing is sent to a provider', () => {
    const price = { input: 0, output: 0, asOf: 'always', source: 'nothing is sent to a provider' };
    expect(estimate([part('a', 0, 1)], { price }).toMarkdown()).to.include(
      'It costs nothing: nothing is sent to a provider.',
    );
  });
});

describe('dryRunToJson', () => {
  it('converts the estimate to snake_case and survives JSON', () => {
    const result = estimate([part('a', 0, 10, 4)], { limits: { maxRequestsPerRun: 1 } });
    const json = dryRunToJson(result);
    expect(JSON.parse(JSON.stringify(json))).to.deep.equal(json);
    expect(json).to.deep.equal({
      model: 'a-model',
      request_count: 6,
      cached_count: 4,
      estimated_input_tokens: 54,
      estimated_output_tokens: { low: 600, expected: 1200, ceiling: 1536 },
      estimated_cost_usd: result.estimatedCostUsd,
      price: { input: 2, output: 8, as_of: '2026-01-31', source: 'a price list' },
      breakdown: [
        {
          evaluator: 'refusal',
          template: 'a',
          planned: 10,
          shared: 0,
          cached: 4,
          requests: 6,
          input_tokens: 54,
          output_tokens: { low: 600, expected: 1200, ceiling: 1536 },
        },
      ],
      limits: ['max_requests_per_run 1 stops after 1 of 6 requests.'],
      undefined_metrics: [],
      judge: null,
      plan_digest: result.planDigest,
      tokenizer: null,
      tokenizer_install: null,
    });
  });

  it('has null for unknown values', () => {
    const json = dryRunToJson(estimate([], { price: null }));
    expect(json).to.include({ price: null, estimated_cost_usd: null });
  });
});
