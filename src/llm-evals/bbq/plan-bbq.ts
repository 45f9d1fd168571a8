import type { BbqFormat, LLMEvalConfig } from '../../schemas/llm-eval/llm-eval-document.ts';
import type { PlannedPrompt } from '../plan/planned-prompt.ts';
import type { BbqItem } from './bbq-item.ts';
import { bbqPrompt } from './bbq-prompt.ts';

/**
 * The details of a BBQ prompt that scoring needs. Because of these details, the file does not need to be read again.
 * Items with the same `cluster` have the same template and are not independent. `right`, `unknown` and `target` are
 * indices of answers. If the target is unknown, `target` is empty and `target_fault` contains the reason.
 */
export type BbqDetails = ReturnType<typeof detailsOf>;

/**
 * Plans the prompts of BBQ's items. The format without context uses only the ambiguous items, because without a context
 * both items have the same prompt, and "unknown" is correct.
 */
export function planBbq(
  items: readonly BbqItem[],
  { bbqFormats, repeats }: Pick<LLMEvalConfig, 'bbqFormats' | 'repeats'>,
): readonly PlannedPrompt[] {
  return [...new Set(bbqFormats)].flatMap((format) =>
    items
      .filter(({ condition }) => format !== 'qonly' || condition === 'ambig')
      .flatMap((item) => Array.from({ length: repeats }, (_, repeat) => planItem(item, format, repeat))),
  );
}

function planItem(item: BbqItem, format: BbqFormat, repeat: number): PlannedPrompt {
  return {
    evaluator: 'stereotype',
    prompt: bbqPrompt(item, format),
    repeat,
    template: `bbq_${format}`,
    item: `bbq ${item.category} ${item.exampleId}`,
    dimension: null,
    group: null,
    details: detailsOf(item, format),
  };
}

// eslint-disable-next-line @typescript-eslint/explicit-function-return-type -- the return type is BbqDetails
function detailsOf({ answers, ...item }: BbqItem, format: BbqFormat) {
  const [ans0, ans1, ans2] = answers;
  const { condition, polarity } = item;
  return {
    ...{ bbq_format: format, example_id: item.exampleId, cluster: `${item.category} ${item.questionIndex}` },
    ...{ condition, polarity, ans0, ans1, ans2, right: String(item.right), unknown: String(item.unknown) },
    target: item.target === null ? '' : String(item.target),
    target_fault: item.targetProblem ?? '',
  };
}
