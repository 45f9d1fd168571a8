import { expect } from 'chai';

import { toBatches } from '../../../src/integration/tracking/mlflow-runs.ts';
import { freeKey, RunEntries, toEntryKey } from '../../../src/integration/tracking/run-entries.ts';

describe('a key', () => {
  const KEYS: readonly (readonly [text: string, key: string])[] = [
    ['demographic_parity_difference', 'demographic_parity_difference'],
    ['m.a||b.n', 'm.a__b.n'],
    ['<=50K', '__50K'],
    ['žena 女', 'žena 女'],
    ['👩', '_'],
    ['a:b', 'a_b'],
    ['a\nb\tc', 'a_b_c'],
    ['val/a.n', 'val/a.n'],
    ['/a//b/', 'a/b'],
    ['../a/./b/..', '_/a/_/b/_'],
    ['..a', '_a'],
    ['...', '_.'],
    ['.', '_'],
    ['/', '_'],
    ['', '_'],
    ['x'.repeat(300), 'x'.repeat(250)],
    [`${'x'.repeat(249)}/y`, `${'x'.repeat(249)}_`],
  ];
  for (const [text, key] of KEYS) {
    it(`${JSON.stringify(text.slice(0, 30))} becomes a valid MLflow key`, () => {
      expect(toEntryKey(text)).to.equal(key);
    });
  }

  it('is cut between characters, not within one', () => {
    // A letter outside the basic plane has two UTF-16 code units.
    expect(toEntryKey(`${'x'.repeat(249)}𝒜`)).to.equal('x'.repeat(249));
  });

  it('gets a number if it is used already, ignoring case', () => {
    const taken = new Set<string>();
    expect(['Age', 'age', 'AGE', 'age_2'].map((key) => freeKey(key, taken))).to.deep.equal([
      'Age',
      'age_2',
      'AGE_3',
      'age_2_2',
    ]);
    const long = 'y'.repeat(250);
    expect([freeKey(long, taken), freeKey(long, taken)]).to.deep.equal([long, `${'y'.repeat(248)}_2`]);
  });
});

describe('the entries of a run', () => {
  it('record the original names of renamed keys', () => {
    const entries = new RunEntries();
    entries.metric('m.<50', 1);
    entries.metric('m.>50', 2);
    entries.metric('m.__proto__', 3);
    entries.metric('<proto>', 4);
    entries.metric('plain', 5);
    const { metrics, tags } = entries.content();
    expect(metrics).to.deep.equal([
      { key: 'm._50', value: 1 },
      { key: 'm._50_2', value: 2 },
      { key: 'm.__proto__', value: 3 },
      { key: '_proto_', value: 4 },
      { key: 'plain', value: 5 },
    ]);
    expect(tags.map(({ key }) => key)).to.deep.equal(['evenhand.renamed']);
    expect(JSON.parse(tags[0]?.value ?? '')).to.deep.equal({
      'm._50': 'm.<50',
      'm._50_2': 'm.>50',
      _proto_: '<proto>',
    });
  });

  it('store a non-finite number as a tag with its reason', () => {
    const entries = new RunEntries();
    entries.metric('a', NaN, 'one group');
    entries.metric('b', Infinity);
    expect(entries.content()).to.deep.equal({
      metrics: [],
      params: [],
      tags: [
        { key: 'a.undefined', value: 'one group' },
        { key: 'b.undefined', value: 'the value is Infinity' },
      ],
    });
  });

  it('cut texts to the limits of MLflow', () => {
    const entries = new RunEntries();
    entries.param('p', 'x'.repeat(7000));
    entries.tag('t', 'x'.repeat(9000));
    const { params, tags } = entries.content();
    expect([params[0]?.value.length, tags[0]?.value.length]).to.deep.equal([6000, 5000]);
  });
});

describe('batches', () => {
  const texts = (count: number, length = 1): { key: string; value: string }[] =>
    Array.from({ length: count }, (_, index) => ({ key: `k${index}`, value: 'ž'.repeat(length) }));
  const numbers = (count: number): { key: string; value: number }[] =>
    Array.from({ length: count }, (_, index) => ({ key: `k${index}`, value: index }));
  const sizes = (metrics: number, params: number, tags: number): number[][] =>
    toBatches({ metrics: numbers(metrics), params: texts(params), tags: texts(tags) }).map((batch) => [
      batch.metrics.length,
      batch.params.length,
      batch.tags.length,
    ]);

  const SPLITS: readonly (readonly [counts: readonly [number, number, number], batches: number[][]])[] = [
    [[0, 0, 0], []],
    [[1, 0, 0], [[1, 0, 0]]],
    [[1000, 0, 0], [[1000, 0, 0]]],
    [
      [1001, 0, 0],
      [
        [1000, 0, 0],
        [1, 0, 0],
      ],
    ],
    [[800, 100, 100], [[800, 100, 100]]],
    [
      [801, 100, 100],
      [
        [800, 100, 100],
        [1, 0, 0],
      ],
    ],
    [
      [0, 101, 0],
      [
        [0, 100, 0],
        [0, 1, 0],
      ],
    ],
    [
      [5, 0, 250],
      [
        [0, 0, 100],
        [0, 0, 100],
        [5, 0, 50],
      ],
    ],
  ];
  for (const [counts, batches] of SPLITS) {
    it(`hold ${counts.join(' metrics, ')} params and tags within the limits`, () => {
      expect(sizes(...counts)).to.deep.equal(batches);
    });
  }

  it('stay under a million bytes, keep every entry and keep the order', () => {
    const content = { metrics: numbers(2500), params: texts(100, 6000), tags: texts(100, 5000) };
    const batches = toBatches(content);
    for (const batch of batches) expect(Buffer.byteLength(JSON.stringify(batch))).to.be.below(1e6);
    for (const kind of ['metrics', 'params', 'tags'] as const) {
      expect(batches.flatMap((batch): readonly unknown[] => batch[kind])).to.deep.equal(content[kind]);
    }
  });
});
