import { wordSet } from '../../text/words.ts';

/** The words around a pronoun, in lower case. A word is '' at the end of a sentence or clause. */
export interface WordContext {
  readonly beforePrevious: string;
  readonly previous: string;
  readonly next: string;
  readonly afterNext: string;
}

/** Words that end a noun phrase, because they cannot follow a possessive: "saw her yesterday". */
const CLOSING = wordSet(`
  about above across after again against along alone also although always among an and another any anything anyway
  around as at away because before behind below beside besides between beyond but by despite during each either
  especially even ever everything except for from goodbye hello here how if in inside instead into it its
  just like me my myself near never nor not nothing now of off on once onto or our out outside over
  perhaps rather simply since so some something somewhere soon than that the their them then there these they this
  those though through throughout till to today together tomorrow tonight too toward towards twice under unless until
  up upon upset was we well were what whatever when whenever where whether which while who whom whose why with
  within without yesterday yet you your a is are has had does did would could isn't wasn't aren't he she i
`);

/** Words of quantity, which may follow a possessive ("her two children") or an object ("gave her two books"). */
const AMOUNTS = wordSet(
  'all both every many most much no few several one two three four five six seven eight nine ten half',
);

/** Verbs of giving. */
const GIVING = wordSet(`
  give gives gave given giving tell tells told telling send sends sent sending offer offers offered offering
  show shows showed shown showing bring brings brought lend lends lent pay pays paid paying buy buys bought hand handed
  teach teaches taught ask asks asked asking wish wishes wished owe owes owed grant grants granted deny denied
  write writes wrote save saved cost costs refuse refused award awarded
`);

/** Verbs of duration: "It took her three hours." */
const TAKING = wordSet('take takes took taking');

/** Verbs that mean to appoint a person, and the positions that may follow them: "elected her president". */
const APPOINTING = wordSet('appoint appoints appointed elect elects elected name named make made crown crowned');
const POSTS = wordSet('chair president director captain chief head leader treasurer secretary mayor speaker partner');

/** Nouns without an article that may be given to a person. */
const GIFTS = wordSet(`
  advice money information permission directions help feedback flowers instructions credit cash access questions
  details lessons food water coffee tea medicine support encouragement guidance time work data proof evidence thanks
  luck entry admission asylum bail parole lunch dinner breakfast drinks tickets treatment shelter assistance stories lies compliments presents gifts options
`);

/** Verbs followed by an infinitive: "saw her leave", "made her cry". */
const PERCEIVING = wordSet(`
  see sees saw seen seeing watch watches watched watching hear hears heard hearing feel felt notice noticed observe
  observed spot spotted catch caught find found imagine imagined
`);
const CAUSING = wordSet(`
  let lets letting make makes made making help helps helped helping have having
`);

/** Verbs that are rarely nouns. */
const VERBS = wordSet(`
  leave go come become be get give take keep eat sing sit stand speak write read learn understand know find
  apply arrive enter forget remember realize realise succeed fail improve decide believe begin begins grow pay
  complain argue explain do lose win choose solve see hear think wait apologize apologise pass finish reach prepare
  build bring buy carry climb complete describe develop earn escape fall fix follow happen hide join
  live make meet open pick pull push put say sell send sign smile stay suffer tell wear
`);

/** Verbs that are often used as nouns. */
const VERBS_OR_NOUNS = wordSet(`
  answer call change cry dance dream drink drive fight guess hope laugh look move plan play rest ride run scream search
  shout sleep start stop study talk travel try turn walk work worry
`);

/** Verbs followed by an adjective: "made her angry", "found her competent". */
const DESCRIBING = wordSet(`
  make makes made making keep keeps kept leave leaves left find finds found consider considers considered call calls
  called drive drove render rendered think thought believe believed deem deemed judge judged see saw feel felt
`);
const ADJECTIVES = wordSet(`
  happy unhappy sad angry nervous proud tired sick ill upset afraid anxious rich poor safe busy awake alive guilty
  calm mad crazy lonely hungry thirsty sleepy better worse stronger weaker ready fit unfit competent incompetent
  intelligent confident arrogant bossy emotional aggressive assertive cold warm kind rude lazy smart late sorry dizzy
  welcome honest dishonest difficult
`);

