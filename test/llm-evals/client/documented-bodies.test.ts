import { expect } from 'chai';

import type { ChatMessage } from '../../../src/llm-evals/client/llm-client.ts';
import type { LLMProvider } from '../../../src/schemas/llm-eval/llm-eval-document.ts';
import { clientOf, PLANTED, useLlmServer } from './llm-clients.ts';

type Provider = Extract<LLMProvider, 'openai' | 'openai_responses' | 'anthropic' | 'gemini' | 'bedrock' | 'ollama' | 'vllm'>; // prettier-ignore

interface Request {
  readonly title: string;
  readonly provider: Provider;
  readonly model: string;
  readonly prompt: string;
  readonly messages?: readonly ChatMessage[];
  readonly params?: Readonly<Record<string, unknown>>;
  readonly path: string;
  readonly body: object;
}

/** A conversation with an example, to which every provider adds the last message of the user. */
const CONVERSATION: readonly ChatMessage[] = [
  { role: 'system', content: 'Answer with one word.' },
  { role: 'user', content: 'The colour of grass?' },
  { role: 'assistant', content: 'Green' },
  { role: 'user', content: 'The colour of the sky?' },
];
const [, ...WITHOUT_SYSTEM] = CONVERSATION;

// Requests as the vendors document them; the addresses are those of the sections.
const REQUESTS: readonly Request[] = [
  {
    // https://platform.openai.com/docs/api-reference/responses/create
    title: 'a prompt with instructions',
    provider: 'openai_responses',
    model: 'gpt-4.1',
    prompt: 'Tell me a three sentence bedtime story about a unicorn.',
    params: { system: 'Talk like a pirate.', max_tokens: 300, temperature: 1, reasoning: { effort: 'low' } },
    path: '/v1/responses',
    body: {
      model: 'gpt-4.1',
      instructions: 'Talk like a pirate.',
      input: [{ role: 'user', content: 'Tell me a three sentence bedtime story about a unicorn.' }],
      max_output_tokens: 300,
      temperature: 1,
      reasoning: { effort: 'low' },
      store: false,
    },
  },
  {
    // https://platform.openai.com/docs/guides/conversation-state: earlier messages are items of the input.
    title: 'a conversation',
    provider: 'openai_responses',
    model: 'gpt-4.1',
    prompt: 'unused',
    messages: CONVERSATION,
    params: { store: true },
    path: '/v1/responses',
    body: { model: 'gpt-4.1', instructions: 'Answer with one word.', input: WITHOUT_SYSTEM, store: true },
  },
  {
    // https://ai.google.dev/gemini-api/docs/text-generation, the sections on system instructions and configurations
    title: 'a prompt with a system instruction and a configuration',
    provider: 'gemini',
    model: 'gemini-2.5-flash',
    prompt: 'Explain how AI works',
    params: {
      ...{ system: 'You are a cat. Your name is Neko.', max_tokens: 100, temperature: 1.0, topP: 0.8, topK: 10 },
      stopSequences: ['Title'],
      safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }],
      generationConfig: { thinkingConfig: { thinkingBudget: 0 } },
    },
    path: '/v1/models/gemini-2.5-flash:generateContent',
    body: {
      systemInstruction: { parts: [{ text: 'You are a cat. Your name is Neko.' }] },
      contents: [{ role: 'user', parts: [{ text: 'Explain how AI works' }] }],
      generationConfig: {
        ...{ thinkingConfig: { thinkingBudget: 0 }, stopSequences: ['Title'], temperature: 1.0 },
        ...{ maxOutputTokens: 100, topP: 0.8, topK: 10 },
      },
      safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }],
    },
  },
  {
    // https://ai.google.dev/gemini-api/docs/text-generation, the section on multi-turn conversations
    title: 'a conversation',
    provider: 'gemini',
    model: 'models/gemini-2.5-flash',
    prompt: 'unused',
    messages: CONVERSATION,
    path: '/v1/models/gemini-2.5-flash:generateContent',
    body: {
      systemInstruction: { parts: [{ text: 'Answer with one word.' }] },
      contents: [
        { role: 'user', parts: [{ text: 'The colour of grass?' }] },
        { role: 'model', parts: [{ text: 'Green' }] },
        { role: 'user', parts: [{ text: 'The colour of the sky?' }] },
      ],
    },
  },
  {
    // https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference-call.html
    title: 'a prompt with a system prompt, shared settings and settings of the model',
    provider: 'bedrock',
    model: 'anthropic.claude-3-haiku-20240307-v1:0',
    prompt: 'Create a list of 3 pop songs.',
    params: {
      system: 'You only respond with radio station names.',
      ...{ max_tokens: 1000, temperature: 0.5, topP: 0.9, stopSequences: ['END'], top_k: 200 },
      guardrailConfig: { guardrailIdentifier: 'g', guardrailVersion: '1' },
    },
    path: '/v1/model/anthropic.claude-3-haiku-20240307-v1%3A0/converse',
    body: {
      system: [{ text: 'You only respond with radio station names.' }],
      messages: [{ role: 'user', content: [{ text: 'Create a list of 3 pop songs.' }] }],
      inferenceConfig: { maxTokens: 1000, temperature: 0.5, topP: 0.9, stopSequences: ['END'] },
      additionalModelRequestFields: { top_k: 200 },
      guardrailConfig: { guardrailIdentifier: 'g', guardrailVersion: '1' },
    },
  },
  {
    // As above, the section on messages of the user and the assistant
    title: 'a conversation',
    provider: 'bedrock',
    model: 'a-model',
    prompt: 'unused',
    messages: CONVERSATION,
    path: '/v1/model/a-model/converse',
    body: {
      system: [{ text: 'Answer with one word.' }],
      messages: [
        { role: 'user', content: [{ text: 'The colour of grass?' }] },
        { role: 'assistant', content: [{ text: 'Green' }] },
        { role: 'user', content: [{ text: 'The colour of the sky?' }] },
      ],
    },
  },
  {
    // https://github.com/ollama/ollama/blob/main/docs/api.md, "Chat request (No streaming)" and "(Structured outputs)"
    title: 'a prompt with options',
    provider: 'ollama',
    model: 'llama3.2',
    prompt: 'why is the sky blue?',
    params: {
      max_tokens: 100,
      temperature: 0,
      seed: 101,
      format: 'json',
      keep_alive: '5m',
      options: { num_ctx: 1024 },
    },
    path: '/v1/api/chat',
    body: {
      model: 'llama3.2',
      messages: [{ role: 'user', content: 'why is the sky blue?' }],
      stream: false,
      format: 'json',
      keep_alive: '5m',
      options: { num_ctx: 1024, temperature: 0, seed: 101, num_predict: 100 },
    },
  },
  {
    // As above, "Chat request (With History)"
    title: 'a conversation',
    provider: 'ollama',
    model: 'llama3.2',
    prompt: 'unused',
    messages: CONVERSATION,
    path: '/v1/api/chat',
    body: { model: 'llama3.2', messages: CONVERSATION, stream: false },
  },
  {
    // https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html
    title: 'a conversation after a system prompt',
    provider: 'vllm',
    model: 'NousResearch/Meta-Llama-3-8B-Instruct',
    prompt: 'unused',
    messages: CONVERSATION,
    params: { system: 'Be brief.', max_tokens: 9, top_k: 50 },
    path: '/v1/chat/completions',
    body: {
      model: 'NousResearch/Meta-Llama-3-8B-Instruct',
      messages: [{ role: 'system', content: 'Be brief.\n\nAnswer with one word.' }, ...WITHOUT_SYSTEM],
      max_tokens: 9,
      top_k: 50,
    },
  },
  {
    // https://platform.openai.com/docs/api-reference/chat/create
    title: 'a conversation',
    provider: 'openai',
    model: 'gpt-4.1',
    prompt: 'unused',
    messages: CONVERSATION,
    path: '/v1/chat/completions',
    body: { model: 'gpt-4.1', messages: CONVERSATION },
  },
  {
    // https://docs.anthropic.com/en/api/messages: system prompts are not messages.
    title: 'a conversation',
    provider: 'anthropic',
    model: 'claude-opus-4-1',
    prompt: 'unused',
    messages: CONVERSATION,
    path: '/v1/messages',
    body: { model: 'claude-opus-4-1', max_tokens: 1024, system: 'Answer with one word.', messages: WITHOUT_SYSTEM },
  },
];

