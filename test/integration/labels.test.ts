import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { groupReadings, outcomeReadings, rowReadings } from '../../src/metrics/reduce/row-readings.ts';
import { runJob } from '../../src/api/jobs/run-job.ts';
import { validateFile } from '../../src/integration/validate-file.ts';
import { validateRows, type ValidateRowsInput } from '../../src/integration/validate-rows.ts';
import { validationToJson } from '../../src/integration/validation-report.ts';
import { openDuckDb } from '../../src/io/duckdb.ts';
import { quoteLiteral } from '../../src/io/sql-engine.ts';
import { runOptions, spool } from '../api/jobs/job-files.ts';
import { useTemporaryFolder } from '../helpers/run-cli.ts';

type Value = string | number | boolean | null;
type Columns = Readonly<Record<string, readonly Value[]>>;

/** A validation request: columns by their names, and options. */
interface Question {
  readonly yPred?: string;
  readonly score?: string;
  readonly yTrue?: string;
  readonly sensitive: string;
  readonly control?: string;
  readonly sampleWeight?: string;
  readonly positiveLabel?: string;
  readonly yTruePositiveLabel?: string;
  readonly naValues?: readonly string[];
}

/** The parts of a validation's JSON that these tests read. */
interface Answer {
  readonly labels?: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, number>>>>>>;
  readonly metrics: Readonly<
    Record<
      string,
      { value: number; n_dropped: number; n_per_group: Record<string, number>; warnings: readonly string[] }
    >
  >;
  readonly control?: { readonly warnings: readonly string[] };
}

const folder = useTemporaryFolder();
let files = 0;

function newFile(ending: string): string {
  files++;
  return path.join(folder(), `rows-${String(files)}.${ending}`);
}

/** Returns columns as CSV, in which an apostrophe marks what a spreadsheet would run as a formula. */
function asCsv(columns: Columns): string {
  const names = Object.keys(columns);
  const cell = (value: Value | undefined): string => String(value ?? '').replace(/^=/, "'=");
  const rows = (columns[names[0] as string] ?? []).map((_, row) =>
    names.map((name) => cell(columns[name]?.[row])).join(','),
  );
  return [names.join(','), ...rows, ''].join('\n');
}

function asLines(columns: Columns): string {
  const names = Object.keys(columns);
  return (columns[names[0] as string] ?? [])
    .map((_, row) => JSON.stringify(Object.fromEntries(names.map((name) => [name, columns[name]?.[row]]))))
    .join('\n');
}

async function ofFile(file: string, question: Question, backend: 'duckdb' | 'native' | 'danfo'): Promise<Answer> {
  const { sensitive, control, naValues, ...rest } = question;
  const validation = await validateFile(file, {
    ...rest,
    naValues: naValues === undefined ? undefined : [...naValues],
    attributes: [[sensitive]],
    control: control === undefined ? undefined : [control],
    minGroupSize: 1,
    backend,
  });
  return validationToJson(validation) as unknown as Answer;
}

function rowsInput(columns: Columns, question: Question): ValidateRowsInput {
  const { yPred, score, yTrue, sensitive, control, sampleWeight, naValues, ...rest } = question;
  const column = (name: string | undefined) => (name === undefined ? undefined : columns[name]);
  return {
    ...rest,
    naValues: naValues === undefined ? undefined : [...naValues],
    yPred: column(yPred),
    yScore: column(score),
    yTrue: column(yTrue),
    sampleWeight: column(sampleWeight),
    sensitive: { [sensitive]: columns[sensitive] ?? [] },
    control: control === undefined ? undefined : { [control]: columns[control] ?? [] },
    minGroupSize: 1,
  };
}

