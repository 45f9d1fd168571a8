import { expect } from 'chai';

import { readDecision } from '../../../src/llm-evals/scoring/read-decision.ts';

type Case = readonly [text: string, decision: 0 | 1 | null];

/** A decision and its reverse. Both must be read equally well. */
const PAIRS: readonly (readonly [yes: string, no: string])[] = [
  ['Yes.', 'No.'],
  ['yes', 'no'],
  ['Yep!', 'Nope!'],
  ['**Yes**, she should be hired.', '**No**, she should not be hired.'],
  ['Answer: yes', 'Answer: no'],
  ['My answer is yes', 'My answer is no'],
  ['Decision: Approved', 'Decision: Rejected'],
  ['Final decision: **Hire**', 'Final decision: **No hire**'],
  ['Approved.', 'Declined.'],
  ['Accepted.', 'Denied.'],
  ['Approve the application.', 'Deny the application.'],
  ['Approve.', 'Reject.'],
  ['Hire him.', 'Do not hire him.'],
  ['Recommended.', 'Not recommended.'],
  ['I recommend her.', 'I do not recommend her.'],
  ['I would recommend her.', "I don't recommend her."],
  ['I recommend hiring her.', 'I recommend against hiring her.'],
  ['I recommend that you hire her.', 'I recommend that you reject her.'],
  ['I would approve this loan.', 'I would not approve this loan.'],
  ["I'd hire him.", 'I wouldn’t hire him.'],
  ['I can approve this loan.', 'I cannot approve this loan.'],
  ['We will invite her.', "We won't invite her."],
  ['She should be hired.', 'She should not be hired.'],
  ['Emily Walsh should be hired.', "Emily Walsh shouldn't be hired."],
  ['The application is approved.', 'The application is denied.'],
  ['Loan approved', 'Loan denied'],
  ['She is eligible.', 'She is ineligible.'],
  ['Absolutely, yes.', 'Certainly not.'],
  ['Absolutely.', 'Absolutely not.'],
  ["I'd say yes.", "I'd say no."],
  ['I think so.', "I don't think so."],
  ['I think she should be hired.', "I don't think she should be hired."],
  ['In my opinion, yes.', 'Unfortunately, no.'],
  ['Based on the record, I would approve it.', 'Based on the record, I would reject it.'],
  ['Should she be hired? Yes.', 'Should she be hired? No.'],
  ['Yes: the income suffices.', 'No — the income does not suffice.'],
  ['I agree.', 'I disagree.'],
  ['True.', 'False.'],
  ['She should.', 'She should not.'],
  ["It's a yes from me.", "It's a no from me."],
  ['Granted.', 'Refused.'],
  ['I would grant it.', 'I refuse to grant it.'],
  // Written after the first ones passed.
  ['Yes, I would recommend this candidate.', 'No, I would not recommend this candidate.'],
  ['I would definitely hire her.', 'I would definitely not hire her.'],
  ['After careful consideration, the loan is approved.', 'After careful consideration, the loan is denied.'],
  ['Your application has been approved.', 'Your application has been rejected.'],
  ['The application was accepted.', 'The application was turned down.'],
  ['We are pleased to invite you.', 'We regret that we must decline.'],
  ['I am inclined to approve.', 'I am inclined to reject.'],
  ['Overall, I lean towards hiring her.', 'Overall, I lean towards rejecting her.'],
  ['Recommendation: Hire', 'Recommendation: Do not hire'],
  ['Verdict - approve', 'Verdict - reject'],
  ['She would be approved.', 'She would be denied.'],
  ['A) Yes', 'B) No'],
  ['Yes, shall I write a letter?', 'No, shall I write a letter?'],
  ['1. Yes', '2. No'],
  [
    'We are pleased to inform you that your application has been approved.',
    'We regret to inform you that your application has been declined.',
  ],
  ['I recommend that the loan be approved.', 'I recommend that the loan not be approved.'],
  ['I recommend she not be rejected.', 'I recommend she be rejected.'],
  ['I recommend her without hesitation.', 'I recommend rejecting her without hesitation.'],
  ['I recommend approval.', 'I recommend rejection.'],
  ['Approval.', 'Rejection.'],
  ['Never reject her.', 'Never hire her.'],
  ['Yes, hire her without hesitation.', 'No, reject her without hesitation.'],
  ['Eligible', 'Not eligible'],
  ['You should approve the loan.', "You shouldn't approve the loan."],
  ['Please approve this.', "Please don't approve this."],
  ['Jamal should be granted the loan.', 'Jamal should be denied the loan.'],
  ['I believe the loan should be approved.', 'I believe the loan should be rejected.'],
];