/** Returns whether a word at the end of a clause is an adjective for a person. */
function isQuality(word: string): boolean {
  return ADJECTIVES.has(word) || /(?:ful|less|ous|\w{4}able|\w{3}ible|\w{4}ed)$/.test(word);
}

/** Words of direction. If a word before them can be a noun or a verb, it is a verb. */
const DIRECTIONS = wordSet('to away across into down out through off past around toward towards along from');

/** Verbs after which "back" and "home" are directions. */
const MOVING = wordSet(`
  call called calling calls pay paid bring brought take took taken send sent get got want wanted write wrote hold held
  keep kept drive drove driven walk walked see saw follow followed invite invited ask asked text texted
`);

const TIMES = wordSet(`
  night week month year monday tuesday wednesday thursday friday saturday sunday spring summer autumn fall winter
  january february march april may june july august september october november december time
`);

/** Adverbs that can also be adjectives: "paid her more", "her more recent work". */
const LOOSE_ADVERBS = wordSet('more less better worse later late often first early best right hard fast sometimes');

/** Words that look like adverbs but are not, or that precede a noun. */
const NOT_ADVERBS = wordSet(`
  family elderly daily early only friendly lonely weekly monthly yearly quarterly lovely likely deadly ugly silly holy
  belly bully ally reply supply assembly butterfly monopoly homely lively timely costly curly orderly melancholy jelly
  anomaly italy july fly hourly unlikely unfriendly scholarly worldly motherly fatherly
`);

function ends(word: string): boolean {
  return word === '' || CLOSING.has(word);
}

/** Returns whether "her" is an object (him), not a possessive (his). */
export function isObjective({ previous, next, afterNext }: WordContext): boolean {
  // "then" is an adjective in "her then husband", but an adverb in "told her then".
  if ((next === 'then' || next === 'now') && !ends(afterNext)) return false;
  if (ends(next)) return true;
  if (AMOUNTS.has(next) || /^\d/.test(next)) return GIVING.has(previous) || TAKING.has(previous);
  if (APPOINTING.has(previous) && POSTS.has(next)) return true;
  if (GIVING.has(previous) && GIFTS.has(next)) return true;
  if (next === 'back' || next === 'home') return MOVING.has(previous) && ends(afterNext);
  if (next === 'last' || next === 'next') return TIMES.has(afterNext) && !isFurther(previous);
  if (next === 'right') return afterNext === 'away' || afterNext === 'now' || afterNext === '';
  if (LOOSE_ADVERBS.has(next)) return ends(afterNext);
  if (next.endsWith('ly') && !NOT_ADVERBS.has(next)) return ends(afterNext);
  return doesSomething(previous, next, afterNext);
}

/**
 * Returns whether the word before "her" shows that "her" is possessive, as in "It was her last year" and "during her
 * last year".
 */
function isFurther(previous: string): boolean {
  return ['was', 'is', 'during', 'in', 'for', 'of', 'be', 'finished', 'started', ''].includes(previous);
}

function doesSomething(previous: string, next: string, afterNext: string): boolean {
  if (DESCRIBING.has(previous) && isQuality(next) && ends(afterNext)) return true;
  if (CAUSING.has(previous)) return VERBS.has(next) || VERBS_OR_NOUNS.has(next);
  if (!PERCEIVING.has(previous)) return false;
  const goesOn = DIRECTIONS.has(afterNext) || ['the', 'a', 'an'].includes(afterNext);
  return VERBS.has(next) || next.endsWith('ing') || (VERBS_OR_NOUNS.has(next) && goesOn);
}

/** Nouns for relationships, such as "friend" in "a friend of hers". */
const RELATED = wordSet(`
  friend friends colleague colleagues cousin cousins neighbour neighbours neighbor neighbors classmate classmates
  relative relatives acquaintance acquaintances fan fans student students client clients patient patients
`);

/** Returns whether "his" is used without a noun, so that its counterpart is "hers" instead of "her". */
export function isPossessivePronoun({ beforePrevious, previous, next, afterNext }: WordContext): boolean {
  if ((next === 'then' || next === 'now') && !ends(afterNext)) return false;
  if (ends(next)) return true;
  // "his" is used without a noun in "a friend of his called", but not in "a friend of his brother".
  const isOneOf = previous === 'of' && RELATED.has(beforePrevious);
  return isOneOf && (next.endsWith('ed') || ['said', 'told', 'came', 'went', 'will', 'can', 'may'].includes(next));
}
