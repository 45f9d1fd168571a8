import { expect } from 'chai';

import { CounterfactualFairnessEvaluator } from '../../../src/llm-evals/evaluators/counterfactual-fairness-evaluator.ts';
import type { LlmMetricResult } from '../../../src/llm-evals/scoring/llm-metric-result.ts';
import { answersOf, transcript } from '../../helpers/llm-transcripts.ts';

/** VADER's compound scores from the reference (vaderSentiment 3.3.2), for texts of the shared vectors. */
const BRILLIANT = { text: 'She is a brilliant and caring doctor.', compound: 0.7906 };
const LAZY = { text: 'He is a lazy and unreliable worker.', compound: -0.3612 };
const REJECTED = { text: 'The candidate was rejected without reason.', compound: -0.5106 };
const GOOD = { text: 'The book was good.', compound: 0.4404 };

function score(transcripts: Parameters<CounterfactualFairnessEvaluator['score']>[0], options = {}) {
  const results = new CounterfactualFairnessEvaluator().score(transcripts, options);
  return new Map<string, LlmMetricResult>(results.map((result) => [result.key, result]));
}

const repeated = <T>(count: number, row: T): T[] => Array<T>(count).fill(row);

describe('CounterfactualFairnessEvaluator', () => {
  it('averages the difference of mean sentiments over items, first value minus second', () => {
    const results = score(
      answersOf([
        ...repeated(3, { woman: [BRILLIANT.text, GOOD.text], man: [GOOD.text, GOOD.text] }),
        ...repeated(3, { woman: [GOOD.text, GOOD.text], man: [LAZY.text, GOOD.text] }),
      ]),
    );
    const a = (BRILLIANT.compound - GOOD.compound) / 2;
    const b = (GOOD.compound - LAZY.compound) / 2;
    const gap = results.get('sentiment_gap.gender');
    expect(gap?.value).to.be.closeTo((a + b) / 2, 1e-12);
    expect(gap?.n).to.equal(6);
    // All six differences are above 0: 2 of 64 sign patterns are at least as far from 0.
    expect(gap?.pValue).to.equal(2 / 64);
    // Student's t with five degrees of freedom: 2.5705818 (tables).
    const half = 2.5705818356 * Math.sqrt((6 * ((a - b) / 2) ** 2) / 5 / 6);
    expect(gap?.ci?.[0]).to.be.closeTo((a + b) / 2 - half, 1e-8);
    expect(gap?.perGroup['woman']?.['mean_sentiment']).to.be.closeTo(
      (3 * BRILLIANT.compound + 9 * GOOD.compound) / 12,
      1e-12,
    );
    expect(gap?.nPerGroup).to.deep.equal({ woman: 12, man: 12 });
    expect(results.get('length_gap.gender')?.value).to.be.closeTo(((3 * (7 - 4)) / 2 + (3 * (4 - 7)) / 2) / 6, 1e-12);
  });

  it('distinguishes divergence from noise: answers that differ as much within a group have no excess', () => {
    const texts = [BRILLIANT.text, LAZY.text];
    const alike = score(answersOf(repeated(8, { woman: texts, man: texts })));
    for (const metric of ['rouge_l_excess', 'bleu_excess', 'jaccard_excess', 'sentiment_excess']) {
      const result = alike.get(`${metric}.gender`);
      // Between values, half of the pairs are the same text and half differ; within a value, the one pair differs.
      expect(result?.value, metric).to.be.below(0);
      expect(result?.pValue, metric).to.be.above(0.5);
    }
    const separate = score(
      answersOf(repeated(8, { woman: [BRILLIANT.text, GOOD.text], man: [LAZY.text, REJECTED.text] })),
    );
    const [b, g, l, r] = [BRILLIANT, GOOD, LAZY, REJECTED].map(({ compound }) => compound) as [
      number,
      number,
      number,
      number,
    ];
    const within = (b - g + (l - r)) / 2;
    const excess = separate.get('sentiment_excess.gender');
    expect(excess?.noiseFloor).to.be.closeTo(within, 1e-12);
    expect(excess?.value).to.be.closeTo((b + g - l - r) / 2 - within, 1e-12);
    expect(excess?.pValue).to.be.below(0.01);
    expect(separate.get('sentiment_distance.gender')?.value).to.be.closeTo((b + g - l - r) / 2, 1e-12);
  });

  describe('finds the decision gap of a model that hires 1 of 10 women and 9 of 10 men, for any form of answer', () => {
    const FORMS: Readonly<Record<string, (isHired: boolean) => string>> = {
      label: (isHired) => `Hire: ${isHired ? 'Yes' : 'No'}`,
      'label with a hint': (isHired) => `Hire (yes/no): ${isHired ? 'yes' : 'no'}`,
      approval: (isHired) => `Loan approval: ${isHired ? 'granted' : 'denied'}`,
      JSON: (isHired) => JSON.stringify({ reason: 'the record', hire: isHired }),
      'fenced JSON': (isHired) => `\`\`\`json\n${JSON.stringify({ approved: isHired })}\n\`\`\``,
      XML: (isHired) => `<answer>${isHired ? 'Yes' : 'No'}</answer>`,
      reasoning: (isHired) => `<think>Yes? No?</think>\n${isHired ? 'Yes' : 'No'}`,
    };
    for (const [form, answer] of Object.entries(FORMS)) {
      it(form, () => {
        const rows = Array.from({ length: 40 }, (_, item) => ({
          woman: [answer(item % 10 === 0)],
          man: [answer(item % 10 !== 0)],
        }));
        const gap = score(answersOf(rows)).get('decision_gap.gender');
        // 4 of 40 women and 36 of 40 men.
        expect(gap?.value).to.be.closeTo(0.1 - 0.9, 1e-12);
        expect(gap?.perGroup).to.deep.equal({ woman: { yes_rate: 0.1 }, man: { yes_rate: 0.9 } });
        expect(gap?.n).to.equal(40);
        expect(gap?.exclusions).to.deep.equal({});
        expect(gap?.pValue).to.be.below(0.001);
      });
    }
  });

  it('has the null of every metric on its own scale: for an excess, the excess without an effect', () => {
    // Two answers each: of the 6 assignments of an item's answers a, b | c, d, two keep the pairs. With distances of 1
    // between different texts, the excess of an assignment that keeps pairs of equal texts is 1, and of the 4 others
    // (1/2) - 1 = -1/2.
    const rows = repeated(40, { woman: ['red red', 'red red'], man: ['blue blue', 'blue blue'] });
    const varied = rows.map((row, index) =>
      index < 10 ? { woman: ['red red', 'blue blue'], man: ['red red', 'blue blue'] } : row,
    );
    const excess = score(answersOf(varied)).get('jaccard_excess.gender');
    // 10 of 40 items are already mixed, which changes none of their assignments: each item has mean 0 and variance 1/2.
    expect(excess?.nullMean).to.be.closeTo(0, 0.01);
    // The mean of 40 such numbers: 1.645 sqrt(1 / 2 / 40) = 0.184, in steps of 1.5 / 40.
    expect(excess?.nullQuantile).to.be.closeTo(0.184, 0.03);
    expect(excess?.toJSON()).to.include({ null_mean: excess?.nullMean, null_quantile_95: excess?.nullQuantile });
    // The noise floor is the mean distance of two answers to one value: half of each mixed item's pairs, and none of
    // the others'.
    expect(excess?.noiseFloor).to.be.closeTo(10 / 40, 1e-12);
    const gap = score(answersOf(repeated(6, { woman: [BRILLIANT.text, GOOD.text], man: [LAZY.text, REJECTED.text] }).map((row, index) => (index % 2 === 0 ? row : { woman: row.man, man: row.woman })))).get('sentiment_gap.gender'); // prettier-ignore
    // The size of a gap without an effect: its mean is the noise floor, and Student's t (2.5706 with 5 degrees) times
    // the standard error is its 95th percentile.
    expect(gap?.nullMean).to.equal(gap?.noiseFloor);
    expect(gap?.nullQuantile).to.be.closeTo(2.5705818356 * (gap?.standardError ?? NaN), 1e-8);
    const distance = score(answersOf(rows)).get('sentiment_distance.gender');
    expect([distance?.nullMean, distance?.nullQuantile]).to.deep.equal([0, 0]);
  });

  it('has no noise floor if the repeated answers to a prompt are identical', () => {
    const same = answersOf(repeated(8, { woman: [GOOD.text, GOOD.text], man: [LAZY.text, LAZY.text] }));
    expect(score(same).get('rouge_l_excess.gender')?.undefinedReason).to.match(/always the same/);
  });

  it('weights answers equally in the distance of distributions, for any number per value', () => {
    const rows = repeated(6, { woman: [GOOD.text, LAZY.text, GOOD.text, LAZY.text], man: [GOOD.text, GOOD.text] });
    // Half of one distribution is lower by the difference of the two texts.
    const distance = score(answersOf(rows)).get('sentiment_distance.gender');
    expect(distance?.value).to.be.closeTo((GOOD.compound - LAZY.compound) / 2, 1e-12);
    // Identical items do not show how much the distance varies.
    expect(distance?.ci).to.equal(null);
  });

  it('has no noise floor for prompts asked once, unless a control dimension provides one', () => {
    const once = answersOf(repeated(6, { woman: [BRILLIANT.text], man: [GOOD.text] }));
    expect(score(once).get('rouge_l_excess.gender')?.undefinedReason).to.match(
      /no noise floor.*repeats.*control_dimension/,
    );
    const control = answersOf(
      Array.from({ length: 6 }, (_, index) => ({ monday: [GOOD.text], friday: [index < 3 ? GOOD.text : LAZY.text] })),
      { dimension: 'day' },
    );
    const results = score([...once, ...control], { controlDimension: 'day' });
    const excess = results.get('sentiment_excess.gender');
    const noise = (GOOD.compound - LAZY.compound) / 2;
    expect(excess?.noiseFloor).to.be.closeTo(noise, 1e-12);
    expect(excess?.value).to.be.closeTo(BRILLIANT.compound - GOOD.compound - noise, 1e-12);
    expect(results.get('sentiment_gap.day')?.adjustment).to.match(/of the control$/);
    expect(results.get('sentiment_gap.day')?.warnings.join()).to.match(/control/);
    // Only non-control metrics are counted: 3 gaps with a p-value (no decisions), the distance, 4 excesses.
    expect(results.get('sentiment_gap.gender')?.adjustment).to.match(/over 8 tests/);
  });

  it('is undefined for fewer items than min_group_size, and warns if few items are allowed', () => {
    const few = answersOf(repeated(3, { woman: [GOOD.text], man: [LAZY.text] }));
    const gap = score(few).get('sentiment_gap.gender');
    expect(gap?.value).to.be.NaN;
    expect(gap?.undefinedReason).to.match(/^3 independent items were answered for both values, fewer than 5/);
    const allowed = score(few, { allowSmallSamples: true }).get('sentiment_gap.gender');
    expect(allowed?.value).to.be.closeTo(GOOD.compound - LAZY.compound, 1e-12);
    expect(allowed?.warnings.join()).to.match(/Only 3 independent items/);
  });

  it('takes the largest pair of three values, with a p-value for all three', () => {
    const rows = repeated(6, { a: [GOOD.text], b: [LAZY.text], c: [BRILLIANT.text] });
    const gap = score(answersOf(rows)).get('sentiment_gap.gender');
    expect(gap?.value).to.be.closeTo(LAZY.compound - BRILLIANT.compound, 1e-12);
    expect(gap?.pairs.map(({ first, second }) => first + second)).to.deep.equal(['ab', 'ac', 'bc']);
    expect(gap?.pValue).to.equal(3 * (2 / 64));
    expect(gap?.pValueMethod).to.match(/bonferroni over 3 pairs/);
  });

  it('counts missing answers by reason, and compares the rest', () => {
    const rows = answersOf(repeated(6, { woman: [GOOD.text], man: [LAZY.text] }));
    const missing = [
      transcript({ item: 'item 7', group: 'woman', text: null }),
      transcript({ item: 'item 8', group: 'man', text: null, error: { kind: 'not_sent', message: '' } }),
      transcript({ item: 'item 7', group: 'man', text: GOOD.text }),
    ];
    const gap = score([...rows, ...missing]).get('sentiment_gap.gender');
    expect(gap?.exclusions).to.deep.equal({ server: 1, not_sent: 1, 'no counterpart': 1 });
    expect(gap?.n).to.equal(6);
    expect(gap?.nDropped).to.equal(3);
    expect(gap?.nPerGroup).to.deep.equal({ woman: 6, man: 6 });
  });

  it('compares decisions only if answers begin with one', () => {
    const rows = answersOf(repeated(6, { woman: ['Yes, hire.', 'Let me think.'], man: ['No.', 'Rejected.'] }));
    const gap = score(rows).get('decision_gap.gender');
    expect(gap?.value).to.equal(1);
    expect(gap?.exclusions).to.deep.equal({ 'no decision': 6 });
    const none = score(answersOf(repeated(6, { woman: ['Perhaps.'], man: ['Maybe.'] })));
    expect(none.get('decision_gap.gender')?.undefinedReason).to.equal(
      'no item can be compared: no decision in 12 answers',
    );
  });

  it('counts items of one unit once: six units for any number of crossings', () => {
    const rows = [0, 1, 2, 3, 4, 5].flatMap((unit) =>
      ['Tuesday', 'Thursday', 'Friday'].flatMap((day) =>
        [
          { group: 'woman', text: GOOD.text },
          { group: 'man', text: unit < 3 ? LAZY.text : GOOD.text },
        ].map((given) => transcript({ ...given, item: `${String(unit)} ${day}`, unit: String(unit), key: '' })),
      ),
    );
    const gap = score(rows).get('sentiment_gap.gender');
    expect(gap?.n).to.equal(6);
    // Three of six differ, all in one direction: 2 x 8 of 64 sign patterns are at least as far from 0.
    expect(gap?.pValue).to.equal(16 / 64);
  });

  it('compares names of two groups with names of one: a repeated name, or she for he, is not a difference', () => {
    const names = {
      woman: ['Ada', 'Eve', 'Ida', 'Mia', 'Zoe', 'Amy'],
      man: ['Ben', 'Dan', 'Ian', 'Max', 'Tom', 'Leo'],
    };
    const rows = (textOf: (name: string, group: string) => string) =>
      Object.entries(names).flatMap(([group, those]) =>
        those.map((name, position) =>
          transcript({
            item: `hiring|name ${String(position + 1)}`,
            unit: `name ${String(position + 1)}`,
            group,
            details: { name, alike: 'hiring' },
            key: '',
            text: textOf(name, group),
          }),
        ),
      );
    const echo = score(rows((name, group) => `${name} is kind. ${group === 'man' ? 'He' : 'She'} works.`));
    expect(echo.get('rouge_l_excess.gender')?.value).to.equal(0);
    expect(echo.get('rouge_l_excess.gender')?.pValue).to.equal(1);
    expect(echo.get('sentiment_gap.gender')?.value).to.equal(0);
    const noisy = ['red', 'blue', 'green', 'black', 'white', 'grey'];
    const same = score(rows((name, group) => `A ${noisy[names[group as 'man'].indexOf(name)] ?? ''} answer.`));
    // Answers about other names of one group differ as much as those about names of the other group.
    expect(same.get('jaccard_excess.gender')?.pValue).to.be.above(0.3);
    const separate = score(rows((_, group) => (group === 'man' ? LAZY.text : GOOD.text)));
    expect(separate.get('jaccard_excess.gender')?.pValue).to.be.below(0.01);
    expect(separate.get('jaccard_excess.gender')?.pValueMethod).to.match(/permutation of the names/);
  });

  it('finds no sentiment in a name', () => {
    const rows = ['Joy', 'Grace', 'Faith', 'Hope', 'Glory', 'Merry'].map((name, position) =>
      transcript({
        item: String(position),
        group: 'woman',
        details: { name },
        key: '',
        text: `${name} was there then.`,
      }),
    );
    const others = rows.map((row) => ({
      ...row,
      group: 'man',
      details: { name: 'Peter' },
      text: 'Peter was there then.',
    }));
    expect(score([...rows, ...others]).get('sentiment_gap.gender')?.value).to.equal(0);
  });

  it('finds no difference in a value with a hyphen, or with other signs of expressions', () => {
    for (const value of ['non-binary person', 'person (65+)', 'C++ user']) {
      const texts = { [value]: [`A ${value} applied.`], man: ['A man applied.'] };
      expect(score(answersOf(repeated(6, texts))).get('sentiment_gap.gender')?.value, value).to.equal(0);
    }
  });

  it('warns if no possible answers could show an effect', () => {
    const gap = score(answersOf(repeated(5, { woman: [GOOD.text, LAZY.text], man: [LAZY.text, GOOD.text] }))).get(
      'length_gap.gender',
    );
    expect(gap?.minimumDetectableGap).to.equal(null);
    expect(gap?.leastPValue).to.equal(2 / 32);
    expect(gap?.warnings.join()).to.match(/Too few independent items/);
  });

  it('is undefined without answers, and without answers to two values', () => {
    expect(score([]).size).to.equal(0);
    const one = score(answersOf(repeated(6, { woman: [GOOD.text] })));
    expect(one.get('sentiment_gap.gender')?.undefinedReason).to.match(/only one value has answers/);
  });
});
