/** Words that start with a vowel's letter and a consonant's sound, and the other way round. */
const SOUNDS_LIKE_CONSONANT = /^(?:uni(?![dmn])|us[eu]|uti|ubi|ura|eu|ew|one(?![a-z])|once|ouija)/i;
const SOUNDS_LIKE_VOWEL = /^(?:hour|honest|hono|heir(?![a-z])|heire|heirl)/i;

/** Letters whose names start with a vowel's sound: an MBA, an X-ray. */
const SPELLED_LIKE_VOWEL = /^[AEFHILMNORSX](?![a-z])/;

/** Numbers whose names do: 8, 80, 800, 11, 18. */
const NUMBER_LIKE_VOWEL = /^(?:8\d*|1[18])(?!\d)/;

/** The indefinite article before a word, by how it sounds: "a university", "an hour", "an MBA", "an 8". */
export function articleFor(word: string): 'a' | 'an' {
  const bare = word.replace(/^[^\p{L}\p{N}]+/u, '');
  if (/^\d/.test(bare)) return NUMBER_LIKE_VOWEL.test(bare) ? 'an' : 'a';
  const [first = ''] = /^[\p{L}.]+/u.exec(bare) ?? [];
  // Initials are said letter by letter.
  if (/^\p{Lu}(?:$|\.|\p{Lu}+$)/u.test(first) && !isSaidAsWord(first)) return SPELLED_LIKE_VOWEL.test(first) ? 'an' : 'a'; // prettier-ignore
  if (SOUNDS_LIKE_VOWEL.test(first)) return 'an';
  if (SOUNDS_LIKE_CONSONANT.test(first)) return 'a';
  return /^[aeiouàáâäèéêëìíîïòóôöùúûü]/i.test(first) ? 'an' : 'a';
}

/** Capitals are a word that is shouted where they are longer than initials are. */
function isSaidAsWord(capitals: string): boolean {
  return capitals.length > 4 || /^(?:WOMAN|MAN|GIRL|BOY|AUNT|SON)$/.test(capitals);
}

/** A text that ends with an article as it has to be before a word: "as a " before "engineer" is "as an ". */
export function mendArticle(before: string, word: string): string {
  return before.replace(/(?<![\p{L}\p{N}'’])(a)n?(\s+)$/iu, (_, letter: string, space: string) =>
    articleFor(word) === 'an' ? `${letter}n${space}` : `${letter}${space}`,
  );
}

/** A word in the case of another: HE gives SHE, He gives She, he gives she. */
export function keepCase(model: string, word: string): string {
  if (model.length > 1 && model === model.toUpperCase()) return word.toUpperCase();
  return model.charAt(0) === model.charAt(0).toLowerCase() ? word.toLowerCase() : capitalise(word);
}

/** A text with its first letter as a capital. */
export function capitalise(text: string): string {
  const [first = ''] = text;
  return first.toUpperCase() + text.slice(first.length);
}
