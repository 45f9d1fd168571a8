import { expect } from 'chai';

import { bleuBothWays, treebankTokens } from '../../../src/llm-evals/text/similarity/bleu-both-ways.ts';
import { jaccardOfLists, jaccardSimilarity } from '../../../src/llm-evals/text/similarity/jaccard-similarity.ts';
import { rougeL } from '../../../src/llm-evals/text/similarity/rouge-l.ts';
import { describeWithReference, readVectors } from '../../helpers/reference.ts';

const MEASURES = { rougeL, bleuBothWays, jaccardSimilarity };
const TEXTS = [
  'She is a brilliant engineer, and her team knows it.',
  'He is a brilliant engineer, and his team knows it.',
  'Okay.',
  'Ærlig talt: 3.5 of 10 — “don’t”!',
  '我是工程师',
];

describe('similarities of two texts', () => {
  for (const [name, similarity] of Object.entries(MEASURES)) {
    describe(name, () => {
      it('is 1 for equal texts of any length', () => {
        for (const text of TEXTS) expect(similarity(text, text), text).to.equal(1);
      });

      it('is 1 for two texts without words, 0 if only one has words', () => {
        expect(similarity('', '')).to.equal(1);
        expect(similarity('', 'Yes, she is.')).to.equal(0);
        expect(similarity('Yes, she is.', '')).to.equal(0);
      });

      it('is 0 for texts with nothing in common', () => {
        expect(similarity('alpha beta gamma delta', 'one two three four')).to.equal(0);
        expect(similarity('我是工程师', '他不在这里')).to.equal(0);
      });

      it('is symmetric and in [0, 1]', () => {
        for (const a of TEXTS) {
          for (const b of TEXTS) {
            expect(similarity(a, b)).to.equal(similarity(b, a)).and.within(0, 1);
          }
        }
      });

      it('ignores case and curly apostrophes', () => {
        expect(similarity("I DON'T know her name", 'i don’t know her name')).to.equal(1);
      });
    });
  }

  describe('rougeL', () => {
    const cases: [title: string, a: string, b: string, expected: number][] = [
      ['one word of two and three', 'red fox', 'the red hen', 2 / 5],
      ['order counts: one of two words', 'red fox', 'fox red', 2 / 4],
      ['gaps do not: all of 2 in 4', 'red fox', 'red and quick fox', 4 / 6],
      ['inflected words are one word', 'connected engineers', 'connecting engineer', 1],
      ['words of three letters are not stemmed', 'he was', 'he wass', 2 / 4],
      ['a hyphen separates', 'well-paid', 'well paid', 1],
    ];
    for (const [title, a, b, expected] of cases) {
      it(title, () => {
        expect(rougeL(a, b)).to.be.closeTo(expected, 1e-12);
      });
    }
  });

  describe('bleuBothWays', () => {
    it('is (4/5 2/4 1/3 0.1/2)^(1/4) if one word of five is replaced', () => {
      expect(bleuBothWays('a b c d e', 'a b x d e')).to.be.closeTo((4 / 5 / 2 / 30 / 20) ** 0.25, 1e-12);
      expect(bleuBothWays('a b c d e', 'a b c d x')).to.be.closeTo(
        ((4 / 5) * (3 / 4) * (2 / 3) * (1 / 2)) ** 0.25,
        1e-12,
      );
    });

    it('applies the brevity penalty e^(1 - 8/4) to a part of a text', () => {
      expect(bleuBothWays('a b c d', 'a b c d e f g h')).to.be.closeTo(
        Math.min(Math.exp(-1), ((4 / 8) * (3 / 7) * (2 / 6) * (1 / 5)) ** 0.25),
        1e-12,
      );
    });

    it('clips the matches of a repeated word', () => {
      expect(bleuBothWays('a a a a', 'a b c d')).to.be.closeTo(((1 / 4) * (0.1 / 3) * (0.1 / 2) * 0.1) ** 0.25, 1e-12);
    });
  });

  describe('tokens of the Penn Treebank', () => {
    // NLTK 3.10.4, NLTKWordTokenizer on each sentence.
    const cases: [text: string, tokens: string][] = [
      ["They can't; she's fine.", "they ca n't ; she 's fine ."],
      ['I cannot pay $3.88 (3,36 euros)!', 'i can not pay $ 3.88 ( 3,36 euros ) !'],
      ['Well-paid "engineers" leave... now', "well-paid `` engineers '' leave ... now"],
      ['Okay. Many enjoy it.', 'okay . many enjoy it .'],
      ['Dr. Smith met Mr. Tan.', 'dr. smith met mr. tan .'],
    ];
    for (const [text, tokens] of cases) {
      it(text, () => {
        expect(treebankTokens(text)).to.deep.equal(tokens.split(' '));
      });
    }
  });

  describe('jaccard', () => {
    it('counts each word once: 2 of 5, 1 of 3', () => {
      expect(jaccardSimilarity('red fox, red hen', 'a fox, a fox, and red')).to.equal(2 / 5);
      expect(jaccardOfLists(['a', 'b', 'b'], ['b', 'c'])).to.equal(1 / 3);
    });
  });

  describeWithReference('of the published answers', () => {
    const { counterfactual } = readVectors('langfair_metrics.json') as {
      counterfactual: {
        text1: string[];
        text2: string[];
        bleu_min_both_directions_method1_pairwise: number[];
        rougeL_stemmed_f1_pairwise: number[];
      };
    };
    const { text1, text2 } = counterfactual;
    const against = (similarity: (a: string, b: string) => number) =>
      text1.map((text, index) => similarity(text, text2[index] as string));

    it('BLEU within 1 %', () => {
      against(bleuBothWays).forEach((value, index) => {
        const published = counterfactual.bleu_min_both_directions_method1_pairwise[index] as number;
        expect(value).to.be.closeTo(published, 0.01 * published);
      });
    });

    it('ROUGE-L within 1e-9', () => {
      against(rougeL).forEach((value, index) => {
        expect(value).to.be.closeTo(counterfactual.rougeL_stemmed_f1_pairwise[index] as number, 1e-9);
      });
    });
  });
});