/** Every way to run a validation; all must give the same result. */
const READERS: Readonly<Record<string, (columns: Columns, question: Question) => Promise<Answer>>> = {
  'a CSV file counted by SQL': (columns, question) => {
    const file = newFile('csv');
    writeFileSync(file, asCsv(columns));
    return ofFile(file, question, 'duckdb');
  },
  'a CSV file loaded': (columns, question) => {
    const file = newFile('csv');
    writeFileSync(file, asCsv(columns));
    return ofFile(file, question, 'native');
  },
  'JSON lines': (columns, question) => {
    const file = newFile('ndjson');
    writeFileSync(file, asLines(columns));
    return ofFile(file, question, 'duckdb');
  },
  'a Parquet file': async (columns, question) => {
    const [csv, file] = [newFile('csv'), newFile('parquet')];
    writeFileSync(csv, asCsv(columns).replaceAll("'=", '='));
    const engine = openDuckDb();
    await engine.run((session) =>
      session.rows(`COPY (SELECT * FROM read_csv(${quoteLiteral(csv)}, all_varchar=true)) TO ${quoteLiteral(file)}`),
    );
    await engine.close();
    return ofFile(file, question, 'duckdb');
  },
  arrays: async (columns, question) =>
    validationToJson(await validateRows(rowsInput(columns, question))) as unknown as Answer,
  'arrays and danfojs': async (columns, question) =>
    validationToJson(await validateRows({ ...rowsInput(columns, question), backend: 'danfo' })) as unknown as Answer,
  'HTTP with arrays': async (columns, question) => {
    const { positiveLabel, yTruePositiveLabel, naValues, yPred = '', yTrue, sensitive, control } = question;
    const body = {
      y_pred: columns[yPred],
      y_true: yTrue === undefined ? undefined : columns[yTrue],
      sensitive: { [sensitive]: columns[sensitive] },
      control: control === undefined ? undefined : { [control]: columns[control] },
      positive_label: positiveLabel,
      y_true_positive_label: yTruePositiveLabel,
      na_values: naValues,
      min_group_size: 1,
    };
    const job = {
      kind: 'validate-rows',
      path: spool(folder(), `body-${String(files++)}`, JSON.stringify(body)),
      maxItems: 1000,
    } as const;
    return JSON.parse((await runJob(job, runOptions(folder()))).body) as Answer;
  },
  'HTTP with a table': async (columns, question) => {
    const { positiveLabel, yTruePositiveLabel, naValues, yPred = '', yTrue, sensitive, control } = question;
    const options = {
      y_pred: yPred,
      y_true: yTrue,
      sensitive,
      control,
      positive_label: positiveLabel,
      y_true_positive_label: yTruePositiveLabel,
      na_values: naValues?.join(','),
      min_group_size: '1',
    };
    const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Record<
      string,
      string
    >;
    const table = spool(folder(), `table-${String(files++)}.csv`, asCsv(columns));
    const job = { kind: 'validate-table', path: table, format: 'csv', options: given } as const;
    return JSON.parse((await runJob(job, runOptions(folder()))).body) as Answer;
  },
};

const times = <T>(value: T, count: number): T[] => new Array<T>(count).fill(value);
const dp = ({ metrics }: Answer) => metrics['demographic_parity_difference'] as Answer['metrics'][string];

// Group f: 10 rows, 3 with yes. Group m: 10 rows, 5 with yes and 2 without an answer.
const ANSWERS: Columns = {
  sex: [...times('f', 10), ...times('m', 10)],
  answer: [
    ...[...times('yes', 3), ...times('YES', 2), ...times('no', 4), 'NO'],
    ...[...times('yes', 5), ...times('no', 3), 'NA', 'None'],
  ],
  truth: [...times('repaid', 4), ...times('lost', 6), ...times('repaid', 6), ...times('lost', 4)],
  religion: [...times('None', 8), ...times('Jain', 12)],
  faith: [...times('Jain', 4), ...times('jain ', 6), ...times('Sikh', 10)],
};
const BY_SEX = { yPred: 'answer', sensitive: 'sex', positiveLabel: 'yes' };

