import { expect } from 'chai';
import { writeFileSync } from 'node:fs';

import { DataValidationError, ValueError } from '../../src/exceptions/index.ts';
import { validateFile, validateSql } from '../../src/integration/validate-file.ts';
import { validateRows, validateRowsNow, type ValidateRowsInput } from '../../src/integration/validate-rows.ts';
import { validateTable } from '../../src/integration/validate-table.ts';
import { validationToJson } from '../../src/integration/validation-report.ts';
import { loadData, openDuckDb } from '../../src/io/index.ts';
import { useTemporaryFolder } from '../helpers/run-cli.ts';

/** 40 rows: 15 of 20 selected in a, 5 of 20 in b. */
const yPred = Array.from({ length: 40 }, (_, row) => Number(row < 15 || row >= 35));
const group = Array.from({ length: 40 }, (_, row) => (row < 20 ? 'a' : 'b'));
const half = Array.from({ length: 40 }, (_, row) => (row % 2 === 0 ? 'x' : 'y'));
const yTrue = Array.from({ length: 40 }, (_, row) => Number(row % 4 < 2));
const score = Array.from({ length: 40 }, (_, row) => ((row * 7) % 40) / 40);
const small = { minGroupSize: 1 };

const valueOf = (input: ValidateRowsInput, metric = 'demographic_parity_difference', attribute = 'sensitive') =>
  validateRowsNow(input).attributes[attribute]?.[metric]?.value;

/** Rounds a number to twelve decimals. */
function rounded(_: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toFixed(12)) : value;
}

describe('validateRows', () => {
  it('gives the largest minus the smallest selection rate: 15/20 - 5/20', () => {
    expect(valueOf({ yPred, sensitive: group, ...small })).to.equal(0.5);
  });

  it('judges demographic parity if only a threshold is given', () => {
    const { passed, verdicts } = validateRowsNow({ yPred, sensitive: group, threshold: 0.4, ...small });
    expect(passed).to.equal(false);
    expect(verdicts['sensitive']?.message).to.include('0.5000 > 0.4');
    expect(validateRowsNow({ yPred, sensitive: group, threshold: 0.5, ...small }).passed).to.equal(true);
  });

  it('analyses named attributes separately, and crosses those in intersections', () => {
    const { attributes } = validateRowsNow({
      yPred,
      sensitive: { group, half },
      intersections: [['group', 'half']],
      ...small,
    });
    expect(Object.keys(attributes)).to.deep.equal(['group', 'half', 'group||half']);
    expect(attributes['group||half']?.['demographic_parity_difference']?.nPerGroup).to.deep.equal({
      'a||x': 10,
      'a||y': 10,
      'b||x': 10,
      'b||y': 10,
    });
  });

  it('drops and counts rows without a decision or a group', () => {
    const result = validateRowsNow({
      yPred: [1, null, 0, 1, 0],
      sensitive: ['a', 'a', 'b', null, 'a'],
      ...small,
    }).attributes['sensitive']?.['demographic_parity_difference'];
    expect([result?.nDropped, result?.value]).to.deep.equal([2, 0.5]);
  });

  it('gives the same for permuted rows and for weights of one', () => {
    const plain = validationToJson(validateRowsNow({ yPred, yTrue, sensitive: group, ...small }));
    const order = yPred.map((_, row) => (row * 7) % 40);
    const pick = <T>(values: readonly T[]): T[] => order.map((row) => values[row] as T);
    const permuted = { yPred: pick(yPred), yTrue: pick(yTrue), sensitive: pick(group), ...small };
    expect(validationToJson(validateRowsNow(permuted))).to.deep.equal(plain);
  });

  it('accepts attributes with names of inherited properties', () => {
    const sensitive = { constructor: group, toString: half };
    const json = validationToJson(validateRowsNow({ yPred, sensitive, ...small }));
    expect(Object.keys(json['attributes'] as object)).to.deep.equal(['constructor', 'toString']);
  });

  const failures: readonly (readonly [title: string, input: ValidateRowsInput, error: unknown, text: RegExp])[] = [
    ['no rows', { yPred: [], sensitive: [] }, DataValidationError, /no rows/],
    ['only missing decisions', { yPred: [null, null], sensitive: ['a', 'b'] }, DataValidationError, /nothing can be/],
    ['lengths that differ', { yPred: [1], sensitive: ['a', 'b'] }, DataValidationError, /1 and 2/],
    ['a decision of 2', { yPred: [0, 1, 2], sensitive: ['a', 'b', 'b'] }, DataValidationError, /yPred.*index 2/],
    ['neither decisions nor scores', { sensitive: ['a'] }, DataValidationError, /Neither/],
    ['no attribute', { yPred: [1], sensitive: {} }, DataValidationError, /has no columns/],
    [
      'an intersection with an unknown attribute',
      { yPred: [1], sensitive: { sex: ['a'] }, intersections: [['sex', 'rase']] },
      DataValidationError,
      /rase/,
    ],
    ['an unknown metric', { yPred: [1], sensitive: ['a'], metric: 'equalised_odds' }, ValueError, /no metric named/],
    [
      'a metric that needs missing true labels',
      { yPred: [1], sensitive: ['a'], metric: 'accuracy_difference' },
      ValueError,
      /true/,
    ],
    [
      'another backend in a synchronous call',
      { yPred: [1], sensitive: ['a'], backend: 'duckdb' },
      ValueError,
      /native/,
    ],
  ];
  for (const [title, input, error, text] of failures) {
    it(`rejects ${title}`, () => {
      expect(() => validateRowsNow(input)).to.throw(error as ErrorConstructor, text);
    });
  }

  it('gives no difference for a single group, with the reason', () => {
    const { passed, attributes } = validateRowsNow({ yPred: [1, 0], sensitive: ['a', 'a'], threshold: 0.1, ...small });
    expect(passed).to.equal(false);
    const result = attributes['sensitive']?.['demographic_parity_difference'];
    expect(result?.value).to.be.NaN;
    expect(result?.undefinedReason).to.be.a('string');
  });
});

