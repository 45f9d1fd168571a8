import { expect } from 'chai';

import { ValueError } from '../../../src/exceptions/index.ts';
import { jaccardOfLists } from '../../../src/llm-evals/text/similarity/jaccard-similarity.ts';
import { prag, type RankScale, serp } from '../../../src/llm-evals/text/similarity/ranked-lists.ts';
import { describeWithReference, readVectors } from '../../helpers/reference.ts';

/** Computed by hand: SERP and PRAG on the unit scale, then as published. */
const CASES: [title: string, a: string, b: string, serp: [number, number], prag: [number, number]][] = [
  ['equal lists of one', 'a', 'a', [1, 1 / 2], [1, 1]],
  ['different lists of one', 'a', 'b', [0, 0], [0, 0]],
  ['equal lists of two', 'a b', 'a b', [1, 5 / 12], [1, 1 / 6]],
  ['two turned around: all there, no pair kept', 'a b', 'b a', [1, 5 / 12], [0, 0]],
  ['the first of two there: its pair is kept', 'a b', 'a c', [2 / 3, 3 / 12], [1, 1 / 6]],
  ['the second of two there: no pair is kept', 'a b', 'c b', [1 / 3, 2 / 12], [0, 0]],
  ['equal lists of four', 'a b c d', 'a b c d', [1, 14 / 40], [1, 6 / 20]],
  ['four of which two are there, in order', 'a b c d', 'a c x y', [6 / 10, 8 / 40], [4 / 6, 4 / 20]],
  ['a list with nothing in common', 'a b c', 'x y z', [0, 0], [0, 0]],
  ['an empty first list', '', 'a', [0, 0], [0, 0]],
  ['an empty second list', 'a b', '', [0, 0], [0, 0]],
  ['two empty lists', '', '', [0, 0], [0, 0]],
  ['a repeated item has its first rank', 'a b a', 'a b', [1, 5 / 12], [1, 1 / 6]],
];

describe('similarities of ranked lists', () => {
  for (const [title, a, b, serps, prags] of CASES) {
    it(title, () => {
      const lists = [a, b].map((list) => list.split(' ').filter((item) => item !== '')) as [string[], string[]];
      (['unit', 'published'] as const).forEach((scale, index) => {
        expect(serp(...lists, { scale }), `SERP, ${scale}`).to.be.closeTo(serps[index] as number, 1e-12);
        expect(prag(...lists, { scale }), `PRAG, ${scale}`).to.be.closeTo(prags[index] as number, 1e-12);
      });
      expect(serp(...lists)).to.equal(serp(...lists, { scale: 'published' }));
    });
  }

  it('rejects an unknown scale and lists the known ones', () => {
    expect(() => serp(['a'], ['a'], { scale: 'units' as RankScale })).to.throw(ValueError, /scale.*published, unit/);
    expect(() => prag(['a'], ['a'], { scale: 'units' as RankScale })).to.throw(ValueError, /scale.*published, unit/);
  });

  describeWithReference('as published', () => {
    // Lists of two each: one title in common at the top of the first pair, none in the second.
    const first = [
      ['a', 'b'],
      ['c', 'd'],
    ];
    const second = [
      ['a', 'e'],
      ['f', 'g'],
    ];
    const { recommendation } = readVectors('langfair_metrics.json') as {
      recommendation: Record<string, number>;
    };
    for (const [name, similarity] of Object.entries({ Jaccard: jaccardOfLists, SERP: serp, PRAG: prag })) {
      it(`${name}, the mean of two pairs of lists`, () => {
        const values = first.map((list, index) => similarity(list, second[index] as string[]));
        expect(values.reduce((sum, value) => sum + value, 0) / 2).to.be.closeTo(recommendation[name] as number, 1e-12);
      });
    }
  });
});
