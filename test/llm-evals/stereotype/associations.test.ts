import { expect } from 'chai';
import { ValueError } from '../../../src/exceptions/index.ts';
import {
  type AssociationOptions,
  CHARACTER_WORDS,
  cooccurrenceBiasScore,
  GENDER_WORDS,
  OCCUPATION_WORDS,
  stereotypicalAssociations,
} from '../../../src/llm-evals/stereotype/index.ts';
import { describeWithReference, readVectors } from '../../helpers/reference.ts';

interface SmallVector {
  readonly responses: string[];
  readonly groups: { female: string[]; male: string[] };
  readonly targets: string[];
  readonly stopwords: string[];
  readonly association: number;
  readonly cobs_mean: number;
  readonly cobs_word: Record<string, number>;
  readonly beta: number;
}

describeWithReference('stereotype scores on the reference texts', () => {
  const read = () => (readVectors('langfair_metrics.json') as { stereotype_small: SmallVector }).stereotype_small;

  it('matches LangFair for stereotypical associations', () => {
    const { responses, groups, targets, association } = read();
    expect(stereotypicalAssociations(responses, { groups, targets }).value).to.be.closeTo(association, 1e-12);
  });

  it('matches LangFair for co-occurrence bias, word by word, in either order of the groups', () => {
    const { responses, groups, targets, stopwords, beta, cobs_mean: mean, cobs_word: perWord } = read();
    const options = { targets, stopWords: stopwords, beta };
    const score = cooccurrenceBiasScore(responses, { ...options, groups });
    const turned = cooccurrenceBiasScore(responses, {
      ...options,
      groups: { male: groups.male, female: groups.female },
    });
    expect(score.value).to.be.closeTo(mean, 1e-12);
    expect(turned.value).to.be.closeTo(mean, 1e-12);
    expect(Object.keys(score.perWord)).to.have.members(Object.keys(perWord));
    for (const [word, value] of Object.entries(perWord)) expect(score.perWord[word]).to.be.closeTo(value, 1e-12);
  });
});

describe('stereotypicalAssociations', () => {
  const groups = { first: ['x', 'xx'], second: ['y'] };

  it('divides by the length of a group’s list', () => {
    // x: 2 of 2 words, y: 1 of 1: an equal mix.
    expect(stereotypicalAssociations(['x x y t'], { groups, targets: ['t'] }).value).to.equal(0);
    // x: 1/2 and y: 1 are a third and two thirds, a sixth from an equal mix.
    expect(stereotypicalAssociations(['x y t'], { groups, targets: ['t'] }).value).to.be.closeTo(1 / 6, 1e-15);
  });

  it('is 1 - 1/groups if each target occurs with only one group', () => {
    const three = { a: ['x'], b: ['y'], c: ['z'] };
    expect(stereotypicalAssociations(['x t', 'y u'], { groups: three, targets: ['t', 'u'] }).value).to.be.closeTo(
      2 / 3,
      1e-15,
    );
  });

  it('counts words that share a text, not words that share a list of texts', () => {
    expect(stereotypicalAssociations(['x', 't'], { groups, targets: ['t'] }).undefinedReason).to.match(
      /no target word/,
    );
  });

  it('finds the person in she’s and the nurse in nurse’s', () => {
    const { perWord } = stereotypicalAssociations(['She’s the nurse’s help.']);
    expect(perWord).to.deep.equal({ nurse: 0.5 });
  });
});

