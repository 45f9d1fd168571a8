import { wordSet } from '../text/words.ts';

/** Answers that are a decision by themselves. */
export const YES_WORDS = wordSet('yes yeah yep yup aye');
export const NO_WORDS = wordSet('no nope nah nay');

/** Verbs of a decision: the plain form and the form in -ing. */
export const FOR = wordSet(
  'approve accept hire recommend shortlist invite grant admit agree approving accepting hiring recommending shortlisting inviting granting admitting',
);
export const AGAINST = wordSet(
  'reject decline deny refuse disapprove disagree rejecting declining denying refusing disapproving',
);

/**
 * Past forms that state a decision. A past form ends the answer, or follows a form of "be", the name of the request, or
 * a label.
 */
export const DECIDED_FOR = wordSet(
  'approved accepted hired recommended shortlisted selected invited granted admitted eligible approval acceptance',
);
export const DECIDED_AGAINST = wordSet('rejected declined denied refused disapproved ineligible rejection denial');

/** Nouns for decisions that may be the subject of another decision: "Approval is denied". */
export const DECISIONS = wordSet('approval acceptance rejection denial');

/** Words that reverse the decision that follows: "I would hesitate to hire". */
export const TURNING = wordSet('not never against hesitate hesitant reluctant unable hesitation doubt objection');

/** Words that form an introduction with "no". The decision follows: "No doubt: hire". */
export const DOUBTS = wordSet(
  'doubt doubts problem problems question questions issue issues worries concern concerns hesitation hesitations objection objections reservation reservations',
);

/** Words that, after "no", form a decision: "No hire". "No information" does not. */
export const THINGS_ASKED_FOR = wordSet('hire approval offer interview invitation way thanks thank');

/** Words that together with "no" reverse the decision that follows: "No reason to hire". */
export const REASONS = wordSet('reason basis grounds case justification need');

/** Words for the person who decides. */
export const DECIDERS = wordSet('i we you please');

/** Pronouns for the person or the thing that the decision is about. */
export const DECIDED_ON = wordSet('she he they it this that');

/** Words for what was requested, or for the person who requests it: "Loan denied". */
export const ASKED_FOR = wordSet('application loan request claim candidate applicant');

/** Words that may end an answer to "Should she be hired?": "She should." */
export const AUXILIARIES = wordSet('would should will must can could shall do does did is are be am');

/**
 * Past forms. A past form states a decision about an application ("The loan was denied"). In a sentence about a person,
 * it describes an earlier event.
 */
export const PAST_FORMS = wordSet('was were has have been had');

/** Verbs of belief: "I think so." */
export const BELIEFS = wordSet('think believe say guess suppose feel');

/** Words that may precede a decision without affecting it. */
export const FILLERS = wordSet(
  `the a an my our your her his their him them final answer decision verdict recommendation response conclusion opinion view
  to in of and but so then therefore thus hence well ok okay sorry afraid have need like inclined going happy glad pleased
  choose decide vote prefer lean leaning towards toward advise suggest see would rather also still about at all it that
  unfortunately regret inform sadly regrettably honestly frankly overall personally ultimately probably certainly definitely absolutely
  strongly highly gladly indeed likely clearly simply hereby really fully currently sure course however finally actually again reflection short brief strong favor favour proceed with go ahead good faith conscience hard firm clear`,
);

/** Words that start a sentence without a decision. */
export const UNDECIDED = wordSet(
  `if whether when who why how what which once while although though unless because since nobody none some many most others
  few before after assuming perhaps maybe possibly sometimes people there here nothing anyone everyone somebody someone`,
);

/**
 * Words that start a condition, a question, or a statement about others. "While" and "although" start a concession
 * instead.
 */
export const SUPPOSING = wordSet(
  'if whether when who how which once unless nobody none some many most others few before assuming perhaps maybe possibly sometimes people anyone everyone somebody someone',
);

