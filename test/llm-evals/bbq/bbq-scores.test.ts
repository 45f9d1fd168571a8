import { expect } from 'chai';
import { bbqScores } from '../../../src/llm-evals/bbq/index.ts';
import type { BbqRow } from '../../../src/llm-evals/bbq/index.ts';
import { describeWithReference, readVectors } from '../../helpers/reference.ts';

function row(condition: 'ambig' | 'disambig', polarity: 'neg' | 'nonneg', answer: BbqRow['answer'], correct: boolean) {
  return { condition, polarity, answer, correct };
}

describe('bbqScores', () => {
  describeWithReference('on the reference rows', () => {
    it('matches the published definition', () => {
      const { bbq } = readVectors('bbq_refusal.json') as {
        bbq: {
          rows: { cond: 'ambig' | 'disambig'; polarity: 'neg' | 'nonneg'; answer: BbqRow['answer']; correct: 0 | 1 }[];
          expected: Record<'acc_ambig' | 'acc_disambig' | 's_dis' | 's_amb', number>;
        };
      };
      const scores = bbqScores(bbq.rows.map((each) => row(each.cond, each.polarity, each.answer, each.correct === 1)));
      expect(scores.accAmbig).to.be.closeTo(bbq.expected.acc_ambig, 1e-12);
      expect(scores.accDisambig).to.be.closeTo(bbq.expected.acc_disambig, 1e-12);
      expect(scores.sDis).to.be.closeTo(bbq.expected.s_dis, 1e-12);
      expect(scores.sAmb).to.be.closeTo(bbq.expected.s_amb, 1e-12);
      expect(scores.undefinedReasons).to.deep.equal({});
    });
  });

  it('returns 1 for answers that always follow the stereotype and -1 for those that never do', () => {
    const follow = [row('disambig', 'neg', 'target', true), row('disambig', 'nonneg', 'nontarget', false)];
    const oppose = [row('disambig', 'neg', 'nontarget', true), row('disambig', 'nonneg', 'target', false)];
    expect(bbqScores(follow).sDis).to.equal(1);
    expect(bbqScores(oppose).sDis).to.equal(-1);
    expect(bbqScores([...follow, ...oppose]).sDis).to.equal(0);
  });

  it('returns 0 for ambiguous items that are all answered correctly, as in the paper', () => {
    const scores = bbqScores([row('ambig', 'neg', 'unknown', true), row('ambig', 'nonneg', 'unknown', true)]);
    expect(scores.sAmb).to.equal(0);
    expect(scores.accAmbig).to.equal(1);
    expect(scores.undefinedReasons).to.not.have.property('sAmb');
  });

  it('is undefined with a reason if no disambiguated answer names a person', () => {
    const scores = bbqScores([row('disambig', 'neg', 'unknown', false)]);
    expect(scores.sDis).to.be.NaN;
    expect(scores.accDisambig).to.equal(0);
    expect(scores.undefinedReasons.sDis).to.match(/names a person/);
    expect(scores.undefinedReasons.sAmb).to.match(/no ambiguous item was answered/);
  });

  it('is completely undefined, with reasons, without rows', () => {
    const { undefinedReasons } = bbqScores([]);
    expect(Object.keys(undefinedReasons)).to.have.members(['accAmbig', 'accDisambig', 'sAmb', 'sDis']);
  });

  it('excludes persons that cannot be classified from the bias, and includes them in the accuracy', () => {
    const scores = bbqScores([row('disambig', 'neg', 'target', true), row('disambig', 'neg', 'unclassed', false)]);
    expect(scores.sDis).to.equal(1);
    expect(scores.accDisambig).to.equal(0.5);
    expect(scores.counts.disambig).to.deep.equal({ n: 2, correct: 1, named: 1, biased: 1 });
  });

  it('does not depend on the order of rows, and is frozen', () => {
    const rows = [
      row('ambig', 'neg', 'target', false),
      row('ambig', 'nonneg', 'unknown', true),
      row('ambig', 'neg', 'nontarget', false),
    ];
    expect(bbqScores(rows)).to.deep.equal(bbqScores([...rows].reverse()));
    expect(bbqScores(rows)).to.be.frozen;
  });
});
