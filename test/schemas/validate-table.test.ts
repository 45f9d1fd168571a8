import { expect } from 'chai';

import { ConfigValidationError } from '../../src/exceptions/index.ts';
import type { WireProblem } from '../../src/schemas/problems-of.ts';
import { parseValidateTable } from '../../src/schemas/validate-table.ts';

type Query = Readonly<Record<string, string | readonly string[]>>;

/** Returns the error of a query. */
function errorOf(query: Query): ConfigValidationError {
  try {
    parseValidateTable(query);
  } catch (error) {
    expect(error).instanceOf(ConfigValidationError);
    return error as ConfigValidationError;
  }
  throw new Error('it was taken');
}

const GOOD: Query = { y_pred: 'ok', sensitive: 'sex' };

describe('parseValidateTable', () => {
  const cases: readonly (readonly [
    title: string,
    query: Query,
    pointer: string,
    detail: RegExp,
    suggestion: RegExp,
  ])[] = [
    ['no groups', { y_pred: 'ok' }, 'sensitive', /^sensitive is missing: name the column .*sensitive=sex/, /columns/],
    ['an empty name of groups', { ...GOOD, sensitive: '' }, 'sensitive', /^sensitive must not be empty\.$/, /sex/],
    ['one of several empty', { ...GOOD, sensitive: ['a', ''] }, 'sensitive', /must not be empty/, /sex/],
    ['an empty name in a list', { ...GOOD, sensitive: 'a,,b' }, 'sensitive', /empty name/, /commas/],
    ['no decisions', { sensitive: 'sex' }, 'y_pred', /^y_pred is missing/, /y_pred=approved/],
    ['an empty column', { ...GOOD, y_true: '' }, 'y_true', /^y_true must not be empty\.$/, /leave the field out/],
    ['decisions and scores', { ...GOOD, y_score: 's' }, 'score', /not both/, /Leave out/],
    [
      'scores twice',
      { score: 's', y_score: 's', sensitive: 'a' },
      'y_score',
      /the same parameter/,
      /Leave y_score out/,
    ],
    ['a level of 2', { ...GOOD, ci_level: '2' }, 'ci_level', /below 1/, /above 0 and below 1/],
    ['a text for a number', { ...GOOD, threshold: 'x' }, 'threshold', /a number; got 'x'/, /^Send a number\.$/],
    ['a half group', { ...GOOD, min_group_size: '2.5' }, 'min_group_size', /whole number/, /^Send a whole number\.$/],
    ['a value that is not a boolean', { ...GOOD, with_ci: 'maybe' }, 'with_ci', /boolean/, /^Send true or false\.$/],
    ['a repeated threshold', { ...GOOD, threshold: ['1', '2'] }, 'threshold', /a number/, /Send a number/],
    ['a choice that is similar to a valid one', { ...GOOD, agg: 'worstcase' }, 'agg', /one of/, /'worst_case'/],
    ['an unknown parameter', { ...GOOD, treshold: '1' }, 'treshold', /'threshold'/, /The fields are y_pred, .*seed/],
  ];
  for (const [title, query, pointer, detail, suggestion] of cases) {
    it(`names the parameter and what to send: ${title}`, () => {
      const error = errorOf(query);
      const [problem] = error.context['fields'] as WireProblem[];
      expect(problem?.pointer).to.equal(pointer);
      expect(problem?.detail).to.match(detail);
      expect(error.suggestion).to.match(suggestion);
      expect(Object.keys(problem ?? {})).to.deep.equal(['pointer', 'detail']);
    });
  }

  it('names all parameters that an empty query lacks', () => {
    const fields = errorOf({}).context['fields'] as WireProblem[];
    expect(fields.map(({ pointer }) => pointer)).to.deep.equal(['sensitive', 'y_pred']);
  });

  for (const text of ['true', 'True', 'TRUE', ' yes', 'Yes', '1']) {
    it(`reads booleans in any case: '${text}'`, () => {
      expect(parseValidateTable({ ...GOOD, with_ci: text }).withCi).to.equal(true);
      expect(parseValidateTable({ ...GOOD, with_ci: 'False' }).withCi).to.equal(false);
    });
  }

  it('treats y_score as score', () => {
    expect(parseValidateTable({ y_score: 's', sensitive: 'sex' })).to.deep.include({ score: 's', yPred: undefined });
    expect(parseValidateTable({ y_score: 's', score_threshold: '0.7', sensitive: 'sex' }).scoreThreshold).to.equal(0.7);
  });

  it('splits lists of names at commas that are not escaped', () => {
    const { attributes } = parseValidateTable({ ...GOOD, sensitive: ['sex, race', 'a\\,b'] });
    expect(attributes).to.deep.equal([['sex', 'race'], ['a,b']]);
  });
});