describe('scores on another scale than the threshold', () => {
  const folder = useTemporaryFolder();
  // Of the scores 0, 1, …, 99, only the first is below 0.5.
  const yScore = Array.from({ length: 100 }, (_, row) => row);
  const rows = { sensitive: yScore.map((score) => (score % 2 === 0 ? 'a' : 'b')), yScore, threshold: 0.1, minGroupSize: 5, metric: 'demographic_parity_difference' }; // prettier-ignore
  const noted =
    /^the scores are not between 0 and 1, since one is 2, .* default threshold of 0\.5: 99\.0% are positive\. .*--score-threshold/;

  it('give a note, since every gap is then small', () => {
    expect(validateRowsNow(rows).notes?.join('\n')).to.match(noted);
  });

  it('give a note however many decisions are positive: 60 of 100 scores of customers are 0', () => {
    const { notes } = validateRowsNow({ ...rows, yScore: yScore.map((score) => (score < 60 ? 0 : score)) });
    expect(notes?.join('\n')).to.match(/^the scores are not between 0 and 1, since one is 60, .*: 40\.0% are positive/);
    const logits = validateRowsNow({ ...rows, yScore: yScore.map((score) => (score - 50) / 50) });
    expect(logits.notes?.join('\n')).to.match(/^the scores are not between 0 and 1, since one is -1, /);
  });

  it('give the note for a file with decimal commas, beside the other notes, and for a table', async () => {
    const path = `${folder()}/scores.csv`;
    const lines = yScore.map((score, row) => `p${String(row % 50)};${String(score)},0;${String(row % 2)}`);
    writeFileSync(path, ['person_id;s;g', ...lines, ''].join('\n'));
    const { notes } = await validateFile({ paths: path, decimal: ',' }, { score: 's', attributes: [['g']] });
    expect(
      notes?.some((note) => noted.test(note)),
      notes?.join('\n'),
    ).to.equal(true);
    expect(
      notes?.some((note) => note.includes("column 'person_id'")),
      notes?.join('\n'),
    ).to.equal(true);
    const table = await loadData(path, { decimal: ',', labels: ['g'] });
    const ofTable = await validateTable(table, { score: 's', attributes: [['g']] });
    expect(
      ofTable.notes?.some((note) => noted.test(note)),
      ofTable.notes?.join('\n'),
    ).to.equal(true);
  });

  it('give a note in a database if nearly all decisions are positive, since it returns no scores', async () => {
    const engine = openDuckDb();
    const query = `SELECT i AS s, i % 2 AS g FROM range(100) AS r(i)`;
    const { notes } = await validateSql({ engine, query }, { score: 's', attributes: [['g']] });
    await engine.close();
    expect(notes?.join('\n')).to.match(/^99\.0% of the decisions are positive, because the scores reach the default/);
  });

  it('give a note if a chosen threshold is below nearly all of them, such as 5 percent for scores from 0 to 100', () => {
    const { notes } = validateRowsNow({ ...rows, scoreThreshold: 5 });
    expect(notes?.join('\n')).to.match(/^95\.0% of the decisions are positive, because the scores reach the threshold of 5\. .*--score-threshold/); // prettier-ignore
    expect(validateRowsNow({ ...rows, scoreThreshold: 6 }).notes).to.equal(undefined);
  });

  it('give a note if hardly any score reaches the default threshold, as for rare events', () => {
    const rare = yScore.map((score) => (score < 97 ? score / 200 : score / 100));
    expect(validateRowsNow({ ...rows, yScore: rare }).notes?.join('\n')).to.match(
      /^only 3\.0% of the decisions are positive, because few scores reach the default threshold of 0\.5\. .*--score-threshold/,
    );
    expect(validateRowsNow({ ...rows, yScore: rare, scoreThreshold: 0.5 }).notes).to.equal(undefined);
  });

  it('give no note if fewer decisions are positive, or if there are decisions', () => {
    expect(validateRowsNow({ ...rows, yScore: yScore.map((score) => score / 100) }).notes).to.equal(undefined);
    const yPred = yScore.map((score) => Number(score > 0));
    expect(validateRowsNow({ ...rows, yPred, yScore: undefined }).notes).to.equal(undefined);
  });
});

