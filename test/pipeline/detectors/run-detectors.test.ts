import { expect } from 'chai';

import { DataValidationError, ValueError } from '../../../src/exceptions/index.ts';
import { createRandom } from '../../../src/internal/random.ts';
import { type DetectorConfig, runDetectors } from '../../../src/pipeline/detectors/index.ts';
import { Table } from '../../../src/table/index.ts';
import { golden } from '../../stats/association/detectors-golden.ts';

const SEX: DetectorConfig = { sensitive: ['sex'] };

/** Repeats the values in turn. */
const cycle = <Value>(rows: number, values: readonly Value[]): Value[] =>
  Array.from({ length: rows }, (_, row) => values[row % values.length] as Value);

const repeat = <Value>(times: number, value: Value): Value[] => Array<Value>(times).fill(value);

async function failure(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => expect.fail('it did not fail'),
    (error: unknown) => error,
  );
}

describe('the detectors: disparities and proxies', () => {
  it("match SciPy's tests and statsmodels' adjustment of p-values", async () => {
    const { groups, columns, tests } = golden.table;
    const { body } = await runDetectors({ ...columns, group: groups }, { sensitive: ['group'] });
    expect(body.disparities.map(({ column }) => column)).to.have.members(tests.map(({ name }) => name));
    for (const expected of tests) {
      const found = body.disparities.find(({ column }) => column === expected.name);
      const size = expected.cramers_v ?? expected.eta_squared ?? NaN;
      const near = (actual: number | undefined, value: number) => {
        expect(actual).to.be.closeTo(value, 1e-9 * Math.abs(value));
      };
      near(found?.statistic, expected.statistic);
      near(found?.pValue, expected.p_value);
      near(found?.adjustedPValue, expected.adjusted_p_value);
      expect(found?.effectSize).to.be.closeTo(size, 1e-12);
      expect(found?.degrees).to.deep.equal([expected.degrees].flat());
      expect(found?.flagged).to.equal(expected.adjusted_p_value <= 0.05);
      expect(found?.test).to.equal(expected.cramers_v === undefined ? 'anova' : 'chi_square');
    }
    const strong = tests.filter((test) => (test.cramers_v ?? test.eta_squared ?? NaN) >= 0.3);
    expect(body.proxies.map(({ column }) => column)).to.have.members(strong.map(({ name }) => name));
  });

  it('do not change the p-value of a single column by the adjustment', async () => {
    const { groups, columns } = golden.table;
    const { noise_text: text = [] } = columns;
    const { body } = await runDetectors({ text, group: groups }, { sensitive: ['group'] });
    expect(body.disparities[0]?.adjustedPValue).to.equal(body.disparities[0]?.pValue);
  });

  it('adjust p-values over the columns of each attribute separately', async () => {
    const { groups, columns } = golden.table;
    const other = cycle(groups.length, ['x', 'y', 'y']);
    const one = await runDetectors({ ...columns, group: groups }, { sensitive: ['group'] });
    const two = await runDetectors({ ...columns, group: groups, other }, { sensitive: ['group', 'other'] });
    // The column `other` is the only one to join the family of `group`.
    expect(two.body.disparities.filter(({ attribute }) => attribute === 'group')).to.have.length(
      one.body.disparities.length + 1,
    );
    expect(two.body.disparities.filter(({ attribute }) => attribute === 'other')).to.have.length(
      one.body.disparities.length + 1,
    );
  });

  it('do not test the target, the attribute itself, or the parts of an intersection against it', async () => {
    const data = {
      sex: cycle(120, ['f', 'm']),
      race: cycle(120, ['a', 'b', 'c']),
      hours: cycle(120, [1, 2, 3, 4, 5]),
      hired: cycle(120, [0, 1, 1]),
    };
    const { meta, body } = await runDetectors(data, {
      sensitive: ['sex', 'race'],
      intersections: [['sex', 'race']],
      training: { targetColumn: 'hired' },
    });
    const testedFor = (name: string) =>
      body.disparities.filter(({ attribute }) => attribute === name).map(({ column }) => column);
    expect(testedFor('sex')).to.have.members(['race', 'hours']);
    expect(testedFor('race')).to.have.members(['sex', 'hours']);
    expect(testedFor('sex||race')).to.have.members(['hours']);
    expect(meta).to.include({ target: 'hired', rows: 120 });
    expect(meta.attributes).to.deep.equal(['sex', 'race', 'sex||race']);
    expect(meta.columnsTested).to.deep.equal(['sex', 'race', 'hours']);
  });

  it('sort proxies by strength, and include a column at the threshold itself', async () => {
    // Of 4 values, means 0 and 1 around 0.5: eta squared = 1 / (1 + 4 d^2), d the distance of values from their mean.
    const data = { sex: ['f', 'f', 'm', 'm'], weak: [-1, 1, 0, 2], exact: [0, 0, 1, 1], half: [-0.5, 0.5, 0.5, 1.5] };
    const { body } = await runDetectors(data, { ...SEX, proxyThreshold: 0.5 });
    expect(body.proxies.map(({ column, value }) => [column, value])).to.deep.equal([
      ['exact', 1],
      ['half', 0.5],
    ]);
    expect(body.associations.map(({ column }) => column)).to.deep.equal(['weak', 'exact', 'half']);
    expect(body.associations[0]?.value).to.be.closeTo(0.2, 1e-15);
  });

  it('report which groups differ most: by means of numbers, or by the share of one text', async () => {
    const data = {
      sex: [...repeat(40, 'f'), ...repeat(40, 'm'), 'x'],
      wage: [...cycle(40, [10, 20]), ...cycle(40, [20, 40]), 900],
      job: [...cycle(40, ['nurse', 'nurse', 'nurse', 'smith']), ...cycle(40, ['nurse', 'clerk', 'cook', 'smith']), 'smith'], // prettier-ignore
    };
    const { body } = await runDetectors(data, SEX);
    const contrastOf = (name: string) => body.disparities.find(({ column }) => column === name)?.contrast;
    // The group x has one row, so it is not an extreme.
    expect(contrastOf('wage')).to.deep.equal({
      level: null,
      lowest: { group: 'f', value: 15, n: 40 },
      highest: { group: 'm', value: 30, n: 40 },
    });
    expect(contrastOf('job')).to.deep.equal({
      level: 'nurse',
      lowest: { group: 'm', value: 0.25, n: 40 },
      highest: { group: 'f', value: 0.75, n: 40 },
    });
  });

  it('note a rough p-value, and an eta squared that is large by chance', async () => {
    const random = createRandom(3);
    const rare = await runDetectors({ sex: cycle(40, ['f', 'm']), job: [...repeat(37, 'clerk'), ...repeat(3, 'smith')] }, SEX); // prettier-ignore
    expect(rare.body.disparities[0]?.notes).to.deep.equal(['the p-value is rough: an expected count is 1.5, below 5']);
    const groups = Array.from({ length: 200 }, (_, row) => `g${row % 100}`);
    const many = await runDetectors({ groups, x: groups.map(() => random.normal()) }, { sensitive: ['groups'] });
    expect(many.body.proxies[0]?.notes).to.deep.equal([
      'by chance alone, eta squared would be about 0.50: 100 groups in 200 rows',
    ]);
  });

  it('do not depend on the order of rows', async () => {
    const { groups, columns } = golden.table;
    const table = Table.from({ ...columns, group: groups });
    const reversed = table.take(Array.from({ length: table.rowCount }, (_, row) => table.rowCount - 1 - row));
    const [one, other] = [await runDetectors(table, { sensitive: ['group'] }), await runDetectors(reversed, { sensitive: ['group'] })]; // prettier-ignore
    expect(other.body.disparities.map(({ column }) => column)).to.deep.equal(one.body.disparities.map(({ column }) => column)); // prettier-ignore
    one.body.disparities.forEach(({ pValue }, index) => {
      expect(other.body.disparities[index]?.pValue).to.be.closeTo(pValue, 1e-9 * pValue);
    });
  });
});