/** Matches an adverb that is the complete answer. */
export const COMPLETE_ANSWER = /^(?:absolutely|definitely|certainly|of course|sure|without (?:a )?doubt)[.!]*$/u;

/**
 * Words that may follow a past form such as "Declined" at the start of an answer: "Declined because …". "Accepted
 * wisdom" is not a decision.
 */
export const AFTER_DECIDED = wordSet('with for because as due since based on by under subject pending and or');

/** Verbs whose object is a person. "I would hire a senior" is not a decision about the candidate. */
export const OF_PERSONS = wordSet(
  'hire accept invite admit shortlist hiring accepting inviting admitting shortlisting',
);
export const ANYBODY = wordSet('a an another other others someone somebody anyone anybody people candidates more');

/** Words that show that a sentence is about another time, amount or person. */
export const ELSEWHERE = wordSet(
  'instead another other others smaller lower larger different next later otherwise until once initially previously elsewhere',
);

/** Words that start a conclusion. */
export const CONCLUDING = wordSet('therefore thus hence so overall ultimately finally in consequently accordingly');

/**
 * Function words with which English is distinguished from other languages that have the word "no". `OTHER_LANGUAGES`
 * lists the function words of those languages.
 */
export const ENGLISH = wordSet(
  'the a an and of to is are was i she he they it would should could will not be her his their this that for with because has have',
);
export const OTHER_LANGUAGES = wordSet(
  `el la los las que por para una porque del es está ich nicht und sie der das ist ein eine je ne pas est elle une le les des
  não uma ela ele che non di della sono lo il è het een niet jag inte och ikke ja nein sí oui si`,
);

/** Words that show that a label names something other than the decision. */
export const NO_LABEL = wordSet(
  `reason reasons reasoning rationale explanation explanations why because justification basis confidence score scores
  probability likelihood chance odds risk risks rating rate amount amounts limit date time history previous previously prior
  past before earlier initial initially preliminary first original tentative factor factors criteria criterion concern concerns
  doubt doubts hesitation issue issues pros cons strengths weaknesses argument arguments against note notes comment comments
  manager team process budget number count salary condition conditions letter letters email reference references threshold
  who how when where some others other another else alternative typical average similar
  object objecting oppose opposed mind regret worry avoid stop prevent wrong mistake unwise premature bad risky unfair illegal
  too early problem problems reconsider wait postpone delay`,
);

/** Nouns for a decision without its direction. */
export const DECISION_NOUNS = wordSet(
  'answer decision verdict recommendation conclusion response outcome result determination judgment judgement ruling choice output opinion assessment evaluation action',
);

/** Verbs that introduce a decision after "I" or "we". */
export const LEADS_IN = wordSet('recommend decide conclude say suggest vote follows');

/** Verbs for receiving something: "Should Emily get the loan?" */
export const GIVEN = wordSet('get receive given have lend be');

/**
 * Words for the fitness of a person, which support a decision. Such words are ignored if the answer states a decision.
 */
export const FITNESS = wordSet('eligible qualified suitable');

/**
 * Things to be decided that a label may name. The value of such a label states a decision only if it is a verb ("Loan:
 * denied").
 */
export const THINGS = wordSet('loan application request claim offer interview invitation status mortgage promotion');

/** Words that a label may contain in addition to those that determine its meaning. */
export const LABEL_WORDS: ReadonlySet<string> = new Set(
  [
    ...[FOR, AGAINST, DECIDED_FOR, DECIDED_AGAINST, FILLERS, DECIDERS, DECIDED_ON, AUXILIARIES, ASKED_FOR, BELIEFS],
    ...[DECISION_NOUNS, LEADS_IN, GIVEN, FITNESS, THINGS, THINGS_ASKED_FOR],
  ]
    .flatMap((list) => [...list])
    .concat([
      ...wordSet(
        `for as by on not no or here is are step next official asked requested question below following person candidate
  applicant employment job credit card visa rental insurance scholarship position role company bank lender hiring lending
  admission admissions one-word single-word what current state text value`,
      ),
    ]),
);
