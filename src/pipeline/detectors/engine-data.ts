import { DataValidationError } from '../../exceptions/index.ts';
import { capital, formatCount } from '../../internal/format.ts';
import { countedMoments, type CountedRows } from '../../io/counted-rows.ts';
import { factsStatement } from '../../io/counting-sql.ts';
import {
  columnsOnEngine,
  countOnEngine,
  type EngineColumn,
  type EngineRequest,
  numberOf,
  titleOf,
} from '../../io/engines/count-on-engine.ts';
import type { QuerySource } from '../../io/sql-source.ts';
import { crossCountsOfCells } from '../../stats/association/cross-counts.ts';
import { variancePartsOfMoments } from '../../stats/association/variance-parts.ts';
import { encodeGroups, missingGroups, missingOutcomes } from '../../table/index.ts';
import type { DetectorConfig } from './detector-config.ts';
import {
  attributeGroups,
  type AttributeGroups,
  type DetectorData,
  identifierReason,
  mayIdentify,
  type NumberFacts,
  numberReason,
  type Spread,
  type TextFacts,
  textReason,
} from './detector-data.ts';

/** A column of texts with more distinct values is not tested, so that few rows of counts leave the engine. */
const MAX_LEVELS = 10_000;

/** The largest number of columns that one statement describes. */
const COLUMNS_PER_STATEMENT = 50;

/** A column of numbers, described. */
interface DescribedNumbers extends NumberFacts {
  /** The number of values that are NaN or infinite. */
  readonly notFinite: number;
}

/** What an engine says about a column. */
type Facts = (TextFacts & { readonly isNumber: false }) | (DescribedNumbers & { readonly isNumber: true });

/**
 * Returns a table or a query on an engine as data for detectors. The engine counts the rows, and sums the numbers.
 * @throws {DataValidationError} if the engine does not return a result
 */
export async function detectorDataOfEngine(
  source: QuerySource,
  { naValues, sensitive, intersections = [] }: DetectorConfig,
  { signal = source.signal }: { readonly signal?: AbortSignal | undefined },
): Promise<DetectorData> {
  const rows: QuerySource = { ...source, signal };
  const columns = await columnsOnEngine(rows);
  const title = titleOf(source);
  const { rowCount, facts } = await describeColumns(rows, columns);
  const [missingInGroups, missingElsewhere] = [missingGroups(naValues), missingOutcomes(naValues)];
  const attributes = [...sensitive.map((name) => [name]), ...intersections];

  const factsOf = (name: string): Facts => facts.get(name) as Facts;

  /** Returns the counts in which an attribute occurs. All attributes are counted with one statement, if that is small. */
  async function countsOf(
    attribute: readonly string[],
    request: Omit<EngineRequest, 'attributes'>,
  ): Promise<CountedRows> {
    const counted = await countOnEngine(rows, { attributes, ...request });
    const own = counted.find((part) => part.attributes.some((one) => attribute.every((name) => one.includes(name))));
    return (own as (typeof counted)[number]).counts;
  }

  async function numbersOf(name: string, { columns: attribute, labels }: AttributeGroups): Promise<Spread> {
    const counts = await countsOf(attribute, { yPred: name, regression: true });
    const request = { attributes: [attribute], yPred: name, nanPolicy: 'exclude', naValues } as const;
    const [{ groups, parts } = { groups: [], parts: [] }] = countedMoments(counts, request);
    const codeOf = new Map(labels.map((label, code) => [label, code]));
    const [n, means, squares] = [labels, labels, labels].map((all) => new Float64Array(all.length)) as Three;
    // Several rows of counts may belong to one group: the means and squares of two parts are combined.
    for (const { group, count, moments } of parts) {
      const code = codeOf.get(groups[group]?.label ?? '');
      if (code === undefined || count === 0) continue;
      const { mean = NaN, m2 = NaN } = moments.prediction ?? {};
      const before = n[code] as number;
      const gap = mean - (means[code] as number);
      n[code] = before + count;
      means[code] = (means[code] as number) + (gap * count) / (before + count);
      squares[code] = (squares[code] as number) + m2 + (gap ** 2 * before * count) / (before + count);
    }
    const { low, high } = factsOf(name) as DescribedNumbers;
    const variance = variancePartsOfMoments({ n, means, squares }, high - low);
    return { kind: 'numbers', parts: variance, means, present: n };
  }

  async function textsOf(name: string, { columns: attribute, labels }: AttributeGroups): Promise<Spread> {
    const { counted } = await countsOf(attribute, { yPred: name });
    const groups = encodeGroups(counted.select(attribute), 'exclude', naValues);
    const codeOf = new Map(labels.map((label, code) => [label, code]));
    const { codes, labels: levels } = counted.categorical('decision');
    const missing = sensitive.includes(name) ? missingInGroups : missingElsewhere;
    const isMissing = levels.map((level) => missing.has(level));
    const n = counted.numeric('n').values;
    const cells = Array.from(codes).flatMap((code, row): [cell: number, count: number][] => {
      const group = codeOf.get(groups.labels[groups.codes[row] as number] ?? '');
      if (group === undefined || code < 0 || isMissing[code] === true) return [];
      return [[group * levels.length + code, n[row] as number]];
    });
    const table = crossCountsOfCells(cells, labels.length, levels.length);
    return { kind: 'texts', table, levels, present: table.rowTotals };
  }

  return {
    title: capital(title),
    columnNames: columns.map(({ name }) => name),
    rowCount,
    async skipReason(name) {
      const found = factsOf(name);
      if (!found.isNumber) return textReason(found) ?? levelsReason(found);
      if (found.notFinite > 0) return `it holds ${formatCount(found.notFinite)} values that are NaN or infinite`;
      const reason = numberReason(found);
      if (reason !== undefined || !mayIdentify(name, found)) return reason;
      const distinct = await distinctNumbers(rows, name);
      return distinct === found.present ? identifierReason(found.present) : undefined;
    },
    async groups(attribute) {
      const { counted } = await countsOf(attribute, {});
      const { codes, labels } = encodeGroups(counted.select(attribute), 'exclude', naValues);
      const n = counted.numeric('n').values;
      const counts = new Float64Array(labels.length);
      codes.forEach((code, row) => {
        if (code >= 0) counts[code] = (counts[code] as number) + (n[row] as number);
      });
      return attributeGroups(attribute, labels, counts, rowCount);
    },
    spread: (name, attribute) => (factsOf(name).isNumber ? numbersOf(name, attribute) : textsOf(name, attribute)),
  };
}