describe('a sensitive column of numbers', () => {
  const age = Array.from({ length: 210 }, (_, row) => 20 + (row % 21));
  const rows = { yPred: age.map((_, row) => row % 2), sensitive: { age } };

  it('gives a note if it has more than 20 values, each of which is a group', () => {
    expect(validateRowsNow(rows).notes?.join()).to.match(/^column 'age' has 21 different numbers, .* ranges/);
    const day = rows.sensitive.age.map((age) => `2026-10-${String(age).padStart(2, '0')}`);
    expect(validateRowsNow({ ...rows, sensitive: { day } }).notes?.join()).to.match(
      /^column 'day' has 21 different dates, .* years/,
    );
    const text = day.map((own) => `week of ${own}`);
    expect(validateRowsNow({ ...rows, sensitive: { text } }).notes).to.equal(undefined);
  });

  it('gives no note for 20 values, and for texts', () => {
    const decades = age.map((years) => Math.min(years, 39));
    expect(validateRowsNow({ ...rows, sensitive: { decades } }).notes).to.equal(undefined);
    expect(validateRowsNow({ ...rows, sensitive: { town: age.map((years) => `town ${String(years)}`) } }).notes).to.equal(undefined); // prettier-ignore
  });
});

describe('validateFile', () => {
  it('says in one sentence which options are wrong, and by what', async () => {
    const messageOf = (options: object | undefined): Promise<string> =>
      validateFile('rows.csv', options as never).then(
        () => '',
        (error: unknown) => (error as Error).message,
      );
    expect(await messageOf(undefined)).to.equal('validateFile: the options must be an object; got nothing.');
    expect(await messageOf({ yPred: 'p', attributes: 'sex' })).to.equal(
      "validateFile: attributes must be a list; got 'sex'.",
    );
  });
});