describe('requests as the providers document them', () => {
  const server = useLlmServer();

  for (const { title, provider, model, prompt, messages, params = {}, path, body } of REQUESTS) {
    it(`${provider}: ${title}`, async () => {
      await clientOf(server(), { provider, model }).complete(prompt, { params, messages });
      expect(server().requests.at(-1)).to.deep.include({ method: 'POST', path, body });
    });
  }

  it('bedrock: signs requests if there is no bearer token', async () => {
    server().setBehaviour({ key: null });
    const env = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'planted-secret', AWS_REGION: 'eu-west-1' };
    await clientOf(server(), { provider: 'bedrock' }, { ...env, AWS_SESSION_TOKEN: 'a-token' }).complete('Hello there');
    const { headers } = server().requests.at(-1) ?? {};
    expect(headers?.authorization).to.match(
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-west-1\/bedrock\/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-security-token, Signature=[0-9a-f]{64}$/,
    );
    expect(headers?.['x-amz-security-token']).to.equal('a-token');
    expect(JSON.stringify(headers)).to.not.include('planted-secret');
  });

  it('gemini: sends the key in its header, and not in the address', async () => {
    await clientOf(server(), { provider: 'gemini' }).complete('Hello there');
    const { headers, path } = server().requests.at(-1) ?? {};
    expect(headers).to.include({ 'x-goog-api-key': PLANTED });
    expect(path).to.not.include('key');
  });

  for (const provider of ['ollama', 'vllm'] as const) {
    it(`${provider}: needs no key`, async () => {
      server().setBehaviour({ key: null });
      await clientOf(server(), { provider }, {}).complete('Hello there');
      expect(server().requests.at(-1)?.headers.authorization).to.be.undefined;
    });
  }
});

