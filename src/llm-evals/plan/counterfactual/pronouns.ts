import type {
  CounterfactualConfig,
  LLMEvalConfig,
  PromptLanguage,
} from '../../../schemas/llm-eval/llm-eval-document.ts';
import { wordList } from '../../text/words.ts';

/** The grammatical forms of an English pronoun: she, her, her, hers, herself. */
type PronounForm = 'subject' | 'object' | 'possessive' | 'possessive_pronoun' | 'reflexive';

/** The forms of one set of English pronouns. */
type PronounSet = Readonly<Record<PronounForm, string>>;

const SHE: PronounSet = { subject: 'she', object: 'her', possessive: 'her', possessive_pronoun: 'hers', reflexive: 'herself' }; // prettier-ignore
const HE: PronounSet = { subject: 'he', object: 'him', possessive: 'his', possessive_pronoun: 'his', reflexive: 'himself' }; // prettier-ignore
const THEY: PronounSet = { subject: 'they', object: 'them', possessive: 'their', possessive_pronoun: 'theirs', reflexive: 'themselves' }; // prettier-ignore

/** The names of the sets of pronouns. */
export type PronounName = 'she' | 'he' | 'they';

/** The sets of English pronouns. The key of each set is its subject form, such as "she". */
export const PRONOUNS: Readonly<Record<PronounName, PronounSet>> = { she: SHE, he: HE, they: THEY };

// "Son, sa, ses" and "su, sus" depend only on the noun, and are equal for all people.
const FRENCH_POSSESSIVES = { possessive_m: 'son', possessive_f: 'sa', possessive_pl: 'ses' };
const SPANISH_POSSESSIVES = { possessive_m: 'su', possessive_f: 'su', possessive_pl: 'sus' };

/**
 * The pronouns of each language that depend only on the person. A possessive that agrees with the possessed noun has
 * one form for each gender and number of the noun, so that a template must name the form. No common pronouns of German,
 * French and Spanish are neutral, so these languages have no set `they`.
 */
const LANGUAGES: Readonly<
  Record<PromptLanguage, Readonly<Partial<Record<PronounName, Readonly<Record<string, string>>>>>>
> = {
  en: { she: { ...SHE }, he: { ...HE }, they: { ...THEY } },
  de: {
    she: { subject: 'sie', object: 'sie', dative: 'ihr', reflexive: 'sich', ...germanPossessives('ihr') },
    he: { subject: 'er', object: 'ihn', dative: 'ihm', reflexive: 'sich', ...germanPossessives('sein') },
  },
  fr: {
    she: { subject: 'elle', object: 'la', dative: 'lui', stressed: 'elle', reflexive: 'se', emphatic: 'elle-même', ...FRENCH_POSSESSIVES }, // prettier-ignore
    he: { subject: 'il', object: 'le', dative: 'lui', stressed: 'lui', reflexive: 'se', emphatic: 'lui-même', ...FRENCH_POSSESSIVES }, // prettier-ignore
  },
  es: {
    she: { subject: 'ella', object: 'la', dative: 'le', stressed: 'ella', reflexive: 'se', emphatic: 'ella misma', ...SPANISH_POSSESSIVES }, // prettier-ignore
    he: { subject: 'él', object: 'lo', dative: 'le', stressed: 'él', reflexive: 'se', emphatic: 'él mismo', ...SPANISH_POSSESSIVES }, // prettier-ignore
  },
};

/** Returns the possessives of a stem: the gender or number of the noun, with its case if it is not the nominative. */
function germanPossessives(stem: string): Record<string, string> {
  const endings = wordList(`
    m:- f:e n:- pl:e
    m_acc:en f_acc:e n_acc:- pl_acc:e
    m_dat:em f_dat:er n_dat:em pl_dat:en
    m_gen:es f_gen:er n_gen:es pl_gen:er
  `);
  return Object.fromEntries(
    endings.map((each) => {
      const [noun = '', ending = ''] = each.split(':');
      return [`possessive_${noun}`, ending === '-' ? stem : stem + ending];
    }),
  );
}

/** The parts of a configuration that determine the pronouns of a value. */
export type PronounConfig = Pick<CounterfactualConfig, 'language' | 'pronouns'>;

/** Returns the parts of a configuration that determine the pronouns. */
export function pronounConfig({ counterfactual }: Pick<LLMEvalConfig, 'counterfactual'>): PronounConfig {
  return { language: counterfactual?.language, pronouns: counterfactual?.pronouns };
}

