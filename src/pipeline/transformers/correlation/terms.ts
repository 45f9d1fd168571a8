import { z } from 'zod';

import type { Table } from '../../../table/index.ts';
import { countMissing, nameMissing } from '../missing-groups.ts';
import { nameGroups } from '../name-some.ts';
import { readFeature, readGroups } from '../read-columns.ts';
import { regress } from './regress.ts';
import { type Design, designOf, isKnown, type SensitiveAttribute } from './sensitive-design.ts';

const NUMERIC_TERM = z.object({ column: z.string(), mean: z.number(), coefficient: z.number() });

const GROUP_TERM = z.object({
  column: z.string(),
  groups: z.array(z.object({ group: z.string(), effect: z.number() })),
});

/** What one sensitive column gives of a feature, as it is stored. */
export const TERM = z.union([NUMERIC_TERM, GROUP_TERM]);

/** What one sensitive column gives of a feature: a coefficient, or an effect per group. */
export type Term = z.output<typeof TERM>;

/** What each attribute gives of one feature, of mean 0 over the rows that have all values. */
export function termsOf(
  values: Float64Array,
  attributes: readonly SensitiveAttribute[],
  weights: Float64Array | undefined,
): Term[] {
  const rows = Int32Array.from(values.keys()).filter(
    (row) => !Number.isNaN(values[row]) && attributes.every((attribute) => isKnown(attribute, row)),
  );
  if (rows.length === 0) return [];
  const design = designOf(attributes, rows);
  const take = (from: Float64Array): Float64Array => Float64Array.from(rows, (row) => from[row] as number);
  const { coefficients, means, effects } = regress(
    take(values),
    design,
    weights === undefined ? undefined : take(weights),
  );
  return attributes.map((attribute) => {
    if (attribute === design.stratified) return groupTerm(attribute.name, attribute.groups.labels, [...effects]);
    return columnTerm(attribute, design, coefficients, means);
  });
}

function columnTerm(
  attribute: SensitiveAttribute,
  { columns }: Design,
  coefficients: Float64Array,
  means: Float64Array,
): Term {
  const places = [...columns.keys()].filter((place) => columns[place]?.attribute === attribute);
  if (attribute.kind === 'numeric') {
    const [place = 0] = places;
    return { column: attribute.name, mean: means[place] as number, coefficient: coefficients[place] as number };
  }
  // The mean of an indicator is its label's share, so that the mean of all effects is taken off each.
  const mean = places.reduce((sum, place) => sum + (coefficients[place] as number) * (means[place] as number), 0);
  const effects = places.map((place) => ((means[place] as number) > 0 ? (coefficients[place] as number) - mean : NaN));
  return groupTerm(attribute.name, attribute.groups.labels, effects);
}

/** Labels without rows of this feature have no effect of their own. */
function groupTerm(column: string, labels: readonly string[], effects: readonly number[]): Term {
  return {
    column,
    groups: labels.map((group, code) => ({
      group,
      effect: Number.isNaN(effects[code]) ? 0 : (effects[code] as number),
    })),
  };
}

/** Adds what a term gives of a feature to each row, and tells of rows that get nothing: of groups that the fit has not seen, or without a value. */
export function addTerm(explained: Float64Array, table: Table, term: Term): string[] {
  if ('coefficient' in term) {
    const values = readFeature(table, term.column);
    let missing = 0;
    values.forEach((value, row) => {
      if (Number.isNaN(value)) missing++;
      else explained[row] = (explained[row] as number) + term.coefficient * (value - term.mean);
    });
    return missingNote(missing, term.column);
  }
  const groups = readGroups(table, term.column);
  const { codes, labels } = groups;
  const effectOf = new Map(term.groups.map(({ group, effect }) => [group, effect]));
  const effects = labels.map((label) => effectOf.get(label) ?? 0);
  codes.forEach((code, row) => {
    if (code >= 0) explained[row] = (explained[row] as number) + (effects[code] as number);
  });
  const unseen = labels.filter((label) => !effectOf.has(label));
  return [
    ...(unseen.length > 0
      ? [`${term.column}: ${nameGroups(unseen)} not among those fitted: nothing is taken out`]
      : []),
    ...missingNote(countMissing(groups), term.column),
  ];
}

function missingNote(count: number, column: string): string[] {
  return count === 0 ? [] : [`${nameMissing(count, [column])}: it takes nothing out`];
}
