import { expect } from 'chai';
import { DataFrame } from 'danfojs-node';

import { DataValidationError, PipelineExecutionError, ValueError } from '../../src/exceptions/index.ts';
import { applyPipeline, FairnessPipeline, type PipelineResult, type Transformer } from '../../src/pipeline/index.ts';
import { Table } from '../../src/table/index.ts';

const ROWS = { x: [1, 2, 3, 4], sex: ['f', 'f', 'm', 'm'] };

/** A step that adds the mean of its fit to x, and assigns the given weights to rows. */
function shift(weights: readonly number[] | null, seen: (Float64Array | undefined)[] = []): Transformer {
  let mean: number | undefined;
  const transformer: Transformer = {
    kind: 'CorrelationRemover',
    warnings: ['shifts'],
    fit(data, options) {
      const { values } = Table.from(data).numeric('x');
      seen.push(options?.sampleWeight === undefined ? undefined : Float64Array.from(options.sampleWeight));
      mean = values.reduce((sum, value) => sum + value, 0) / values.length;
      return Promise.resolve(this);
    },
    transform(data) {
      if (mean === undefined) return Promise.reject(new PipelineExecutionError('not fitted'));
      const table = Table.from(data);
      const values = table.numeric('x').values.map((value) => value - (mean as number));
      return Promise.resolve({
        table: Table.ofColumns([
          ['x', { kind: 'numeric', values }],
          ['sex', table.column('sex')],
        ]),
        sampleWeight: weights === null ? null : Float64Array.from(weights),
      });
    },
    toJSON: () => ({ kind: 'CorrelationRemover', params: {}, state: null }),
  };
  return transformer;
}

function failing(error: Error): Transformer {
  return { ...shift(null), fit: () => Promise.reject(error) };
}

async function rejection(promise: Promise<unknown>): Promise<Error> {
  return promise.then(
    () => {
      throw new Error('it did not fail');
    },
    (error: unknown) => error as Error,
  );
}

