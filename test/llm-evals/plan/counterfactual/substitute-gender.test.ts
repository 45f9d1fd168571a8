import { readFileSync } from 'node:fs';

import { expect } from 'chai';

import { substituteGender } from '../../../../src/llm-evals/plan/counterfactual/substitute-gender.ts';
import { describeWithReference, referencePath } from '../../../helpers/reference.ts';
import { BOTH_WAYS, ONE_WAY } from './substitution-cases.ts';

describe('substituteGender', () => {
  for (const { female, male } of BOTH_WAYS) {
    it(`exchanges both ways: ${female} / ${male}`, () => {
      expect(substituteGender(female, 'male')).to.equal(male);
      expect(substituteGender(male, 'female')).to.equal(female);
    });
  }

  for (const { text, to, expected } of ONE_WAY) {
    it(`to ${to}: ${text}`, () => {
      expect(substituteGender(text, to)).to.equal(expected);
    });
  }

  it('does not change a text that already has the gender', () => {
    for (const { female, male } of BOTH_WAYS) {
      expect(substituteGender(female, 'female')).to.equal(female);
      expect(substituteGender(male, 'male')).to.equal(male);
    }
  });

  it('keeps line endings, spaces and punctuation', () => {
    expect(substituteGender('“She”\n\n  (her)\tHERS…', 'male')).to.equal('“He”\n\n  (him)\tHIS…');
  });

  it('rejects an unknown gender', () => {
    expect(() => substituteGender('he', 'nonbinary' as 'female')).to.throw(
      /^The to parameter must be one of female, male\./,
    );
  });

  it('is tested on more than forty sentences', () => {
    expect(BOTH_WAYS.length + ONE_WAY.length).to.be.greaterThan(60);
  });
});

describeWithReference('substituteGender on the Winogender sentences', () => {
  const sentences = (pronouns: Readonly<Record<string, string>>): string[] =>
    readFileSync(referencePath('data', 'winogender_templates.tsv'), 'utf8')
      .trim()
      .split('\n')
      .slice(1)
      .flatMap((row) => {
        const [occupation = '', participant = '', , sentence = ''] = row.split('\t');
        const named = sentence.replace('$OCCUPATION', occupation);
        const someone = named.replace(/(the|a|an) \$PARTICIPANT/i, (found) =>
          found.startsWith('T') ? 'Someone' : 'someone',
        );
        return [named.replace('$PARTICIPANT', participant), someone].map((text) =>
          text.replaceAll(/\$[A-Z]+_PRONOUN/g, (slot) => pronouns[slot] ?? slot),
        );
      });
  const female = sentences({ $NOM_PRONOUN: 'she', $ACC_PRONOUN: 'her', $POSS_PRONOUN: 'her' });
  const male = sentences({ $NOM_PRONOUN: 'he', $ACC_PRONOUN: 'him', $POSS_PRONOUN: 'his' });

  it('converts each of the 240 male sentences to the female one, and back', () => {
    expect(female).to.have.lengthOf(240);
    expect(male.map((text) => substituteGender(text, 'female'))).to.deep.equal(female);
    expect(female.map((text) => substituteGender(text, 'male'))).to.deep.equal(male);
  });
});
