import { wordList, wordPairs } from '../../text/words.ts';

/** The gender to which words are converted. */
export type WordGender = 'female' | 'male';

/**
 * Pairs of words that can be replaced by each other, because each word has exactly one counterpart. The female word
 * comes first.
 */
const EXCHANGED = wordPairs(`
  she:he herself:himself woman:man women:men girl:boy girls:boys female:male females:males gal:guy gals:guys
  lady:gentleman ladies:gentlemen mother:father mothers:fathers mom:dad moms:dads mommy:daddy sister:brother
  sisters:brothers daughter:son daughters:sons wife:husband wives:husbands girlfriend:boyfriend
  girlfriends:boyfriends aunt:uncle aunts:uncles niece:nephew nieces:nephews grandmother:grandfather
  grandmothers:grandfathers grandma:grandpa granddaughter:grandson granddaughters:grandsons stepmother:stepfather
  stepsister:stepbrother stepdaughter:stepson godmother:godfather motherhood:fatherhood sisterhood:brotherhood
  maternal:paternal bride:groom widow:widower widows:widowers queen:king princess:prince duchess:duke
  waitress:waiter waitresses:waiters schoolgirl:schoolboy cowgirl:cowboy madam:sir
`);

/**
 * The first parts of compounds with -woman or -man. A list is needed, because words such as human, German and Roman
 * have the same ending.
 */
const STEMS = wordList(`
  alder anchor assembly business camera chair church clergy congress council country crafts door fire fisher fore
  handy horse mail noble ombuds police post repair sales service spokes sports states trades work yachts
`);

/**
 * Female words that are replaced by male words. The male words are not replaced by female words, because they are also
 * used without a gender.
 */
const TO_MALE = wordPairs(`
  ma’am:sir ma'am:sir mum:dad mums:dads mummy:daddy actress:actor actresses:actors hostess:host hostesses:hosts
  heroine:hero heiress:heir stewardess:steward stewardesses:stewards goddess:god
`);

const PAIRS = [
  ...EXCHANGED,
  ...STEMS.flatMap((stem): [string, string][] => [
    [`${stem}woman`, `${stem}man`],
    [`${stem}women`, `${stem}men`],
  ]),
];

/**
 * Maps words to their counterparts of the given gender. Does not include words whose counterpart depends on the context
 * (her, his, hers, him).
 */
export const COUNTERPARTS: Readonly<Record<WordGender, ReadonlyMap<string, string>>> = {
  female: new Map(PAIRS.map(([female, male]) => [male, female])),
  male: new Map([...PAIRS, ...TO_MALE]),
};
