import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { documentToMarkdown } from '../../src/document/document-to-markdown.ts';
import { impactRatioDocument } from '../../src/document/impact-ratio-document.ts';
import { openDuckDb } from '../../src/io/index.ts';
import { type ImpactRatios, impactRatios } from '../../src/metrics/impact-ratios.ts';
import { useTemporaryFolder } from '../helpers/run-cli.ts';
import { describeWithReference, referencePath } from '../helpers/reference.ts';

/** Returns people of categories with a number of selected people among all. */
function people(
  groups: readonly (readonly [sex: string, race: string, selected: number, all: number])[],
): Record<string, (string | number)[]> {
  const rows = groups.flatMap(([sex, race, selected, all]) =>
    Array.from({ length: all }, (_, row) => ({ sex, race, selected: Number(row < selected) })),
  );
  return {
    sex: rows.map(({ sex }) => sex),
    race: rows.map(({ race }) => race),
    selected: rows.map(({ selected }) => selected),
  };
}

const COLUMNS = { selected: 'selected', sex: 'sex', raceEthnicity: 'race' };

/** The rates and impact ratios of a table, as the rule prints them. */
function printed({ tables }: ImpactRatios, index: number): Record<string, [rate: string, ratio: string]> {
  return Object.fromEntries(
    (tables[index]?.categories ?? []).map(({ category, rate, impactRatio }) => [
      category.join(' '),
      [rate.toFixed(3), impactRatio?.toFixed(2) ?? 'excluded'],
    ]),
  );
}

/** The numbers of people without an outcome, by category. */
function missingOf({ tables }: ImpactRatios): number[][] {
  return tables.map(({ categories }) => categories.map(({ withoutOutcome }) => withoutOutcome));
}