describe('validateRows compared with validateFile', () => {
  const folder = useTemporaryFolder();
  const table = () => {
    const path = `${folder()}/rows.csv`;
    const lines = yPred.map((decision, row) =>
      [row === 3 ? '' : decision, yTrue[row], score[row], row === 9 ? '' : group[row], half[row], 1 + (row % 3)].join(
        ',',
      ),
    );
    writeFileSync(path, ['p,t,s,group,half,w', ...lines, ''].join('\n'));
    return path;
  };
  const decisions = yPred.map((decision, row) => (row === 3 ? null : decision));
  const groups = group.map((label, row) => (row === 9 ? null : label));
  const weights = yPred.map((_, row) => 1 + (row % 3));

  const cases: readonly (readonly [title: string, options: object, columns: readonly (keyof typeof DATA)[]])[] = [
    ['decisions', {}, ['yPred']],
    ['truth and a gate', { metric: 'equalized_odds_difference', threshold: 0.2 }, ['yPred', 'yTrue']],
    ['intervals, effects and p-values', { withCi: true, withEffects: true, withPValue: true }, ['yPred', 'yTrue']],
    ['weights', { withCi: true }, ['yPred', 'yTrue', 'sampleWeight']],
    ['scores', { scoreThreshold: 0.3 }, ['score', 'yTrue']],
    ['a metric of scores', { metric: 'roc_auc_difference' }, ['score', 'yTrue']],
    ['a metric of numbers', { metric: 'mae_parity_difference' }, ['yPred', 'yTrue']],
    ['a control feature', {}, ['yPred', 'control']],
    ['missing groups as a group', { nanPolicy: 'include' }, ['yPred']],
  ];
  const DATA = {
    yPred: { file: { yPred: 'p' }, rows: { yPred: decisions } },
    yTrue: { file: { yTrue: 't' }, rows: { yTrue } },
    score: { file: { score: 's' }, rows: { yScore: score } },
    sampleWeight: { file: { sampleWeight: 'w' }, rows: { sampleWeight: weights } },
    control: { file: { control: ['half'] }, rows: { control: { half } } },
  } as const;

  for (const [title, options, columns] of cases) {
    it(`gives the same numbers for arrays as SQL for the file, on every backend: ${title}`, async () => {
      const named = Object.assign({}, ...columns.map((name) => DATA[name].file)) as object;
      const given = Object.assign({}, ...columns.map((name) => DATA[name].rows)) as Partial<ValidateRowsInput>;
      const isCrossed = !columns.includes('control');
      const file = await validateFile(table(), {
        ...named,
        ...options,
        ...small,
        attributes: [['group'], ['half'], ...(isCrossed ? [['group', 'half']] : [])],
      });
      const expected = JSON.stringify(validationToJson(file));
      const rows: ValidateRowsInput = {
        ...given,
        ...options,
        ...small,
        sensitive: { group: groups, half },
        ...(isCrossed ? { intersections: [['group', 'half']] } : {}),
      };
      // Counts are exact; means of numbers are summed in another order, and agree to 1e-12.
      const digits = title === 'a metric of numbers' ? rounded : undefined;
      for (const backend of ['native', 'duckdb', 'danfo'] as const) {
        const json = JSON.stringify(validationToJson(await validateRows({ ...rows, backend })));
        expect(JSON.parse(json, digits), backend).to.deep.equal(JSON.parse(expected, digits));
      }
    });
  }
});