describe('the detectors: groups that differ equally', () => {
  it('are named by the alphabet, whatever the order of rows and the rounding of sums', async () => {
    // Group b has the numbers of group a in another order, so that their sums differ in the last digit.
    const own = [...repeat(10, 0.1), ...repeat(10, 0.2), ...repeat(10, 0.3)];
    const rows = [
      ...[...own].reverse().map((x) => ({ group: 'b', x, word: 'z' })),
      ...own.map((x) => ({ group: 'a', x, word: 'y' })),
      ...own.map((x) => ({ group: 'c', x: x + 1, word: 'x' })),
    ];
    for (const ordered of [rows, [...rows].reverse()]) {
      const { body } = await runDetectors(Table.from(ordered), { sensitive: ['group'] });
      const contrasts = Object.fromEntries(body.disparities.map(({ column, contrast }) => [column, contrast]));
      expect(contrasts['x']?.lowest.group).to.equal('a');
      expect(contrasts['x']?.highest.group).to.equal('c');
      expect(contrasts['word']?.level).to.equal('x');
    }
  });
});

describe('the detectors: representation', () => {
  const halves = { sex: { f: 0.5, m: 0.5 } };
  const crowd = { sex: [...repeat(560, 'm'), ...repeat(440, 'f')] };

  it('compares 560 and 440 with halves: chi2 = 14.4, p = 0.000148', async () => {
    const { body } = await runDetectors(crowd, { ...SEX, benchmarks: halves });
    const [fit] = body.representation;
    expect(fit?.statistic).to.be.closeTo(14.4, 1e-12);
    expect(fit?.pValue).to.be.closeTo(0.000_147_8, 5e-8);
    expect(fit?.flagged).to.equal(true);
    expect(fit?.groups).to.deep.equal([
      { group: 'f', n: 440, share: 0.44, benchmarkShare: 0.5 },
      { group: 'm', n: 560, share: 0.56, benchmarkShare: 0.5 },
    ]);
    expect(body.summary.findings).to.deep.equal([
      "The shares of the groups of sex differ from the benchmark (p < 0.001); the farthest is 'f', with 44.0% of rows against 50.0%.",
    ]);
  });

  it('adjusts the p-values of all attributes together, and flags by the adjusted ones', async () => {
    // Two groups of 100 rows against halves: chi2 = (first - 50)^2 / 25, p = erfc(sqrt(chi2 / 2)).
    const firsts = { a: 60, b: 40, c: 53, d: 50, e: 50 };
    const column = (first: number) => [...repeat(first, 'x'), ...repeat(100 - first, 'y')];
    const data = Object.fromEntries(Object.entries(firsts).map(([name, first]) => [name, column(first)]));
    const halves = Object.fromEntries(Object.keys(firsts).map((name) => [name, { x: 0.5, y: 0.5 }]));
    const together = await runDetectors(data, { sensitive: ['a', 'c', 'd', 'e'], benchmarks: halves });
    const raw = { a: 0.045_500_263_896_358, c: 0.548_506_235_500_147, d: 1, e: 1 };
    // The i-th smallest of m is p m / i, or a smaller one after it: 4 p(a), 2 p(c) above 1, 1 and 1.
    const adjusted = { a: 4 * raw.a, c: 1, d: 1, e: 1 };
    for (const { attribute, pValue, adjustedPValue, flagged } of together.body.representation) {
      expect(pValue, attribute).to.be.closeTo(raw[attribute as 'a'], 1e-12);
      expect(adjustedPValue, attribute).to.be.closeTo(adjusted[attribute as 'a'], 1e-12);
      expect(flagged, attribute).to.equal(false);
    }
    expect(together.body.summary.representationFlagged).to.equal(0);
    expect(together.body.summary.findings.join()).to.not.include('differ from the benchmark');
    expect(together.toMarkdown()).to.include('p = 0.046, adjusted p = 0.182').and.to.match(/Representation\n\n.*adjusted over all attributes/); // prettier-ignore
    // Without a benchmark there is no test, so it is not in the family; two equal p-values do not change.
    const { body } = await runDetectors(data, { sensitive: ['a', 'b', 'd'], benchmarks: { a: halves['a'] ?? {}, b: halves['b'] ?? {} } }); // prettier-ignore
    expect(body.representation.map(({ flagged }) => flagged)).to.deep.equal([true, true, false]);
    expect(body.representation[0]?.adjustedPValue).to.be.closeTo(raw.a, 1e-12);
    expect(body.representation[2]?.adjustedPValue).to.be.NaN;
    const wire = together.toJSON().body as { representation: Record<string, unknown>[] };
    expect(wire.representation[0]?.['adjusted_p_value']).to.be.closeTo(adjusted.a, 1e-12);
  });

  it('reports shares and the reason for no test if there is no benchmark', async () => {
    const { body } = await runDetectors(crowd, SEX);
    const [fit] = body.representation;
    expect([fit?.statistic, fit?.pValue, fit?.flagged, fit?.reason]).to.deep.equal([
      NaN,
      NaN,
      false,
      'there is no benchmark',
    ]);
    expect(fit?.groups.map(({ share }) => share)).to.deep.equal([0.44, 0.56]);
    expect(body.summary.findings).to.deep.equal([]);
  });

  it('counts a group of the benchmark that never occurs as 0 observed', async () => {
    // 100 rows against 60, 30 and 10: 10^2 / 60 + 0 + 10^2 / 10.
    const data = { sex: [...repeat(70, 'f'), ...repeat(30, 'm')] };
    const { body } = await runDetectors(data, { ...SEX, benchmarks: { sex: { f: 0.6, m: 0.3, x: 0.1 } } });
    const [fit] = body.representation;
    expect(fit?.statistic).to.be.closeTo(100 / 60 + 10, 1e-12);
    expect(fit?.groups[2]).to.deep.equal({ group: 'x', n: 0, share: 0, benchmarkShare: 0.1 });
    expect(fit?.notes).to.deep.equal(["no row is in the group 'x' of the benchmark"]);
  });

  it('names a group without a benchmark, and tests nothing', async () => {
    const data = { sex: [...repeat(70, 'f'), ...repeat(30, 'm'), 'x'] };
    const { body } = await runDetectors(data, { ...SEX, benchmarks: halves });
    expect(body.representation[0]?.reason).to.equal("the benchmark has no share for the group 'x'");
    expect(body.summary.findings).to.deep.equal([
      "sex was not compared with its benchmark: the benchmark has no share for the group 'x'.",
    ]);
  });

  it('reports an infinite statistic, p 0 and a note for a group with benchmark 0 that occurs', async () => {
    const { body } = await runDetectors({ sex: cycle(90, ['f', 'm', 'x']) }, { ...SEX, benchmarks: { sex: { f: 0.5, m: 0.5, x: 0 } } }); // prettier-ignore
    const [fit] = body.representation;
    expect([fit?.statistic, fit?.pValue, fit?.flagged]).to.deep.equal([Infinity, 0, true]);
    expect(fit?.notes).to.include("rows are in the group 'x', for which the benchmark is 0");
  });

  it('rescales a benchmark that does not sum to 1, with a note', async () => {
    const { body } = await runDetectors(crowd, { ...SEX, benchmarks: { sex: { f: 0.3, m: 0.3 } } });
    expect(body.representation[0]?.statistic).to.be.closeTo(14.4, 1e-12);
    expect(body.representation[0]?.notes).to.deep.equal(['the benchmark sums to 0.6 and is rescaled to 1']);
  });

  it('notes that the p-value is rough if there are few rows', async () => {
    const { body } = await runDetectors({ sex: ['f', 'f', 'f', 'm'] }, { ...SEX, benchmarks: halves });
    expect(body.representation[0]?.notes).to.deep.equal(['the p-value is rough: an expected count is 2.0, below 5']);
  });

  it('excludes and counts rows without a group', async () => {
    const { body } = await runDetectors({ sex: [...crowd.sex, null, null] }, { ...SEX, benchmarks: halves });
    const [fit] = body.representation;
    expect([fit?.n, fit?.nMissing]).to.deep.equal([1000, 2]);
    expect(fit?.statistic).to.be.closeTo(14.4, 1e-12);
    expect(fit?.notes).to.deep.equal(['2 of 1,002 rows have no group and are excluded']);
  });

  it('reads the benchmark of an intersection by its joined names', async () => {
    const data = { sex: cycle(100, ['f', 'm']), race: repeat(100, 'a') };
    const { body } = await runDetectors(data, {
      ...SEX,
      intersections: [['sex', 'race']],
      benchmarks: { 'sex||race': { 'f||a': 0.5, 'm||a': 0.5 } },
    });
    expect(body.representation[1]).to.include({ attribute: 'sex||race', statistic: 0, pValue: 1 });
  });

  it('warns about a benchmark of a name that is not an attribute', async () => {
    const { meta } = await runDetectors(crowd, { ...SEX, benchmarks: { gender: { f: 1 } } });
    expect(meta.warnings).to.deep.equal([
      "There is a benchmark for 'gender', which is not an attribute of this analysis.",
    ]);
  });
});

