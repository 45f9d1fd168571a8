import { expect } from 'chai';

import { ConfigValidationError, ValueError } from '../../../src/exceptions/index.ts';
import { liveAccess } from '../../../src/llm-evals/client/access.ts';
import { createProviderClient } from '../../../src/llm-evals/client/provider-client.ts';
import type { LLMProvider } from '../../../src/schemas/llm-eval/llm-eval-document.ts';
import { problemOf, PLANTED, PLANTED_ENV } from './llm-clients.ts';

type Provider = LLMProvider;

const make = (provider: Provider, baseUrl: string | null, env: Record<string, string> = PLANTED_ENV) =>
  createProviderClient({ provider, model: 'a-model', baseUrl, timeoutMillis: 1000, params: {} }, { env });

describe('hosts that may receive a key', () => {
  const allowed: readonly (readonly [Provider, string | null, Record<string, string>, id: string])[] = [
    ['openai', null, {}, 'openai:a-model'],
    ['openai', 'https://api.openai.com/v1', {}, 'openai:a-model'],
    ['anthropic', null, {}, 'anthropic:a-model'],
    ['anthropic', 'https://api.anthropic.com', {}, 'anthropic:a-model'],
    ['openai', 'http://localhost:8000/v1', {}, 'openai:http://localhost:8000/v1:a-model'],
    ['openai', 'http://127.9.9.9:8000/v1', {}, 'openai:http://127.9.9.9:8000/v1:a-model'],
    ['anthropic', 'http://[::1]:8000', {}, 'anthropic:http://[::1]:8000/v1:a-model'],
    [
      'openai',
      'https://gateway.example.org/b',
      { OPENAI_BASE_URL: 'https://gateway.example.org/a' },
      'openai:https://gateway.example.org/b:a-model',
    ],
    [
      'anthropic',
      'https://gateway.example.org',
      { ANTHROPIC_BASE_URL: 'https://gateway.example.org' },
      'anthropic:https://gateway.example.org/v1:a-model',
    ],
    ['openai', null, { OPENAI_BASE_URL: 'https://api.openai.com/v1/' }, 'openai:a-model'],
    ['openai', 'https://api.openai.com/v1', { OPENAI_BASE_URL: 'https://gateway.example.org/a' }, 'openai:a-model'],
    ['anthropic', null, { OPENAI_BASE_URL: 'https://gateway.example.org/a' }, 'anthropic:a-model'],
    [
      'compatible',
      'https://llm.example.org/v1',
      { EVENHAND_LLM_BASE_URL: ' https://llm.example.org/other ' },
      'compatible:https://llm.example.org/v1:a-model',
    ],
    [
      'compatible',
      'https://llm.example.org/v1',
      { EVENHAND_LLM_API_KEY: ' ' },
      'compatible:https://llm.example.org/v1:a-model',
    ],
    ['compatible', 'http://localhost:11434/v1', {}, 'compatible:http://localhost:11434/v1:a-model'],
    [
      'compatible',
      'http://localhost:11434/v1',
      { EVENHAND_LLM_BASE_URL: 'https://llm.example.org' },
      'compatible:http://localhost:11434/v1:a-model',
    ],
    ['openai_responses', null, {}, 'openai_responses:a-model'],
    ['gemini', null, {}, 'gemini:a-model'],
    [
      'gemini',
      'https://gateway.example.org/g',
      { GEMINI_BASE_URL: 'https://gateway.example.org' },
      'gemini:https://gateway.example.org/g:a-model',
    ],
    ['bedrock', null, {}, 'bedrock:a-model'],
    ['bedrock', null, { AWS_REGION: ' ', AWS_DEFAULT_REGION: 'eu-west-3' }, 'bedrock:a-model'],
    ['bedrock', 'https://bedrock-runtime.us-east-1.amazonaws.com', {}, 'bedrock:a-model'],
    [
      'bedrock',
      'https://vpce-1.example.org',
      { AWS_ENDPOINT_URL_BEDROCK_RUNTIME: 'https://vpce-1.example.org' },
      'bedrock:https://vpce-1.example.org:a-model',
    ],
    ['ollama', null, {}, 'ollama:a-model'],
    ['ollama', 'http://127.0.0.1:11434', {}, 'ollama:a-model'],
    ['ollama', 'http://gpu.example.org:11434', { OLLAMA_API_KEY: '' }, 'ollama:http://gpu.example.org:11434:a-model'],
    ['vllm', null, {}, 'vllm:a-model'],
    [
      'vllm',
      'https://gpu.example.org/v1',
      { VLLM_BASE_URL: 'https://gpu.example.org' },
      'vllm:https://gpu.example.org/v1:a-model',
    ],
  ];
  for (const [provider, baseUrl, env, id] of allowed) {
    it(`${provider} to ${String(baseUrl)} ${JSON.stringify(env)}`, () => {
      expect(make(provider, baseUrl, { ...PLANTED_ENV, ...env }).id).to.equal(id);
    });
  }

  const refused: readonly (readonly [Provider, string | null, Record<string, string>, told: RegExp])[] = [
    ['openai', 'https://llm.example.org/v1', {}, /OPENAI_API_KEY is not sent to llm\.example\.org/],
    ['anthropic', 'https://llm.example.org', {}, /ANTHROPIC_API_KEY is not sent to llm\.example\.org/],
    ['openai', 'https://api.openai.com.example.org/v1', {}, /not sent/],
    ['openai', 'https://api.openai.com:8443/v1', {}, /not sent/],
    ['openai', 'http://api.openai.com/v1', {}, /not sent/],
    ['openai', 'https://127.0.0.1.example.org/v1', {}, /not sent/],
    ['openai', 'https://localhost.example.org/v1', {}, /not sent/],
    ['anthropic', 'https://gateway.example.org', { OPENAI_BASE_URL: 'https://gateway.example.org' }, /not sent/],
    ['openai', 'https://gateway.example.org:1234', { OPENAI_BASE_URL: 'https://gateway.example.org' }, /not sent/],
    ['openai', 'http://gateway.example.org', { OPENAI_BASE_URL: 'http://gateway.example.org' }, /over http/],
    ['openai', 'http://gateway.example.org', { OPENAI_BASE_URL: 'https://gateway.example.org' }, /not sent/],
    ['openai', null, { OPENAI_BASE_URL: 'https://gateway.example.org' }, /OPENAI_BASE_URL names gateway.example.org/],
    ['anthropic', null, { ANTHROPIC_BASE_URL: 'http://localhost:1' }, /ANTHROPIC_BASE_URL names localhost:1/],
    ['compatible', 'https://llm.example.org/v1', {}, /EVENHAND_LLM_API_KEY is not sent to llm\.example\.org/],
    ['compatible', 'https://llm.example.org', { EVENHAND_LLM_BASE_URL: 'https://llm.example.org:8443' }, /not sent/],
    ['compatible', 'https://llm.example.org', { EVENHAND_LLM_BASE_URL: 'http://llm.example.org' }, /not sent/],
    ['compatible', 'https://llm.example.org', { OPENAI_BASE_URL: 'https://llm.example.org' }, /not sent/],
    [
      'compatible',
      'https://llm.example.org.evil.example',
      { EVENHAND_LLM_BASE_URL: 'https://llm.example.org' },
      /not sent/,
    ],
    ['compatible', 'https://llm.example.org', { EVENHAND_LLM_BASE_URL: 'hunter2' }, /^EVENHAND_LLM_BASE_URL must be/],
    ['compatible', 'http://llm.example.org/v1', { EVENHAND_LLM_BASE_URL: 'http://llm.example.org' }, /over http/],
    ['compatible', null, {}, /needs a base_url/],
    ['compatible', null, { EVENHAND_LLM_BASE_URL: 'https://llm.example.org/v1' }, /needs a base_url/],
    ['compatible', 'https://me:hunter2@llm.example.org/v1', {}, /not contain a user or password/],
    ['openai', 'https://token@api.openai.com/v1', {}, /not contain a user or password/],
    ['openai', 'https://api.openai.com/v1?key=hunter2', {}, /without a query/],
    ['openai', 'https://api.openai.com/v1#x', {}, /without a query/],
    ['compatible', 'ftp://llm.example.org', {}, /http or https/],
    ['compatible', 'llm.example.org/v1', {}, /http or https/],
    ['compatible', '', {}, /http or https/],
    ['openai', null, { OPENAI_BASE_URL: 'hunter2' }, /^OPENAI_BASE_URL must be/],
    ['openai', null, { OPENAI_API_KEY: 'two\nlines-of-key' }, /OPENAI_API_KEY has characters/],
    ['openai', null, { OPENAI_API_KEY: 'clé-secrète' }, /OPENAI_API_KEY has characters/],
    ['gemini', 'https://gateway.example.org', {}, /GEMINI_API_KEY is not sent to gateway\.example\.org/],
    ['openai_responses', 'https://gateway.example.org', {}, /OPENAI_API_KEY is not sent/],
    ['bedrock', 'https://gateway.example.org', {}, /AWS_SECRET_ACCESS_KEY\) is not sent to gateway\.example\.org/],
    [
      'bedrock',
      'https://gateway.example.org',
      { AWS_BEARER_TOKEN_BEDROCK: '', AWS_ACCESS_KEY_ID: 'planted-id', AWS_SECRET_ACCESS_KEY: 'planted-secret' },
      /is not sent to gateway\.example\.org/,
    ],
    // Another region is another host.
    ['bedrock', 'https://bedrock-runtime.us-west-2.amazonaws.com', {}, /not sent/],
    ['bedrock', null, { AWS_REGION: '' }, /AWS_REGION is not set/],
    ['bedrock', null, { AWS_REGION: 'evil.example.org/' }, /AWS_REGION is not the name of a region/],
    ['bedrock', null, { AWS_REGION: 'us-east-1.evil' }, /AWS_REGION is not the name of a region/],
    ['ollama', 'https://gpu.example.org', {}, /OLLAMA_API_KEY is not sent to gpu\.example\.org/],
    ['ollama', 'http://gpu.example.org', { OLLAMA_BASE_URL: 'http://gpu.example.org' }, /over http/],
    ['ollama', null, { OLLAMA_BASE_URL: 'https://gpu.example.org' }, /OLLAMA_BASE_URL names gpu.example.org/],
    ['vllm', 'https://gpu.example.org/v1', { OLLAMA_BASE_URL: 'https://gpu.example.org' }, /VLLM_API_KEY is not sent/],
  ];
  for (const [provider, baseUrl, env, reported] of refused) {
    it(`not ${provider} to ${String(baseUrl)} ${JSON.stringify(env)}`, () => {
      const act = () => make(provider, baseUrl, { ...PLANTED_ENV, ...env });
      expect(act).to.throw(ConfigValidationError, reported);
      expect(act).to.not.throw(/hunter2|planted|token@|secr|lines/);
      try {
        act();
      } catch (error) {
        const { context, suggestion } = error as ConfigValidationError;
        expect(JSON.stringify([context, suggestion])).to.not.match(/hunter2|planted|token@|secr|lines/);
        expect(suggestion).to.be.a('string');
      }
    });
  }

  it('rejects another host even if no key is set, so that a key set later is safe', () => {
    expect(() => make('openai', 'https://llm.example.org/v1', {})).to.throw(ConfigValidationError);
  });

  it('names the variable that allows a compatible server to receive the key', () => {
    try {
      make('compatible', 'https://llm.example.org/v1');
      expect.fail('It was not refused.');
    } catch (error) {
      expect((error as ConfigValidationError).suggestion).to.include('EVENHAND_LLM_BASE_URL=https://llm.example.org');
    }
  });

  it('allows a compatible server over http if there is no key', () => {
    expect(make('compatible', 'http://llm.example.org/v1', {}).id).to.equal(
      'compatible:http://llm.example.org/v1:a-model',
    );
  });

  it('gives local its id, requires records for replay, and rejects unknown providers', () => {
    expect(make('local', null).id).to.equal('local:a-model');
    expect(() => make('replay', null)).to.throw(ConfigValidationError, 'replay');
    expect(() => make('gpt' as Provider, null)).to.throw(ValueError, 'compatible, http, command, local, replay');
    expect(() => make('toString' as Provider, null)).to.throw(ValueError);
  });

  it('reports a missing key as a failure of the first prompt', async () => {
    const problem = await problemOf(make('openai', null, { OPENAI_API_KEY: '  ' }).complete('Hello'));
    expect(problem).to.include({ kind: 'auth', isFatal: true });
  });
});

