import { expect } from 'chai';
import fc from 'fast-check';

import { readQuickRows } from '../../../src/api/jobs/quick-rows.ts';
import { readRowsBody } from '../../../src/api/jobs/rows-body.ts';
import { ServiceProblem } from '../../../src/api/problem/service-problem.ts';
import { FairnessToolkitError } from '../../../src/exceptions/index.ts';
import { validateRemembered, validateRowsNow } from '../../../src/integration/validate-rows.ts';
import { validationToJson, validationToJsonText } from '../../../src/integration/validation-report.ts';
import { check, itHolds } from '../../property/check.ts';

const MAX_ITEMS = 40;

/** The outcome of a body that is parsed with JSON.parse and the schema. */
function parsedOutcome(bytes: Uint8Array): string {
  return outcomeOf(() => validateRowsNow(readRowsBody(bytes, MAX_ITEMS)));
}

/** The outcome of a body on the quick path; undefined if the body must be parsed. */
function quickOutcome(bytes: Uint8Array): string | undefined {
  const quick = readQuickRows(bytes, MAX_ITEMS);
  return quick === undefined ? undefined : outcomeOf(() => validateRemembered(quick.input, quick.memory));
}

function outcomeOf(validate: () => ReturnType<typeof validateRowsNow>): string {
  try {
    const validation = validate();
    const text = validationToJsonText(validation);
    expect(text).to.equal(JSON.stringify(validationToJson(validation)));
    return text;
  } catch (error) {
    // The service parses a body again if its validation on the quick path fails, so only the kind of error counts.
    if (FairnessToolkitError.isInstance(error)) return `error ${error.name}`;
    if (error instanceof ServiceProblem) return `refused ${String(error.status)}`;
    throw error;
  }
}

/** Asserts that a body on the quick path has the outcome of the parsed body. Returns whether it took the quick path. */
function expectSame(body: Uint8Array | string): boolean {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const quick = quickOutcome(bytes);
  if (quick === undefined) return false;
  expect(quick, Buffer.from(bytes).toString()).to.equal(parsedOutcome(bytes));
  return true;
}

const space = fc.constantFrom('', '', '', ' ', '\n\t ');
const bit = fc.constantFrom('0', '1', '0', '1', '0', '1', 'true', 'false');
const oddItem = fc.constantFrom(
  'null',
  '2',
  '-0',
  '01',
  '1.0',
  '1e0',
  '"1"',
  '[]',
  '{}',
  'NaN',
  '',
  'tru',
  '"a',
  '0 1',
);
const label = fc.constantFrom(
  '"a"',
  '"b"',
  '"ab"',
  '"b a"',
  '"1"',
  '"1.0"',
  '"Ä"',
  '""',
  '"NA"',
  '"__proto__"',
  '"abcd"',
  '"abce"',
  '"abcdefgh"',
  '"abcdefgi"',
  '"bcd男"',
  '"bcd女"',
  'null',
);
const oddLabel = fc.constantFrom(
  '7',
  'true',
  '"\\u0061"',
  '"a\\"b"',
  '"a\u0001"',
  '"a',
  '12345678901234567890',
  '"\ufeffa"',
);

function list(item: fc.Arbitrary<string>, odd: fc.Arbitrary<string>, rows: number): fc.Arbitrary<string> {
  const items = fc.array(item, { minLength: rows, maxLength: rows });
  const withOdd = fc.tuple(items, odd, fc.nat(rows)).map(([all, one, at]) => all.toSpliced(at, 1, one));
  return fc
    .tuple(fc.oneof({ weight: 12, arbitrary: items }, { weight: 1, arbitrary: withOdd }), space, space)
    .map(([all, before, after]) => `[${before}${all.join(`${after},${before}`)}${after}]`);
}

