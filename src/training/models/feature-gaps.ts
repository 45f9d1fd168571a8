import { MISSING_LABEL, type Table } from '../../table/index.ts';
import type { FeatureSpec } from '../data/feature-encoder.ts';

/** What in some rows a model did not see in training, one sentence per feature. */
export function describeGaps(table: Table, specs: readonly FeatureSpec[]): string[] {
  return specs.flatMap((spec) => {
    const gaps = spec.kind === 'numeric' ? numericGaps(table, spec) : categoricalGaps(table, spec);
    return gaps.map((gap) => `feature '${spec.name}': ${gap}`);
  });
}

function numericGaps(table: Table, spec: FeatureSpec & { kind: 'numeric' }): string[] {
  const missing = table.numeric(spec.name).values.reduce((sum, value) => sum + Number(Number.isNaN(value)), 0);
  if (missing === 0 || spec.marksMissing) return [];
  return [`${rows(missing)} no value, though all training rows had one; the mean stands in`];
}

function categoricalGaps(table: Table, spec: FeatureSpec & { kind: 'categorical' }): string[] {
  const { codes, labels } = table.categorical(spec.name);
  const known = new Set(spec.levels);
  const isKnown = labels.map((label) => known.has(label));
  const marksMissing = known.has(MISSING_LABEL);
  let [unknown, missing] = [0, 0];
  for (const code of codes) {
    if (code < 0) missing++;
    else if (isKnown[code] === false) unknown++;
  }
  return [
    ...(unknown > 0 ? [`${rows(unknown)} a text that training kept no column for`] : []),
    ...(missing > 0 && !marksMissing ? [`${rows(missing)} no value, though all training rows had one`] : []),
  ];
}

function rows(count: number): string {
  return count === 1 ? '1 row has' : `${count.toLocaleString('en-US')} rows have`;
}
