import { expect } from 'chai';

import { DataValidationError, PipelineExecutionError, ValueError } from '../../src/exceptions/index.ts';
import { createRandom } from '../../src/internal/random.ts';
import { createTransformer, transformerFromJson } from '../../src/pipeline/transformers/registry.ts';
import type { Transformer } from '../../src/pipeline/transformers/transformer.ts';
import { TRANSFORMER_KINDS, type TransformerKind } from '../../src/schemas/pipeline/transformer-params.ts';
import { Table } from '../../src/table/index.ts';
import { cpuMillis } from '../helpers/cpu-millis.ts';

type Columns = Record<string, (number | string | null)[]>;

const N = 120;

/** Rows whose features depend on the group and on chance. */
function makeColumns(rows: number, seed: number): Columns {
  const random = createRandom(seed);
  const sex = Array.from({ length: rows }, (_, row) => (row % 5 < 2 ? 'female' : 'male'));
  const age = sex.map((group) => 40 + 8 * random.normal() + (group === 'male' ? 6 : 0));
  const wage = age.map((value) => 100 + 3 * value + 20 * random.normal());
  const city = sex.map((group) => (random.next() < (group === 'male' ? 0.8 : 0.2) ? 'u' : 'v'));
  const hired = wage.map((value) => Number(value + 30 * random.normal() > 230));
  return { sex, age, wage, city, hired };
}

const ROWS = makeColumns(N, 1);
const FRESH = makeColumns(30, 2);

/** All transformers, with options that work for a hundred rows. */
const OPTIONS: Readonly<Record<TransformerKind, Record<string, unknown>>> = {
  InstanceReweighting: { benchmarks: { sex: { female: 0.5, male: 0.5 } } },
  ReweighingTransformer: {},
  DisparateImpactRemover: {},
  ProxyDropper: { threshold: 0.05 },
  CorrelationRemover: {},
  LearnedFairRepresentations: { maxIterations: 8, prototypes: 3 },
};

const WEIGHS: readonly TransformerKind[] = ['InstanceReweighting', 'ReweighingTransformer'];

/** The features that are changed, and so must be numbers. */
const CHANGES: readonly TransformerKind[] = [
  'DisparateImpactRemover',
  'CorrelationRemover',
  'LearnedFairRepresentations',
];

const create = (kind: TransformerKind, params: Record<string, unknown> = {}): Transformer =>
  createTransformer(kind, { ...OPTIONS[kind], ...params }, { sensitive: ['sex'], benchmarks: {}, label: 'hired' });

/** The output of a transformer as plain data. */
const apply = async (transformer: Transformer, rows: Columns) => {
  const { table, sampleWeight } = await transformer.transform(rows);
  return { columns: table.toColumns(), weights: sampleWeight === null ? null : [...sampleWeight] };
};

const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

const expectNear = (actual: Awaited<ReturnType<typeof apply>>, expected: typeof actual, tolerance: number) => {
  expect(Object.keys(actual.columns)).to.deep.equal(Object.keys(expected.columns));
  const all = (one: typeof actual) => [...Object.values(one.columns).flat(), ...(one.weights ?? [])];
  const wanted = all(expected);
  all(actual).forEach((value, index) => {
    const other = wanted[index];
    if (typeof value === 'number') expect(value, `value ${index}`).to.be.closeTo(other as number, tolerance);
    else expect(value).to.equal(other);
  });
};

