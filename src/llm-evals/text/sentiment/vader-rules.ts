import { wordList, wordSet } from '../words.ts';

/** The amount that a booster adds to the strength of the next word, and a dampener subtracts. */
const BOOST = 0.293;

/** The amount that capitals add to a word's strength if other words are not in capitals. */
export const CAPITALS = 0.733;

/** The factor of a negation. */
export const NEGATION = -0.74;

/** Words that negate, in addition to all that contain "n't". */
const NEGATIONS = wordSet(
  `aint arent cannot cant couldnt darent despite didnt doesnt dont hadnt hasnt havent isnt mightnt
  mustnt neednt neither never none nope nor not nothing nowhere oughtnt rarely seldom shant shouldnt
  uh-uh uhuh wasnt werent without wont wouldnt`,
);

/** An underscore represents the space between two words. */
const BOOSTERS = `absolutely amazingly awfully completely considerable considerably decidedly deeply effing enormous
  enormously entirely especially exceptional exceptionally extreme extremely fabulously flippin
  flipping frackin fracking frickin fricking friggin frigging fuckin fucking fuggin fugging fully
  greatly hella highly hugely incredible incredibly intensely major majorly more most particularly
  purely quite really remarkably so substantially thoroughly total totally tremendous tremendously
  uber unbelievably unusually utter utterly very`;

const DAMPENERS = `almost barely hardly just_enough kind-of kind_of kinda kindof less little marginal marginally
  occasional occasionally partly scarce scarcely slight slightly somewhat sort-of sort_of sorta sortof`;

/** The strength that words and pairs of words, in lower case, add to the next word. */
export const STRENGTHS = new Map([...strengths(BOOSTERS, BOOST), ...strengths(DAMPENERS, -BOOST)]);

/** Phrases in lower case with their own ratings. */
export const PHRASES = new Map([
  ['the shit', 3],
  ['the bomb', 3],
  ['bad ass', 1.5],
  ['badass', 1.5],
  ['bus stop', 0],
  ['yeah right', -2],
  ['kiss of death', -1.5],
  ['to die for', 3],
  ['beating heart', 3.5],
]);

/** Returns whether a word, in lower case, negates the words after it. */
export function negates(word: string): boolean {
  return NEGATIONS.has(word) || word.includes("n't");
}

function strengths(words: string, strength: number): [string, number][] {
  return wordList(words).map((word) => [word.replace('_', ' '), strength]);
}