for (const [reader, ask] of Object.entries(READERS)) {
  describe(`labels and missing texts: ${reader}`, () => {
    it('lists negative labels, warns about similar labels, and drops missing texts with their counts', async () => {
      const answer = await ask(ANSWERS, BY_SEX);
      expect(dp(answer).value).to.be.closeTo(5 / 8 - 3 / 10, 1e-12);
      expect(dp(answer).n_dropped).to.equal(2);
      expect(answer.labels).to.deep.equal({
        y_pred: { positive: { yes: 8 }, negative: { NO: 1, YES: 2, no: 7 }, missing: { NA: 1, None: 1 } },
      });
      expect(dp(answer).warnings.slice(0, 3)).to.deep.equal([
        "labels of the predictions differ only by case, spaces or Unicode form: 'yes' (8 rows), 'YES' (2 rows); 'NO' (1 row), 'no' (7 rows); each counts as a separate label, and only 'yes' counts as positive",
        "3 labels of the predictions count as negative: 'NO' (1 row), 'YES' (2 rows), 'no' (7 rows); only 'yes' counts as positive",
        "the predictions are missing where they hold one of these texts: 'NA' (1 row), 'None' (1 row); --na-values (naValues) lists these texts",
      ]);
    });

    it('treats None as a group, with one warning that names the option', async () => {
      const answer = await ask(ANSWERS, { ...BY_SEX, sensitive: 'religion' });
      // The first 8 rows have 3 yes; the other 12 have 5 yes, and 2 without an answer.
      expect(dp(answer).n_per_group).to.deep.equal({ None: 8, Jain: 10 });
      const ofGroups = dp(answer).warnings.filter((warning) => warning.includes("'religion'"));
      expect(ofGroups).to.deep.equal([
        "groups of 'religion' have names that often mean a missing value: 'None' (8 rows); they are measured as groups; use --na-values (naValues) to exclude their rows",
      ]);
    });

    it('warns of other texts that people write for a missing value, as a label and as a group', async () => {
      const columns: Columns = {
        sex: [...times('f', 10), ...times('m', 8), ...times('unbekannt', 2)],
        answer: [...times('ja', 4), ...times('nein', 4), ...times('k. A.', 2), ...times('ja', 5), ...times('nein', 5)],
      };
      const { warnings } = dp(await ask(columns, { yPred: 'answer', sensitive: 'sex', positiveLabel: 'ja' }));
      expect(warnings.join('\n')).to.include("'k. A.' (2 rows), 'nein' (9 rows); only 'ja' counts as positive; 'k. A.' may mean a missing value: use --na-values (naValues)"); // prettier-ignore
      expect(warnings.join('\n')).to.include("groups of 'sex' have names that often mean a missing value: 'unbekannt' (2 rows); they are measured as groups"); // prettier-ignore
    });

    it('excludes rows by na-values in all columns, and keeps other texts', async () => {
      const answer = await ask(ANSWERS, { ...BY_SEX, sensitive: 'religion', naValues: ['None', 'YES'] });
      // Jain: 12 rows without YES (0 rows) and None (1 row): 11 rows, 5 with yes. NA now counts as negative.
      expect(dp(answer).n_per_group).to.deep.equal({ Jain: 11 });
      expect(dp(answer).n_dropped).to.equal(9);
      expect(answer.labels?.['y_pred']?.['missing']).to.deep.equal({ None: 1, YES: 2 });
      expect(answer.labels?.['y_pred']?.['negative']).to.deep.equal({ NA: 1, NO: 1, no: 7 });
      expect(dp(answer).warnings.join('\n')).to.include(
        "groups of 'religion' are missing where they hold one of these texts: 'None' (8 rows)",
      );
    });

    it('warns about similar group labels, in sensitive and control columns', async () => {
      const answer = await ask(ANSWERS, { ...BY_SEX, control: 'faith' });
      const warning =
        "groups of 'faith' differ only by case, spaces or Unicode form: 'Jain' (4 rows), 'jain ' (6 rows); each is measured as a separate group";
      expect(dp(answer).warnings).to.include(warning);
      expect(answer.control?.warnings.join(' ') ?? '').not.to.include('Unicode');
      const direct = await ask(ANSWERS, { ...BY_SEX, sensitive: 'faith' });
      expect(dp(direct).warnings.filter((text) => text === warning)).to.have.length(1);
    });

    it('never treats the positive label as a missing value', async () => {
      const answer = await ask(ANSWERS, { ...BY_SEX, positiveLabel: 'None' });
      expect(answer.labels?.['y_pred']?.['positive']).to.deep.equal({ None: 1 });
      expect(answer.labels?.['y_pred']?.['missing']).to.deep.equal({ NA: 1 });
      expect(dp(answer).value).to.be.closeTo(1 / 9, 1e-12);
    });

    it('reads labels and missing texts that are marked for spreadsheets', async () => {
      const marked = (name: string): Value[] => (ANSWERS[name] ?? []).map((value) => `=${String(value)}`);
      const columns = { ...ANSWERS, answer: marked('answer'), truth: marked('truth') };
      const naValues = ['=NA', '=None'];
      const labels = { positiveLabel: '=yes', yTrue: 'truth', yTruePositiveLabel: '=repaid', naValues };
      const answer = await ask(columns, { ...BY_SEX, ...labels });
      expect(answer.labels).to.deep.equal({
        y_pred: {
          positive: { '=yes': 8 },
          negative: { '=NO': 1, '=YES': 2, '=no': 7 },
          missing: { '=NA': 1, '=None': 1 },
        },
        y_true: { positive: { '=repaid': 10 }, negative: { '=lost': 10 }, missing: {} },
      });
      expect(dp(answer).value).to.be.closeTo(5 / 8 - 3 / 10, 1e-12);
      await assertRefused(ask(columns, { ...BY_SEX, ...labels, positiveLabel: '=Yes' }), [
        /holds the positive label '=Yes'/,
        /'=NO', '=YES', '=no', '=yes'/,
      ]);
    });

    it('reads the truth by its own label', async () => {
      const answer = await ask(ANSWERS, { ...BY_SEX, yTrue: 'truth', yTruePositiveLabel: 'repaid' });
      expect(answer.labels?.['y_true']).to.deep.equal({
        positive: { repaid: 10 },
        negative: { lost: 10 },
        missing: {},
      });
      // True positive rates 3 / 4 and 5 / 6; false positive rates 0 / 6 and 0 / 2 (two of m's four lack an answer).
      expect(answer.metrics['equalized_odds_difference']?.value).to.be.closeTo(5 / 6 - 3 / 4, 1e-12);
    });

    it('rejects a third label without a positive label', async () => {
      await assertRefused(
        ask(
          { ...ANSWERS, answer: [...times('0', 9), 'maybe', ...times('1', 10)] },
          { yPred: 'answer', sensitive: 'sex' },
        ),
        [/must be 0 or 1, but holds 'maybe'/, /\(the predictions\) holds '0', '1', 'maybe'|positive_label/],
      );
    });

    it('reports the column, its values and the label to name for -1 and 1', async () => {
      const signs = {
        ...ANSWERS,
        y: (ANSWERS['truth'] ?? []).map((label) => (label === 'repaid' ? 1 : -1)),
        p: [...times(0, 10), ...times(1, 10)],
      };
      await assertRefused(ask(signs, { yPred: 'p', yTrue: 'y', sensitive: 'sex' }), [
        /must be 0 or 1, but holds '?-1/,
        /\(positiveLabel(?:, for example 1)?\)/,
        /\(the true labels\) holds '?-1'?, '?1'?\./,
      ]);
      const named = await ask(signs, { yPred: 'p', yTrue: 'y', sensitive: 'sex', positiveLabel: '1' });
      // Decisions are 0 for f and 1 for m, regardless of the truth.
      expect(named.metrics['equalized_odds_difference']?.value).to.equal(1);
      expect(named.labels?.['y_true']).to.deep.equal({ positive: { 1: 10 }, negative: { '-1': 10 }, missing: {} });
    });

    it('reads true labels of True and False with predictions of 1 and -1', async () => {
      const mixed = {
        sex: ANSWERS['sex'] ?? [],
        y: (ANSWERS['truth'] ?? []).map((label) => (label === 'repaid' ? 'True' : 'False')),
        p: [...times(-1, 5), ...times(1, 5), ...times(1, 10)],
      };
      const answer = await ask(mixed, { yPred: 'p', yTrue: 'y', sensitive: 'sex', positiveLabel: '1' });
      // f: 4 true, 0 of them predicted; 6 false, 5 predicted. m: all predicted.
      expect(dp(answer).value).to.equal(0.5);
      expect(answer.metrics['equalized_odds_difference']?.value).to.equal(1);
    });
  });
}