for (const kind of TRANSFORMER_KINDS) {
  describe(`the conformance of ${kind}`, () => {
    const fitted = () => create(kind).fit(ROWS);

    it('keeps the number and the order of rows, and adds no column', async () => {
      const marked = { ...ROWS, row: ROWS['sex']?.map((_, row) => `r${row}`) ?? [] };
      const { columns, weights } = await apply(await create(kind).fit(ROWS), marked);
      expect(columns['row']).to.deep.equal(marked.row);
      for (const [name, values] of Object.entries(columns)) {
        expect(Object.keys(marked)).to.include(name);
        expect(values).to.have.length(N);
      }
      if (weights !== null) expect(weights).to.have.length(N);
    });

    it('never changes sensitive columns or the label', async () => {
      const { columns } = await apply(await fitted(), FRESH);
      expect(columns['sex']).to.deep.equal(FRESH['sex']);
      expect(columns['hired']).to.deep.equal(FRESH['hired']);
    });

    it('does not change its input table', async () => {
      const table = Table.from(ROWS);
      const before = structuredClone(table.toColumns());
      const transformer = await create(kind).fit(table);
      await transformer.transform(table);
      expect(table.toColumns()).to.deep.equal(before);
    });

    it('uses only the fitted rows: other transformed rows have no effect', async () => {
      const transformer = await fitted();
      const complete = await apply(transformer, FRESH);
      await transformer.transform({ ...FRESH, age: FRESH['age']?.map(() => 1e6) ?? [] });
      expect(await apply(transformer, FRESH)).to.deep.equal(complete);
      const half = await apply(transformer, Table.from(FRESH).take([3, 1, 7]).toColumns());
      for (const [name, values] of Object.entries(half.columns)) {
        expect(values).to.deep.equal([3, 1, 7].map((row) => complete.columns[name]?.[row]));
      }
      if (half.weights !== null) expect(half.weights).to.deep.equal([3, 1, 7].map((row) => complete.weights?.[row]));
    });

    it('returns the same output for the same rows', async () => {
      const [first, second] = [await fitted(), await fitted()];
      expect(await apply(first, FRESH)).to.deep.equal(await apply(first, FRESH));
      expect(await apply(second, FRESH)).to.deep.equal(await apply(first, FRESH));
    });

    it('learns the same from permuted rows', async () => {
      const order = Array.from({ length: N }, (_, row) => (row * 37) % N);
      const permuted = await create(kind).fit(Table.from(ROWS).take(order));
      expectNear(await apply(permuted, FRESH), await apply(await fitted(), FRESH), 1e-6);
    });

    it('treats weights of one like no weights, and ignores rows of weight 0', async () => {
      const ones = await create(kind).fit(ROWS, { sampleWeight: Array.from({ length: N }, () => 1) });
      expectNear(await apply(ones, FRESH), await apply(await fitted(), FRESH), 1e-12);
      const zeros = await create(kind).fit(ROWS, {
        sampleWeight: Array.from({ length: N }, (_, row) => Number(row < 90)),
      });
      const rest = await create(kind).fit(Table.from(ROWS).take([...Array(90).keys()]));
      expectNear(await apply(zeros, FRESH), await apply(rest, FRESH), 1e-12);
    });

    it('is unchanged after writing as text and reading', async () => {
      const transformer = await fitted();
      const copy = transformerFromJson(JSON.parse(JSON.stringify(transformer)));
      expect(await apply(copy, FRESH)).to.deep.equal(await apply(transformer, FRESH));
      expect(copy.toJSON()).to.deep.equal(transformer.toJSON());
      expect(copy.warnings).to.deep.equal(transformer.warnings);

      const blank = create(kind);
      expect(transformerFromJson(JSON.parse(JSON.stringify(blank))).toJSON()).to.deep.equal(blank.toJSON());
      expect(blank.toJSON().state).to.equal(null);
    });

    it('returns JSON whose changes do not affect it', async () => {
      const transformer = await fitted();
      const before = await apply(transformer, FRESH);
      const { state, params } = transformer.toJSON() as {
        state: Record<string, unknown>;
        params: Record<string, unknown>;
      };
      for (const part of [state, params]) for (const key of Object.keys(part)) part[key] = [];
      expect(await apply(transformer, FRESH)).to.deep.equal(before);
    });

    it('throws an error if it transforms before it is fitted', async () => {
      const failure = await failureOf(create(kind).transform(ROWS));
      expect(failure).to.be.instanceOf(PipelineExecutionError);
      expect((failure as PipelineExecutionError).suggestion).to.match(/fit/);
      expect(create(kind).warnings).to.deep.equal([]);
    });

    it('keeps an earlier fit if a later one fails, and replaces it if it succeeds', async () => {
      const transformer = await fitted();
      const before = await apply(transformer, FRESH);
      const { sex: _, ...without } = ROWS;
      expect(await failureOf(transformer.fit(without))).to.be.instanceOf(DataValidationError);
      expect(await apply(transformer, FRESH)).to.deep.equal(before);
      await transformer.fit(FRESH);
      expect(await apply(transformer, ROWS)).to.deep.equal(await apply(await create(kind).fit(FRESH), ROWS));
    });

    it('depends on the names of groups only in the names', async () => {
      const rename = ({ sex = [], ...rest }: Columns): Columns => ({
        sex: sex.map((group) => (group === 'female' ? 'z' : 'b')),
        ...rest,
      });
      const benchmarks = { sex: { z: 0.5, b: 0.5 } };
      const renamed = await create(kind, kind === 'InstanceReweighting' ? { benchmarks } : {}).fit(rename(ROWS));
      const plain = await apply(await fitted(), FRESH);
      const { columns, weights } = await apply(renamed, rename(FRESH));
      expectNear({ columns: { ...columns, sex: FRESH['sex'] ?? [] }, weights }, plain, 1e-6);
    });

    it(
      WEIGHS.includes(kind) ? 'returns weights with mean 1 over the fitted rows, none negative' : 'returns no weights',
      async () => {
        const { weights } = await apply(await fitted(), ROWS);
        if (!WEIGHS.includes(kind)) {
          expect(weights).to.equal(null);
          return;
        }
        expect(Math.min(...(weights ?? []))).to.be.at.least(0);
        expect((weights ?? []).reduce((sum, weight) => sum + weight, 0) / N).to.be.closeTo(1, 1e-12);
        const sampleWeight = Array.from({ length: N }, (_, row) => 1 + (row % 7));
        const weighed = await apply(await create(kind).fit(ROWS, { sampleWeight }), ROWS);
        const total = sampleWeight.reduce((sum, weight) => sum + weight, 0);
        const product = sampleWeight.reduce((sum, weight, row) => sum + weight * (weighed.weights?.[row] ?? NaN), 0);
        expect(product / total).to.be.closeTo(1, 1e-12);
      },
    );

    it('transforms rows whose group is missing or new with weight 1, unchanged or like other rows', async () => {
      const holes = { ...ROWS, sex: ROWS['sex']?.map((group, row) => (row % 9 === 0 ? null : group)) ?? [] };
      const transformer = await create(kind).fit(holes);
      const { columns, weights } = await apply(transformer, {
        ...FRESH,
        sex: FRESH['sex']?.map((_, row) => (row % 2 === 0 ? null : 'other')) ?? [],
      });
      for (const name of ['age', 'wage']) {
        for (const value of columns[name] ?? []) expect(value).to.satisfy(Number.isFinite);
        if (kind === 'DisparateImpactRemover' || kind === 'CorrelationRemover') {
          expect(columns[name]).to.deep.equal(FRESH[name]);
        }
      }
      if (weights !== null) expect(new Set(weights)).to.deep.equal(new Set([1]));
      const isAffected = kind !== 'ProxyDropper' && kind !== 'LearnedFairRepresentations';
      expect(transformer.warnings.some((text) => text.includes(`'other`))).to.equal(isAffected);
    });

    it('writes warnings as clauses without a capital first letter and a final period', async () => {
      const holes = (rows: Columns, every: number): (number | string | null)[] =>
        rows['sex']?.map((group, row) => (row % every === 0 ? null : group)) ?? [];
      const transformer = await create(kind).fit({ ...ROWS, sex: holes(ROWS, 9) });
      const ofFit = transformer.warnings;
      await transformer.transform({
        ...FRESH,
        sex: holes(FRESH, 3).map((group, row) => (row % 3 === 1 ? 'z' : group)),
      });
      expect(transformer.warnings.slice(0, ofFit.length)).to.deep.equal(ofFit);
      expect(transformer.warnings).to.not.have.length(0);
      for (const warning of transformer.warnings) expect(warning).to.match(/^[a-z\d].*[^.]$/);
    });

    it('keeps missing features missing', async () => {
      const holes = { ...ROWS, age: ROWS['age']?.map((value, row) => (row % 9 === 0 ? null : value)) ?? [] };
      const { columns } = await apply(await create(kind).fit(holes), holes);
      columns['age']?.forEach((value, row) => {
        expect(value === null, `row ${row}`).to.equal(row % 9 === 0);
      });
    });

    it('returns finite values for features and weights of any size', async () => {
      const scale = (columns: Columns, by: number): Columns => ({
        ...columns,
        age: columns['age']?.map((value) => (value as number) * by) ?? [],
      });
      for (const by of [1e300, 1e-300]) {
        const sampleWeight = Array.from({ length: N }, (_, row) => (1 + (row % 3)) * by);
        const transformer = await create(kind).fit(scale(ROWS, by), { sampleWeight });
        const plain = await create(kind).fit(ROWS, { sampleWeight: sampleWeight.map((_, row) => 1 + (row % 3)) });
        const [found, expected] = [await apply(transformer, scale(FRESH, by)), await apply(plain, FRESH)];
        found.columns['age']?.forEach((value, row) => {
          expect((value as number) / by).to.be.closeTo(expected.columns['age']?.[row] as number, 1e-6);
        });
        found.weights?.forEach((weight, row) => {
          expect(weight).to.be.closeTo(expected.weights?.[row] ?? NaN, 1e-12);
        });
      }
    });

    it('returns frozen warnings and results', async () => {
      const transformer = await fitted();
      expect(Object.isFrozen(transformer.warnings)).to.equal(true);
      expect(Object.isFrozen(await transformer.transform(ROWS))).to.equal(true);
    });

    it('rejects a column that does not exist and suggests a similar one', async () => {
      const failure = await failureOf(
        create(kind, { sensitive: 'sez', ...(kind === 'InstanceReweighting' ? { benchmarks: undefined } : {}) }).fit(
          ROWS,
        ),
      );
      expect(failure).to.be.instanceOf(DataValidationError);
      expect((failure as DataValidationError).suggestion).to.match(/'sex'/);
      if (WEIGHS.includes(kind)) return;
      const other = await failureOf(create(kind, { features: ['wagee'] }).fit(ROWS));
      expect(other).to.be.instanceOf(DataValidationError);
      expect((other as DataValidationError).suggestion).to.match(/'wage'/);
    });

    it('rejects a sensitive column without values', async () => {
      const none = { ...ROWS, sex: ROWS['sex']?.map(() => null) ?? [] };
      expect(await failureOf(create(kind).fit(none))).to.be.instanceOf(DataValidationError);
    });

    for (const { title, sampleWeight } of [
      { title: 'of another length', sampleWeight: [1, 2] },
      { title: 'that are negative', sampleWeight: Array.from({ length: N }, (_, row) => (row === 5 ? -1 : 1)) },
      { title: 'that are NaN', sampleWeight: Array.from({ length: N }, () => NaN) },
      { title: 'that are all 0', sampleWeight: Array.from({ length: N }, () => 0) },
    ]) {
      it(`rejects weights ${title}`, async () => {
        expect(await failureOf(create(kind).fit(ROWS, { sampleWeight }))).to.be.instanceOf(DataValidationError);
      });
    }

    if (CHANGES.includes(kind)) {
      it('rejects text and infinities in numeric columns, with the row', async () => {
        const bad = ROWS['age']?.map((value, row) => (row === 4 ? 'old' : value)) ?? [];
        const failure = await failureOf(create(kind, { features: ['age'] }).fit({ ...ROWS, age: bad }));
        expect(failure).to.be.instanceOf(DataValidationError);
        expect((failure as DataValidationError).message).to.match(/'age'.*row 5.*'old'/);
        const transformer = await fitted();
        expect(
          await failureOf(transformer.transform({ ...FRESH, age: FRESH['age']?.map(() => 'x') ?? [] })),
        ).to.be.instanceOf(DataValidationError);
        const infinite = { ...ROWS, age: ROWS['age']?.map((value, row) => (row === 4 ? Infinity : value)) ?? [] };
        expect(await failureOf(create(kind).fit(infinite))).to.be.instanceOf(DataValidationError);
      });
    }

    it('learns from one row and from one group, or gives a reason', async () => {
      const one = Table.from(ROWS).take([0]).toColumns();
      const single = await failureOf(create(kind).fit(one));
      if (kind === 'LearnedFairRepresentations') expect(single).to.be.instanceOf(DataValidationError);
      else expect(single).to.equal(undefined);
      const rows = { ...ROWS, sex: ROWS['sex']?.map(() => 'female') ?? [] };
      const transformer = await create(kind).fit(rows);
      const { columns, weights } = await apply(transformer, rows);
      for (const weight of weights ?? []) expect(weight).to.be.closeTo(1, 1e-12);
      if (kind !== 'LearnedFairRepresentations')
        expectNear({ columns, weights: null }, { columns: rows, weights: null }, 1e-12);
    });

    it('rejects fitting without rows, and transforms no rows to no rows', async () => {
      const none = Table.from(ROWS).take([]);
      expect(await failureOf(create(kind).fit(none))).to.be.instanceOf(DataValidationError);
      const { table, sampleWeight } = await (await fitted()).transform(none);
      expect(table.rowCount).to.equal(0);
      if (WEIGHS.includes(kind)) expect(sampleWeight).to.have.length(0);
    });

    it('rejects an empty list of sensitive columns', () => {
      expect(() => createTransformer(kind, OPTIONS[kind], { sensitive: [], benchmarks: {}, label: 'hired' })).to.throw(
        ValueError,
      );
    });

    it('respects an abort signal', async () => {
      const reason = new Error('enough');
      expect(await failureOf(create(kind).fit(ROWS, { signal: AbortSignal.abort(reason) }))).to.equal(reason);
    });

    it('does not depend on labels without rows', async () => {
      const table = Table.from(ROWS);
      const { codes, labels } = table.categorical('sex');
      const wider = Table.ofColumns(
        table.columnNames.map((name) => [
          name,
          name === 'sex' ? { kind: 'categorical', codes, labels: [...labels, 'other'] } : table.column(name),
        ]),
      );
      const params = kind === 'InstanceReweighting' ? { benchmarks: undefined } : {};
      const [plain, wide] = [await create(kind, params).fit(table), await create(kind, params).fit(wider)];
      expect(await apply(wide, FRESH)).to.deep.equal(await apply(plain, FRESH));
      expect(wide.warnings).to.deep.equal(plain.warnings);
      await wide.transform({ ...FRESH, sex: FRESH['sex']?.map(() => 'other') ?? [] });
      await plain.transform({ ...FRESH, sex: FRESH['sex']?.map(() => 'other') ?? [] });
      expect(wide.warnings).to.deep.equal(plain.warnings);
    });

    it('reads records and typed arrays like columns', async () => {
      const transformer = await fitted();
      const records = Table.from(FRESH).toRecords();
      expect(await apply(await create(kind).fit(Table.from(ROWS).toRecords()), FRESH)).to.deep.equal(
        await apply(transformer, FRESH),
      );
      expect((await transformer.transform(records)).table.toColumns()).to.deep.equal(
        (await transformer.transform(FRESH)).table.toColumns(),
      );
    });

    it('processes 5,000 groups of 20 rows in time proportional to the rows', async function () {
      this.timeout(60_000);
      const groups = 5000;
      const random = createRandom(4);
      const codes = Int32Array.from({ length: 20 * groups }, (_, row) => row % groups);
      const table = Table.ofColumns([
        ['sex', { kind: 'categorical', codes, labels: Array.from({ length: groups }, (_, code) => `g${code}`) }],
        ['age', { kind: 'numeric', values: Float64Array.from(codes, (code) => random.normal() + code / groups) }],
        ['hired', { kind: 'numeric', values: Float64Array.from(codes, () => random.integer(2)) }],
      ]);
      const params = kind === 'InstanceReweighting' ? { benchmarks: undefined } : {};
      const start = cpuMillis();
      const transformer = await create(kind, {
        ...params,
        ...(kind === 'LearnedFairRepresentations' ? { maxIterations: 2 } : {}),
      }).fit(table);
      await transformer.transform(table);
      // Ten times the time on two slow cores; code proportional to rows times groups would take minutes.
      expect((cpuMillis() - start) / 1000).to.be.below(6);
    });
  });
}
