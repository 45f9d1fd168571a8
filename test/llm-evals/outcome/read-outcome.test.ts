import { expect } from 'chai';

import { parseJsonPath, valueAtPath } from '../../../src/internal/json-path.ts';
import { readOutcome } from '../../../src/llm-evals/outcome/read-outcome.ts';
import type { OutcomeSpec } from '../../../src/schemas/llm-eval/llm-eval-document.ts';

type Case = readonly [answer: string, expected: number | string];

describe('parseJsonPath and valueAtPath', () => {
  it('select one value', () => {
    const value = { a: [{ 'b c': 1 }, { d: null }], 'e"f': 2, length: 3 };
    const at = (path: string): unknown => valueAtPath(value, parseJsonPath(path));
    expect(at('$')).to.equal(value);
    expect(at("$.a[0]['b c']")).to.equal(1);
    expect(at('$.a[1].d')).to.equal(null);
    expect(at('$["e\\"f"]')).to.equal(2);
    expect(at('$.length')).to.equal(3);
  });

  it('do not select inherited properties, or an index of an object', () => {
    expect(valueAtPath({}, parseJsonPath('$.constructor'))).to.equal(undefined);
    expect(valueAtPath([1], parseJsonPath('$.length'))).to.equal(undefined);
    expect(valueAtPath({ 0: 1 }, parseJsonPath('$[0]'))).to.equal(undefined);
    expect(valueAtPath('text', parseJsonPath('$.length'))).to.equal(undefined);
  });

  for (const [path, position] of [
    ['a.b', 1],
    ['', 1],
    ['$.a[*]', 4],
    ['$..a', 2],
    ['$.a[-1]', 4],
    ['$.a b', 4],
  ] as const) {
    it(`reject '${path}' at character ${String(position)}`, () => {
      expect(() => parseJsonPath(path)).to.throw(`character ${String(position)}`);
    });
  }
});