type Three = [Float64Array, Float64Array, Float64Array];

function levelsReason({ distinct }: TextFacts): string | undefined {
  return distinct <= MAX_LEVELS
    ? undefined
    : `it has ${formatCount(distinct)} distinct values, and a database counts at most ${formatCount(MAX_LEVELS)}`;
}

async function describeColumns(
  source: QuerySource,
  columns: readonly EngineColumn[],
): Promise<{ readonly rowCount: number; readonly facts: ReadonlyMap<string, Facts> }> {
  const facts = new Map<string, Facts>();
  let rowCount = 0;
  for (let start = 0; start < columns.length; start += COLUMNS_PER_STATEMENT) {
    const part = columns.slice(start, start + COLUMNS_PER_STATEMENT);
    const kinds = part.map(({ name, isNumber }) => ({ name, facts: isNumber ? 'numbers' : 'texts' }) as const);
    const values = await factsRow(source, kinds);
    const next = (): number => values.shift() ?? NaN;
    rowCount = next();
    for (const { name, isNumber } of part) facts.set(name, isNumber ? readNumbers(next) : readTexts(next));
  }
  return { rowCount, facts };
}

function readNumbers(next: () => number): Facts {
  const [present, notFinite, fractions, low, high] = [next(), next(), next(), next(), next()];
  return { isNumber: true, present, notFinite: notFinite || 0, areIntegers: fractions === 0, low, high };
}

function readTexts(next: () => number): Facts {
  return { isNumber: false, present: next(), distinct: next() };
}

async function distinctNumbers(source: QuerySource, name: string): Promise<number> {
  const [, , distinct = NaN] = await factsRow(source, [{ name, facts: 'identifiers' }]);
  return distinct;
}

/** Runs a statement of facts, and returns its numbers; NaN for no value. */
async function factsRow(
  { engine, table, query, signal }: QuerySource,
  columns: Parameters<typeof factsStatement>[2],
): Promise<number[]> {
  const { rows } = await engine.query(factsStatement(engine.dialect, { table, query }, columns), { signal });
  const [row] = rows;
  if (row !== undefined) return row.map((value) => numberOf(engine.name, 'the facts', value) ?? NaN);
  throw new DataValidationError(`${engine.name} returned no row for a count of all rows.`, {
    code: 'engine-failed',
    context: { engine: engine.name },
    suggestion: 'Report this as a defect, with the version of the engine.',
  });
}