describe('impact ratios', () => {
  it('are those of the example in the rule, by race or ethnicity and by sex', async () => {
    // 6 RCNY 5-301, example of a tool that scores applicants: numbers of applicants, scoring rates and impact ratios.
    const byRace = await impactRatios(
      people([
        ['Male', 'Hispanic or Latino', 18, 28],
        ['Male', 'White', 15, 40],
        ['Male', 'Black or African American', 16, 32],
        ['Male', 'Native Hawaiian or Pacific Islander', 5, 8],
        ['Male', 'Asian', 10, 24],
      ]),
      COLUMNS,
    );
    expect(printed(byRace, 1)).to.deep.equal({
      Asian: ['0.417', '0.65'],
      'Black or African American': ['0.500', '0.78'],
      'Hispanic or Latino': ['0.643', '1.00'],
      'Native Hawaiian or Pacific Islander': ['0.625', '0.97'],
      White: ['0.375', '0.58'],
    });
    const bySex = await impactRatios(
      people([
        ['Male', 'White', 50, 92],
        ['Female', 'White', 34, 76],
      ]),
      COLUMNS,
    );
    expect(printed(bySex, 0)).to.deep.equal({ Female: ['0.447', '0.82'], Male: ['0.543', '1.00'] });
  });

  it('count people of unknown categories and rows without an outcome, and include them in no rate', async () => {
    const result = await impactRatios(
      {
        sex: ['f', 'f', '', 'm', 'm', 'm', 'm'],
        race: ['a', 'Unknown', 'a', 'b', 'b', null, 'b'],
        selected: [1, 1, 1, 1, 0, 1, null],
      },
      { ...COLUMNS, naValues: ['Unknown', ''] },
    );
    expect(result.n).to.equal(6);
    expect(result.nWithoutOutcome).to.equal(1);
    expect(result.tables.map(({ unknown }) => unknown)).to.deep.equal([1, 2, 3]);
    // One man of race b has no outcome.
    expect(missingOf(result)).to.deep.equal([[0, 1], [0, 1], [0, 1]]); // prettier-ignore
    expect(result.tables.map(({ categories }) => categories.map(({ applicants }) => applicants))).to.deep.equal([
      [2, 3],
      [2, 2],
      [1, 2],
    ]);
    const text = documentToMarkdown(impactRatioDocument(result));
    expect(text).to.include('Unknown sex, or race or ethnicity: **3**');
    expect(text).to.include('Rows without an outcome: **1**');
  });

  it('name the categories in which no row has an outcome', async () => {
    const result = await impactRatios(
      { sex: ['f', 'f', 'm', 'm'], race: ['a', 'b', 'a', 'b'], selected: [null, null, 1, 0] },
      COLUMNS,
    );
    expect(result.tables.map(({ unmeasured }) => unmeasured)).to.deep.equal([[['f']], [], [['f', 'a'], ['f', 'b']]]); // prettier-ignore
    expect(result.tables[0]?.categories).to.have.length(1);
    expect(documentToMarkdown(impactRatioDocument(result))).to.include('because no row has an outcome: f.');
  });

  it('exclude small categories only with a justification, and still show their numbers', async () => {
    const source = people([
      ['f', 'a', 1, 1],
      ['f', 'b', 30, 60],
      ['m', 'b', 20, 50],
    ]);
    const result = await impactRatios(source, { ...COLUMNS, excludeBelow: 0.02, justification: 'one person' });
    const [small, large] = result.tables[1]?.categories ?? [];
    expect(small).to.deep.include({ applicants: 1, rate: 1, isExcluded: true, impactRatio: null, pValue: null });
    expect(large?.impactRatio).to.equal(1);
    const text = documentToMarkdown(impactRatioDocument(result));
    expect(text).to.include('Justification: one person');
    expect(text).to.match(/\| a +\| 1 +\| 1 +\| 100\.0% +\| excluded/);
    const failed = async (options: object): Promise<string> =>
      impactRatios(source, { ...COLUMNS, ...options }).then(String, (error: unknown) => (error as Error).message);
    expect(await failed({ excludeBelow: 0.02 })).to.match(/justification/);
    expect(await failed({ excludeBelow: 0.05, justification: 'x' })).to.match(/excludeBelow.*0\.02/);
    expect(await failed({ justification: 'x' })).to.match(/no category is excluded/);
    expect(await failed({ selected: undefined })).to.match(/decisions or a column of scores/);
    expect(await failed({ score: 'selected' })).to.match(/not both/);
    expect(await failed({ raceEthnicity: 'sex' })).to.match(/another column/);
    expect(await failed({ raceEthnicity: 'ethnic' })).to.match(/ethnic/);
    expect(await failed({ unknown: 1 })).to.match(/unknown/);
  });

  it('name the wrong option in each error, and say how to fix it', async () => {
    const source = people([['f', 'a', 1, 2], ['m', 'b', 1, 2]]); // prettier-ignore
    const errorOf = async (options: object, rows: object = source): Promise<unknown> =>
      impactRatios(rows as never, { ...COLUMNS, ...options }).then(
        () => undefined,
        (error: unknown) => error,
      );
    const cases: readonly (readonly [options: object, expected: object, rows?: object])[] = [
      [
        { score: 'selected' },
        {
          name: 'ConfigValidationError',
          context: { parameters: ['selected', 'score'] },
          suggestion: 'Give one of selected and score.',
        },
      ],
      [{ sex: '' }, { message: 'The sex parameter must be the name of a column. Got  instead.' }],
      [{ raceEthnicity: 7 }, { message: 'The raceEthnicity parameter must be the name of a column. Got 7 instead.' }],
      [
        { raceEthnicity: 'sex' },
        { message: 'The raceEthnicity parameter must be another column than sex. Got sex instead.' },
      ],
      [
        { justification: 'few' },
        {
          name: 'ValueError',
          context: { parameter: 'excludeBelow' },
          suggestion: 'Set excludeBelow, or leave out the justification.',
        },
      ],
      [{ excludeBelow: 0, justification: 'few' }, { context: { parameter: 'excludeBelow' } }],
      [{ excludeBelow: -0.01, justification: 'few' }, { message: 'The excludeBelow parameter must be a share from 0 to 0.02. Got -0.01 instead.' }], // prettier-ignore
      [
        { excludeBelow: 0.01, justification: ' ' },
        {
          name: 'ValueError',
          context: { parameter: 'justification' },
          suggestion: 'State the reason in justification. The rule asks for it in the summary of results.',
        },
      ],
      [
        {},
        {
          name: 'DataValidationError',
          ...{ code: 'empty-data', context: { parameter: 'source' } },
          suggestion: 'Check the column of the outcome, and the texts that mean a missing value.',
        },
        { ...source, selected: [null, null, null, null] },
      ],
    ];
    for (const [options, expected, rows] of cases) {
      expect(await errorOf(options, rows), JSON.stringify(options)).to.deep.include(expected);
    }
    expect((await impactRatios(source, { ...COLUMNS, excludeBelow: 0 })).excludeBelow).to.equal(0);
    const atLimit = await impactRatios(source, { ...COLUMNS, excludeBelow: 0.02, justification: ' few ' });
    expect(atLimit).to.include({ kind: 'selection', excludeBelow: 0.02, justification: ' few ' });
  });

  describe('of files and queries', () => {
    const folder = useTemporaryFolder();
    const write = (name: string, lines: readonly string[]): string => {
      const file = path.join(folder(), name);
      writeFileSync(file, `sex,race,fit\n${lines.join('\n')}\n`);
      return file;
    };
    const scored = { score: 'fit', sex: 'sex', raceEthnicity: 'race' };
    /** The numbers of people above the median, women first. */
    const selectedOf = ({ tables }: ImpactRatios): unknown => tables[0]?.categories.map(({ selected }) => selected);

    it('are those of the rows, however the files are given', async () => {
      const one = write('one.csv', ['f,a,1', 'f,a,2', 'f,b,2']);
      const two = write('two.csv', ['m,b,2', 'm,b,5', 'm,b,']);
      for (const source of [[one, two], { paths: [one, two] }, path.join(folder(), '*.csv')]) {
        const result = await impactRatios(source, scored);
        expect(result).to.include({ kind: 'scoring', n: 5, nWithoutOutcome: 1, medianScore: 2 });
        expect(selectedOf(result)).to.deep.equal([0, 1]);
        expect(missingOf(result)).to.deep.equal([[0, 1], [0, 1], [0, 0, 1]]); // prettier-ignore
      }
      const lost = write('lost.csv', ['f,a,', 'f,b,', 'm,b,2']);
      expect((await impactRatios(lost, scored)).tables[0]?.unmeasured).to.deep.equal([['f']]);
      expect(selectedOf(await impactRatios({ paths: one }, scored))).to.deep.equal([0]);
      // Above the median is nobody if all scores are equal, also below 0.
      for (const score of ['3', '-3', '0']) {
        const equal = write(`equal${score}.csv`, [`f,a,${score}`, `m,b,${score}`]);
        expect(selectedOf(await impactRatios(equal, scored))).to.deep.equal([0, 0]);
      }
    });

    it('leave out numbers that mean a missing value, also from the median', async () => {
      const file = write('missing.csv', ['f,a,1', 'f,a,2', 'm,b,3', 'm,b,999', 'm,b,-1']);
      const result = await impactRatios(file, { ...scored, naValues: ['999', '-1', 'none'] });
      expect(result).to.include({ n: 3, nWithoutOutcome: 2, medianScore: 2 });
      expect(selectedOf(result)).to.deep.equal([0, 1]);
      expect(await impactRatios(file, scored)).to.include({ n: 5, medianScore: 2 });
    });

    it('are counted by an engine, which cannot compute a median', async () => {
      const file = write('engine.csv', ['f,a,0', 'f,a,1', 'm,b,1', 'm,b,1']);
      const engine = openDuckDb();
      const query = `SELECT * FROM read_csv('${file}', header = true)`;
      try {
        const result = await impactRatios({ engine, query }, { selected: 'fit', sex: 'sex', raceEthnicity: 'race' });
        expect(selectedOf(result)).to.deep.equal([1, 2]);
        expect((await impactRatios({ engine, query }, scored)).medianScore).to.equal(1);
        const other = { name: 'an engine', dialect: 'duckdb' as const, query: engine.query.bind(engine), close: () => Promise.resolve() }; // prettier-ignore
        const error: unknown = await impactRatios({ engine: other, query }, scored).catch((reason: unknown) => reason);
        expect(error).to.deep.include({
          name: 'ConfigValidationError',
          context: { parameter: 'score' },
          suggestion: 'Decide in the query: SELECT *, score > (SELECT median …) AS selected, and name selected.',
        });
      } finally {
        await engine.close();
      }
    });
  });

  it('are not below four fifths if they are four fifths, in spite of rounding', async () => {
    // The ratio is exactly 0.8. The quotient of the rounded rates is 0.7999999999999999.
    for (const [selected, all, most, of] of [
      [2, 3, 5, 6],
      [1, 3, 5, 12],
    ] as const) {
      const { tables } = await impactRatios(people([['f', 'a', selected, all], ['m', 'a', most, of]]), COLUMNS); // prettier-ignore
      expect(tables[0]?.categories.map(({ isBelowFourFifths }) => isBelowFourFifths)).to.deep.equal([false, false]);
    }
  });

  it('are undefined if nobody is selected', async () => {
    const { tables } = await impactRatios(people([['f', 'a', 0, 9], ['m', 'b', 0, 9]]), COLUMNS); // prettier-ignore
    expect(tables[0]?.mostSelected).to.equal(null);
    expect(tables[0]?.categories.map(({ impactRatio, pValue }) => [impactRatio, pValue])).to.deep.equal([
      [null, null],
      [null, null],
    ]);
  });

  it('count scores above the median, and not scores equal to it', async () => {
    const source = { sex: ['f', 'f', 'f', 'm', 'm'], race: ['a', 'a', 'b', 'b', 'b'], fit: [1, 2, 2, 2, 5] };
    const result = await impactRatios(source, { score: 'fit', sex: 'sex', raceEthnicity: 'race' });
    expect(result).to.include({ kind: 'scoring', medianScore: 2 });
    expect(result.tables[0]?.categories.map(({ selected }) => selected)).to.deep.equal([0, 1]);
    const equal = await impactRatios({ ...source, fit: [3, 3, 3, 3, 3] }, { score: 'fit', sex: 'sex', raceEthnicity: 'race' }); // prettier-ignore
    expect(equal.tables[0]?.mostSelected).to.equal(null);
  });
});

