import { z } from 'zod';

/** Matches words: letters, digits and straight apostrophes. */
const WORDS = /[\p{L}\p{N}]+(?:'[\p{L}\p{N}]+)*/gu;

/** The maximum number of words in the vocabulary. `LONGEST` is the maximum value of `max_length`. */
const MAX_WORDS = 1_000_000;
const LONGEST = 100_000;

const common = {
  format: z.literal('evenhand-text-classifier'),
  name: z.string().min(1),
  words: z.array(z.string().min(1)).min(1).max(MAX_WORDS),
  output: z.int().min(0).default(0),
  /** The SHA-256 checksums of other files of the folder, by file name. */
  checksums: z.record(z.string(), z.string().regex(/^[0-9a-f]{64}$/, 'it should be a SHA-256')).exactOptional(),
};

/** The schema of `vocabulary.json` in a classifier's folder. */
export const vocabularySchema = z.discriminatedUnion('input', [
  z.strictObject({ ...common, input: z.literal('bag_of_words') }),
  z.strictObject({ ...common, input: z.literal('sequence'), max_length: z.int().min(1).max(LONGEST) }),
]);

/** The vocabulary of a classifier: its words, its input format, and the output column of toxicity. */
export type ClassifierVocabulary = z.output<typeof vocabularySchema>;

/** Returns the number of input values for a text. */
export function inputWidth(vocabulary: ClassifierVocabulary): number {
  return vocabulary.input === 'sequence' ? vocabulary.max_length : vocabulary.words.length;
}

/**
 * Writes the model's input for one text into a row. The row must contain only zeros.
 * @param index the index in the vocabulary, by word
 */
export function encodeText(
  text: string,
  vocabulary: ClassifierVocabulary,
  index: ReadonlyMap<string, number>,
  row: Float32Array,
): void {
  const words = text.normalize('NFKC').replaceAll('\u2019', "'").toLowerCase().match(WORDS) ?? [];
  if (vocabulary.input === 'bag_of_words') {
    for (const position of words.map((word) => index.get(word))) {
      if (position !== undefined) row[position] = (row[position] ?? 0) + 1;
    }
    return;
  }
  // 0 is the code for padding after the text. 1 is the code for a word that is not in the vocabulary.
  words.slice(0, row.length).forEach((word, position) => {
    row[position] = (index.get(word) ?? -1) + 2;
  });
}