describe('notes on labels that may be the opposite', () => {
  const sex = Array.from({ length: 400 }, (_, row) => (row % 2 === 0 ? 'f' : 'm'));
  const truth = sex.map((_, row) => (row % 4 < 2 ? 'repaid' : 'default'));
  const decided = sex.map((_, row) => (row % 4 < 2 === row % 10 < 7 ? 'approved' : 'denied'));
  const notesOf = async (positiveLabel: string, yTruePositiveLabel?: string): Promise<string> => {
    const yTrue = yTruePositiveLabel === undefined ? undefined : truth;
    const { notes = [] } = await validateRows({ yPred: decided, yTrue, sensitive: { sex }, positiveLabel, yTruePositiveLabel, withCi: false }); // prettier-ignore
    return notes.join();
  };

  it('say that scores are higher for the negative label in every group', () => {
    const rows = Array.from({ length: 400 }, (_, row) => row);
    const truth = rows.map((row) => Number(row % 5 < 2));
    const groups = rows.map((row) => (row % 2 === 0 ? 'a' : 'b'));
    const notesOf = (scores: readonly number[]): readonly string[] =>
      validateRowsNow({ yPred: rows.map((row) => Number(row % 7 < 3)), yScore: scores, yTrue: truth, sensitive: groups, metric: 'roc_auc_difference' }).notes ?? []; // prettier-ignore
    // Scores from 0 to 0.99, lower by 0.3 for the positive label in both groups, or in one of them.
    const noise = (row: number): number => ((row * 37) % 70) / 100;
    const note = /^in every group, the ROC AUC is below 0\.5, interval included/;
    expect(notesOf(rows.map((row) => noise(row) + 0.3 * (1 - (truth[row] as number))))[0]).to.match(note);
    expect(notesOf(rows.map((row) => noise(row) + 0.3 * (truth[row] as number)))).to.deep.equal([]);
    expect(notesOf(rows.map((row) => noise(row) + 0.3 * (row % 2 === 0 ? 1 - (truth[row] as number) : 1)))).to.deep.equal([]); // prettier-ignore
    // A coincidence: the ROC AUC is a little below 0.5, and its interval contains 0.5.
    expect(notesOf(rows.map((row) => noise(row) + 0.02 * (1 - (truth[row] as number))))).to.deep.equal([]);
  });

  it('say that decisions are worse than chance in every group', async () => {
    // 140 of 200 who repaid are approved, and 60 of 200 who did not.
    expect(await notesOf('approved', 'repaid')).to.equal('');
    expect(await notesOf('approved', 'default')).to.match(
      /^in every group, decisions are positive more often for rows with a negative true label \(70\.0% in total\) than for rows with a positive one \(30\.0%\)\. Check which labels are positive/,
    );
  });

  it('say that true labels are known only for the rows that a decision selected', () => {
    // The loans of docs/which-metric.md: 100 approved and 100 refused in each group, and 80 of the approved repay.
    const notesOf = (labelOf: (approved: number, row: number) => number | null): readonly string[] => {
      const approved = Array.from({ length: 400 }, (_, row) => Number(row % 4 < 2));
      const groups = approved.map((_, row) => (row % 2 === 0 ? 'f' : 'm'));
      return validateRowsNow({ yPred: approved, yTrue: approved.map(labelOf), sensitive: groups, withCi: false }).notes ?? []; // prettier-ignore
    };
    const repaid = (row: number): number => Number(row % 10 < 8);
    expect(notesOf((approved, row) => (approved === 1 ? repaid(row) : null))).to.deep.equal([
      'a true label is known for 100.0% of the rows with a positive decision, but for 0.0% of those with a negative one. True and false positive rates then describe the rows that were selected, and a gap of 0 between them means nothing. Compare selection rates; predictive_parity_difference compares the rows with a positive decision',
    ]);
    // Labels of one refused row in 20 are enough for no other rates; 3 of 4 are.
    expect(notesOf((approved, row) => (approved === 1 || row % 40 === 2 ? repaid(row) : null))[0]).to.match(/for 5\.0% of those with a negative/); // prettier-ignore
    expect(notesOf((approved, row) => (approved === 1 || row % 8 !== 2 ? repaid(row) : null))).to.deep.equal([]);
    // Released people can offend again, and detained ones cannot.
    expect(notesOf((detained, row) => (detained === 0 ? repaid(row) : null))[0]).to.match(
      /^a true label is known for 0\.0% of the rows with a positive decision, but for 100\.0% of those with a negative one\..* Compare selection rates$/,
    );
    // Labels that arrive late for everybody.
    expect(notesOf((_, row) => (row < 40 ? repaid(row) : null))).to.deep.equal([]);
  });

  it('say that the true label of the rows that were not selected may be filled in', () => {
    // 100 approved and 100 refused in each group; 80 of the approved repay, and "0" stands for all who are refused.
    const notesOf = (labelOf: (approved: number, row: number) => number | null): readonly string[] => {
      const approved = Array.from({ length: 400 }, (_, row) => Number(row % 4 < 2));
      const groups = approved.map((_, row) => (row % 2 === 0 ? 'f' : 'm'));
      return validateRowsNow({ yPred: approved, yTrue: approved.map(labelOf), sensitive: groups, withCi: false }).notes ?? []; // prettier-ignore
    };
    const repaid = (row: number): number => Number(row % 10 < 8);
    expect(notesOf((approved, row) => (approved === 1 ? repaid(row) : 0))).to.deep.equal([
      'all 200 rows with a negative decision and a true label have a negative one, and those with a positive decision have both. If the label of these rows is not known and was filled in, leave it empty: rates of true labels, and gaps between them, would mean nothing',
    ]);
    // Nobody who is detained offends.
    expect(notesOf((detained, row) => (detained === 0 ? repaid(row) : 0)).join()).to.match(/all 200 rows with a positive decision and a true label have a negative one, and those with a negative/); // prettier-ignore
    expect(notesOf((approved, row) => (approved === 1 ? repaid(row) : Number(row === 6)))).to.deep.equal([]);
    // Fewer than 100 rows may be a coincidence: 95 are refused and have no positive label.
    expect(notesOf((approved, row) => (approved === 1 ? repaid(row) : row < 190 ? 0 : null))).to.deep.equal([]);
  });

  it('name groups that may be a code for a missing value, or one group in two spellings', () => {
    const notesOf = (labels: readonly (string | number)[]): readonly string[] => {
      const groups = Array.from({ length: 400 }, (_, row) => labels[row % labels.length] as string | number);
      return validateRowsNow({ yPred: groups.map((_, row) => Number(row % 7 < 3)), sensitive: { sex: groups }, withCi: false }).notes ?? []; // prettier-ignore
    };
    expect(notesOf([1, 2, 9])).to.deep.equal([
      "1 group of 'sex' may be a code for a missing value, since the others are from 1 to 2: '9'. If so, name it with --na-values 9, in code naValues, if no other column uses it for something else",
    ]);
    expect(notesOf(['0', '1', '2', '-1', '99'])[0]).to.match(/^2 groups of 'sex' may be codes .*: '-1', '99'\. If so, name them with --na-values -1,99/); // prettier-ignore
    // Ten districts, and scores from -2 to 2.
    for (const labels of [[0, 1, 2, 3, 4, 5, 6, 7, 8, 9], [-2, -1, 0, 1, 2],
      [-1, 0, 1], ['a', '9'], [1, 2, 3]]) expect(notesOf(labels)).to.deep.equal([]); // prettier-ignore
    expect(notesOf(['F', 'M', 'female', 'male'])).to.deep.equal([
      "groups of 'sex' may be one group each: 'F' and 'female', 'M' and 'male'. They are measured as separate groups; if they are the same, write them in one way",
    ]);
    expect(notesOf(['f', 'm', 'female'])[0]).to.include("'f' and 'female'.");
    expect(notesOf(['M', 'F', 'Missing']).join()).to.not.include('one group');
    for (const labels of [
      ['a', 'b', 'c d'],
      ['f', 'male'],
      ['A', 'AB'],
      ['A', 'B', 'AB', 'all'],
    ])
      expect(notesOf(labels)).to.deep.equal([]);
  });

  it('name a group that is the total of all others', () => {
    const notesOf = (extra: number): readonly string[] => {
      const counts = [['f', 70, 130], ['m', 110, 90], ['All', 180 + extra, 220]] as const; // prettier-ignore
      const rows = counts.flatMap(([label, ones, zeros]) => [...Array<[string, number]>(ones).fill([label, 1]), ...Array<[string, number]>(zeros).fill([label, 0])]); // prettier-ignore
      return validateRowsNow({ yPred: rows.map(([, one]) => one), sensitive: { sex: rows.map(([label]) => label) }, withCi: false }).notes ?? []; // prettier-ignore
    };
    expect(notesOf(0)).to.deep.equal([
      "group 'All' of 'sex' has as many rows of each kind as all others together. If it is their total, remove it: it is compared as a group",
    ]);
    expect(notesOf(1)).to.deep.equal([]);
    // With small counts left out, a sum may be another one.
    const rows = [['t', 30, 40], ['a', 20, 20], ['b', 10, 20], ['c', 3, 3]] as const; // prettier-ignore
    const all = rows.flatMap(([label, ones, zeros]) => [...Array<[string, number]>(ones).fill([label, 1]), ...Array<[string, number]>(zeros).fill([label, 0])]); // prettier-ignore
    const { notes } = validateRowsNow({ yPred: all.map(([, one]) => one), sensitive: all.map(([label]) => label), minCell: 10, minGroupSize: 5, withCi: false }); // prettier-ignore
    expect(notes).to.equal(undefined);
  });

  it('take time proportional to the number of groups', () => {
    const yPred = Array.from({ length: 40_000 }, (_, row) => row % 2);
    const ofGroups = (count: number): number => {
      const sensitive = yPred.map((_, row) => `g${String((row >> 1) % count)}`);
      const start = process.cpuUsage();
      validateRowsNow({ yPred, sensitive, minGroupSize: 2, withCi: false });
      const { user } = process.cpuUsage(start);
      return user / 1000;
    };
    ofGroups(100);
    // Comparing each group with each other one would take 10 s.
    expect(ofGroups(20_000)).to.be.lessThan(3000);
  });

  it('say that rows without a group have other decisions than those with a group', () => {
    // 300 of 500 women and 600 of 1,000 men are hired, and the sex of 500 other people who are not hired is missing.
    const people = Array.from({ length: 2000 }, (_, row) => ({
      sex: row < 500 ? 'f' : row < 1500 ? 'm' : null,
      at: row,
    }));
    const notesOf = (hired: readonly number[], nanPolicy?: 'include'): readonly string[] =>
      validateRowsNow({ yPred: hired, sensitive: people.map(({ sex: own }) => own), nanPolicy, withCi: false }).notes ?? []; // prettier-ignore
    const hired = people.map(({ at }) => Number(at < 300 || (at >= 500 && at < 1100)));
    expect(notesOf(hired)).to.deep.equal([
      '500 rows without a group (25.0%) are not compared, and 0.0% of them have a positive decision, against 60.0% of the rows with a group. With their groups, the gap can be another one. --nan-policy include (nanPolicy) compares them as a group',
    ]);
    expect(notesOf(hired, 'include')).to.deep.equal([]);
    // 290 of 500 are a chance.
    expect(notesOf(hired.map((one, at) => (at >= 1710 ? 0 : at >= 1500 ? 1 : one)).map((one, at) => (at >= 1500 && at < 1790 ? 1 : at >= 1790 ? 0 : one)))).to.deep.equal([]); // prettier-ignore
  });

  it('say that a line of names is among the rows', () => {
    const notesOf = (sex: readonly string[]): readonly string[] => {
      const place = sex.map((label, row) => (label === 'sex' ? 'place' : `p${String(row % 3)}`));
      const columns = { sensitive: { sex, place }, intersections: [['sex', 'place']] };
      return validateRowsNow({ yPred: sex.map((_, row) => row % 2), ...columns, withCi: false }).notes ?? [];
    };
    const people = Array.from({ length: 400 }, (_, row) => (row < 10 ? 'f' : 'm'));
    expect(notesOf([...people, 'sex'])).to.deep.equal([
      "1 row holds the name of its column as a value: 'sex'. If it is a line of names, as in files that were joined, remove it",
    ]);
    expect(notesOf(['sex', ...people, 'sex'])[0]).to.match(/^2 rows hold the name of its column as a value: 'sex'/);
    expect(notesOf(people)).to.deep.equal([]);
    // A column that is named after one of its groups.
    expect(notesOf([...people, ...people.slice(1).map(() => 'sex')])).to.deep.equal([]);
  });

  it('say that a control feature follows from the decision', () => {
    // 30 of 100 women and 70 of 100 men are hired.
    const people = Array.from({ length: 200 }, (_, row) => ({
      sex: row < 100 ? 'f' : 'm',
      hired: Number(row % 100 < (row < 100 ? 30 : 70)),
    }));
    const notesOf = (control: readonly (string | null)[]): readonly string[] =>
      validateRowsNow({
        yPred: people.map(({ hired }) => hired),
        sensitive: { sex: people.map(({ sex }) => sex), all: people.map(() => 'all') },
        control: { stage: control },
        withCi: false,
      }).notes ?? [];
    const stages = people.map(({ hired }, row) => (hired === 1 ? 'contract' : row % 2 === 0 ? 'letter' : 'file'));
    expect(notesOf(stages)).to.deep.equal([
      'within each level of the control feature, all decisions are equal, so that no gap within a level can be seen. If the level follows from the decision, or is different for each row, it is no control feature. Use what was known before the decision',
    ]);
    expect(notesOf(stages.with(7, 'letter').with(0, 'letter'))).to.deep.equal([]);
    expect(notesOf(people.map(() => 'all'))).to.deep.equal([]);
    // The kind of contract is known for the people who are hired.
    expect(notesOf(people.map(({ hired }, row) => (hired === 1 ? `contract ${String(row % 2)}` : null)))).to.deep.equal(
      [
        'the control feature is known only for rows with a positive decision, so that no gap within a level can be seen. Use what was known before the decision',
      ],
    );
  });

  it('say that a gate passes although a level of the control feature is clearly above it', () => {
    // In the north 70% of the women and 30% of the men are hired; in the south it is the other way round.
    const people = Array.from({ length: 800 }, (_, row) => ({
      sex: row % 2 === 0 ? 'f' : 'm',
      region: row < 400 ? 'north' : 'south',
      hired: Number(Math.floor(row / 2) % 10 < ((row % 2 === 0) === row < 400 ? 7 : 3)),
    }));
    const validate = (metric: string, rows = people): ReturnType<typeof validateRowsNow> =>
      validateRowsNow({
        ...{ yPred: rows.map(({ hired }) => hired), yTrue: rows.map((_, row) => Number(row % 3 === 0)) },
        sensitive: { sex: rows.map(({ sex }) => sex) },
        control: { region: rows.map(({ region }) => region) },
        metric,
        withCi: false,
      });
    const { passed, notes } = validate('demographic_parity_difference<=0.1');
    expect(passed).to.equal(true);
    expect(notes?.join('\n')).to.match(
      /^the gate on demographic_parity_difference passes for 'sex' over all levels of the control feature together, but within 2 of 2 levels, the gap is on the other side of 0.1, interval included: 0.4000 \(0\.3\d* to 0\.4\d*\) within 'north'; 0.4000 \(.*\) within 'south'. The gate does not judge single levels$/,
    );
    expect(validate('demographic_parity_ratio>=0.8').notes?.join()).to.include(
      "ratio passes for 'sex' over all levels",
    );
    expect(validate('equalized_odds_difference<=0.2').notes?.join()).to.include('0.2, interval included: ');
    // A gate that fails needs no remark, and neither does one whose limit is in the interval of each level.
    expect(validate('demographic_parity_difference<=0.39').notes).to.equal(undefined);
    const oneLevel = people.map((person) => ({ ...person, hired: Number(person.region === 'north' && person.hired) }));
    expect(validate('demographic_parity_difference<=0.1', oneLevel).passed).to.equal(false);
    expect(validate('demographic_parity_difference<=0.1', oneLevel).notes).to.equal(undefined);
    // Few rows in a level show nothing.
    const few = people.filter((_, row) => row < 60 || (row >= 400 && row < 460));
    expect(validate('demographic_parity_difference<=0.35', few).notes).to.equal(undefined);
  });

  it('say that every decision equals the true label', () => {
    const notesOf = (truth: readonly number[]): readonly string[] => {
      const yPred = truth.map((_, row) => Number(row % 4 < 2));
      const groups = truth.map((_, row) => (row % 2 === 0 ? 'a' : 'b'));
      return validateRowsNow({ yPred, yTrue: truth, sensitive: groups, withCi: false }).notes ?? [];
    };
    const copy = Array.from({ length: 200 }, (_, row) => Number(row % 4 < 2));
    expect(notesOf(copy)).to.deep.equal([
      'every decision equals its true label. Check that the true labels are not a copy of the decisions, and that a model has not learned these rows',
    ]);
    expect(notesOf(copy.map((one, row) => (row === 7 ? 1 - one : one)))).to.deep.equal([]);
    expect(notesOf(copy.slice(0, 40))).to.deep.equal([]);
    // Small counts that are left out may be wrong decisions.
    const groups = copy.map((_, row) => (row % 2 === 0 ? 'a' : 'b'));
    const ofLarge = validateRowsNow({ yPred: copy, yTrue: copy, sensitive: groups, minCell: 5, withCi: false });
    expect(ofLarge.notes).to.equal(undefined);
  });

  it('say which attributes have no gate beside those that have one', () => {
    const rows = Array.from({ length: 200 }, (_, row) => row);
    const request = {
      yPred: rows.map((row) => Number(row % 4 < 2)),
      sensitive: { sex: rows.map((row) => 'fm'[row % 2] ?? ''), race: rows.map((row) => 'ab'[(row >> 1) % 2] ?? '') },
      withCi: false,
    };
    const gate = { metric: 'demographic_parity_difference', threshold: 1, comparator: '<' } as const;
    const ofRace = validateRowsNow({ ...request, gates: [{ ...gate, attributes: ['race'] }] });
    expect(ofRace.notes).to.deep.equal(["no gate applies to 'sex', so that the verdict says nothing about it"]);
    expect(validateRowsNow({ ...request, gates: [gate] }).notes).to.equal(undefined);
    expect(validateRowsNow(request).notes).to.equal(undefined);
  });

  it('are silent if classes are averaged, because each is positive once', async () => {
    const classes = ['a', 'b', 'c'];
    const yTrue = sex.map((_, row) => classes[(row >> 1) % 3] ?? '');
    // A row of one class is never decided as this class.
    const yPred = sex.map((_, row) => classes[((row >> 1) + 1 + ((row % 4) >> 1)) % 3] ?? '');
    const { notes } = await validateRows({ yPred, yTrue, sensitive: { sex }, average: 'macro', withCi: false });
    expect(notes).to.equal(undefined);
  });

  it('say that a favourable label is negative', async () => {
    expect(await notesOf('denied')).to.equal(
      "'denied' counts as the positive label, and 'approved' as a negative one. If 'approved' is the favourable one, name it as the positive label: ratios and error rates change",
    );
    expect(await notesOf('approved')).to.equal('');
  });
});
