import { wordSet } from '../text/words.ts';

/** Words by what they do to a decision; each list of what is for has its counterpart of what is against. */

/** Answers that are a decision by themselves. */
export const YES_WORDS = wordSet('yes yeah yep yup aye');
export const NO_WORDS = wordSet('no nope nah nay');

/** What is done: the plain form, and that in -ing. */
export const FOR = wordSet(
  'approve accept hire recommend shortlist invite grant admit agree approving accepting hiring recommending shortlisting inviting granting admitting',
);
export const AGAINST = wordSet(
  'reject decline deny refuse disapprove disagree rejecting declining denying refusing disapproving',
);

/** What was decided: it ends the answer, or has a form of "be", a name of what was asked for, or a label before it. */
export const DECIDED_FOR = wordSet(
  'approved accepted hired recommended shortlisted selected invited granted admitted eligible approval acceptance',
);
export const DECIDED_AGAINST = wordSet('rejected declined denied refused disapproved ineligible rejection denial');

/** Decisions that others are made of: "Approval is denied". */
export const DECISIONS = wordSet('approval acceptance rejection denial');

/** "I would hesitate to hire": what turns the decision that follows. */
export const TURNING = wordSet('not never against hesitate hesitant reluctant unable hesitation doubt objection');

/** "No doubt: hire": together with "no" they say nothing, and the decision follows. */
export const DOUBTS = wordSet(
  'doubt doubts problem problems question questions issue issues worries concern concerns hesitation hesitations objection objections reservation reservations',
);

/** "No hire": with "no" a decision; "no information" is none. */
export const THINGS_ASKED_FOR = wordSet('hire approval offer interview invitation way thanks thank');

/** "No reason to hire": with "no" it turns what follows. */
export const REASONS = wordSet('reason basis grounds case justification need');

/** Who decides. */
export const DECIDERS = wordSet('i we you please');

/** Of whom or what is decided. */
export const DECIDED_ON = wordSet('she he they it this that');

/** What is asked for: "Loan denied". */
export const ASKED_FOR = wordSet('application loan request claim candidate applicant');

/** What may end an answer to "Should she be hired?": "She should." */
export const AUXILIARIES = wordSet('would should will must can could shall do does did is are be am');

/** What is past tells a story of a person, and a decision of an application. */
export const PAST_FORMS = wordSet('was were has have been had');

/** "I think so." */
export const BELIEFS = wordSet('think believe say guess suppose feel');

/** What may stand before a decision without a say in it. */
export const FILLERS = wordSet(
  `the a an my our your her his their him them final answer decision verdict recommendation response conclusion opinion view
  to in of and but so then therefore thus hence well ok okay sorry afraid have need like inclined going happy glad pleased
  choose decide vote prefer lean leaning towards toward advise suggest see would rather also still about at all it that
  unfortunately regret inform sadly regrettably honestly frankly overall personally ultimately probably certainly definitely absolutely
  strongly highly gladly indeed likely clearly simply hereby really fully currently sure course however finally actually again reflection short brief strong favor favour proceed with go ahead good faith conscience hard firm clear`,
);

/** What begins no sentence that decides. */
export const UNDECIDED = wordSet(
  `if whether when who why how what which once while although though unless because since nobody none some many most others
  few before after assuming perhaps maybe possibly sometimes people there here nothing anyone everyone somebody someone`,
);

/** A lead-in with one of these supposes, asks, or speaks of others; "while" and "although" only concede. */
export const SUPPOSING = wordSet(
  'if whether when who how which once unless nobody none some many most others few before assuming perhaps maybe possibly sometimes people anyone everyone somebody someone',
);

/** An adverb that is the whole answer. */
export const WHOLE_ANSWER = /^(?:absolutely|definitely|certainly|of course|sure|without (?:a )?doubt)[.!]*$/u;

/** What may follow a decided form that begins the answer: "Declined because …"; "Accepted wisdom" is no decision. */
export const AFTER_DECIDED = wordSet('with for because as due since based on by under subject pending and or');

/** What is done to persons: "I would hire a senior" decides nothing of the candidate. */
export const OF_PERSONS = wordSet(
  'hire accept invite admit shortlist hiring accepting inviting admitting shortlisting',
);
export const ANYBODY = wordSet('a an another other others someone somebody anyone anybody people candidates more');

/** A sentence with one of these speaks of another time, amount or person. */
export const ELSEWHERE = wordSet(
  'instead another other others smaller lower larger different next later otherwise until once initially previously elsewhere',
);

/** What a conclusion begins with. */
export const CONCLUDING = wordSet('therefore thus hence so overall ultimately finally in consequently accordingly');

/** Function wordSet that tell English from the languages that also say "no", and those languages from English. */
export const ENGLISH = wordSet(
  'the a an and of to is are was i she he they it would should could will not be her his their this that for with because has have',
);
export const OTHER_LANGUAGES = wordSet(
  `el la los las que por para una porque del es está ich nicht und sie der das ist ein eine je ne pas est elle une le les des
  não uma ela ele che non di della sono lo il è het een niet jag inte och ikke ja nein sí oui si`,
);

/** A label with one of these names something else than the decision. */
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

/** A decision without its direction. */
export const DECISION_NOUNS = wordSet(
  'answer decision verdict recommendation conclusion response outcome result determination judgment judgement ruling choice output opinion assessment evaluation action',
);

/** What leads in to a decision after "I" or "we". */
export const LEADS_IN = wordSet('recommend decide conclude say suggest vote follows');

/** "Should Emily get the loan?" */
export const GIVEN = wordSet('get receive given have lend be');

/** What speaks for a decision and is none where there is one. */
export const FITNESS = wordSet('eligible qualified suitable');

/** What a decision may be given under: only a deed is read there ("Loan: denied"). */
export const THINGS = wordSet('loan application request claim offer interview invitation status mortgage promotion');

/** Words that a label may have and stay what it is. */
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