const option = fc.constantFrom(
  '"threshold":0.1',
  '"threshold": 0.25',
  '"threshold":"0.1"',
  '"threshold":7',
  '"with_ci":false',
  '"with_ci":true',
  '"ci_samples":20',
  '"seed":7',
  '"ci_level":0.9',
  '"ci_method":"percentile"',
  '"min_group_size":1',
  '"min_group_size":2',
  '"min_group_size":0',
  '"metric":"equalized_odds_difference"',
  '"metric":["demographic_parity_ratio>=0.8","accuracy_parity_difference"]',
  '"metric":"mae_parity_difference"',
  '"metric":"roc_auc_difference"',
  '"metric":"demographic_party"',
  '"gates":[{"metric":"demographic_parity_difference","threshold":0.2}]',
  '"gates":[{"metric":"demographic_parity_difference","threshold":0.2,"threshold":0.3}]',
  '"method":"to_overall"',
  '"reference_group":"a"',
  '"compat":"fairlearn"',
  '"nan_policy":"include"',
  '"na_values":["b"]',
  '"positive_label":"1"',
  '"measures":["selection_rate"]',
  '"min_cell":3',
  '"strict_missing":true',
  '"agg":"mean"',
  '"comparator":"<"',
  '"with_p_value":true',
  '"with_effects":true',
  '"average":"macro"',
  '"backend":"native"',
  '"unknown":1',
  '"__proto__":{}',
  '"y_pred":[1]',
  '"seed":1]',
  '"seed":{]',
);

const bodies = fc
  .record({ rows: fc.integer({ min: 1, max: 12 }), wrong: fc.nat(30) })
  .chain(({ rows, wrong }) => {
    const own = (is: boolean): number => (is ? rows + 1 : rows);
    const groups = list(label, oddLabel, own(wrong === 1));
    const named = fc
      .tuple(fc.constantFrom('sex', 'a1', '1', '__proto__', 'x y'), groups, fc.option(groups))
      .map(([name, one, other]) => `{"${name}":${one}${other === null ? '' : `,"race":${other}`}}`);
    return fc.tuple(
      list(bit, oddItem, own(wrong === 2)).map((bits) => `"y_pred":${bits}`),
      fc.option(list(bit, oddItem, own(wrong === 3)).map((bits) => `"y_true" : ${bits}`)),
      fc.oneof(groups, groups, named).map((columns) => `"sensitive":${columns}`),
      fc.array(option, { maxLength: 4 }),
      space,
      fc.boolean(),
    );
  })
  .chain(([yPred, yTrue, sensitive, options, between, isShuffled]) => {
    const fields = [...options, yPred, ...(yTrue === null ? [] : [yTrue]), sensitive];
    const order = isShuffled ? fc.shuffledSubarray(fields, { minLength: fields.length }) : fc.constant(fields);
    return order.map((all) => `${between}{${all.join(`${between},`)}}${between}`);
  });

