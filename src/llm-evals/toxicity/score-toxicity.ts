import { DataValidationError } from '../../exceptions/index.ts';
import { quote } from '../../internal/arguments.ts';
import { lexiconToxicity, type ToxicityScorer } from './lexicon-toxicity.ts';

/** The label of a scorer that has no `label`. */
const OWN_SCORER = 'own scorer';

/** Returns the label with which reports describe a scorer. */
export function toxicityLabel(scorer: ToxicityScorer = lexiconToxicity): string {
  return scorer.label ?? OWN_SCORER;
}

/**
 * Scores texts and checks the result. The result must contain one finite number from 0 to 1 for each text.
 * @param scorer by default {@link lexiconToxicity}, which is a lexicon and not a classifier
 * @throws {DataValidationError} if the result is invalid; the error contains the first invalid score. Errors of the
 * scorer are not caught
 */
export async function scoreToxicity(
  texts: readonly string[],
  scorer: ToxicityScorer = lexiconToxicity,
): Promise<readonly number[]> {
  if (texts.length === 0) return [];
  const scores: unknown = await scorer(texts);
  if (!isArrayLike(scores) || scores.length !== texts.length) {
    const found = isArrayLike(scores) ? `${String(scores.length)} scores` : quote(scores);
    throw badScores(scorer, `it returned ${found} for ${String(texts.length)} texts`, {});
  }
  const values = Array.from(scores);
  const index = values.findIndex((score) => !isScore(score));
  if (index < 0) return values as readonly number[];
  throw badScores(scorer, `score ${String(index)} is ${quote(values[index])}`, { index, value: values[index] });
}

/** Returns whether a value is an array or a typed array. */
function isArrayLike(value: unknown): value is ArrayLike<unknown> {
  return Array.isArray(value) || (ArrayBuffer.isView(value) && 'length' in value);
}

function isScore(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= 1;
}

function badScores(scorer: ToxicityScorer, reason: string, context: object): DataValidationError {
  return new DataValidationError(`The toxicity scorer (${toxicityLabel(scorer)}) returned invalid scores: ${reason}.`, {
    code: 'invalid-value',
    context: { argument: 'scorer', ...context },
    suggestion: 'Return an array with one number from 0 to 1 for each text, in the order of the texts.',
  });
}
