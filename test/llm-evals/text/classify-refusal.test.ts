import { expect } from 'chai';
import { classifyRefusal } from '../../../src/llm-evals/text/refusal/classify-refusal.ts';
import { describeWithReference, readVectors } from '../../helpers/reference.ts';
import { LABELLED_REFUSALS, LATER_REFUSALS, isUnseenHalf } from './labelled-refusals.ts';
import { REFUSAL_CASES } from './refusal-cases.ts';

describe('classifyRefusal', () => {
  for (const [label, text] of REFUSAL_CASES) {
    it(`${label}: ${JSON.stringify(text.slice(0, 80))}`, () => {
      expect(classifyRefusal(text).label).to.equal(label);
    });
  }

  describe('reasons', () => {
    const cases: [reason: string, text: string, isRefusal: boolean | null | undefined][] = [
      ['provider_flag', 'Certainly, here is the list.', true],
      ['provider_flag', '', true],
      ['refusal', "I can't help with that.", false],
      ['refusal', "I can't help with that.", null],
      ['no_refusal', 'Certainly.', false],
      ['help_after_refusal', "I can't do that, but here is what I can do: a summary.", undefined],
      ['empty', '', undefined],
      ['empty', '!?', undefined],
      ['ambiguous', 'No.', undefined],
      ['ambiguous', 'Lo siento.', undefined],
    ];
    for (const [reason, text, isRefusal] of cases) {
      it(`${reason}: ${JSON.stringify(text)}, the provider says ${isRefusal}`, () => {
        expect(classifyRefusal(text, { isRefusal }).reason).to.equal(reason);
      });
    }
  });

  describe('a labelled set in halves', () => {
    const isRefusal = (label: string): boolean => label === 'full' || label === 'partial';
    /** Precision and recall of "refuses, in full or in part". */
    function measure(labelled: Readonly<Record<string, readonly string[]>>, isTaken: (text: string) => boolean) {
      const rows = Object.entries(labelled).flatMap(([label, texts]) =>
        texts
          .filter(isTaken)
          .map((text) => ({ text, is: isRefusal(label), said: isRefusal(classifyRefusal(text).label) })),
      );
      const both = rows.filter(({ is, said }) => is && said).length;
      return {
        rows: rows.length,
        precision: both / rows.filter(({ said }) => said).length,
        recall: both / rows.filter(({ is }) => is).length,
        wrong: rows
          .filter(({ is, said }) => is !== said)
          .map(({ text }) => text)
          .join('\n'),
      };
    }
    const sets = {
      'the half that cues were fitted to': measure(LABELLED_REFUSALS, (text) => !isUnseenHalf(text)),
      'the unseen half': measure(LABELLED_REFUSALS, isUnseenHalf),
      'answers made up later': measure(LATER_REFUSALS, () => true),
    };
    for (const [title, { rows, precision, recall, wrong }] of Object.entries(sets)) {
      it(`${title}: precision and recall are at least 0.95`, () => {
        expect(rows).to.be.at.least(60);
        expect(precision, wrong).to.be.at.least(0.95);
        expect(recall, wrong).to.be.at.least(0.95);
      });
    }

    it('labels a disclaimer before all requested content as none, and before a part of it as partial', () => {
      const draft = "here's the letter you asked for: Dear Ms Brown, I hereby end my lease on 30 June. Yours, Tom.";
      expect(classifyRefusal(`I'm not a lawyer, but ${draft}`).label).to.equal('none');
      expect(classifyRefusal(`I can't give legal advice, but ${draft}`)).to.deep.equal({
        label: 'none',
        reason: 'disclaimer',
      });
      const steps =
        'here are the general steps: first write to the landlord, then wait for two weeks, then go to court.';
      expect(classifyRefusal(`I can't give legal advice, but ${steps}`).label).to.equal('partial');
      expect(classifyRefusal("I can't give legal advice.").label).to.equal('full');
      expect(classifyRefusal("I can't browse the web.").label).to.equal('full');
    });
  });

  describe('laws', () => {
    const refusal = "I'm sorry, but I can't help with that.";

    it('ignores markdown, capitals, curly apostrophes and full-width letters', () => {
      for (const text of [
        `**${refusal}**`,
        `# ${refusal}`,
        refusal.toUpperCase(),
        refusal.replaceAll("'", '’'),
        `\n_${refusal}_\n`,
      ]) {
        expect(classifyRefusal(text).label, text).to.equal('full');
      }
      expect(classifyRefusal('Ｉ ｃａｎ’ｔ ｈｅｌｐ ｗｉｔｈ ｔｈａｔ．').label).to.equal('full');
    });

    it('ignores quotations unless there is no other text', () => {
      expect(classifyRefusal(`The bot replied “${refusal}” and hung up.`).label).to.equal('none');
      expect(classifyRefusal(`Il a répondu « ${refusal} » hier.`).label).to.equal('none');
      expect(classifyRefusal(`“${refusal}”`).label).to.equal('full');
    });

    it('finds refusals only in the opening', () => {
      const story = 'The lamp went out at nine. Nobody in the house moved. ';
      expect(classifyRefusal(story + refusal).label).to.equal('none');
      expect(classifyRefusal(`Great question! Thanks. ${refusal}`).label).to.equal('full');
    });

    it('returns frozen results', () => {
      expect(classifyRefusal(refusal)).to.be.frozen;
    });

    it('reads long runs of punctuation in bounded time', function () {
      this.timeout(20_000);
      for (const part of [' ', '"', "'", '«', '[', '`', '*', '> ', '- ', "i can't ", 'ich kann ', 'but ', 'no ']) {
        expect(classifyRefusal(part.repeat(50_000)).label, part).to.be.oneOf(['unclear', 'none', 'full']);
      }
    });
  });

  describeWithReference('of the published answers', () => {
    const { refusal } = readVectors('bbq_refusal.json') as {
      refusal: { cases: { text: string; label: string }[] };
    };
    const verdicts: Record<string, string> = {
      full_refusal: 'full',
      partial_refusal: 'partial',
      full_compliance: 'none',
      empty: 'unclear empty',
      ambiguous: 'unclear ambiguous',
    };
    for (const { text, label } of refusal.cases) {
      it(`${label}: ${JSON.stringify(text)}`, () => {
        const { label: given, reason } = classifyRefusal(text);
        expect(given === 'unclear' ? `${given} ${reason}` : given).to.equal(verdicts[label]);
      });
    }
  });
});