describe('readQuickRows', function () {
  this.timeout(60_000);

  itHolds('accepts and rejects what the schema accepts and rejects, with the same results', () => {
    let quick = 0;
    let valid = 0;
    check(
      bodies,
      (body) => {
        if (expectSame(body)) quick += 1;
        if (!/^(error|refused)/.test(parsedOutcome(Buffer.from(body)))) valid += 1;
      },
      4000,
    );
    // The law is worth nothing if no body takes the quick path, or if all bodies are invalid.
    expect(valid).to.be.above(100);
    expect(quick).to.be.above(100);
  });

  it('does so for damaged bodies too', () => {
    let quick = 0;
    const damage = fc.record({ at: fc.nat(), length: fc.nat(2), by: fc.constantFrom('', '"', ',', ']', '}', '[', '0', '\\', 'é', '\u0000') }); // prettier-ignore
    check(
      fc.tuple(bodies, damage, fc.nat(255)),
      ([body, { at, length, by }, byte]) => {
        const start = at % body.length;
        if (expectSame(`${body.slice(0, start)}${by}${body.slice(start + length)}`)) quick += 1;
        const bytes = Buffer.from(body);
        bytes[at % bytes.length] = byte;
        if (expectSame(bytes)) quick += 1;
      },
      2000,
    );
    expect(quick).to.be.above(20);
  });

  const COLUMNS = '"y_pred":[1,1,1,0],"y_true":[1,0,1,0],"sensitive":["a","a","b","b"]';
  const quickly = [
    `{${COLUMNS},"min_group_size":2}`,
    `{"y_pred": [1, 1, 1, 0], "y_true": [1, 0, 1, 0], "sensitive": ["a", "a", "b", "b"], "threshold": 0.1}`,
    '{"sensitive":{"sex":["f",null,"m","f"],"race":["ä","b","b","ä"]},"y_pred":[true,false,1,0],"min_group_size":1}',
    '{"y_pred":[1,0],"sensitive":[null,null]}',
    '{"y_pred":[1,0],"sensitive":["x","y"],"metric":"demographic_parity_difference<=0.2"}',
    `{"y_pred":${JSON.stringify(Array.from({ length: 40 }, (_, row) => row % 2))},"sensitive":${JSON.stringify(Array.from({ length: 40 }, (_, row) => `g${String(row % 12)}`))},"min_group_size":1}`,
  ];
  for (const body of quickly) {
    it(`takes ${body.slice(0, 90)}`, () => {
      expect(expectSame(body)).to.equal(true);
    });
  }

  const parsed = [
    '',
    '{}',
    '[]',
    '{"y_pred":[1,0]}',
    `\ufeff{${COLUMNS}}`,
    `{${COLUMNS}} x`,
    `{${COLUMNS},}`,
    `{${COLUMNS},"y_pred":[0,0,0,0]}`,
    `{${COLUMNS},"seed":1,"seed":2}`,
    `{${COLUMNS},"seed":1"x"}`,
    `{${COLUMNS},"metric":["a}]}`,
    `{${COLUMNS},"metric":"a\\u0062"}`,
    `{${COLUMNS},"intersections":[["a","b"]]}`,
    `{${COLUMNS},"sample_weight":[1,1,1,1]}`,
    `{${COLUMNS},"control":["x","y","x","y"]}`,
    `{${COLUMNS},"gates":[${'['.repeat(200)}${']'.repeat(200)}]}`,
    '{"y_pred":[],"sensitive":[]}',
    '{"y_pred":[1,],"sensitive":["a"]}',
    '{"y_pred":[1],"sensitive":["a"',
    '{"y_pred":[1,0],"sensitive":{"sex":["a","b"],"sex":["a","b"]}}',
    '{"y_pred":[1,0],"sensitive":{}}',
    '{"y_pred":[1,null],"sensitive":["a","b"]}',
    `{"y_pred":[${'1,'.repeat(40)}0],"sensitive":[${'"a",'.repeat(40)}"b"]}`,
    `{"y_pred":[${'1,'.repeat(12)}0],"sensitive":${JSON.stringify(Array.from({ length: 13 }, (_, row) => `g${String(row)}`))}}`,
  ];
  for (const body of parsed) {
    it(`leaves to the parser: ${body.slice(0, 90)}`, () => {
      expect(readQuickRows(Buffer.from(body), MAX_ITEMS)).to.equal(undefined);
    });
  }

  it('leaves text that is not UTF-8 to the parser', () => {
    const [before, after] = [Buffer.from('{"y_pred":[1,0],"sensitive":["a'), Buffer.from('","b"]}')];
    expect(readQuickRows(Buffer.concat([before, Buffer.from([0xff]), after]), MAX_ITEMS)).to.equal(undefined);
    expect(expectSame(Buffer.concat([before, Buffer.from('ß'), after]))).to.equal(true);
  });

  it('keeps the columns of a body when the next body is read', () => {
    const first = readQuickRows(Buffer.from(`{${COLUMNS}}`), MAX_ITEMS);
    readQuickRows(Buffer.from('{"y_pred":[0,0,0,0],"y_true":[0,1,0,1],"sensitive":["b","a","a","b"]}'), MAX_ITEMS);
    expect(Array.from(first?.input.yPred as Uint8Array)).to.deep.equal([1, 1, 1, 0]);
    expect(first?.input.sensitive).to.deep.include({ codes: Int32Array.of(0, 0, 1, 1) });
  });
});
