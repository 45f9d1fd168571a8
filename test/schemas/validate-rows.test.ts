import { expect } from 'chai';

import { ConfigValidationError } from '../../src/exceptions/index.ts';
import type { WireProblem } from '../../src/schemas/problems-of.ts';
import { findTooLong, parseValidateRows } from '../../src/schemas/validate-rows.ts';

/** Returns the problems of a body: pointer and detail. */
function problemsIn(body: unknown): readonly WireProblem[] {
  try {
    parseValidateRows(body);
  } catch (error) {
    expect(error).instanceOf(ConfigValidationError);
    return (error as ConfigValidationError).context['fields'] as WireProblem[];
  }
  return [];
}

describe('parseValidateRows', () => {
  const good = { y_pred: [1, 0], sensitive: ['a', 'b'] };
  const cases: readonly (readonly [title: string, body: unknown, pointer: string, detail: RegExp])[] = [
    ['null', null, '', /object of fields/],
    ['a list', [], '', /object of fields/],
    ['no sensitive attribute', { y_pred: [1] }, '/sensitive', /missing/],
    ['neither decisions nor scores', { sensitive: ['a'] }, '/y_pred', /y_pred.*y_score/],
    ['a misspelt field', { ...good, min_groupsize: 3 }, '/min_groupsize', /'min_group_size'/],
    ['lengths that differ', { ...good, sensitive: ['a'] }, '/sensitive', /sensitive has 1 items, and y_pred has 2/],
    ['a short column of several', { ...good, sensitive: { 's/x~': ['a'] } }, '/sensitive/s~1x~0', /has 1 items/],
    ['an item that is a list', { ...good, sensitive: ['a', ['b']] }, '/sensitive/1', /index 1/],
    ['an item of a column', { ...good, sensitive: { sex: ['a', {}] } }, '/sensitive/sex/1', /sensitive\.sex.*index 1/],
    ['text for scores', { ...good, y_score: [0.1, '0.2'] }, '/y_score/1', /'0\.2' at index 1/],
    ['a number beyond float64', { ...good, y_score: [0.1, Infinity] }, '/y_score/1', /Infinity at index 1/],
    ['a negative weight', { ...good, sample_weight: [1, -1] }, '/sample_weight/1', /0 or more/],
    ['no columns', { ...good, sensitive: {} }, '/sensitive', /at least one column/],
    ['an array that is a text', { ...good, y_pred: '1,0' }, '/y_pred', /must be an array; got '1,0'/],
    ['text for a number', { ...good, threshold: '0.1' }, '/threshold', /a number; got '0\.1'/],
    ['a level of 1', { ...good, ci_level: 1 }, '/ci_level', /below 1/],
    ['a comparator alone', { ...good, comparator: '<' }, '/comparator', /threshold/],
    ['a score threshold without scores', { ...good, score_threshold: 0.5 }, '/score_threshold', /y_score/],
    [
      'an intersection of an unknown attribute',
      { ...good, intersections: [['a', 'b']] },
      '/intersections/0',
      /not an attribute/,
    ],
    [
      'an intersection of an attribute with itself',
      { ...good, sensitive: { sex: ['a', 'b'] }, intersections: [['sex', 'sex']] },
      '/intersections/0',
      /itself/,
    ],
  ];
  for (const [title, body, pointer, detail] of cases) {
    it(`names the field: ${title}`, () => {
      const [problem] = problemsIn(body);
      expect(problem?.pointer).to.equal(pointer);
      expect(problem?.detail).to.match(detail);
    });
  }

  it('names all fields that an empty body lacks', () => {
    expect(problemsIn({}).map(({ pointer }) => pointer)).to.deep.equal(['/sensitive', '/y_pred']);
  });

  it('asks for a row if there is none', () => {
    expect(problemsIn({ y_pred: [], sensitive: [] })).to.deep.equal([
      { pointer: '/y_pred', detail: 'y_pred has no items.' },
    ]);
  });

  const instead: readonly (readonly [title: string, body: object, suggestion: RegExp])[] = [
    ['not an array', { ...good, y_pred: '1' }, /^Send a JSON array, one item for every row\.$/],
    ['a number in quotes', { ...good, threshold: '0.1' }, /^Send the number without quotes\.$/],
    ['a score in quotes', { ...good, y_score: ['0.1', 1] }, /^Send the number without quotes\.$/],
    ['a truth in quotes', { ...good, with_ci: 'true' }, /^Send true without quotes\.$/],
    ['a level of 0', { ...good, ci_level: 0 }, /^Send a number above 0 and below 1\.$/],
    ['a half group', { ...good, min_group_size: 2.5 }, /^Send a whole number\.$/],
    ['a group of 0', { ...good, min_group_size: 0 }, /^Send a number of at least 1\.$/],
    ['a negative weight', { ...good, sample_weight: [-1, 1] }, /^Send 0 or more\.$/],
    ['an unknown field', { ...good, zzz: 1 }, /^The fields are y_pred, sensitive, .*backend\.$/],
    ['no rows', { y_pred: [], sensitive: [] }, /^Send at least one row\.$/],
    ['two problems', { ...good, threshold: '0.1', ci_level: 2 }, /without quotes\. Send a number above 0/],
  ];
  for (const [title, body, suggestion] of instead) {
    it(`suggests what to send instead: ${title}`, () => {
      expect(() => parseValidateRows(body))
        .to.throw(ConfigValidationError)
        .with.property('suggestion')
        .that.matches(suggestion);
    });
  }

  it('accepts decisions as numbers, booleans, texts and null, together with scores', () => {
    const body = { y_pred: [1, true, '1', null], y_score: [0.1, null, 0.3, 1], sensitive: ['a', 1, false, null] };
    expect(problemsIn(body)).to.deep.equal([]);
    expect(parseValidateRows(body)).to.include({ strict_missing: false, nan_policy: 'exclude', backend: 'native' });
  });

  it('does not show data in full', () => {
    const [problem] = problemsIn({ ...good, threshold: 'x'.repeat(10_000) });
    expect(problem?.detail.length).to.be.lessThan(200);
  });

  it('finds the first array that is longer than a limit, in any field', () => {
    expect(findTooLong(good, 2)).to.equal(undefined);
    expect(findTooLong({ y_pred: [1, 0, 1], sensitive: ['a'] }, 2)?.pointer).to.equal('/y_pred');
    expect(findTooLong({ y_pred: [1], sensitive: { sex: ['a', 'b', 'c'] } }, 2)).to.deep.equal({
      pointer: '/sensitive/sex',
      detail: 'sensitive.sex has 3 items, but at most 2 are allowed.',
    });
    expect(findTooLong(null, 2)).to.equal(undefined);
  });
});
