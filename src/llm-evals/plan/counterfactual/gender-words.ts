import { wordList, wordPairs } from '../../text/words.ts';

/** A gender that words are substituted to. */
export type WordGender = 'female' | 'male';

/** Words with exactly one counterpart, so that they can be exchanged in both directions: female first, then male. */
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

/** Prefixes of -woman and -man. Not every word with such an ending qualifies: human, German, Roman. */
const STEMS = wordList(`
  alder anchor assembly business camera chair church clergy congress council country crafts door fire fisher fore
  handy horse mail noble ombuds police post repair sales service spokes sports states trades work yachts
`);

/** Words that are exchanged in only one direction. The other would change a text without gender. */
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
 * The counterparts of words of the other gender. Words that depend on their context (her, his, hers, him) are not
 * included.
 */
export const COUNTERPARTS: Readonly<Record<WordGender, ReadonlyMap<string, string>>> = {
  female: new Map(PAIRS.map(([female, male]) => [male, female])),
  male: new Map([...PAIRS, ...TO_MALE]),
};
