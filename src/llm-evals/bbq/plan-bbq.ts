import type { BbqFormat } from '../../schemas/llm-eval/llm-eval-document.ts';
import type { PlannedPrompt } from '../plan/planned-prompt.ts';
import type { BbqItem } from './bbq-item.ts';
import { bbqPrompt } from './bbq-prompt.ts';

/** What the details of a BBQ prompt hold: all that scoring needs, so that no file is read again. */
export interface BbqDetails {
  readonly [name: string]: string;
  readonly bbq_format: string;
  readonly example_id: string;
  /** The template that the item was made from: items of one are not independent. */
  readonly cluster: string;
  readonly condition: string;
  readonly polarity: string;
  readonly ans0: string;
  readonly ans1: string;
  readonly ans2: string;
  /** Indices of answers; `target` is empty where it is not known, and then `target_fault` says why. */
  readonly right: string;
  readonly unknown: string;
  readonly target: string;
  readonly target_fault: string;
}

/** What {@link planBbq} plans. */
export interface BbqPlanRequest {
  readonly formats: readonly BbqFormat[];
  /** How often each prompt is asked. */
  readonly repeats: number;
}

/**
 * The prompts of BBQ's items. Without context the two contexts of an item are one prompt, to which
 * "unknown" is right: only the ambiguous items are planned for it.
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

function detailsOf(item: BbqItem, format: BbqFormat): BbqDetails {
  const [ans0, ans1, ans2] = item.answers;
  return {
    bbq_format: format,
    example_id: item.exampleId,
    cluster: `${item.category} ${item.questionIndex}`,
    condition: item.condition,
    polarity: item.polarity,
    ans0,
    ans1,
    ans2,
    right: String(item.right),
    unknown: String(item.unknown),
    target: item.target === null ? '' : String(item.target),
    target_fault: item.targetFault ?? '',
  };
}
