import { counted } from '../../internal/format.ts';
import type { PlannedPrompt } from '../plan/planned-prompt.ts';
import { UnitedUnits } from '../scoring/united-units.ts';
import type { PromptRow, PromptRows } from './prompt-rows.ts';

/** A prompt of a row for one evaluator. */
export interface PlannedRow {
  readonly row: PromptRow;
  readonly prompt: PlannedPrompt;
}

const NO_DETAILS: PlannedPrompt['details'] = Object.freeze({});

/**
 * Plans the prompts of rows for an evaluator, in the same way as the prompts of crossed templates. For each dimension
 * D, the items are
 *
 * item x values of the other dimensions
 *
 * A row has one prompt for each dimension of which it has a value, and one prompt without a dimension if it has no
 * values. The independent unit is the cluster or, without clusters, the name, the template or the item of the row. If
 * the rows of an item belong to several units, these units count as one.
 */
export function planRows(rows: PromptRows, evaluator: string): readonly PlannedRow[] {
  const varied = rows.dimensions.flatMap((dimension, index) => planDimension(rows, evaluator, dimension, index));
  const plain = rows.rows.filter(({ values }) => values.every((value) => value === null));
  const united = uniteUnits(plain, ({ item }) => item);
  const others = plain.map((row) => {
    const unit = united.nameOf(unitOf(row));
    return { row, prompt: plannedPrompt(row, rows, { evaluator, item: row.item, unit, dimension: null, group: null }) };
  });
  return [...varied, ...others];
}

function planDimension(rows: PromptRows, evaluator: string, dimension: string, index: number): PlannedRow[] {
  const own = rows.rows.filter(({ values }) => values[index] !== null);
  const itemOf = (row: PromptRow): string => joined([row.item, ...fixedValues(row, rows, index)]);
  const united = uniteUnits(own, itemOf);
  return own.map((row) => {
    const unit = united.nameOf(unitOf(row));
    const group = row.values[index] ?? '';
    const alike = row.template === null ? null : joined([row.template, ...fixedValues(row, rows, index)]);
    return { row, prompt: plannedPrompt(row, rows, { evaluator, item: itemOf(row), unit, dimension, group, alike }) };
  });
}

/**
 * Returns notes about names that are linked by many items. If items pair names at random, nearly all names are linked
 * and count as one unit, so that no metric has enough units.
 */
export function unitNotes(rows: PromptRows): string[] {
  if (rows.cluster !== null || rows.rows.every(({ name }) => name === null)) return [];
  return rows.dimensions.flatMap((dimension, index) => {
    const own = rows.rows.filter((row) => row.name !== null && row.values[index] !== null);
    const united = uniteUnits(own, (row) => joined([row.item, ...fixedValues(row, rows, index)]));
    const names = new Set(own.map(unitOf));
    const units = new Set(own.map((row) => united.nameOf(unitOf(row)))).size;
    const values = new Set(own.map((row) => row.values[index])).size;
    if (units * values >= names.size) return [];
    return [
      `Items link the ${counted(names.size, 'name')} to ${counted(units, 'independent unit')} for '${dimension}': names that share an item count as one unit. Use the same pairs of names in all items, or choose the units with cluster.`,
    ];
  });
}

/** Returns the values of all dimensions except one: `age=old`. */
function fixedValues({ values }: PromptRow, { dimensions }: PromptRows, varied: number): string[] {
  return dimensions.flatMap((name, index) => {
    const value = values[index];
    return index === varied || value === null || value === undefined ? [] : [`${name}=${value}`];
  });
}

/** Joins the parts of an id. An id whose parts contain the separator is written as JSON, so that ids stay unique. */
function joined(parts: readonly string[]): string {
  return parts.some((part) => part.includes('|')) ? JSON.stringify(parts) : parts.join('|');
}

function unitOf({ cluster, name, template, item }: PromptRow): string {
  return cluster ?? name ?? template ?? item;
}

/** Merges the units of the rows of each item. */
function uniteUnits(rows: readonly PromptRow[], itemOf: (row: PromptRow) => string): UnitedUnits {
  const united = new UnitedUnits();
  const firsts = new Map<string, string>();
  for (const row of rows) {
    const item = itemOf(row);
    const first = firsts.get(item);
    if (first === undefined) firsts.set(item, unitOf(row));
    else united.unite(first, unitOf(row));
  }
  return united;
}

interface PlannedFields extends Pick<PlannedPrompt, 'evaluator' | 'item' | 'dimension' | 'group'> {
  readonly unit: string;
  /** The question, which is the same for all names. */
  readonly alike?: string | null;
}

function plannedPrompt(row: PromptRow, rows: PromptRows, { alike = null, ...fields }: PlannedFields): PlannedPrompt {
  const { name, cluster } = row;
  const details = {
    ...(name === null ? {} : { name }),
    ...(name === null || alike === null ? {} : { alike }),
    ...(cluster === null ? {} : { cluster }),
  };
  return Object.freeze({
    ...fields,
    prompt: row.prompt ?? labelOf(row, rows),
    repeat: row.repeat,
    template: row.template ?? row.item,
    details: Object.keys(details).length === 0 ? NO_DETAILS : Object.freeze(details),
  });
}

/** Returns what a report shows instead of a prompt: the item, the name and the groups. */
function labelOf({ item, name, values }: PromptRow, { dimensions }: PromptRows): string {
  const groups = dimensions.flatMap((dimension, index) => {
    const value = values[index];
    return value === null || value === undefined ? [] : [`${dimension} ${value}`];
  });
  return [`Item ${item}`, ...(name === null ? [] : [`name ${name}`]), ...groups].join(', ');
}
