import type { AnswerRecord } from '../../../src/llm-evals/client/transcript.ts';

export function sampleAnswer(change: Partial<AnswerRecord> = {}): AnswerRecord {
  return {
    ...{ key: 'k1', model: 'openai/gpt-4o-mini', prompt: 'Why?', repeat: 0, text: 'So.', error: null },
    ...{ finishReason: 'stop', isRefusal: null, inputTokens: 3, outputTokens: 5, cached: false },
    ...{ latencyMillis: 12.5, attempts: 1, ...change },
  };
}

export const FAILED: Partial<AnswerRecord> = {
  ...{ text: null, error: { kind: 'server', message: 'HTTP 500' }, finishReason: null },
  ...{ inputTokens: null, outputTokens: null },
};