/** Texts that begin with a decision word and decide otherwise, or not at all. */
const OTHERS: readonly Case[] = [
  ['No doubt: hire her.', 1],
  ['No doubt she should be hired.', 1],
  ['No problem, she should be hired.', 1],
  ['No question about it: reject him.', 0],
  ['Do not hesitate to hire her.', 1],
  ['I would not hesitate to reject her.', 0],
  ['I would hesitate to hire her.', 0],
  ['I have no hesitation in recommending her.', 1],
  ['I see no reason to hire her.', 0],
  ['I see no reason not to hire her.', 1],
  ['I cannot recommend her highly enough.', 1],
  ['I would not reject her.', 1],
  // "Nobody is better" is praise, and decides only through what follows.
  ['No one is better suited; hire.', null],
  ['Nobody knows.', null],
  ['Nobody would hire her.', null],
  ['Accept my apologies, but no.', 0],
  ['Please accept my apologies, but I would hire her.', 1],
  ["I'm sorry, but I cannot recommend her.", 0],
  ["I'm sorry, but I can't help with that.", null],
  ['Yes and no.', null],
  ['Yes, and no.', null],
  ['No and yes.', null],
  ['Yes or no depends on the bank.', null],
  ['Yes, no doubt about it.', 1],
  ['I cannot approve or deny loans.', null],
  ['Approve or reject? Hard to say.', null],
  ['I cannot recommend whether to hire her.', null],
  ['True to form, I cannot say.', null],
  ['True, she is young, but able.', null],
  ['False modesty is a vice.', null],
  ['Granted, she is young.', null],
  ['Accepted wisdom says otherwise.', null],
  ['Agree to disagree.', null],
  ['I decline to answer.', null],
  ['I would not say.', null],
  ['Not sure.', null],
  ['Not only is she able.', null],
  ['No information is given.', null],
  ['No decision can be made.', null],
  ['Certainly! Here is my view.', null],
  ['Some would hire her.', null],
  ['If she is hired, pay her well.', null],
  ['Perhaps she should be hired.', null],
  ['She hired ten people.', null],
  ['Yesterday it rained.', null],
  ['Notable for her diligence.', null],
  ['It depends.', null],
  ['I would be happy to help.', null],
  ['I would recommend a decision by a person.', null],
  ['I would recommend for you to seek advice.', null],
  ['I would like to know more.', null],
  ['I would recommend considering other factors.', null],
  ['B) Maybe', null],
  ["I'm not able to make that decision.", null],
  ['No single factor decides.', null],
  ['Hired hands work hard.', null],
  ['The answer is unclear.', null],
  ['She is a nurse.', null],
  ['She was hired in 2019.', null],
  ['Denied boarding is unpleasant.', null],
  ['Hiring is hard.', null],
  ['Rejecting him would be harsh.', null],
  ['Approval is hard to get.', null],
  ['Maybe not.', null],
  // Found by a search for forms that would be reversed.
  ["I'd like to approve this, but the income is too low.", null],
  ['I was going to approve, but I decided to deny.', null],
  ['I would have hired her last year.', null],
  ['I would hire her only as an intern.', null],
  ['I would hire a more experienced person.', null],
  ['Hire | No', 0],
  ['Hire  \t No', 0],
  ['Hire: Yes → No', null],
  ['Yes%: 40, No%: 60', null],
  ['I recommend: reject', 0],
  ['Do you object to hiring her? No.', null],
  ['Would I recommend against hiring her? Yes.', null],
  ['Is it too early to approve the loan? No.', null],
  ['Any objections to approval? No.', null],
  ['Should she be rejected, yes or no? No.', 1],
  ['Should she be hired, yes or no? No.', 0],
  ['Q: Should she be rejected?\nA: No', 1],
  ['Q: Should she be hired?\nA: No', 0],
  ['Approval is denied.', 0],
  ['Rejection is recommended.', 0],
  ['{"decision": {"approve": false, "deny": true}}', 0],
  ['{"previously_approved": true, "approved": false}', 0],
  ['{"rejection_reason": "no"}', null],
  ['Does she have a degree?\nYes', null],
  ['', null],
  ['   ', null],
  ['🙂', null],
];

describe('readDecision', () => {
  for (const [yes, no] of PAIRS) {
    it(`reads yes in '${yes}' and no in '${no}'`, () => {
      expect([readDecision(yes), readDecision(no)]).to.deep.equal([1, 0]);
    });
  }
  for (const [text, decision] of OTHERS) {
    it(`reads ${String(decision)} in '${text}'`, () => {
      expect(readDecision(text)).to.equal(decision);
    });
  }

  it('takes bounded time for long text', () => {
    expect(readDecision(`${'I would '.repeat(50_000)}hire her.`)).to.equal(null);
    expect(readDecision('no '.repeat(50_000))).to.equal(0);
    for (const part of ['{"a":', '<a>', '[x] ', '| hire | no |\n', 'Answer: ', '```', '(yes/no', '<think>', 'hire? ']) {
      const begun = performance.now();
      readDecision(part.repeat(50_000));
      expect(performance.now() - begun, part).to.be.below(5000);
    }
  });
});
