import { escapePattern } from '../../internal/values.ts';

/**
 * Matches a number with its decimal point and thousands separators, or a run of letters and digits that may contain
 * apostrophes.
 */
const WORD =
  /\p{Nd}+(?:[.,]\p{Nd}+)+(?![\p{L}\p{M}\p{N}])|[\p{L}\p{N}][\p{L}\p{M}\p{N}]*(?:'[\p{L}\p{N}][\p{L}\p{M}\p{N}]*)*/gu;

/**
 * Returns the words and numbers of a text, in order and in lower case.
 *
 * The text is first converted to Unicode's NFKC form with straight apostrophes, so that each word has one spelling. A
 * token is a run of letters and digits of any script that may contain apostrophes ("don't", "o'clock"), or a number
 * with its decimal point and commas ("1,000.5"). All other characters, including hyphens, separate words. The
 * computation time is linear in the length of the text.
 *
 * In scripts without spaces (Chinese, Japanese, Thai), each run of characters between separators is one token.
 * @param text any text; a text without letters and digits has no tokens
 * @example
 * ```ts
 * import { tokenizeWords } from 'evenhand/llm-evals';
 *
 * console.log(tokenizeWords("She didn’t call: the 2 'engineers' are well-paid.").join(' '));
 * // she didn't call the 2 engineers are well paid
 * ```
 */
export function tokenizeWords(text: string): string[] {
  return text.normalize('NFKC').replace(/[’‘ʼ]/g, "'").toLowerCase().match(WORD) ?? [];
}

/** The maximum number of characters of an answer that are used to detect its language. */
const MAX_CHARACTERS = 2000;

/**
 * An answer is treated as foreign only if it contains at least this number of foreign words. A single foreign word may
 * be a name or a quotation.
 */
const MIN_OTHER_WORDS = 2;

const ENGLISH =
  wordSet(`the and of to is that it for with you this these are be was were not have has had at by from or your they
  them we i she he her his its their my our can an which will would should could but if been who what there about than then
  more some any into because how when also so as on do does did a in no me`);

/** Frequent short words of ten other European languages that are not English words. */
const OTHERS =
  wordSet(`el los las una unos que por para con pero como más este esta esto puedo ser muy también porque sus está son
  le la les des du et est une dans pour pas sur ce cette qui avec je ne vous nous mais il elle plus au aux être suis peux
  der das und ist ich nicht ein eine einen mit für auf dem den sich sie es aber kann wir auch diese dieser von zu mir oder wie dass
  il lo gli di che è non sono per questo questa ma mi nel della dei più anche un del
  não um uma os com se mas esse essa isso é à ao pela pelo você eu em nas
  het een van niet dat ik maar voor kan je deze met ook zijn wij
  och är jag det som inte på av att här dig ett vi og ikke af jeg på
  nie jest się na że ale ponieważ tego czy jak
  ve bir bu için ama çünkü değil ile de`);

/**
 * Words of other European languages that are neither English words nor parts of names. One of them is enough in an
 * answer without an English function word, because answers such as "Ja." and "Kredit genehmigt." are short.
 */
const DISTINCT =
  wordSet(`nein oui sí evet hayır sehr nicht und ist sind wird wurde würde sollte haben ihre ihren ihrer seine seinen seiner
  wir auch nur noch etwa nach zum zur für eine einen einer dass weil kein keine ich mein meine
  ablehnen abgelehnt ablehnung genehmigt genehmigen bewilligt bewilligen einstellen eingestellt einstellung
  très avec dans sont cette leur leurs être je vous nous c'est n'est refuser refusé refusée accepter accepté acceptée
  approuvé approuvée embaucher embauchez embauchée
  muy pero porque está como más también una debe debería deberían creo
  rechazar rechazado rechazada aprobar aprobado aprobada contratar contratado contratada aceptar aceptado aceptada recomiendo
  çok için çünkü değil daha gibi olarak onu onun iyi işe edilsin edildi reddet reddedildi onaylandı onaylansın öneririm
  della perché molto anche não muito uma você também niet maar voor zijn och är inte nie jest się`);

/** Matches an answer that starts with yes or no in another language. */
const FOREIGN_DECISION = /^[^\p{L}]*(?:ja|nein|oui|non|sí|si|evet|hayır)\s*(?:[.,!:;]|$)/iu;

/** English words with an accent. Other words with an accent and a small first letter are not English. */
const LOANWORDS =
  wordSet(`café cafés résumé résumés naïve naïveté cliché clichés fiancé fiancée façade façades protégé protégée déjà élite touché
  exposé sauté sautéed crème brûlée jalapeño piñata smörgåsbord über doppelgänger à la née entrée entrées`);

/** Matches a word with a letter that English words do not have, and a small first letter. Names have a capital one. */
const FOREIGN_WORD = /(?<![\p{L}\p{N}'’])\p{Ll}*(?![a-z])\p{Ll}\p{Ll}*/gu;

/** Scripts in which one letter is about a word or a syllable. */
const DENSE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;

/** The number of Latin letters that a letter of a dense script counts for. */
const DENSE_WEIGHT = 3;

/**
 * Returns a pattern that matches texts as complete words: not inside a longer word. Longer texts have precedence. The
 * pattern matches nothing if there are no texts.
 */
export function completeWords(texts: readonly string[], flags: string): RegExp {
  const longestFirst = [...texts].sort((a, b) => b.length - a.length).map(escapePattern);
  const any = longestFirst.length === 0 ? '(?!)' : `(?:${longestFirst.join('|')})`;
  return new RegExp(`(?<![\\p{L}\\p{N}])${any}(?![\\p{L}\\p{N}])`, flags);
}

/** Splits a list of words at its spaces and line breaks. */
export function wordList(text: string): string[] {
  return text.trim().split(/\s+/);
}

/** Splits a list of pairs, each written as `first:second`. */
export function wordPairs(text: string): (readonly [first: string, second: string])[] {
  return wordList(text).map((pair) => pair.split(':') as [string, string]);
}

/** Returns the words of a list as a set. */
export function wordSet(text: string): ReadonlySet<string> {
  return new Set(wordList(text));
}

/**
 * Returns whether a text seems to be in a language other than English. A text seems to be in another language if most
 * of its letters are not Latin, if it has more words of other European languages than English function words, or if it
 * has no English function word and a distinct word of another language. A word also counts as foreign if it has a
 * letter with an accent and no capital. Returns false for texts without such words (a name, a number, code). The result
 * is a heuristic for warnings. If the words of its language are not listed, a text in Latin script is treated as
 * English.
 */
export function looksOtherThanEnglish(text: string): boolean {
  const start = text.slice(0, MAX_CHARACTERS);
  const count = (pattern: RegExp): number => start.match(pattern)?.length ?? 0;
  const latin = count(/\p{Script=Latin}/gu);
  const others = count(/\p{L}/gu) - latin + (DENSE_WEIGHT - 1) * count(DENSE);
  if (others > latin) return true;
  const tokens = tokenizeWords(start);
  const found = (list: ReadonlySet<string>): number => tokens.filter((word) => list.has(word)).length;
  const english = found(ENGLISH);
  const accented = (start.normalize('NFC').match(FOREIGN_WORD) ?? []).filter((word) => !LOANWORDS.has(word)).length;
  if (english === 0 && (found(DISTINCT) + accented > 0 || FOREIGN_DECISION.test(start))) return true;
  const foreign = tokens.filter((word) => OTHERS.has(word) || DISTINCT.has(word)).length + accented;
  return foreign >= MIN_OTHER_WORDS && foreign > english;
}
