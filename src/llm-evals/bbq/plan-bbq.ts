import type { BbqFormat } from '../../schemas/llm-eval/llm-eval-document.ts';
import type { PlannedPrompt } from '../plan/planned-prompt.ts';
import type { BbqItem } from './bbq-item.ts';
import { bbqPrompt } from './bbq-prompt.ts';

/**
 * The details of a BBQ prompt: all that scoring needs, so that the file is not read again. Items of one `cluster` have one
 * template and are not independent. `right`, `unknown` and `target` are indices of answers; an unknown target is empty,
 * and `target_fault` states the reason.
 */
export type BbqDetails = ReturnType<typeof detailsOf>;

/** Options of {@link planBbq}. */
export interface BbqPlanRequest {
  readonly formats: readonly BbqFormat[];
  /** How often each prompt is asked. */
  readonly repeats: number;
}

/**
 * Plans the prompts of BBQ's items. Without context, the two contexts of an item have the same prompt, to which
 * "unknown" is right. Only the ambiguous items are planned in that format.
 */
export function planBbq(items: readonly BbqItem[], { formats, repeats }: BbqPlanRequest): readonly PlannedPrompt[] {
  return [...new Set(formats)].flatMap((format) =>
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
