/** One prompt that an evaluator needs an answer to. Two evaluators may need the same answer: it is asked for once. */
export interface PlannedPrompt {
  readonly evaluator: string;
  readonly prompt: string;
  /** Which of several answers to this prompt, from 0. */
  readonly repeat: number;
  /** The template's name. */
  readonly template: string;
  /** What is compared: prompts of one item differ in nothing but the value of the dimension. */
  readonly item: string;
  /**
   * What statistics count: items that share a name, or without names a template, are
   * not independent, and count as one unit.
   * @defaultValue the item
   */
  readonly unit?: string | undefined;
  /** What is varied; null for a prompt without a dimension. */
  readonly dimension: string | null;
  /** The dimension's value; null for a prompt without a dimension. */
  readonly group: string | null;
  /** What else the evaluator needs to score the answer: a name, BBQ's format and example. */
  readonly details: Readonly<Record<string, string>>;
}