interface Answer {
  readonly title: string;
  readonly provider: Provider;
  readonly body: object;
  readonly completion: object;
}

const chat = (message: object, finish_reason: string): object => ({
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }],
  usage: { prompt_tokens: 82, completion_tokens: 17, total_tokens: 99 },
});
const unicorn = 'In a peaceful grove beneath a silver moon, a unicorn named Lumina discovered a hidden pool.';
const openaiUsage = {
  ...{ input_tokens: 36, input_tokens_details: { cached_tokens: 0 } },
  ...{ output_tokens: 87, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 123 },
};
const response = (given: object): object => ({
  ...{ id: 'resp_1', object: 'response', created_at: 1741476542, status: 'completed', error: null },
  ...{ incomplete_details: null, model: 'gpt-4.1-2025-04-14', usage: openaiUsage, ...given },
});
const message = (...content: readonly object[]): object => ({ type: 'message', role: 'assistant', content });
const converse = (content: readonly object[], stopReason: string): object => ({
  output: { message: { role: 'assistant', content } },
  stopReason,
  usage: { inputTokens: 125, outputTokens: 60, totalTokens: 185 },
  metrics: { latencyMs: 1175 },
});

// Responses as the vendors document them.
const ANSWERS: readonly Answer[] = [
  {
    // https://platform.openai.com/docs/guides/function-calling
    title: 'a call of a function',
    provider: 'openai',
    body: chat(
      {
        content: null,
        tool_calls: [
          {
            id: 'call_abc123',
            type: 'function',
            function: { name: 'get_current_weather', arguments: '{\n"location": "Boston, MA"\n}' },
          },
        ],
      },
      'tool_calls',
    ),
    completion: {
      text: '[tool call] get_current_weather({\n"location": "Boston, MA"\n})',
      finishReason: 'other',
      usage: { inputTokens: 82, outputTokens: 17 },
    },
  },
  {
    title: 'a text with two calls, one of a custom tool',
    provider: 'openai',
    body: chat(
      {
        content: 'Let me see.',
        tool_calls: [
          { id: 'a', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
          { id: 'b', type: 'custom', custom: { name: 'code_exec', input: 'print(1)' } },
        ],
      },
      'tool_calls',
    ),
    completion: { text: 'Let me see.\n[tool call] f({"a":1})\n[tool call] code_exec(print(1))', finishReason: 'other' },
  },
  {
    // https://platform.openai.com/docs/api-reference/responses/object
    title: 'a text after reasoning',
    provider: 'openai_responses',
    body: response({
      output: [
        { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'I think.' }] },
        message({ type: 'output_text', text: unicorn, annotations: [] }),
      ],
    }),
    completion: { text: unicorn, finishReason: 'stop', usage: { inputTokens: 36, outputTokens: 87 } },
  },
  {
    // https://platform.openai.com/docs/guides/function-calling
    title: 'a call of a function',
    provider: 'openai_responses',
    body: response({
      output: [
        {
          ...{ id: 'fc_12345xyz', call_id: 'call_12345xyz', type: 'function_call', name: 'get_weather' },
          arguments: '{"location":"Paris, France"}',
        },
      ],
    }),
    completion: { text: '[tool call] get_weather({"location":"Paris, France"})', finishReason: 'other' },
  },
  {
    title: 'a refusal',
    provider: 'openai_responses',
    body: response({ output: [message({ type: 'refusal', refusal: "I'm sorry, I cannot assist with that." })] }),
    completion: { text: "I'm sorry, I cannot assist with that.", finishReason: 'refusal', isRefusal: true },
  },
  {
    // https://platform.openai.com/docs/guides/reasoning: the tokens may be used up before the answer begins.
    title: 'an incomplete answer',
    provider: 'openai_responses',
    body: response({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, output: [] }),
    completion: { text: '', finishReason: 'length' },
  },
  {
    title: 'a filtered answer',
    provider: 'openai_responses',
    body: response({ status: 'incomplete', incomplete_details: { reason: 'content_filter' }, output: [] }),
    completion: { text: '', finishReason: 'content_filter', isRefusal: true },
  },
  {
    // https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/implement-tool-use
    title: 'a text and a use of a tool',
    provider: 'anthropic',
    body: {
      ...{ id: 'msg_01Aq9w938a90dw8q', model: 'claude-opus-4-1', stop_reason: 'tool_use', role: 'assistant' },
      content: [
        { type: 'text', text: "I'll check the current weather in San Francisco for you." },
        {
          ...{ type: 'tool_use', id: 'toolu_01A09q90qw90lq917835lq9', name: 'get_weather' },
          input: { location: 'San Francisco, CA', unit: 'celsius' },
        },
      ],
      usage: { input_tokens: 384, output_tokens: 76 },
    },
    completion: {
      text: 'I\'ll check the current weather in San Francisco for you.\n[tool call] get_weather({"location":"San Francisco, CA","unit":"celsius"})',
      finishReason: 'other',
      usage: { inputTokens: 384, outputTokens: 76 },
    },
  },
  {
    // https://ai.google.dev/api/generate-content; thoughts as in https://ai.google.dev/gemini-api/docs/thinking
    title: 'a text after a thought, whose tokens are charged',
    provider: 'gemini',
    body: {
      candidates: [
        {
          content: { parts: [{ text: 'Plan.', thought: true }, { text: 'AI ' }, { text: 'learns.' }], role: 'model' },
          finishReason: 'STOP',
          index: 0,
        },
      ],
      usageMetadata: { promptTokenCount: 4, candidatesTokenCount: 10, thoughtsTokenCount: 25, totalTokenCount: 39 },
      modelVersion: 'gemini-2.5-flash',
    },
    completion: { text: 'AI learns.', finishReason: 'stop', usage: { inputTokens: 4, outputTokens: 35 } },
  },
  {
    // https://ai.google.dev/gemini-api/docs/function-calling
    title: 'a call of a function',
    provider: 'gemini',
    body: {
      candidates: [
        {
          content: {
            parts: [{ functionCall: { name: 'set_light_values', args: { brightness: 25, color_temp: 'warm' } } }],
            role: 'model',
          },
          finishReason: 'STOP',
        },
      ],
    },
    completion: {
      text: '[tool call] set_light_values({"brightness":25,"color_temp":"warm"})',
      finishReason: 'other',
      usage: null,
    },
  },
  {
    title: 'a blocked prompt',
    provider: 'gemini',
    body: { promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: { promptTokenCount: 5, totalTokenCount: 5 } },
    completion: {
      ...{ text: '', finishReason: 'content_filter', isRefusal: true },
      usage: { inputTokens: 5, outputTokens: 0 },
    },
  },
  ...['SAFETY', 'RECITATION', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII'].map((finishReason): Answer => ({
    title: `an answer that was stopped for ${finishReason}`,
    provider: 'gemini',
    body: { candidates: [{ finishReason, index: 0 }] },
    completion: { text: '', finishReason: 'content_filter', isRefusal: true },
  })),
  {
    title: 'the length',
    provider: 'gemini',
    body: { candidates: [{ content: { parts: [{ text: 'AI' }] }, finishReason: 'MAX_TOKENS' }] },
    completion: { text: 'AI', finishReason: 'length' },
  },
  {
    // https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
    title: 'a text after reasoning',
    provider: 'bedrock',
    body: converse(
      [{ reasoningContent: { reasoningText: { text: 'I think.' } } }, { text: '1. "Bad Guy"' }, { text: ' by B.' }],
      'end_turn',
    ),
    completion: { text: '1. "Bad Guy" by B.', finishReason: 'stop', usage: { inputTokens: 125, outputTokens: 60 } },
  },
  {
    // https://docs.aws.amazon.com/bedrock/latest/userguide/tool-use-inference-call.html
    title: 'a use of a tool',
    provider: 'bedrock',
    body: converse(
      [{ toolUse: { toolUseId: 'tooluse_hbTgdi0CSLq_hM4P8csZJA', name: 'top_song', input: { sign: 'WZPZ' } } }],
      'tool_use',
    ),
    completion: { text: '[tool call] top_song({"sign":"WZPZ"})', finishReason: 'other' },
  },
  {
    title: 'tokens of the cache',
    provider: 'bedrock',
    body: {
      ...converse([{ text: 'A' }], 'max_tokens'),
      usage: { inputTokens: 1, outputTokens: 2, cacheReadInputTokens: 30, cacheWriteInputTokens: 400 },
    },
    completion: { finishReason: 'length', usage: { inputTokens: 431, outputTokens: 2 } },
  },
  ...['guardrail_intervened', 'content_filtered'].map((stop): Answer => ({
    title: `the stop reason ${stop}`,
    provider: 'bedrock',
    body: converse([{ text: 'Blocked.' }], stop),
    completion: { text: 'Blocked.', finishReason: 'content_filter', isRefusal: true },
  })),
  {
    // https://github.com/ollama/ollama/blob/main/docs/api.md, "Chat request (No streaming)"
    title: 'a text of an older version',
    provider: 'ollama',
    body: {
      ...{ model: 'llama3.2', created_at: '2023-12-12T14:13:43.416799Z', done: true },
      message: { role: 'assistant', content: 'Hello! How are you today?' },
      ...{ total_duration: 5191566416, load_duration: 2154458, prompt_eval_count: 26, eval_count: 298 },
    },
    completion: {
      text: 'Hello! How are you today?',
      finishReason: 'stop',
      usage: { inputTokens: 26, outputTokens: 298 },
    },
  },
  {
    // As above, "Chat request (with tools)"; thinking as in https://docs.ollama.com/capabilities/thinking
    title: 'a call of a tool after thinking',
    provider: 'ollama',
    body: {
      model: 'llama3.2',
      message: {
        ...{ role: 'assistant', content: '', thinking: 'I think.' },
        tool_calls: [
          { function: { name: 'get_current_weather', arguments: { format: 'celsius', location: 'Paris, FR' } } },
        ],
      },
      ...{ done_reason: 'stop', done: true, prompt_eval_count: 122, eval_count: 33 },
    },
    completion: {
      text: '[tool call] get_current_weather({"format":"celsius","location":"Paris, FR"})',
      finishReason: 'other',
    },
  },
  {
    title: 'the length, without a count of the prompt',
    provider: 'ollama',
    body: { message: { role: 'assistant', content: 'A' }, done_reason: 'length', done: true, eval_count: 1 },
    completion: { text: 'A', finishReason: 'length', usage: null },
  },
];

describe('responses as the providers document them', () => {
  const server = useLlmServer();
  for (const { title, provider, body, completion } of ANSWERS) {
    it(`${provider}: ${title}`, async () => {
      server().setBehaviour({ key: PLANTED, script: [{ kind: 'raw', body }] });
      const answer = await clientOf(server(), { provider }).complete('Hello there');
      expect(answer).to.deep.include({ ...completion, cached: false });
      expect('isRefusal' in answer).to.equal('isRefusal' in completion);
    });
  }
});