describe('a fairness pipeline', () => {
  it('fits each step on the output of the steps before it', async () => {
    const pipeline = new FairnessPipeline([
      { name: 'first', transformer: shift(null) },
      { name: 'second', transformer: shift(null) },
    ]);
    const { data, sampleWeight, transformersApplied } = await pipeline.fitTransform(ROWS);
    expect([...data.numeric('x').values]).to.deep.equal([-1.5, -0.5, 0.5, 1.5]);
    expect(sampleWeight).to.equal(null);
    expect(transformersApplied).to.deep.equal(['first', 'second']);
  });

  it('applies the fit to other rows', async () => {
    const pipeline = await new FairnessPipeline([{ name: 'shift', transformer: shift(null) }]).fit(ROWS);
    const { data, metadata } = await pipeline.transform({ x: [100], sex: ['f'] });
    expect([...data.numeric('x').values]).to.deep.equal([97.5]);
    expect(metadata.fittedHere).to.equal(false);
  });

  it('multiplies weights, with mean 1 over the rows fitted, and fits later steps with the weights of earlier ones', async () => {
    const seen: (Float64Array | undefined)[] = [];
    const pipeline = new FairnessPipeline([
      { name: 'first', transformer: shift([1, 3, 2, 2], seen) },
      { name: 'second', transformer: shift([2, 2, 1, 1], seen) },
    ]);
    const { sampleWeight } = await pipeline.fitTransform(ROWS);
    // Products 2, 6, 2, 2 have mean 3.
    expect([...(sampleWeight ?? [])]).to.deep.equal([2 / 3, 2, 2 / 3, 2 / 3]);
    expect(seen[0]).to.equal(undefined);
    expect([...(seen[1] ?? [])]).to.deep.equal([1, 3, 2, 2]);
  });

  it('weights rows that already have weights, so that the weighted mean of its factors is 1', async () => {
    const pipeline = new FairnessPipeline([{ name: 'first', transformer: shift([1, 3, 2, 2]) }]);
    const { sampleWeight } = await pipeline.fitTransform(ROWS, { sampleWeight: [2, 0, 1, 1] });
    // (2 + 0 + 2 + 2) / 4 = 1.5
    expect([...(sampleWeight ?? [])].map((weight) => weight * 1.5)).to.deep.equal([1, 3, 2, 2]);
  });

  it('reports the step that failed, its index and its cause, and is not fitted then', async () => {
    const cause = new DataValidationError("The table has no column 'age'.", { suggestion: "Did you mean 'x'?" });
    const pipeline = new FairnessPipeline([
      { name: 'first', transformer: shift(null) },
      { name: 'repair', transformer: failing(cause) },
    ]);
    const error = await rejection(pipeline.fit(ROWS));
    expect(error).to.be.instanceOf(PipelineExecutionError);
    expect(error.message).to.equal("Step 2, 'repair' (CorrelationRemover), failed: The table has no column 'age'.");
    expect(error).to.have.property('cause', cause);
    expect(error).to.have.property('suggestion', "Did you mean 'x'?");
    expect(error).to.have.property('context').that.includes({ step: 'repair', index: 1 });
    expect(pipeline.isFitted).to.equal(false);
  });

  it("rejects a stopped run with the signal's reason", async () => {
    const pipeline = new FairnessPipeline([{ name: 'first', transformer: shift(null) }]);
    const signal = AbortSignal.abort();
    expect(await rejection(pipeline.fit(ROWS, { signal }))).to.have.property('name', 'AbortError');
  });

  it('throws if it is applied before it is fitted, fitted on no rows, or built with a repeated name', async () => {
    const step = { name: 'a', transformer: shift(null) };
    expect(await rejection(new FairnessPipeline([step]).transform(ROWS))).to.be.instanceOf(PipelineExecutionError);
    expect(await rejection(new FairnessPipeline([step]).fit({ x: [], sex: [] }))).to.be.instanceOf(DataValidationError);
    expect(() => new FairnessPipeline([step, step])).to.throw(ValueError, "Got 'a' twice");
  });

  it('does not change rows if it has no steps', async () => {
    const { data, sampleWeight } = await applyPipeline(new FairnessPipeline([]), ROWS);
    expect(data.toColumns()).to.deep.equal(ROWS);
    expect(sampleWeight).to.equal(null);
  });

  it('records what each step changed', async () => {
    const { metadata } = await new FairnessPipeline([{ name: 'shift', transformer: shift([1, 1, 1, 1]) }]).fitTransform(
      ROWS,
    );
    expect(metadata).to.deep.equal({
      rows: 4,
      columnsIn: ['x', 'sex'],
      columnsOut: ['x', 'sex'],
      fittedHere: true,
      steps: [
        {
          name: 'shift',
          transformer: 'CorrelationRemover',
          columnsDropped: [],
          columnsChanged: ['x'],
          weighs: true,
          warnings: ['shifts'],
        },
      ],
    });
    expect(metadata).to.be.frozen;
  });

  it('returns data of the type of its input', async () => {
    const pipeline = await new FairnessPipeline([{ name: 'shift', transformer: shift(null) }]).fit(ROWS);
    const frame = new DataFrame({ x: [1, 2], sex: ['f', 'm'] });
    const { data } = await pipeline.transform(frame);
    expect(data).to.be.instanceOf(DataFrame);
    expect(data.column('x').values).to.deep.equal([-1.5, -0.5]);
    expect((await pipeline.transform([{ x: 1, sex: 'f' }])).data).to.be.instanceOf(Table);
  });
});

describe('a pipeline result', () => {
  it('can still be unpacked, with one deprecation warning', async () => {
    const warnings: Error[] = [];
    const collect = (warning: Error): void => void warnings.push(warning);
    process.on('warning', collect);
    try {
      const result: PipelineResult<Table> = await applyPipeline(new FairnessPipeline([]), ROWS);
      const [data, metadata] = result;
      const [again] = result;
      expect([data, metadata, again]).to.deep.equal([result.data, result.metadata, result.data]);
      await new Promise((resolve) => setImmediate(resolve));
      expect(warnings.map(({ name }) => name)).to.deep.equal(['DeprecationWarning']);
    } finally {
      process.off('warning', collect);
    }
  });
});
