import type { SeenLlmRequest } from './llm-server.ts';

/** The API that the server implements. */
export type Api = 'openai' | 'anthropic' | 'responses' | 'gemini' | 'bedrock' | 'ollama' | 'custom';

/** An answer, independent of the API. */
export interface ServedAnswer {
  readonly kind: 'answer' | 'refusal' | 'tool_calls';
  readonly text: string;
  readonly finish?: string;
  readonly hasUsage?: boolean;
}

/** Returns the body of an answer, with all fields of the real API. */
export function answerBody(api: Api, seen: SeenLlmRequest, answer: ServedAnswer): unknown {
  const model = String(seen.body?.['model']);
  return BODIES[api](model, seen, answer);
}

type Body = (model: string, seen: SeenLlmRequest, answer: ServedAnswer) => unknown;

const BODIES: Readonly<Record<Api, Body>> = {
  openai: chatCompletion,
  anthropic: anthropicMessage,
  responses: responseOf,
  gemini: geminiResponse,
  bedrock: converseResponse,
  ollama: ollamaResponse,
  custom: (_, seen, answer) => {
    const [input, output] = countTokens(seen, answer);
    return { answer: answer.text, ...(answer.hasUsage === false ? {} : { usage: { input, output } }) };
  },
};

/** As in https://platform.openai.com/docs/api-reference/responses/object. */
function responseOf(model: string, seen: SeenLlmRequest, answer: ServedAnswer): unknown {
  const [inputTokens, outputTokens] = countTokens(seen, answer);
  const content = {
    answer: { type: 'output_text', text: answer.text, annotations: [], logprobs: [] },
    refusal: { type: 'refusal', refusal: answer.text },
    tool_calls: null,
  }[answer.kind];
  const call = {
    type: 'function_call',
    id: 'fc_1',
    call_id: 'call_1',
    name: 'look_up',
    arguments: '{}',
    status: 'completed',
  };
  const message = { type: 'message', id: 'msg_1', status: 'completed', role: 'assistant', content: [content] };
  const isIncomplete = answer.finish !== undefined;
  return {
    id: 'resp_67ccd2bed1ec8190b14f964abc0542670bb6a6b452d3795b',
    object: 'response',
    created_at: 1741476542,
    status: isIncomplete ? 'incomplete' : 'completed',
    error: null,
    incomplete_details: isIncomplete ? { reason: answer.finish } : null,
    model,
    output: [{ type: 'reasoning', id: 'rs_1', summary: [] }, content === null ? call : message],
    ...(answer.hasUsage === false
      ? {}
      : {
          usage: {
            input_tokens: inputTokens,
            input_tokens_details: { cached_tokens: 0 },
            output_tokens: outputTokens,
            output_tokens_details: { reasoning_tokens: 0 },
            total_tokens: inputTokens + outputTokens,
          },
        }),
  };
}

/** As in https://ai.google.dev/api/generate-content#v1beta.GenerateContentResponse. */
function geminiResponse(model: string, seen: SeenLlmRequest, answer: ServedAnswer): unknown {
  const [promptTokenCount, candidatesTokenCount] = countTokens(seen, answer);
  const thought = { text: 'I think about it.', thought: true };
  const part = answer.kind === 'tool_calls' ? { functionCall: { name: 'look_up', args: {} } } : { text: answer.text };
  const content = { parts: [thought, part], role: 'model' };
  const isRefusal = answer.kind === 'refusal';
  return {
    candidates: [
      { ...(isRefusal ? {} : { content }), finishReason: answer.finish ?? (isRefusal ? 'SAFETY' : 'STOP'), index: 0 },
    ],
    ...(answer.hasUsage === false
      ? {}
      : {
          usageMetadata: {
            promptTokenCount,
            candidatesTokenCount,
            totalTokenCount: promptTokenCount + candidatesTokenCount,
          },
        }),
    modelVersion: model,
  };
}

