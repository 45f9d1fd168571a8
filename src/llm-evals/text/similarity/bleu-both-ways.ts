/** Matches dots, dashes, numbers, words with hyphens or apostrophes inside, and any other single character. */
const TOKEN =
  /\.{2,}|--|\p{Nd}+(?:[.,:]\p{Nd}+)+|[\p{L}\p{M}\p{N}_](?:[\p{L}\p{M}\p{N}_]|[-./+=~^|\\'](?=[\p{L}\p{M}\p{N}_]))*|\S/gu;

const CLITIC = /^(.+)(n't|'(?:s|m|d|ll|re|ve))$/u;

/** Contracted words that the Penn Treebank splits into two tokens. */
const JOINED = new Map(
  ['can not', 'gim me', 'gon na', 'got ta', 'lem me', 'wan na'].map((pair) => [pair.replace(' ', ''), pair.split(' ')]),
);

/** Abbreviations that keep their period inside a sentence. */
const ABBREVIATIONS = new Set(
  'mr mrs ms dr prof sr jr st vs etc inc ltd corp approx e.g i.e a.m p.m u.s u.k'.split(' '),
);

/**
 * Returns the tokens of a text in lower case by the conventions of the Penn Treebank. Punctuation marks are separate
 * tokens. "don't" becomes "do" and "n't", "she's" becomes "she" and "'s", and "cannot" becomes "can" and "not". Numbers
 * and hyphenated words are single tokens. The period of an abbreviation is part of its token.
 */
export function treebankTokens(text: string): string[] {
  const lower = text.toLowerCase().replace(/[’‘]/g, "'");
  const tokens: string[] = [];
  for (const { 0: token, index } of lower.matchAll(TOKEN)) {
    const isMidSentence = /^\s*[\p{L}\p{N}]/u.test(lower.slice(index + 1, index + 4));
    if (token === '.' && isMidSentence && ABBREVIATIONS.has(tokens.at(-1) ?? '')) tokens.push(`${tokens.pop() ?? ''}.`);
    else tokens.push(...(token === '"' ? [quotationMark(lower[index - 1])] : splitWord(token)));
  }
  return tokens;
}

/**
 * Converts a quotation mark to the form that the Penn Treebank uses. The preceding character determines whether it is
 * an opening or a closing quotation mark.
 */
function quotationMark(before: string | undefined): string {
  return before === undefined || /[\s([{<]/.test(before) ? '``' : "''";
}

function splitWord(word: string): readonly string[] {
  const clitic = CLITIC.exec(word);
  if (clitic !== null) return [clitic[1] as string, clitic[2] as string];
  return JOINED.get(word) ?? [word];
}

/** The maximum length of an n-gram. All lengths from 1 to this maximum have equal weight. */
const MAX_RUN_LENGTH = 4;

/**
 * The number of matches that is assumed if no n-gram matches. This is smoothing method 1 of Chen and Cherry, with
 * NLTK's constant.
 */
const SMOOTHING = 0.1;

/**
 * Computes BLEU of two texts from n-grams of one to four words. The result is the minimum of both directions.
 *
 * Each direction treats one text as the candidate and the other text as its reference. p_n is the share of the
 * candidate's n-grams that the reference also contains, with clipped counts. If no n-gram of a length matches, the
 * number of matches is set to 0.1. BLEU is B (p_1 p_2 p_3 p_4)^(1/4). The brevity penalty B is exp(1 - r/c) if the
 * candidate has fewer tokens (c) than the reference (r), and 1 otherwise. BLEU goes from 0 (no token in common) to 1
 * (the same tokens in the same order). The minimum is symmetric.
 *
 * The measure is NLTK's `sentence_bleu` with smoothing method 1, as LangFair uses it, on tokens in lower case by the
 * conventions of the Penn Treebank. There are two differences. Equal texts of any length give 1, while NLTK gives 0.32
 * for "Yes." and "Yes.". Sentences are split with a short list of abbreviations instead of NLTK's trained model.
 *
 * Degenerate cases: 1 if neither text has tokens, 0 if only one has tokens.
 * @see K. Papineni et al., BLEU: A method for automatic evaluation of machine translation (2002)
 * @see B. Chen, C. Cherry, A systematic comparison of smoothing techniques for sentence-level BLEU (2014)
 * @example
 * ```ts
 * import { bleuBothWays } from 'evenhand/llm-evals';
 *
 * console.log(bleuBothWays('He is a good engineer.', 'She is a good engineer.').toFixed(4));
 * // 0.7598
 * ```
 */
export function bleuBothWays(a: string, b: string): number {
  return bleuOfRuns(countRuns(a), countRuns(b));
}

/** What BLEU needs of a text. */
export interface CountedRuns {
  /** The tokens, separated by spaces. No token contains a space. */
  readonly tokens: string;
  readonly length: number;
  /** How often each n-gram occurs, for each n from 1 to 4. */
  readonly runs: readonly ReadonlyMap<string, number>[];
}

/** Counts the n-grams of a text for {@link bleuOfRuns}. */
export function countRuns(text: string): CountedRuns {
  const tokens = treebankTokens(text);
  const runs = Array.from({ length: MAX_RUN_LENGTH }, (_, index) => {
    const counts = new Map<string, number>();
    for (let end = index + 1; end <= tokens.length; end++) {
      const run = tokens.slice(end - index - 1, end).join(' ');
      counts.set(run, (counts.get(run) ?? 0) + 1);
    }
    return counts;
  });
  return { tokens: tokens.join(' '), length: tokens.length, runs };
}

/** Computes BLEU in both directions from the n-grams of two texts; see {@link bleuBothWays}. */
export function bleuOfRuns(a: CountedRuns, b: CountedRuns): number {
  if (a.tokens === b.tokens) return 1;
  const matches = a.runs.map((runs, index) => matchingRuns(runs, b.runs[index]));
  if (matches[0] === 0) return 0;
  return Math.min(bleu(matches, a.length, b.length), bleu(matches, b.length, a.length));
}

/**
 * Returns the number of clipped matches: the sum over n-grams of the lower of the two counts. The number is the same in
 * both directions.
 */
function matchingRuns(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number> | undefined): number {
  let matches = 0;
  for (const [run, count] of a) matches += Math.min(count, b?.get(run) ?? 0);
  return matches;
}

function bleu(matches: readonly number[], candidateLength: number, referenceLength: number): number {
  const logPrecisions = matches.map((count, index) =>
    Math.log((count === 0 ? SMOOTHING : count) / Math.max(1, candidateLength - index)),
  );
  const mean = logPrecisions.reduce((sum, log) => sum + log, 0) / MAX_RUN_LENGTH;
  return Math.exp(mean + Math.min(0, 1 - referenceLength / candidateLength));
}