describe('live calls need a key and a permission', () => {
  const key = { OPENAI_API_KEY: PLANTED };
  const permission = { EVENHAND_LLM_ALLOW_LIVE: '1' };
  const cases: readonly (readonly [Provider, Record<string, string>, live: boolean | undefined, isAllowed: boolean])[] =
    [
      ['openai', {}, undefined, false],
      ['openai', key, undefined, false],
      ['openai', key, false, false],
      ['openai', permission, undefined, false],
      ['openai', {}, true, false],
      ['openai', key, true, true],
      ['openai', { ...key, ...permission }, undefined, true],
      ['openai', { ...key, EVENHAND_LLM_ALLOW_LIVE: '0' }, undefined, false],
      ['openai', { ...key, EVENHAND_LLM_ALLOW_LIVE: 'no' }, undefined, false],
      ['openai', { ...key, EVENHAND_LLM_ALLOW_LIVE: '' }, undefined, false],
      ['anthropic', { ...key, ...permission }, true, false],
      ['anthropic', { ANTHROPIC_API_KEY: PLANTED }, true, true],
      ['compatible', {}, undefined, false],
      ['compatible', {}, true, true],
      ['compatible', permission, undefined, true],
      ['gemini', { GEMINI_API_KEY: PLANTED }, true, true],
      ['gemini', key, true, false],
      ['openai_responses', key, true, true],
      ['bedrock', { AWS_BEARER_TOKEN_BEDROCK: PLANTED }, true, true],
      ['bedrock', { AWS_ACCESS_KEY_ID: PLANTED, AWS_SECRET_ACCESS_KEY: PLANTED }, true, true],
      ['bedrock', { AWS_ACCESS_KEY_ID: PLANTED }, true, false],
      ['ollama', {}, true, true],
      ['ollama', {}, undefined, false],
      ['vllm', {}, true, true],
      ['vllm', permission, undefined, true],
      ['http', {}, undefined, false],
      ['http', {}, true, true],
      ['command', { ...key, ...permission }, true, false],
      ['local', {}, undefined, true],
      ['replay', {}, undefined, true],
    ];
  for (const [provider, env, live, isAllowed] of cases) {
    it(`${provider} with ${Object.keys(env).join() || 'nothing'}, live ${String(live)}: ${String(isAllowed)}`, () => {
      const access = liveAccess({ provider, replayOnly: false }, { live, env });
      expect(access.isAllowed).to.equal(isAllowed);
      expect(access.reason).to.match(/^\S.*[^.]$/);
      expect(access.suggestion === null).to.equal(isAllowed);
      expect(JSON.stringify(access)).to.not.include(PLANTED);
    });
  }

  it('allows a program only with allowCode, which allows nothing else', () => {
    const command = { provider: 'command', replayOnly: false } as const;
    expect(liveAccess(command, { allowCode: true, env: {} }).isAllowed).to.be.true;
    expect(liveAccess(command, { env: {} }).suggestion).to.include('set allowCode');
    expect(liveAccess({ ...command, replayOnly: true }, { allowCode: true, env: {} }).isAllowed).to.be.false;
    expect(liveAccess({ provider: 'openai', replayOnly: false }, { allowCode: true, env: key }).isAllowed).to.be.false;
  });

  it('does not allow live calls with replay_only', () => {
    const env = { ...key, ...permission };
    expect(liveAccess({ provider: 'openai', replayOnly: true }, { live: true, env }).isAllowed).to.be.false;
    expect(liveAccess({ provider: 'local', replayOnly: true }, { env }).isAllowed).to.be.true;
  });
});
