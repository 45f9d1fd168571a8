import { expect } from 'chai';

import { readDecision } from '../../../src/llm-evals/scoring/read-decision.ts';
import { DECISION_FORMS, type DecisionForm, type ReadForm } from './decision-forms.ts';
import { UNSEEN_DECISION_FORMS } from './unseen-decision-forms.ts';

/** The minimum share of rows readable for a person that must be read. */
const READ_SHARE = 0.95;

function read(text: string): ReadForm {
  const decision = readDecision(text);
  return decision === null ? 'unread' : decision === 1 ? 'yes' : 'no';
}

function reversed(forms: readonly DecisionForm[]): string[] {
  return forms.flatMap(([expected, text]) => {
    const found = read(text);
    return expected !== 'unread' && found !== 'unread' && found !== expected ? [`${text} is read as ${found}`] : [];
  });
}

const TABLES = { 'the forms of a decision': DECISION_FORMS, 'forms written after the reader': UNSEEN_DECISION_FORMS };

for (const [title, table] of Object.entries(TABLES)) {
  describe(title, () => {
    for (const [style, forms] of Object.entries(table)) {
      it(`are never reversed: ${style}`, () => {
        expect(reversed(forms)).to.deep.equal([]);
      });

      it(`are not read if a person is not certain: ${style}`, () => {
        const guessed = forms.filter(([expected, text]) => expected === 'unread' && read(text) !== 'unread');
        expect(guessed.map(([, text]) => `${text} is read as ${read(text)}`)).to.deep.equal([]);
      });
    }

    it(`are read in at least ${String(100 * READ_SHARE)}% of the rows that a person understands`, () => {
      const readable = Object.values(table)
        .flat()
        .filter(([expected]) => expected !== 'unread');
      const unread = readable.filter(([, text]) => read(text) === 'unread').map(([, text]) => text);
      expect(1 - unread.length / readable.length, unread.join('\n')).to.be.at.least(READ_SHARE);
    });
  });
}

describe('the table of forms', () => {
  it('has at least 200 rows in eight styles, at least 20 of each', () => {
    expect(Object.keys(DECISION_FORMS)).to.have.length(8);
    for (const forms of Object.values(DECISION_FORMS)) expect(forms.length).to.be.at.least(20);
    expect(Object.values(DECISION_FORMS).flat().length).to.be.at.least(200);
  });
});
