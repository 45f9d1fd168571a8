import { type ColumnSource, toColumn } from '../../../src/table/index.ts';
import { type MatrixSource, readMatrix } from '../../../src/training/data/read-matrix.ts';
import type { Estimator, EstimatorJson, FitOptions } from '../../../src/training/estimators/estimator.ts';

/** Decides each value of one feature by the label with more weight: the decision rule of least weighted error. */
export class TableLearner implements Estimator {
  decisions = new Map<number, number>();

  async fit(x: MatrixSource, y: ColumnSource, { sampleWeight }: FitOptions = {}): Promise<this> {
    const { values } = await readMatrix(x);
    const [labels, weights] = [numbers(y), sampleWeight === undefined ? undefined : numbers(sampleWeight)];
    const margins = new Map<number, number>();
    values.forEach((value, row) => {
      const weight = weights?.[row] ?? 1;
      margins.set(value, (margins.get(value) ?? 0) + (labels[row] === 1 ? weight : -weight));
    });
    this.decisions = new Map([...margins].map(([value, margin]) => [value, Number(margin > 0)]));
    return this;
  }

  async predictProba(x: MatrixSource): Promise<Float64Array> {
    const { values } = await readMatrix(x);
    return Float64Array.from(values, (value) => this.decisions.get(value) ?? 0);
  }

  async predict(x: MatrixSource): Promise<Uint8Array> {
    return Uint8Array.from(await this.predictProba(x));
  }

  clone(): TableLearner {
    return new TableLearner();
  }

  toJSON(): EstimatorJson {
    return { kind: 'table', params: {}, state: null };
  }
}

function numbers(source: ColumnSource): Float64Array {
  const column = toColumn(source, 'numbers');
  if (column.kind !== 'numeric') throw new TypeError('numbers only');
  return column.values;
}
