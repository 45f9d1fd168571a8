import { createHash } from 'node:crypto';

import { expect } from 'chai';

import type { CodedChunk, CodedSource, CodingRequest } from '../../../src/io/code-rows.ts';
import type { DecisionRateName } from '../../../src/metrics/measures/decision-rates.ts';
import { codeTable } from '../../../src/metrics/subgroups/code-table.ts';
import { type CodedBatch, halfOfCluster, type ReadRows, readCodedRows } from '../../../src/metrics/subgroups/coded-rows.ts'; // prettier-ignore
import { Table } from '../../../src/table/index.ts';

async function allOf<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

describe('readCodedRows', () => {
  /** A source of some chunks, which counts how often it is read. */
  function sourceOf(...chunks: readonly (Partial<CodedChunk> & { readonly rowCount: number })[]): CodedSource & { passes: number } {
    const complete = chunks.map((chunk): CodedChunk => ({
      codes: [Uint8Array.from({ length: chunk.rowCount }, (_, row) => row)],
      truths: undefined, decisions: undefined, scores: undefined, clusters: undefined, halves: undefined,
      ...chunk,
    }));
    return {
      columns: [{ name: 'a', kind: 'values', labels: [], missing: 0 }],
      rowCount: chunks.reduce((sum, { rowCount }) => sum + rowCount, 0),
      passes: 0,
      async *chunks() {
        this.passes++;
        yield* await Promise.resolve(complete);
      },
    };
  } // prettier-ignore

  const read = (source: CodedSource, rate?: DecisionRateName, keeps = false): ReadRows =>
    readCodedRows(source, { rate, seed: 7, keeps });

  // All nine combinations of a true label and a decision: 0, 1 or missing (2).
  const combinations = {
    rowCount: 9,
    truths: Uint8Array.of(0, 0, 0, 1, 1, 1, 2, 2, 2),
    decisions: Uint8Array.of(0, 1, 2, 0, 1, 2, 0, 1, 2),
  };
  const [tn, fp, fn, tp, unlabelledNo, unlabelledYes] = [0, 1, 3, 4, 6, 7];
  for (const [rate, ones, zeros, dropped] of [
    ['selection_rate', [fp, tp, unlabelledYes], [tn, fn, unlabelledNo], 3],
    ['true_positive_rate', [tp], [fn], 5],
    ['false_negative_rate', [fn], [tp], 5],
    ['false_positive_rate', [fp], [tn], 5],
    ['true_negative_rate', [tn], [fp], 5],
    ['precision', [tp], [fp], 5],
    ['negative_predictive_value', [tn], [fn], 5],
    ['accuracy', [tn, tp], [fp, fn], 5],
  ] as const) {
    it(`counts the rows of the ${rate}, and drops those without an outcome`, async () => {
      const rows = read(sourceOf(combinations), rate);
      const [batch] = (await allOf(rows.batches())) as [CodedBatch];
      const values = [...batch.values].map((value, index) => [batch.codes[0]?.[index], value]);
      expect(values).to.have.deep.members([...ones.map((row) => [row, 1]), ...zeros.map((row) => [row, 0])]);
      expect(batch.rowCount).to.equal(ones.length + zeros.length);
      expect([rows.dropped(), rows.offset(), rows.isRate]).to.deep.equal([dropped, 0, true]);
    });
  }

  it('subtracts the first known score from all scores, and drops rows without a score', async () => {
    const rows = read(sourceOf({ rowCount: 3, scores: Float64Array.of(NaN, 1e9, 1e9 + 2) }, { rowCount: 2, scores: Float64Array.of(-1, 1e9 - 1) })); // prettier-ignore
    const batches = await allOf(rows.batches());
    expect(batches.map(({ values }) => [...values])).to.deep.equal([
      [0, 2],
      [-1 - 1e9, -1],
    ]);
    expect(batches.map(({ codes: [codes = []] }) => [...codes])).to.deep.equal([
      [1, 2],
      [0, 1],
    ]);
    expect([rows.dropped(), rows.offset(), rows.isRate]).to.deep.equal([1, 1e9, false]);
  });

  it('drops rows without a cluster, and keeps the halves of clusters', async () => {
    const [batch] = await allOf(
      read(sourceOf({ rowCount: 4, scores: Float64Array.of(1, 2, 3, 4), clusters: Int32Array.of(0, 0, -1, 5), halves: Uint8Array.of(1, 1, 0, 1) })).batches(), // prettier-ignore
    );
    expect([...(batch?.clusters ?? [])]).to.deep.equal([0, 0, 5]);
    expect([...(batch?.halves ?? [])]).to.deep.equal([1, 1, 1]);
  });

  it('assigns each row to a half by its position in all rows, however they are divided into chunks', async () => {
    const scores = Float64Array.from({ length: 4000 }, (_, row) => row);
    const halvesOf = async (...ends: readonly number[]): Promise<number[]> => {
      const chunks = ends.map((end, index) => scores.slice(ends[index - 1] ?? 0, end));
      const batches = await allOf(
        read(sourceOf(...chunks.map((own) => ({ rowCount: own.length, scores: own })))).batches(),
      );
      return batches.flatMap(({ halves }) => [...halves]);
    };
    const halves = await halvesOf(4000);
    expect(await halvesOf(1, 100, 2500, 4000)).to.deep.equal(halves);
    // Half of 4,000 coin flips, and half of those beside an equal one: 5 standard deviations are 158.
    expect(halves.filter((half) => half === 1).length).to.be.within(1842, 2158);
    expect(halves.filter((half, row) => half === halves[row + 1]).length).to.be.within(1842, 2158);
    expect(new Set(halves)).to.deep.equal(new Set([0, 1]));
  });

  it('reads the source again for each pass, unless the batches are kept', async () => {
    for (const [keeps, passes] of [[true, 1], [false, 2]] as const) {
      const source = sourceOf(combinations);
      const rows = read(source, 'selection_rate', keeps);
      const [first, second] = [await allOf(rows.batches()), await allOf(rows.batches())];
      expect(second).to.deep.equal(first);
      expect([source.passes, rows.dropped()]).to.deep.equal([passes, 3]);
    }
  }); // prettier-ignore
});