/** Lists the forms that a placeholder may request, except those that a configuration declares. */
export function formsOf({ language = 'en' }: PronounConfig): readonly string[] {
  return Object.keys(LANGUAGES[language].she ?? {});
}

/** Returns the pronouns of a value by form: those of the language, and those that the configuration declares. */
export function pronounForms(value: string, config: PronounConfig): Readonly<Record<string, string>> {
  const { language = 'en', pronouns = {} } = config;
  const name = pronounsOf(value, language);
  const declared = Object.hasOwn(pronouns, value) ? pronouns[value] : {};
  return { ...(name === undefined ? {} : LANGUAGES[language][name]), ...declared };
}

const SHE_WORDS =
  /^(?:she|her|wom[ae]n|females?|girls?|lad(?:y|ies)|mothers?|moms?|mums?|wi(?:fe|ves)|sisters?|daughters?|aunts?|nieces?|grandmothers?|mrs|ms|miss|madam|\w+wom[ae]n)$/;
const HE_WORDS =
  /^(?:he|him|m[ae]n|males?|boys?|gentlem[ae]n|guys?|fathers?|dads?|husbands?|brothers?|sons?|uncles?|nephews?|grandfathers?|mr|sir|(?:business|chair|police|sales|spokes|fire)m[ae]n)$/;
const NONBINARY_WORDS =
  /^(?:they|them|nonbinary|non-binary|enby|genderqueer|genderfluid|gender-fluid|agender|bigender)$/;
const PEOPLE_WORDS =
  /^(?:person|people|persons|individuals?|someone|candidates?|applicants?|adults?|child|children|students?|citizens?)$/;

/** The words for women and men in other languages. "Mädchen" is missing, because its pronoun may be "es" or "sie". */
const WORDS: Readonly<Record<Exclude<PromptLanguage, 'en'>, { readonly she: RegExp; readonly he: RegExp }>> = {
  de: {
    she: /^(?:frau|dame|mutter|tochter|schwester|tante|oma|großmutter|ehefrau|weiblich(?:e|en|er)?)$/,
    he: /^(?:mann|herr|vater|sohn|bruder|onkel|opa|großvater|ehemann|junge|männlich(?:e|en|er)?)$/,
  },
  fr: {
    she: /^(?:femme|fille|dame|mère|sœur|soeur|tante|grand-mère|épouse|madame|féminine)$/,
    he: /^(?:homme|garçon|père|frère|fils|oncle|grand-père|époux|mari|monsieur|masculin)$/,
  },
  es: {
    she: /^(?:mujer|chica|niña|señora|madre|hermana|hija|tía|abuela|esposa|femenina)$/,
    he: /^(?:hombre|varón|chico|niño|señor|padre|hermano|hijo|tío|abuelo|esposo|marido|masculino)$/,
  },
};

/**
 * Returns the pronouns for a dimension's value: "she" for "older woman", "he" for "man", "they" for "nonbinary person"
 * and "person". In other languages, the words of this language are known too, and values without a gender have no
 * pronouns.
 * @returns undefined if no pronouns are known, or if two words of the value have different pronouns
 */
export function pronounsOf(value: string, language: PromptLanguage = 'en'): PronounName | undefined {
  const key = `${language} ${value}`;
  const found = knownPronouns.get(key);
  if (found !== undefined) return found ?? undefined;
  if (knownPronouns.size >= MAX_KNOWN) knownPronouns.clear();
  const name = readPronouns(value, language);
  knownPronouns.set(key, name ?? null);
  return name;
}

/** The pronouns of values; null for values without pronouns. A plan asks for the same values very often. */
const knownPronouns = new Map<string, PronounName | null>();

/** The maximum number of known values. They are forgotten when there are more. */
const MAX_KNOWN = 10_000;

function readPronouns(value: string, language: PromptLanguage): PronounName | undefined {
  const words = value.toLowerCase().match(/[\p{L}-]+/gu) ?? [];
  const has = (pattern: RegExp): boolean => words.some((word) => pattern.test(word));
  const own = language === 'en' ? undefined : WORDS[language];
  if (has(NONBINARY_WORDS)) return language === 'en' ? 'they' : undefined;
  const isShe = has(SHE_WORDS) || (own !== undefined && has(own.she));
  const isHe = has(HE_WORDS) || (own !== undefined && has(own.he));
  if (isShe || isHe) return isShe === isHe ? undefined : isShe ? 'she' : 'he';
  return language === 'en' && has(PEOPLE_WORDS) ? 'they' : undefined;
}