/** As in https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html. */
function converseResponse(_: string, seen: SeenLlmRequest, answer: ServedAnswer): unknown {
  const [inputTokens, outputTokens] = countTokens(seen, answer);
  const call = { toolUse: { toolUseId: 'tooluse_1', name: 'look_up', input: {} } };
  const stops = { answer: 'end_turn', refusal: 'guardrail_intervened', tool_calls: 'tool_use' };
  return {
    output: { message: { role: 'assistant', content: [answer.kind === 'tool_calls' ? call : { text: answer.text }] } },
    stopReason: answer.finish ?? stops[answer.kind],
    ...(answer.hasUsage === false
      ? {}
      : { usage: { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens } }),
    metrics: { latencyMs: 1175 },
  };
}

/** As in https://github.com/ollama/ollama/blob/main/docs/api.md. */
function ollamaResponse(model: string, seen: SeenLlmRequest, answer: ServedAnswer): unknown {
  const [prompt, output] = countTokens(seen, answer);
  const calls = [{ function: { name: 'look_up', arguments: {} } }];
  return {
    model,
    created_at: '2023-12-12T14:13:43.416799Z',
    message: {
      role: 'assistant',
      content: answer.text,
      ...(answer.kind === 'tool_calls' ? { tool_calls: calls } : {}),
    },
    done_reason: answer.finish ?? 'stop',
    done: true,
    total_duration: 5191566416,
    ...(answer.hasUsage === false ? {} : { prompt_eval_count: prompt, eval_count: output }),
  };
}

function chatCompletion(model: string, seen: SeenLlmRequest, answer: ServedAnswer): unknown {
  const isRefusal = answer.kind === 'refusal';
  const call = { id: 'call_1', type: 'function', function: { name: 'look_up', arguments: '{}' } };
  const [inputTokens, outputTokens] = countTokens(seen, answer);
  return {
    id: 'chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT',
    object: 'chat.completion',
    created: 1741569952,
    model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: answer.kind === 'answer' ? answer.text : null,
          refusal: isRefusal ? answer.text : null,
          annotations: [],
          ...(answer.kind === 'tool_calls' ? { tool_calls: [call] } : {}),
        },
        logprobs: null,
        finish_reason: answer.finish ?? (answer.kind === 'tool_calls' ? 'tool_calls' : 'stop'),
      },
    ],
    ...(answer.hasUsage === false
      ? {}
      : {
          usage: {
            prompt_tokens: inputTokens,
            completion_tokens: outputTokens,
            total_tokens: inputTokens + outputTokens,
            prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
          },
        }),
    service_tier: 'default',
    system_fingerprint: 'fp_560af6e559',
  };
}

/** Returns a message whose text is split into two blocks, which the API allows. */
function anthropicMessage(model: string, seen: SeenLlmRequest, answer: ServedAnswer): unknown {
  const half = answer.text.length >> 1;
  const parts = [answer.text.slice(0, half), answer.text.slice(half)];
  const content =
    answer.kind === 'tool_calls'
      ? [{ type: 'tool_use', id: 'toolu_1', name: 'look_up', input: {} }]
      : parts.map((text) => ({ type: 'text', text }));
  const stops = { answer: 'end_turn', refusal: 'refusal', tool_calls: 'tool_use' };
  const [inputTokens, outputTokens] = countTokens(seen, answer);
  return {
    id: 'msg_013Zva2CMHLNnXjNJJKqJ2EF',
    type: 'message',
    role: 'assistant',
    model,
    content,
    stop_reason: answer.finish ?? stops[answer.kind],
    stop_sequence: null,
    ...(answer.hasUsage === false
      ? {}
      : {
          usage: {
            input_tokens: inputTokens,
            output_tokens: outputTokens,
            cache_creation_input_tokens: 0,
            cache_read_input_tokens: 0,
          },
        }),
  };
}

/** Counts words instead of tokens, so that tests can compute the numbers. */
function countTokens(seen: SeenLlmRequest, answer: ServedAnswer): [input: number, output: number] {
  const words = (text: string): number => text.split(/\s+/).filter((word) => word !== '').length;
  return [words(seen.prompt), words(answer.text)];
}