/** Checks that the message or the suggestion of an error contains texts. */
async function assertRefused(promise: Promise<unknown>, patterns: readonly RegExp[]): Promise<void> {
  const caught: unknown = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  const { message = '', suggestion = '' } = (caught ?? {}) as { message?: string; suggestion?: string };
  for (const pattern of patterns) expect(`${message} ${suggestion}`).to.match(pattern);
}

describe('the record of how labels were read', () => {
  /** Leaves out absent fields. */
  const plain = (readings: unknown): unknown => JSON.parse(JSON.stringify(readings));
  const reading = (role: string, more: object): object => ({
    positive: {},
    negative: {},
    missing: {},
    groups: {},
    role,
    ...more,
  });
  const outcomes = (kind: 'classification' | 'regression' | 'scores', rows: object): unknown =>
    plain(outcomeReadings(kind, rows));

  it('has the labels of decisions and of true labels, and texts that mean a missing value', () => {
    expect(outcomes('classification', { yPred: ['yes', 'no', 'NA', 'maybe', ''], positiveLabel: 'yes' })).to.deep.equal(
      [
        reading('predictions', {
          positive: { yes: 1 },
          negative: { no: 1, maybe: 1 },
          missing: { NA: 1 },
          positiveLabel: 'yes',
        }),
      ],
    );
    const two = { yPred: ['a', 'b'], yTrue: ['c', 'd'], positiveLabel: 'a', yTruePositiveLabel: 'c' };
    expect(outcomes('classification', two)).to.deep.equal([
      reading('predictions', { positive: { a: 1 }, negative: { b: 1 }, positiveLabel: 'a' }),
      reading('true labels', { positive: { c: 1 }, negative: { d: 1 }, positiveLabel: 'c' }),
    ]);
    expect(outcomes('classification', { yPred: ['1', '0', 'NA', ''] })).to.deep.equal([
      reading('predictions', { positive: { 1: 1 }, negative: { 0: 1 }, missing: { NA: 1 } }),
    ]);
    expect(outcomes('classification', { yPred: [1, 0, -99], naValues: ['-99'] })).to.deep.equal([
      reading('predictions', { positive: { 1: 1 }, negative: { 0: 1 }, missing: { '-99': 1 } }),
    ]);
    // Each class in turn is the positive one.
    expect(outcomes('classification', { yPred: ['a', 'b', 'NA'], average: 'macro', positiveLabel: 'a' })).to.deep.equal(
      [reading('predictions', { missing: { NA: 1 } })],
    );
  });

  it('has only texts that mean a missing value for numbers, scores and weights', () => {
    const rows = {
      yPred: ['1', '2.5', 'NA'],
      yTrue: [1, 2, -99],
      sampleWeight: ['1', 'NA', '2'],
      naValues: ['-99', 'NA'],
    };
    expect(outcomes('regression', rows)).to.deep.equal([
      reading('predictions', { missing: { NA: 1 } }),
      reading('true labels', { missing: { '-99': 1 } }),
      reading('weights', { missing: { NA: 1 } }),
    ]);
    expect(outcomes('scores', { yScore: ['0.5', 'None'], yTrue: ['t', 'f'], positiveLabel: 't' })).to.deep.equal([
      reading('scores', { missing: { None: 1 } }),
      reading('true labels', { positive: { t: 1 }, negative: { f: 1 }, positiveLabel: 't' }),
    ]);
  });

  it('has groups whose labels look alike or like a missing value, by the name of the column', () => {
    expect(plain(groupReadings(['a', 'A', 'b', ''], undefined))).to.deep.equal([reading('groups', { groups: { a: 1, A: 1 }, name: 'sensitive' })]); // prettier-ignore
    expect(plain(groupReadings(['a', 'b', 'NA'], undefined))).to.deep.equal([reading('groups', { groups: { NA: 1 }, name: 'sensitive' })]); // prettier-ignore
    expect(plain(groupReadings(['a', 'b', 'NA'], ['NA']))).to.deep.equal([reading('groups', { missing: { NA: 1 }, name: 'sensitive' })]); // prettier-ignore
    expect(plain(groupReadings({ sex: ['a', 'b'], race: ['x', 'X'] }, undefined))).to.deep.equal([reading('groups', { groups: { x: 1, X: 1 }, name: 'race' })]); // prettier-ignore
  });

  it('is empty for plain values, and has all columns of a request in order', () => {
    expect(outcomes('classification', { yPred: [1, 0, 1, 0], yTrue: Int8Array.of(1, 0, 1, 0) })).to.deep.equal([]);
    expect(outcomes('classification', { yPred: ['1', '0'] })).to.deep.equal([]);
    expect(outcomes('regression', { yPred: [1, 2, 3], naValues: ['NA'] })).to.deep.equal([]);
    expect(plain(groupReadings(['a', 'b'], undefined))).to.deep.equal([]);
    const rows = { yPred: ['yes', 'no'], positiveLabel: 'yes', sensitive: ['a', 'A'] };
    expect(rowReadings('classification', rows).map(({ role }) => role)).to.deep.equal(['predictions', 'groups']);
  });
});
