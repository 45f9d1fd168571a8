import { llmEvalBodySchema as bodySchema } from '../../schemas/llm-eval-body.ts';

/** `POST /llm-eval` */
export const llmEvalBodySchema = bodySchema.meta({
  id: 'LlmEvalBody',
  description: 'What is asked of whom, how the answers are scored, and what passes.',
});