describe('cooccurrenceBiasScore', () => {
  it('equals the closed form for two texts', () => {
    // t is at distance 1 from x and 3 from y. c, the only other context word, is at distance 2 from x and 1 from y. x
    // occurs twice.
    const options = { groups: { a: ['x'], b: ['y'] }, targets: ['t'], stopWords: ['the'], beta: 0.5 };
    const expected = Math.log10(0.5 / (0.5 + 0.25) / (0.125 / (0.125 + 0.5)) / 2);
    expect(cooccurrenceBiasScore(['x t', 'x the c', 'y c the t'], options).value).to.be.closeTo(expected, 1e-14);
  });

  it('is 0 for texts that differ only in the group', () => {
    const options = { groups: { a: ['x'], b: ['y'] }, targets: ['t', 'u'] };
    expect(cooccurrenceBiasScore(['x t u', 'y t u'], options).value).to.be.closeTo(0, 1e-15);
  });

  it('has no score for a target that occurs with only one group, is a stop word, or is a word of a group', () => {
    const options = { groups: { a: ['x'], b: ['y'] }, targets: ['t', 'the', 'x'], stopWords: ['the'] };
    const score = cooccurrenceBiasScore(['x t the', 'y u the'], options);
    expect(score.value).to.be.NaN;
    expect(score.undefinedReason).to.match(/both groups/);
  });

  it('requires two groups, and beta in (0, 1]', () => {
    const three = { a: ['x'], b: ['y'], c: ['z'] };
    expect(() => cooccurrenceBiasScore([], { groups: three })).to.throw(
      ValueError,
      /groups parameter must have (?:at least|exactly) two groups/,
    );
    for (const beta of [0, 1.1, NaN, -1]) {
      expect(() => cooccurrenceBiasScore([], { beta })).to.throw(ValueError, /beta parameter must be above 0/);
    }
  });
});

for (const [name, score] of [
  ['stereotypicalAssociations', stereotypicalAssociations],
  ['cooccurrenceBiasScore', cooccurrenceBiasScore],
] as const) {
  describe(`${name}, as a score of associations`, () => {
    const texts = ['She is a kind nurse.', 'He is a kind doctor.', 'The doctor said she is brilliant, and he is kind.'];

    it('is undefined with a reason without texts, without words and without groups in them', () => {
      for (const none of [[], [''], ['...'], ['kind nurse']]) {
        const { value, undefinedReason } = score(none);
        expect(value).to.be.NaN;
        expect(undefinedReason).to.be.a('string');
      }
    });

    it('does not depend on the order of texts, on case or on punctuation', () => {
      const { value } = score(texts);
      expect(score([...texts].reverse()).value).to.be.closeTo(value, 1e-12);
      expect(score(texts.map((text) => text.toUpperCase().replace('.', '!'))).value).to.be.closeTo(value, 1e-12);
    });

    it('reports the mentions of each group, and is frozen', () => {
      expect(score(texts).mentions).to.deep.equal({ female: 2, male: 2 });
      expect(score(texts)).to.be.frozen;
    });

    const problems: [string, AssociationOptions, RegExp][] = [
      ['one group', { groups: { a: ['x'] } }, /groups parameter must have (?:at least|exactly) two groups/],
      ['an empty group', { groups: { a: ['x'], b: [] } }, /groups\.b parameter must contain at least one word/],
      ['a word in two groups', { groups: { a: ['x'], b: ['X'] } }, /each word in only one group\. Got 'x' in two/],
      ['two words in one', { targets: ['well read'] }, /targets parameter must contain single words\. Got 'well read'/],
      ['no targets', { targets: [] }, /targets parameter must contain at least one word/],
    ];
    for (const [title, options, message] of problems) {
      it(`rejects ${title}`, () => {
        expect(() => score(texts, options)).to.throw(ValueError, message);
      });
    }
  });
}

describe('the default words', () => {
  it('have equally many for women and men, sixty occupations in singular and plural, and sixty characters, each once', () => {
    expect(GENDER_WORDS.female).to.have.length(GENDER_WORDS.male.length);
    expect(new Set([...GENDER_WORDS.female, ...GENDER_WORDS.male]).size).to.equal(2 * GENDER_WORDS.male.length);
    expect(new Set(OCCUPATION_WORDS).size).to.equal(120);
    expect(new Set(CHARACTER_WORDS).size).to.equal(60);
  });
});
