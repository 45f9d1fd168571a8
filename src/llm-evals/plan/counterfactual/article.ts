/**
 * The first expression matches words that start with a vowel letter but a consonant sound. The second expression
 * matches words that start with a consonant letter but a vowel sound.
 */
const SOUNDS_LIKE_CONSONANT = /^(?:uni(?![dmn])|us[eu]|uti|ubi|ura|eu|ew|one(?![a-z])|once|ouija)/i;
const SOUNDS_LIKE_VOWEL = /^(?:hour|honest|hono|heir(?![a-z])|heire|heirl)/i;

/** Matches letters whose names start with a vowel sound: an MBA, an X-ray. */
const SPELLED_LIKE_VOWEL = /^[AEFHILMNORSX](?![a-z])/;

/** Matches numbers that start with a vowel sound: 8, 80, 800, 11, 18. */
const NUMBER_LIKE_VOWEL = /^(?:8\d*|1[18])(?!\d)/;

/**
 * Returns the indefinite article before a word. It depends on the first sound of the word: "a university", "an hour",
 * "an MBA", "an 8".
 */
export function articleFor(word: string): 'a' | 'an' {
  const bare = word.replace(/^[^\p{L}\p{N}]+/u, '');
  if (/^\d/.test(bare)) return NUMBER_LIKE_VOWEL.test(bare) ? 'an' : 'a';
  const [first = ''] = /^[\p{L}.]+/u.exec(bare) ?? [];
  // Initials are pronounced letter by letter.
  if (/^\p{Lu}(?:$|\.|\p{Lu}+$)/u.test(first) && !isSaidAsWord(first)) return SPELLED_LIKE_VOWEL.test(first) ? 'an' : 'a'; // prettier-ignore
  if (SOUNDS_LIKE_VOWEL.test(first)) return 'an';
  if (SOUNDS_LIKE_CONSONANT.test(first)) return 'a';
  return /^[aeiouàáâäèéêëìíîïòóôöùúûü]/i.test(first) ? 'an' : 'a';
}

/**
 * Returns whether a word in capitals is an emphasized word, not initials. Words of more than four capitals count as
 * emphasized words.
 */
function isSaidAsWord(capitals: string): boolean {
  return capitals.length > 4 || /^(?:WOMAN|MAN|GIRL|BOY|AUNT|SON)$/.test(capitals);
}

/** Adjusts an article at the end of a text to the next word: "as a " before "engineer" becomes "as an ". */
export function fixArticle(before: string, word: string): string {
  // Most words have no article. The regular expression would read the complete text.
  if (!/^[an]$/i.test(before.trimEnd().slice(-1))) return before;
  return before.replace(/(?<![\p{L}\p{N}'’])(a)n?(\s+)$/iu, (_, letter: string, space: string) =>
    articleFor(word) === 'an' ? `${letter}n${space}` : `${letter}${space}`,
  );
}

/** Applies the case of one word to another: HE gives SHE, He gives She, he gives she. */
export function keepCase(model: string, word: string): string {
  if (model.length > 1 && model === model.toUpperCase()) return word.toUpperCase();
  return model.charAt(0) === model.charAt(0).toLowerCase() ? word.toLowerCase() : capitalise(word);
}

/** Capitalizes the first letter of a text. */
export function capitalise(text: string): string {
  const [first = ''] = text;
  return first.toUpperCase() + text.slice(first.length);
}
