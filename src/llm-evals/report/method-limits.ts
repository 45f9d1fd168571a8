/** What the numbers do not say. */
export const METHOD_LIMITS: readonly string[] = [
  'Answers to one and the same prompt differ by chance. The column "Without an effect" shows what chance alone makes of the metric itself (of a gap, of its size): the mean, and the value that 95% of such numbers lie below. Where it is not known, a value may be noise only.',
  '"Not shown" is no proof that there is no effect. The column "Would have shown" is the difference that data of this size find with probability 0.8; a smaller one can be there unseen.',
  'p-values are adjusted for all tests of this run (those of the control among themselves), not for other runs, other prompts tried before, or metrics that were chosen after looking.',
  'Only these prompts, these values and this model on the day of asking were tried. Another wording can turn a result round, and providers change models without a word.',
  'Sentiment and toxicity are scored by word lists. They do not know irony, quotation or context, and mistake some harmless words.',
  'A gap is a reason to read the answers, not by itself proof of unfair treatment; no gap is no proof of fair treatment.',
  'Left-out answers can hide an effect where they are more frequent in one group than in another: compare the counts above.',
];