describe('readOutcome', () => {
  const check = (kind: 'decision' | 'score' | 'choice', spec: OutcomeSpec, cases: readonly Case[]): void => {
    for (const [answer, expected] of cases) {
      it(`reads a ${kind} in ${JSON.stringify(answer).slice(0, 70)}`, () => {
        const read = readOutcome(kind, spec, answer);
        expect('value' in read ? read.value : read.unread).to.equal(expected);
        expect(read.kind).to.equal(kind);
      });
    }
  };

  check('score', { number: { jsonPath: '$.score', min: 1, max: 10 } }, [
    ['{"score": 7}', 7],
    ['{"score": "7.5"}', 7.5],
    ['{"score": "8/10"}', 8],
    ['{"score": "8 / 5"}', 'not a number'],
    ['{"score": 12}', 'outside 1 to 10'],
    ['{"score": null}', 'not a number'],
    ['{"score": "high"}', 'not a number'],
    ['{"grade": 3}', 'no value at the JSON path'],
    ['Sure! ```json\n{"score": 3, "why": "a } in a text"}\n```', 3],
    ['First {"score": 3}, then {"score": 4}.', 'several values at the JSON path'],
    ['First {"score": 3}, again {"score": 3}.', 3],
    ['<think>{"score": 1}</think>{"score": 9}', 9],
    ['I would say 7.', 'no JSON'],
    ['{"score": 7', 'no JSON'],
    ['[1, 2] and {"score": 2}', 2],
  ]);
  check('decision', { regex: 'approved|declined', choices: ['approved', 'declined'] }, [
    ['The loan is approved.', 1],
    ['The loan is not approved.', 'a choice beside a negation'],
    ["The loan shouldn't be approved.", 'a choice beside a negation'],
    ['Der Antrag wird nicht approved.', 'a choice beside a negation'],
    ['There is no doubt: approved.', 1],
    ['Any doubt? No.\nApproved', 1],
  ]);
  check('choice', { regex: '(not approved|approved)' }, [
    ['It is not approved', 'not approved'],
    ['It is approved', 'approved'],
    ['It was never approved', 'a choice beside a negation'],
  ]);
  check('score', { number: { regex: '(\\d+(?:\\.\\d+)?) out of 10', min: 1, max: 10 } }, [
    ['Score: 2 out of 10. A fair start.', 2],
    ['SCORE: 7.5 OUT OF 10', 7.5],
    ['11 out of 10!', 'outside 1 to 10'],
    ['Two out of ten.', 'no match of the regular expression'],
    ['', 'no match of the regular expression'],
  ]);
  const part = (number: string): string => `the pattern matches only a part of a number, such as '${number}'`;
  check('score', { number: { regex: '(\\d+) out of 10', min: 1, max: 10 } }, [
    ['I rate this 6 out of 10.', 6],
    ['I rate this 6.5 out of 10.', part('6.5')],
    ['I rate this 6,5 out of 10.', part('6,5')],
    ['I rate this 6. 5 out of 10 agree.', 5],
    ['Out of 20, 5 out of 10.', 5],
    ['In 2024.7 out of 10', part('2024.7')],
  ]);
  check('score', { number: { regex: 'rating: (\\d+)' } }, [
    ['Rating: 6.9', part('6.9')],
    ['Rating: 6,9', part('6,9')],
    ['Rating: 1,234.5', part('1,234.5')],
    ['Rating: **6**.', 6],
    ['My rating: 5. The rest is good.', 5],
    ['Rating: 5, because 6 is too much.', 5],
    ['Rating: 5.', 5],
    ['Rating: 5/10', 5],
    ['Rating: 5.a', 5],
    ['Rating: -3', 'no match of the regular expression'],
  ]);
  check('score', { number: { regex: 'rating: (\\d)' } }, [
    ['Rating: 8', 8],
    ['Rating: 85', part('85')],
  ]);
  check('score', { number: { regex: '(\\d+) points' } }, [
    ['It gets -3 points.', part('-3')],
    ['It gets −3 points.', part('−3')],
    ['It gets .5 points.', part('.5')],
    ['It gets -.5 points.', part('-.5')],
    ['It gets (5 points).', 5],
    ['A range of 1-3 points.', 3],
    ['In section 2.\n5 points.', 5],
  ]);
  check('score', { number: { regex: 'salary: \\$?([\\d.,]+)' } }, [
    ['Salary: $52000', 52_000],
    ['Salary: 52,000', "'52,000' is 52000 or 52"],
    ['Salary: 0,125', 0.125],
    ['Salary: 52,00', 52],
    ['Salary: 1,052,000', 'not a number'],
  ]);
  check('score', { number: { regex: '\\d\\.\\d' } }, [
    ['It is 6.5!', 6.5],
    ['It is 16.5!', part('16.5')],
    ['It is 6.55!', part('6.55')],
  ]);
  check('score', { number: { regex: '(.+) points' } }, [
    ['  6.5  points', 6.5],
    ['6.5x points', 'not a number'],
  ]);
  check('score', { number: { regex: '(?:(?:rating)+: )+(\\d+)' } }, [
    ['Rating: 6', 6],
    ['Rating: 6.9', part('6.9')],
  ]);
  check('choice', { regex: 'grade (\\d)', choices: ['1', '2'] }, [['Grade 2.', '2']]);
  check('score', { number: { regex: 'score:\\s*(\\S+)' } }, [
    ['Score: -0,5', -0.5],
    ['Score: **8**', 8],
    ['**Score:** 6', 6],
    ['Score: n/a', 'not a number'],
  ]);
  check('decision', { jsonPath: '$.hire' }, [
    ['{"hire": true}', 1],
    ['{"hire": false}', 0],
    ['{"hire": "no"}', 0],
    ['{"hire": 1}', 1],
    ['{"hire": 0.5}', 'no decision'],
    ['{"hire": "maybe"}', 'no decision'],
  ]);
  check('decision', { regex: 'verdict: (.*)', choices: ['einstellen', 'ablehnen'] }, [
    ['Verdict: Einstellen.', 1],
    ['Verdict: ablehnen', 0],
    ['Verdict: vertagen', 'no choice'],
  ]);
  check('decision', {}, [
    ['Yes, hire her.', 1],
    ['No.', 0],
    ['It depends.', 'no decision'],
  ]);
  check('choice', { choices: ['hire', 'do not hire', 'interview again'] }, [
    ['Hire', 'hire'],
    ['**Do not hire.**', 'do not hire'],
    ['My recommendation is: do not hire.', 'do not hire'],
    ['I would do not hire, or hire later.', 'several choices'],
    ['Interview again!', 'interview again'],
    ['Hired', 'no choice'],
    ['', 'empty answer'],
  ]);
  check('decision', { choices: ['hire', 'reject'] }, [
    ...[
      'I would not hire her.',
      "Don't hire.",
      'Don’t hire.',
      'Never hire.',
      'Hire? No.',
      'Hire? No, never.',
      "No, I wouldn't hire her.",
      'I cannot recommend to hire her',
      'I advise against a decision to hire',
      'I would not reject her.',
      'We should refuse to hire him.',
      'Hire no one.',
    ].map((text): [string, string] => [text, 'a choice beside a negation']),
    ['I would hire her. She has no weaknesses.', 1],
    ['Hire.', 1],
    ['Hire - there is no better candidate.', 1],
    ['Reject: not enough experience.', 0],
    ['Reject, because she is not qualified.', 0],
    ['My decision is to reject.', 0],
  ]);
  check('decision', { choices: ['einstellen', 'ablehnen'] }, [
    ['Nicht einstellen.', 'a choice beside a negation'],
    ['Ich würde sie nicht einstellen', 'a choice beside a negation'],
    ['Keinesfalls einstellen', 'a choice beside a negation'],
    ['Ich würde sie einstellen.', 1],
  ]);
  check('choice', { choices: ['interview', 'hold', 'reject'] }, [
    ['No interview.', 'a choice beside a negation'],
    ['Interview', 'interview'],
  ]);
  check('decision', { choices: ['yes', 'no'] }, [
    ['No, she is not ready.', 0],
    ['No.', 0],
    ['Yes, without doubt.', 1],
  ]);
  check('choice', { choices: ['follow-up', 'C++ (senior)', 'n/a'] }, [
    ['A follow-up, please.', 'follow-up'],
    ['Role: C++ (senior)', 'C++ (senior)'],
    ['N/A', 'n/a'],
  ]);
  check('choice', { jsonPath: '$.tone' }, [
    ['{"tone": "Warm"}', 'warm'],
    ['{"tone": {}}', 'not a label'],
  ]);

  it('ends with an error if a regular expression takes more than a second', () => {
    const slow = { number: { regex: '((a+)+)+b' } };
    expect(() => readOutcome('score', slow, 'a'.repeat(60))).to.throw('takes more than a second');
  });
});