describe('the detectors: missing values', () => {
  it('are tested by group, in a separate family', async () => {
    const sex = [...repeat(100, 'f'), ...repeat(100, 'm')];
    const hours = cycle(200, [1, 2, 3, 4]).map((value, row) => (row % 100 < (row < 100 ? 10 : 30) ? null : value));
    const full = cycle(200, [1, 5]);
    const { body } = await runDetectors({ sex, hours, full }, SEX);
    expect(body.missingness.map(({ column }) => column)).to.deep.equal(['hours']);
    const [missing] = body.missingness;
    // chi2 of [[10, 90], [30, 70]] = 200 (10 70 - 90 30)^2 / (100 100 40 160) = 12.5.
    expect(missing?.statistic).to.be.closeTo(12.5, 1e-12);
    expect(missing?.adjustedPValue).to.equal(missing?.pValue);
    expect(missing?.contrast).to.deep.equal({
      level: 'missing',
      lowest: { group: 'f', value: 0.1, n: 100 },
      highest: { group: 'm', value: 0.3, n: 100 },
    });
    expect(body.disparities.find(({ column }) => column === 'hours')?.n).to.equal(160);
  });
});

describe('the detectors: what is not tested', () => {
  const rows = 60;
  const data = {
    sex: cycle(rows, ['f', 'm']),
    key: Array.from({ length: rows }, (_, row) => `k${row}`),
    nearly: Array.from({ length: rows }, (_, row) => `n${Math.max(1, row)}`),
    row: Array.from({ length: rows }, (_, row) => row + 1000),
    customer_id: Array.from({ length: rows }, (_, row) => (row * 7919) % 100_003),
    wage: Array.from({ length: rows }, (_, row) => (row * 7919) % 100_003),
    score: Array.from({ length: rows }, (_, row) => row + 0.5),
    same: repeat(rows, 'x'),
    zero: repeat(rows, 0),
    nothing: repeat(rows, null),
    endless: [1, 2, Infinity, ...cycle(rows - 3, [3, 4])],
  };

  it('lists each column with a reason, and tests whole numbers that may be amounts', async () => {
    const { meta } = await runDetectors(data, SEX);
    expect(meta.columnsTested).to.deep.equal(['wage', 'score']);
    expect(Object.fromEntries(meta.skipped.map(({ column, reason }) => [column, reason]))).to.deep.equal({
      key: 'it looks like an identifier: 60 distinct values in 60 rows',
      nearly: 'it looks like an identifier: 59 distinct values in 60 rows',
      row: 'it looks like an identifier: 60 distinct whole numbers',
      customer_id: 'it looks like an identifier: 60 distinct whole numbers',
      same: 'all its values are the same',
      zero: 'all its values are the same',
      nothing: 'it has no values',
      endless: 'it holds an infinite value in row 3',
    });
  });

  it('treats whole numbers as identifiers by name only if all values are distinct', async () => {
    const unique = Array.from({ length: rows }, (_, row) => (row * 7919) % 100_003);
    const names = ['id', 'ID', 'user_id', 'Customer ID', 'userId', 'uuid', 'index', 'row_number'];
    const others = ['paid', 'bid', 'grid', 'price_index_change', 'wage'];
    const table = Object.fromEntries([...names, ...others].map((name) => [name, unique]));
    const { meta } = await runDetectors({ sex: data.sex, ...table, twice_id: cycle(rows, unique.slice(1)) }, SEX);
    expect(meta.columnsTested).to.deep.equal([...others, 'twice_id']);
  });

  it('keeps an attribute that looks like an identifier to other attributes', async () => {
    const { body } = await runDetectors({ sex: ['f', 'm'], x: [1, 2] }, SEX);
    expect(body.representation[0]?.groups.map(({ n }) => n)).to.deep.equal([1, 1]);
  });

  for (const [title, sex, reason] of [
    ['one group', repeat(rows, 'f'), 'all rows are in one group'],
    ['no group at all', repeat(rows, null), 'no row has a group'],
  ] as const) {
    it(`an attribute with ${title} is counted, not tested, and listed`, async () => {
      const { meta, body } = await runDetectors({ ...data, sex }, { ...SEX, benchmarks: { sex: { f: 0.5, m: 0.5 } } });
      expect(meta.skipped).to.deep.include({ column: null, attribute: 'sex', reason });
      expect([body.disparities, body.proxies, body.missingness]).to.deep.equal([[], [], []]);
      expect(body.representation).to.have.length(1);
    });
  }

  it('reports undefined with a reason for a column with one value, or one group, among rows with a group', async () => {
    const { body } = await runDetectors(
      {
        sex: ['f', 'f', 'm', 'm', null, null],
        one: ['a', 'a', 'a', 'a', 'b', 'b'],
        side: ['a', 'b', null, null, 'a', 'b'],
        number: [1, 1, 1, 1, 2, 2],
        away: [null, null, null, null, 1, 1.5],
        scarce: [0.5, null, 1.5, null, 1, 2],
      },
      SEX,
    );
    const reasons = Object.fromEntries(body.disparities.map(({ column, reason }) => [column, reason]));
    expect(reasons).to.deep.equal({
      one: 'all rows with a group have the same value',
      side: 'all its values are in one group',
      number: 'all rows with a group have the same value',
      away: 'no row has both a value and a group',
      scarce: 'no group has more than one value',
    });
    expect(body.disparities.every(({ pValue, flagged }) => Number.isNaN(pValue) && !flagged)).to.equal(true);
  });

  it('counts a single row, and tests nothing', async () => {
    const { body } = await runDetectors({ sex: ['f'], x: [1] }, { ...SEX, benchmarks: { sex: { f: 0.5, m: 0.5 } } });
    expect(body.representation[0]?.groups.map(({ n }) => n)).to.deep.equal([1, 0]);
    expect(body.disparities).to.deep.equal([]);
  });
});

