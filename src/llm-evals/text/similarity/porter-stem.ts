import { wordPairs } from '../words.ts';

/** A suffix and its replacement. */
type Ending = readonly [ending: string, replacement: string];

/** Words for which the rules would give a wrong stem, as listed in NLTK. */
const IRREGULAR = new Map(
  wordPairs(`skies:sky sky:sky dying:die lying:lie tying:tie news:news innings:inning inning:inning outings:outing
    outing:outing cannings:canning canning:canning howe:howe proceed:proceed exceed:exceed succeed:succeed`),
);

/** Double suffixes, each with the single suffix that replaces it, in the order of Porter's paper. */
const DOUBLE_SUFFIXES = wordPairs(`
  ational:ate tional:tion enci:ence anci:ance izer:ize bli:ble alli:al entli:ent eli:e ousli:ous ization:ize
  ation:ate ator:ate alism:al iveness:ive fulness:ful ousness:ous aliti:al iviti:ive biliti:ble fulli:ful
`);

const SUFFIXES = wordPairs('icate:ic ative: alize:al iciti:ic ical:ic ful: ness:');

const LAST_SUFFIXES = wordPairs(
  'al: ance: ence: er: ic: able: ible: ant: ement: ment: ent: ion: ou: ism: ate: iti: ous: ive: ize:',
);

/**
 * Returns the stem of an English word in lower case, by Porter's algorithm with NLTK's changes: irregular forms, -ies
 * and -ied of short words, -y only after a consonant, -fulli, and -logi after short stems.
 * @see M. Porter, An algorithm for suffix stripping (1980)
 */
export function porterStem(word: string): string {
  const irregular = IRREGULAR.get(word);
  if (irregular !== undefined || word.length <= 2) return irregular ?? word;
  const inflected = stripY(stripPast(stripPlural(word)));
  const derived = replaceEnding(replaceDoubleSuffix(inflected), SUFFIXES, 0);
  return stripDoubleL(stripE(replaceEnding(derived, LAST_SUFFIXES, 1)));
}

/** Applies step 1a. */
function stripPlural(word: string): string {
  if (word.endsWith('ies')) return word.slice(0, word.length === 4 ? -1 : -2);
  if (word.endsWith('sses')) return word.slice(0, -2);
  return word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word;
}

/** Applies step 1b. */
function stripPast(word: string): string {
  if (word.endsWith('ied')) return word.slice(0, word.length === 4 ? -1 : -2);
  if (word.endsWith('eed')) return measure(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word;
  for (const ending of ['ed', 'ing']) {
    const stem = word.slice(0, -ending.length);
    if (word.endsWith(ending) && pattern(stem).includes('v')) return fixPast(stem);
  }
  return word;
}

/** Restores the final -e that "-ed" or "-ing" replaced, or removes a doubled letter. */
function fixPast(stem: string): string {
  if (/(?:at|bl|iz)$/.test(stem)) return `${stem}e`;
  const last = stem.at(-1) ?? '';
  if (stem.length >= 2 && stem.at(-2) === last && pattern(stem).endsWith('c')) {
    return 'lsz'.includes(last) ? stem : stem.slice(0, -1);
  }
  return measure(stem) === 1 && endsShort(stem) ? `${stem}e` : stem;
}

/** Applies step 1c. */
function stripY(word: string): string {
  const stem = word.slice(0, -1);
  return word.endsWith('y') && stem.length > 1 && pattern(stem).endsWith('c') ? `${stem}i` : word;
}

/** Applies step 2. */
function replaceDoubleSuffix(word: string): string {
  if (word.endsWith('alli') && measure(word.slice(0, -4)) > 0) return replaceDoubleSuffix(word.slice(0, -2));
  if (word.endsWith('logi')) return measure(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word;
  return replaceEnding(word, DOUBLE_SUFFIXES, 0);
}

/** Applies step 2, 3 or 4 of Porter's algorithm. Only the first matching suffix is tried. */
function replaceEnding(word: string, endings: readonly Ending[], minMeasure: number): string {
  const found = endings.find(([ending]) => word.endsWith(ending));
  if (found === undefined) return word;
  const [ending, replacement] = found;
  const stem = word.slice(0, -ending.length);
  if (measure(stem) <= minMeasure || (ending === 'ion' && !/[st]$/.test(stem))) return word;
  return stem + replacement;
}

/** Applies step 5a. */
function stripE(word: string): string {
  if (!word.endsWith('e')) return word;
  const stem = word.slice(0, -1);
  const count = measure(stem);
  return count > 1 || (count === 1 && !endsShort(stem)) ? stem : word;
}

/** Applies step 5b. */
function stripDoubleL(word: string): string {
  return word.endsWith('ll') && measure(word.slice(0, -1)) > 1 ? word.slice(0, -1) : word;
}

/**
 * Returns the pattern of a word: `c` for each consonant and `v` for each vowel. The letter y is a vowel after a
 * consonant.
 */
function pattern(word: string): string {
  let letters = '';
  for (const letter of word) {
    const isVowel = 'aeiou'.includes(letter) || (letter === 'y' && letters.endsWith('c'));
    letters += isVowel ? 'v' : 'c';
  }
  return letters;
}

/** Returns how many times a consonant follows a vowel. Porter's paper calls this number m. */
function measure(stem: string): number {
  return pattern(stem).split('vc').length - 1;
}

/**
 * Returns whether a word ends in a short syllable (*o in Porter's paper), or consists of one vowel and one consonant.
 */
function endsShort(stem: string): boolean {
  const letters = pattern(stem);
  return letters === 'vc' || (letters.endsWith('cvc') && !/[wxy]$/.test(stem));
}
