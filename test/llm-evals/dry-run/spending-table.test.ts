import { expect } from 'chai';

import { usdText } from '../../../src/llm-evals/dry-run/dry-run-estimate.ts';
import { spendingTable } from '../../../src/llm-evals/dry-run/spending-table.ts';

const planned = { requests: 864, inputTokens: 67_072, outputTokens: 172_800, costUsd: 0.1138 };
const actual = {
  requests: 870,
  retries: 6,
  answered: 864,
  cached: 12,
  failed: 0,
  notSent: 0,
  inputTokens: 62_606,
  outputTokens: 9504,
  uncounted: 0,
  costUsd: 0.00153,
  seconds: 431.2,
};

describe('spendingTable', () => {
  const rowsOf = (rows: ReturnType<typeof spendingTable>) => rows.map((row) => [row.name, row.planned, row.actual]);

  it('shows planned beside actual, and omits quantities of 0', () => {
    expect(rowsOf(spendingTable(planned, actual))).to.deep.equal([
      ['Requests', '864', '870'],
      ['Input tokens', '67,072', '62,606'],
      ['Output tokens', '172,800', '9,504'],
      ['Cost', '$0.11', '$0.0015'],
      ['Answers', '', '864'],
      ['Already known', '', '12'],
      ['Retries', '', '6'],
      ['Seconds', '', '431'],
    ]);
  });

  it('shows an unknown cost as unknown, not as 0', () => {
    const [, , , cost] = rowsOf(spendingTable({ ...planned, costUsd: null }, { ...actual, costUsd: null }));
    expect(cost).to.deep.equal(['Cost', 'unknown', 'unknown']);
  });

  it('has rows for retries, unsent prompts and uncounted answers', () => {
    const names = spendingTable(planned, { ...actual, retries: 0, failed: 1, notSent: 2, uncounted: 3 }).map(
      ({ name }) => name,
    );
    expect(names).to.include.members(['Failed', 'Not sent', 'Answers without a token count, counted as the maximum']);
    expect(names).to.not.include('Retries');
  });
});

describe('usdText', () => {
  const cases: readonly (readonly [number, string])[] = [
    [0, '$0'],
    [0.0000123, '$0.000012'],
    [0.05, '$0.05'],
    [0.1, '$0.10'],
    [12.345, '$12.35'],
    [1234567.8, '$1,234,567.80'],
  ];
  for (const [value, text] of cases) {
    it(`formats ${value} as ${text}`, () => {
      expect(usdText(value)).to.equal(text);
    });
  }
});
