/** The grammatical forms of a pronoun: she, her, her, hers, herself. */
export type PronounForm = 'subject' | 'object' | 'possessive' | 'possessive_pronoun' | 'reflexive';

/** The forms of one set of pronouns. */
export type PronounSet = Readonly<Record<PronounForm, string>>;

const SHE: PronounSet = { subject: 'she', object: 'her', possessive: 'her', possessive_pronoun: 'hers', reflexive: 'herself' }; // prettier-ignore
const HE: PronounSet = { subject: 'he', object: 'him', possessive: 'his', possessive_pronoun: 'his', reflexive: 'himself' }; // prettier-ignore
const THEY: PronounSet = { subject: 'they', object: 'them', possessive: 'their', possessive_pronoun: 'theirs', reflexive: 'themselves' }; // prettier-ignore

/** The forms that a placeholder may request. */
export const PRONOUN_FORMS = Object.keys(SHE) as readonly PronounForm[];

/** The names of the sets of pronouns. */
export type PronounName = 'she' | 'he' | 'they';

/** The sets of pronouns. The key of each set is its subject form, such as "she". */
export const PRONOUNS: Readonly<Record<PronounName, PronounSet>> = { she: SHE, he: HE, they: THEY };

const SHE_WORDS =
  /^(?:she|her|wom[ae]n|females?|girls?|lad(?:y|ies)|mothers?|moms?|mums?|wi(?:fe|ves)|sisters?|daughters?|aunts?|nieces?|grandmothers?|mrs|ms|miss|madam|\w+wom[ae]n)$/;
const HE_WORDS =
  /^(?:he|him|m[ae]n|males?|boys?|gentlem[ae]n|guys?|fathers?|dads?|husbands?|brothers?|sons?|uncles?|nephews?|grandfathers?|mr|sir|(?:business|chair|police|sales|spokes|fire)m[ae]n)$/;
const NONBINARY_WORDS =
  /^(?:they|them|nonbinary|non-binary|enby|genderqueer|genderfluid|gender-fluid|agender|bigender)$/;
const PEOPLE_WORDS =
  /^(?:person|people|persons|individuals?|someone|candidates?|applicants?|adults?|child|children|students?|citizens?)$/;

/**
 * Returns the pronouns for a dimension's value: "she" for "older woman", "he" for "man", "they" for "nonbinary person"
 * and "person".
 * @returns undefined if no pronouns are known, or if two words of the value have different pronouns
 */
export function pronounsOf(value: string): PronounName | undefined {
  const words = value.toLowerCase().match(/[\p{L}-]+/gu) ?? [];
  const has = (pattern: RegExp): boolean => words.some((word) => pattern.test(word));
  if (has(NONBINARY_WORDS)) return 'they';
  const [isShe, isHe] = [has(SHE_WORDS), has(HE_WORDS)];
  if (isShe || isHe) return isShe === isHe ? undefined : isShe ? 'she' : 'he';
  return has(PEOPLE_WORDS) ? 'they' : undefined;
}