describeWithReference('impact ratios of the Adult data', () => {
  const file = (): string => referencePath('data/adult.test.csv');
  const rows = (): { sex: string; race: string; income: string; hours: number }[] => {
    const [header = '', ...lines] = readFileSync(file(), 'utf8').trim().split('\n');
    const names = header.trim().split(',');
    const at = (name: string): number => names.indexOf(name);
    return lines.map((line) => {
      const cells = line.trim().split(',');
      const cell = (name: string): string => cells[at(name)] as string;
      return {
        sex: cell('sex'),
        race: cell('race'),
        income: cell('income-per-year'),
        hours: Number(cell('hours-per-week')),
      };
    });
  };
  const columns = { sex: 'sex', raceEthnicity: 'race' };

  it('have the numbers of plain counts, from the file and from arrays', async () => {
    const expected = new Map<string, [applicants: number, selected: number]>();
    for (const { sex, race, income } of rows()) {
      for (const key of [sex, race, `${sex}/${race}`]) {
        const [applicants, selected] = expected.get(key) ?? [0, 0];
        expected.set(key, [applicants + 1, selected + Number(income === '>50K')]);
      }
    }
    const options = { ...columns, selected: 'income-per-year', positiveLabel: '>50K' };
    const result = await impactRatios(file(), options);
    const shown = result.tables.flatMap(({ categories }) => categories);
    expect(shown.length).to.equal(expected.size);
    for (const { category, applicants, selected, rate } of shown) {
      expect([applicants, selected], category.join('/')).to.deep.equal(expected.get(category.join('/')));
      expect(rate).to.equal(selected / applicants);
    }
    for (const { categories } of result.tables) {
      const highest = Math.max(...categories.map(({ rate }) => rate));
      for (const { rate, impactRatio, isBelowFourFifths } of categories) {
        expect(impactRatio).to.be.closeTo(rate / highest, 1e-15);
        expect(isBelowFourFifths).to.equal(rate / highest < 0.8);
      }
    }
    // scipy.stats.fisher_exact 1.x of each race against Asian-Pac-Islander, the most selected one.
    const race = new Map((result.tables[1]?.categories ?? []).map((one) => [one.category[0], one.pValue]));
    expect(race.get('White')).to.be.closeTo(0.1812177500653271, 1e-10);
    expect(race.get('Other')).to.be.closeTo(0.033992149952041216, 1e-10);
    expect(race.get('Amer-Indian-Eskimo')).to.be.closeTo(3.763395032609801e-5, 1e-12);
    expect(race.get('Asian-Pac-Islander')).to.equal(null);
    const arrays = {
      sex: rows().map(({ sex }) => sex),
      race: rows().map(({ race: one }) => one),
      'income-per-year': rows().map(({ income }) => income),
    };
    expect(await impactRatios(arrays, options)).to.deep.equal(result);
    // Every number of the table is in the document.
    const text = documentToMarkdown(impactRatioDocument(result));
    for (const { applicants, selected, rate } of shown) {
      expect(text)
        .to.include(`| ${applicants.toLocaleString('en-US')} `)
        .and.include(`| ${selected.toLocaleString('en-US')} `);
      expect(text).to.include(`${(100 * rate).toFixed(1)}%`);
    }
  });

  it('have scoring rates above the median, from the file and from arrays', async () => {
    const all = rows();
    const sorted = all.map(({ hours }) => hours).sort((a, b) => a - b);
    // 16,281 people: the one in the middle.
    const median = sorted[8140] as number;
    const options = { ...columns, score: 'hours-per-week' };
    const result = await impactRatios(file(), options);
    expect(result.medianScore).to.equal(median);
    const women = all.filter(({ sex }) => sex === 'Female');
    expect(result.tables[0]?.categories[0]).to.deep.include({
      category: ['Female'],
      applicants: women.length,
      selected: women.filter(({ hours }) => hours > median).length,
    });
    const arrays = { sex: all.map(({ sex }) => sex), race: all.map(({ race }) => race), 'hours-per-week': sorted };
    arrays['hours-per-week'] = all.map(({ hours }) => hours);
    expect(await impactRatios(arrays, options)).to.deep.equal(result);
  });
});
