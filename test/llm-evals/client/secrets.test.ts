import { expect } from 'chai';

import { looksLikeSecret, redactKeys, redactSecrets } from '../../../src/llm-evals/client/secrets.ts';

const KEY = 'q/9+secret key of "mine"';
const env = { OPENAI_API_KEY: KEY };

describe('redactSecrets removes the keys of the environment in every form', () => {
  const forms: Readonly<Record<string, string>> = {
    'as it stands': KEY,
    'in an address': encodeURIComponent(KEY),
    'in an address with small digits': encodeURIComponent(KEY).replaceAll(/%[0-9A-F]{2}/g, (hex) => hex.toLowerCase()),
    'in JSON': JSON.stringify({ KEY }),
    'in base64': Buffer.from(KEY).toString('base64'),
    'in base64 after a name': Buffer.from(`me:${KEY}`).toString('base64'),
    'in base64 after a longer name': Buffer.from(`user:${KEY}:end`).toString('base64'),
    'in base64 for addresses': Buffer.from(`a${KEY}`).toString('base64url'),
    'as a bearer': `Authorization: Bearer ${KEY}`,
  };
  for (const [title, form] of Object.entries(forms)) {
    it(title, () => {
      for (const redact of [redactSecrets, redactKeys]) {
        const redacted = redact(`before ${form} after`, env);
        expect(redacted).to.match(/^before .*\[redacted\].* after$/);
        expect(redacted).to.not.include(form);
        expect(Buffer.from(redacted, 'base64').toString()).to.not.include('secret key');
      }
    });
  }

  it('removes all occurrences of every key variable', () => {
    for (const variable of ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'EVENHAND_LLM_API_KEY']) {
      expect(redactKeys('abcdefgh1 and abcdefgh1', { [variable]: ' abcdefgh1\n' })).to.equal(
        '[redacted] and [redacted]',
      );
    }
  });

  it('reads the environment of the process by default', () => {
    const before = process.env['EVENHAND_LLM_API_KEY'];
    process.env['EVENHAND_LLM_API_KEY'] = 'only-in-the-process';
    try {
      expect(redactSecrets('see only-in-the-process')).to.equal('see [redacted]');
    } finally {
      if (before === undefined) delete process.env['EVENHAND_LLM_API_KEY'];
      else process.env['EVENHAND_LLM_API_KEY'] = before;
    }
  });

  it('keeps words that are not keys', () => {
    expect(redactSecrets('none of this', { EVENHAND_LLM_API_KEY: 'none' })).to.equal('none of this');
    expect(redactSecrets('', { OPENAI_API_KEY: '' })).to.equal('');
  });
});

describe('redactSecrets removes text that looks like a key', () => {
  const texts: readonly (readonly [text: string, expected: string])[] = [
    ['Incorrect API key provided: sk-proj-********************4cD1.', 'Incorrect API key provided: [redacted].'],
    ['a sk-ant-api03-abcDEF123_456-x b', 'a [redacted] b'],
    ['Authorization: Bearer abc.def.123', 'Authorization: [redacted]'],
    ['"x-api-key": "aVeryOwnKey"', '"x-api-key": "[redacted]"'],
    ['api_key=hunter22&x=1', 'api_key=[redacted]'],
    ['sent bearer abcdefgh123=', 'sent [redacted]'],
    ['at https://me:hunter2@llm.example.org/v1', 'at https://[redacted]@llm.example.org/v1'],
    ['AIzaSyA1234567890abcdefghijk and hf_abcdefghijklmnopqr', '[redacted] and [redacted]'],
  ];
  for (const [text, expected] of texts) it(text, () => expect(redactSecrets(text, {})).to.equal(expected));

  it('keeps prose', () => {
    const prose = 'The bearer of this letter asks about scikit-learn, risk-taking and sk-learn.';
    expect(redactSecrets(prose, {})).to.equal(prose);
  });

  it('keeps text in an answer that only looks like a key', () => {
    const answer = 'Set it as Bearer abc.def.123 or sk-abcdefghijklm1234567.';
    expect(redactKeys(answer, env)).to.equal(answer);
  });

  it('takes linear time', function () {
    this.timeout(2000);
    for (const piece of ['sk-', 'Bearer ', 'a1B2c3', 'https://a:', 'api_key:', 'eyJaaaaaaaa', 'a.', 'a://', ' a:']) {
      redactSecrets(piece.repeat(20_000), {});
    }
  });
});

describe('looksLikeSecret', () => {
  const secrets = [
    'sk-proj-4f9aB27cQ1xV8sT0',
    'sk-ant-api03-4f9aB27cQ1xV8sT0',
    'gsk_4f9aB27cQ1xV8sT0aaaa',
    'Bearer 4f9aB27cQ1xV8sT0aaaa',
    '9f86d081884c7d659a2feaa0c55ad015',
    'aB3dE5gH7jK9mN1pQ3sT5vW7',
    'https://me:hunter2@llm.example.org/v1',
    'prefix eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl',
  ];
  const others = [
    'gpt-4o-mini-2024-07-18',
    'meta-llama/Meta-Llama-3.1-405B-Instruct-Turbo-128K',
    'claude-3-5-sonnet-20241022',
    'http://127.0.0.1:11434/v1',
    '${OPENAI_API_KEY}',
    'A short reference for {name}, a {gender} bearer of responsibilities.',
    'Donaudampfschifffahrtsgesellschaft',
    `sha256:${'0a'.repeat(32)}`,
    '123e4567-e89b-12d3-a456-426614174000',
    '.evenhand/llm-cache',
    '',
    42,
    null,
    undefined,
  ];
  for (const value of secrets) it(`holds for ${value}`, () => expect(looksLikeSecret(value)).to.be.true);
  for (const value of others)
    it(`does not hold for ${String(value)}`, () => expect(looksLikeSecret(value)).to.be.false);
});
