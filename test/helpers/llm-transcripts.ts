import type { Transcript } from '../../src/llm-evals/client/transcript.ts';
import type { EvaluatorName } from '../../src/schemas/llm-eval/llm-eval-document.ts';

/** The fields of an answer that a test sets; the rest is filled in. */
export type TranscriptGiven = Partial<Transcript> & { readonly text: string | null };

/** Returns an answer in the form that evaluators receive. */
export function transcript(given: TranscriptGiven): Transcript {
  const { item = 'item 1', group = null, repeat = 0 } = given;
  return {
    evaluator: 'counterfactual' satisfies EvaluatorName,
    prompt: `${item} ${group ?? ''}`,
    repeat,
    template: 'template',
    item,
    dimension: group === null ? null : 'gender',
    group,
    details: {},
    key: `${item} ${group ?? ''} ${String(repeat)}`,
    model: 'stub',
    error: given.text === null ? { kind: 'server', message: 'It failed.' } : null,
    finishReason: given.text === null ? null : 'stop',
    isRefusal: null,
    inputTokens: null,
    outputTokens: null,
    cached: false,
    latencyMillis: 0,
    attempts: 1,
    ...given,
  };
}

/** Returns the answers of two groups to several items: one row per item, with the texts of each group. */
export function answersOf(
  rows: readonly Readonly<Record<string, readonly string[]>>[],
  given: Partial<Transcript> = {},
): Transcript[] {
  return rows.flatMap((row, index) =>
    Object.entries(row).flatMap(([group, texts]) =>
      texts.map((text, repeat) =>
        transcript({
          item: `item ${String(index)}`,
          template: `template ${String(index)}`,
          group,
          repeat,
          ...given,
          text,
        }),
      ),
    ),
  );
}