it('halfOfCluster is a bit of the SHA-256 hash of the seed and the label', () => {
  for (const [label, seed] of [['a', 1], ['b', 1], ['a', 2], ['person 17', 42], ['', 0]] as const) {
    const hash = createHash('sha256').update(`${seed}:${label}`).digest();
    expect(halfOfCluster(label, seed)).to.equal(((hash[0] as number) >> 4) & 1);
  }
}); // prettier-ignore

describe('codeTable', () => {
  const REQUEST: CodingRequest = { columns: ['site'], nanPolicy: 'exclude', yPred: 'hired', bins: 2, maxValues: 50, seed: 42 }; // prettier-ignore
  const columns = {
    site: ['n', 's', '', 'n', 's', 's'],
    grade: [3, 1, NaN, 2, 3, 3],
    hired: [1, 0, 1, 0, 1, NaN],
    label: ['no', 'yes', 'no', '', 'yes', 'yes'],
    score: [0.5, 1.5, 2.5, NaN, 4.5, 5.5],
  };
  async function code(
    request: Partial<CodingRequest>,
    own: Record<string, unknown> = {},
  ): Promise<CodedSource & { chunk: CodedChunk }> {
    const source = codeTable(Table.from({ ...columns, ...own }), { ...REQUEST, ...request });
    const [chunk] = (await allOf(source.chunks())) as [CodedChunk];
    return { ...source, chunk };
  }
  const listed = (values: ArrayLike<number> | undefined): number[] => Array.from(values ?? []);

  it('codes labels in their order, and missing values as 255', async () => {
    const { columns: found, rowCount, chunk } = await code({});
    expect(found).to.deep.equal([{ name: 'site', kind: 'values', labels: ['n', 's'], missing: 1 }]);
    expect(listed(chunk.codes[0])).to.deep.equal([0, 1, 255, 0, 1, 1]);
    expect(listed(chunk.decisions)).to.deep.equal([1, 0, 1, 0, 1, 2]);
    expect([rowCount, chunk.truths, chunk.scores, chunk.clusters, chunk.halves]).to.deep.equal([6, undefined, undefined, undefined, undefined]); // prettier-ignore
  });

  it('has a label for missing values if they are included, and none if all are known', async () => {
    const { columns: found, chunk } = await code({ columns: ['site', 'grade', 'score'], yPred: undefined, yScore: 'hired', nanPolicy: 'include', bins: 10 }); // prettier-ignore
    expect(found.map(({ labels }) => labels.length)).to.deep.equal([3, 4, 6]);
    expect(listed(chunk.codes[0])).to.deep.equal([0, 1, 2, 0, 1, 1]);
    expect(listed(chunk.codes[1])).to.deep.equal([2, 0, 3, 1, 2, 2]);
    const known = await code({ columns: ['site'], nanPolicy: 'include' }, { site: ['n', 's', 's', 'n', 's', 's'] });
    expect(known.columns[0]?.labels).to.deep.equal(['n', 's']);
  });

  it('codes true labels by their own positive label', async () => {
    const { chunk } = await code({ yTrue: 'label', yTruePositiveLabel: 'no' });
    expect(listed(chunk.truths)).to.deep.equal([1, 0, 1, 2, 0, 0]);
    const other = await code({ yPred: 'label', yTrue: 'label', positiveLabel: 'yes' });
    expect([listed(other.chunk.truths), listed(other.chunk.decisions)]).to.deep.equal([
      [0, 1, 0, 2, 1, 1],
      [0, 1, 0, 2, 1, 1],
    ]);
  });

  it('divides many numbers at the smallest value with a share of the rows at or below it', async () => {
    const age = [30, 10, 50, 20, 60, 40];
    const { columns: found, chunk } = await code({ columns: ['age'] }, { age });
    expect(found).to.deep.equal([{ name: 'age', kind: 'bins', labels: ['10 to 30', '31 to 60'], missing: 0 }]);
    expect(listed(chunk.codes[0])).to.deep.equal([0, 0, 1, 0, 1, 1]);
    const three = await code({ columns: ['age'], bins: 3 }, { age: [30, 10, 50, 20, 60, 40] });
    // Six different values are not more than twice three bins.
    expect(three.columns[0]?.kind).to.equal('values');
    const missing = await code({ columns: ['age'] }, { age: [30, 10, NaN, 20, 60, 40] });
    expect(missing.columns[0]).to.deep.include({ labels: ['10 to 30', '31 to 60'], missing: 1 });
    expect(listed(missing.chunk.codes[0])).to.deep.equal([0, 0, 255, 0, 1, 1]);
  });

  it('orders the rows by the bytes of their cluster, and gives all rows of a cluster one half', async () => {
    // As UTF-16, the last label comes before the one above it: its first unit is a surrogate, 0xD83D.
    const person = ['b', '\uFF5E', 'a', '', '\u{1F600}', 'a'];
    const { chunk } = await code({ yTrue: 'label', yTruePositiveLabel: 'yes', cluster: 'person' }, { person, id: [0, 1, 2, 3, 4, 5] }); // prettier-ignore
    // Rows without a cluster come first: 3; then a, a, b, and the two others by their bytes.
    expect(listed(chunk.clusters)).to.deep.equal([-1, 0, 0, 1, 2, 3]);
    const order = [3, 2, 5, 0, 1, 4];
    expect(listed(chunk.codes[0])).to.deep.equal(order.map((row) => [0, 1, 255, 0, 1, 1][row]));
    expect(listed(chunk.decisions)).to.deep.equal(order.map((row) => [1, 0, 1, 0, 1, 2][row]));
    expect(listed(chunk.truths)).to.deep.equal(order.map((row) => [0, 1, 0, 2, 1, 1][row]));
    expect(listed(chunk.halves).slice(1)).to.deep.equal(order.slice(1).map((row) => halfOfCluster(person[row] as string, 42))); // prettier-ignore
    const scores = await code({ yPred: undefined, yScore: 'score', cluster: 'person' }, { person });
    expect(listed(scores.chunk.scores)).to.deep.equal(order.map((row) => columns.score[row]));
    expect([scores.chunk.decisions, scores.chunk.truths]).to.deep.equal([undefined, undefined]);
  });

  it('names the role of a column that it cannot read', async () => {
    const messageOf = (request: Partial<CodingRequest>): Promise<string> =>
      code(request).then(() => 'no error', (error: unknown) => (error as Error).message); // prettier-ignore
    expect(await messageOf({ yPred: 'grade' })).to.match(/yPred/);
    expect(await messageOf({ yTrue: 'grade' })).to.match(/yTrue/);
    expect(await messageOf({ yPred: undefined, yScore: 'site' })).to.match(/yScore/);
  });
});