const OPENAI_ERRORS: Readonly<Record<number, readonly [type: string, code: string | null, message: string]>> = {
  400: ['invalid_request_error', null, "Unsupported value: 'temperature' does not support 9 with this model."],
  401: ['invalid_request_error', 'invalid_api_key', 'Incorrect API key provided. You can find your API key online.'],
  402: ['insufficient_quota', 'insufficient_quota', 'Payment required.'],
  403: ['invalid_request_error', 'unsupported_country_region_territory', 'Country, region, or territory not supported'],
  404: ['invalid_request_error', 'model_not_found', 'The model does not exist or you do not have access to it.'],
  429: ['requests', 'rate_limit_exceeded', 'Rate limit reached on requests per min (RPM): Limit 3, Used 3.'],
  500: ['server_error', null, 'The server had an error while processing your request. Sorry about that!'],
  503: ['server_error', null, 'The engine is currently overloaded, please try again later'],
};

const ANTHROPIC_ERRORS: Readonly<Record<number, readonly [type: string, message: string]>> = {
  400: ['invalid_request_error', 'temperature: range: 0..1'],
  401: ['authentication_error', 'invalid x-api-key'],
  402: ['billing_error', 'There is an issue with your billing or payment information.'],
  403: ['permission_error', 'Your API key does not have permission to use the specified resource.'],
  404: ['not_found_error', 'model: claude-none'],
  413: ['request_too_large', 'Request exceeds the maximum allowed number of bytes.'],
  429: ['rate_limit_error', 'This request would exceed your rate limit of 50 requests per minute.'],
  500: ['api_error', 'Internal server error'],
  529: ['overloaded_error', 'Overloaded'],
};

/** As in https://ai.google.dev/gemini-api/docs/troubleshooting. */
const GOOGLE_ERRORS: Readonly<Record<number, readonly [status: string, message: string]>> = {
  400: ['INVALID_ARGUMENT', 'Request contains an invalid argument.'],
  403: ['PERMISSION_DENIED', 'Your API key does not have the required permissions.'],
  404: ['NOT_FOUND', 'models/none is not found for API version v1beta'],
  429: ['RESOURCE_EXHAUSTED', 'You exceeded the rate limit.'],
  500: ['INTERNAL', 'An internal error has occurred.'],
  503: ['UNAVAILABLE', 'The model is overloaded. Please try again later.'],
};

/** Returns the body of an error in the wording of the API. */
export function errorBody(api: Api, status: number, code: string | undefined, message: string | undefined): unknown {
  if (api === 'anthropic') {
    const [type, text] = ANTHROPIC_ERRORS[status] ?? ['api_error', 'Something went wrong'];
    const error = { type: code ?? type, message: message ?? text };
    return { type: 'error', error, request_id: 'req_011CSHoEeqs5C35K2UUqR7Fy' };
  }
  if (api === 'gemini') {
    const text = message ?? GOOGLE_ERRORS[status]?.[1] ?? 'Something went wrong';
    return { error: { code: status, message: text, status: code ?? GOOGLE_ERRORS[status]?.[0] ?? 'UNKNOWN' } };
  }
  if (api === 'bedrock') return { message: message ?? 'The request failed.' };
  if (api === 'ollama') return { error: message ?? 'the request failed' };
  const [type, ownCode, text] = OPENAI_ERRORS[status] ?? ['server_error', null, 'Something went wrong'];
  return {
    error: {
      message: message ?? (code === undefined ? text : messageOf(code)),
      type: code === 'insufficient_quota' ? code : type,
      param: code === 'content_filter' ? 'prompt' : null,
      code: code ?? ownCode,
    },
  };
}

function messageOf(code: string): string {
  if (code === 'insufficient_quota')
    return 'You exceeded your current quota, please check your plan and billing details.';
  if (code === 'content_filter') return 'The response was filtered due to the prompt triggering the content policy.';
  return `The request failed with ${code}.`;
}