describe('the detectors: arguments', () => {
  for (const [title, data, config, error, message] of [
    ['no rows', { sex: [] }, SEX, DataValidationError, 'The data have no rows, so there is nothing to analyse.'],
    ['an unknown attribute', { gender: ['f'] }, SEX, DataValidationError, "The table has no column 'sex'."],
    ['an unknown target', { sex: ['f'] }, { ...SEX, training: { targetColumn: 'y' } }, DataValidationError, "The table has no column 'y'."], // prettier-ignore
    ['no attribute', { sex: ['f'] }, { sensitive: [] }, ValueError, 'The sensitive parameter must name at least one column. Got [] instead.'], // prettier-ignore
    ['an empty intersection', { sex: ['f'] }, { ...SEX, intersections: [[]] }, ValueError, 'The sensitive parameter must name at least one column. Got ["sex"] instead.'], // prettier-ignore
    ['alpha 0', { sex: ['f'] }, { ...SEX, alpha: 0 }, ValueError, 'The alpha parameter must be a number between 0 and 1, both excluded. Got 0 instead.'], // prettier-ignore
    ['a threshold above 1', { sex: ['f'] }, { ...SEX, proxyThreshold: 1.5 }, ValueError, 'The proxyThreshold parameter must be a number from 0 to 1. Got 1.5 instead.'], // prettier-ignore
    ['a negative share', { sex: ['f'] }, { ...SEX, benchmarks: { sex: { f: -1 } } }, ValueError, 'The benchmarks.sex.f parameter must be a number from 0 to 1. Got -1 instead.'], // prettier-ignore
    ['shares of 0 alone', { sex: ['f'] }, { ...SEX, benchmarks: { sex: { f: 0 } } }, ValueError, 'The benchmarks.sex parameter must have a share above 0. Got {"f":0} instead.'], // prettier-ignore
  ] as const) {
    it(`${title} is rejected`, async () => {
      const thrown = await failure(runDetectors(data, config));
      expect(thrown).to.be.instanceOf(error).with.property('message', message);
    });
  }

  it('analyse an attribute that is named twice only once', async () => {
    const { meta } = await runDetectors({ sex: ['f', 'm'] }, { sensitive: ['sex', 'sex'], intersections: [['sex']] });
    expect(meta.attributes).to.deep.equal(['sex']);
  });

  it('report progress up to the end, and stop at a signal', async () => {
    const data = { sex: cycle(50, ['f', 'm']), a: cycle(50, [1, 2, 3]), b: cycle(50, [1, 2, 3, 4]) };
    const seen: string[] = [];
    await runDetectors(data, SEX, { onProgress: ({ done, total }) => seen.push(`${done}/${total}`) });
    expect(seen).to.deep.equal(['1/3', '2/3', '3/3']);
    const stop = new AbortController();
    const reason = new Error('enough');
    const stopped = runDetectors(data, SEX, { signal: stop.signal, onProgress: () => { stop.abort(reason); } }); // prettier-ignore
    expect(await failure(stopped)).to.equal(reason);
  });

  it('handle five thousand groups and a hundred thousand texts without a table of their product', async () => {
    const random = createRandom(11);
    const rows = 200_000;
    const group = Int32Array.from({ length: rows }, () => random.integer(5000));
    const text = Array.from({ length: rows }, () => `t${random.integer(100_000)}`);
    const same = Array.from(group, (code) => `s${code}`);
    const { body } = await runDetectors({ group, text, same }, { sensitive: ['group'] });
    expect(body.associations.find(({ column }) => column === 'text')?.value).to.be.below(0.05);
    expect(body.associations.find(({ column }) => column === 'same')?.value).to.be.closeTo(1, 1e-9);
  });
});
