import { wordSet } from '../text/words.ts';

/**
 * Words in the lists of offensive words that are not offensive in texts about people: names of groups, medical and
 * legal words, personal names, and everyday words. These words have weight 0. The list was compiled by hand. If a
 * harmless word is missing from the list, it causes false positives.
 */
const NOT_OFFENSIVE = [
  // Groups of people, including terms that are now dated.
  'abo gora goras gringo gringos gyopo gyopos gypsies gypsy gypsys hadji hadjis haji hajis hajji hajjis haole haoles',
  'hapa hindoo jewess kyopo kyopos lesbain lesbayn lesbin moslem mulatto mzungu mzungus negro negroes taff',
  'transvestite yank yanks',
  // Words about the body, crime and history, and names.
  'anal anus bestiality dildo ejaculate faeces fellatio gonorrehea hentai incest kondum masturbate masturbating orgasm',
  'orgy penis porn rape raper scat semen sex sexed sexing sodomise sodomize sodomy stripclub upskirt vagina',
  'dahmer fatah hitlerism hitlerist jacktheripper kkk klansman klansmen klanswoman klanswomen maumau slave',
  'slavedriver usama clansman clansmen clanswoman clanswomen dix fu kwa noonan pollock pollocks tang willie',
  // Words whose usual sense is harmless.
  'barf barface barfface bong boonie boonies bung bunga cheesehead cheeseheads chug chugs chunkies chunky chunkys',
  'cockfight cocky coondog cumquat dink dinks dong dope evl flange floo footstar gables geez geezer greaser ho hobo',
  'jeez jig jigs juggalo kum kumquat looser magicwand mams muff niggard niggarded niggarding niggardliness niggards',
  'niggle niggled niggles niggling nigglings nip pansies pansy pom poms pud quickie rearend redleg redlegs reefer',
  'rigger rimming seppo seppos sloper slopers sooties sooty spit spitter spreadeagle spunk squinty stringer swallow swallower swalow',
  'thirdeye threeway tinker tinkers triplex tuckahoe turnon twinkie vibr vibrater vomit welfare whiz',
];

/** Coarse or insulting words. A text with only one of these words is not treated as abuse. */
const MILD = [
  'argie arse ass asses bastard bogan bollock bollocks boner boob boobies booby bugger buggered bullcrap butthead cock',
  'commie crap crapola crapper crappy dammit damnit dick dipstick doodoo dumb fatso fubar gangsta godammit goddamit goddammit',
  'goddamn goddamned goddamnit gyp gyped gypp gypped hillbillies hillbilly hooker hookers hooters hotdamn hussy idiot',
  'indon indons jackass krap krappy limey loser lowlife moron nookey nookie peepee perv pimp pimped piss pissed pisser pisses',
  'pissing pommie pommies pommy poo poop pooper pooping prick puke redneck rednecks russki russkie',
  'scallywag shagging shat shiksa shylock shylocks sissy slapper slimeball smut spastic stupid tit tittie titties titty',
  'tosser trailertrash turd twink weenie weewee welcher wtf wuss wuzzie',
];

/**
 * Patterns of words and phrases in which an offensive word is harmless. The patterns match only at the start of a word.
 */
const HARMLESS = [
  'abo blood',
  'asseg',
  'assor',
  '(?:blue|coal|great) tits?\\b',
  'chink in',
  'cock(?:-a-doodle|ad|er|le|ney|pit|roach|tail)',
  'cum laude',
  'cum(?:in|prod|sum)',
  'dick (?:cheney|van)',
  'dick(?:ens|ey|inson|son|stein)',
  '(?:fire|flame|growth) retard',
  'fsck',
  'homo (?:economicus|erectus|habilis|sapiens)',
  'maine coon',
  'moby dick',
  'niggard',
  'penistone',
  'pussy ?(?:cat|foot|willow)',
  'rakshit',
  'shi(?:itake|ttah|ttim)',
  'spic and span',
  'tit for tat',
  'van ?dyke',
];

/** The weight of a coarse or insulting word. `STRONG_WEIGHT` is the weight of all other offensive words. */
const MILD_WEIGHT = 0.25;
const STRONG_WEIGHT = 0.7;

const notOffensive = wordSet(NOT_OFFENSIVE.join(' '));
const mild = wordSet(MILD.join(' '));

/** Returns the weight of a word in the lists of offensive words, from 0 to 1. */
export function weightOf(word: string): number {
  if (notOffensive.has(word)) return 0;
  return mild.has(word) ? MILD_WEIGHT : STRONG_WEIGHT;
}

const harmless = new RegExp(`\\b(?:${HARMLESS.join('|')})`, 'gi');

/** Replaces harmless words and phrases with blanks, so that all other characters keep their positions. */
export function withoutHarmlessPhrases(text: string): string {
  return text.replaceAll(harmless, (phrase) => ' '.repeat(phrase.length));
}
