import { setImmediate } from 'node:timers/promises';

import { assertKnownOptions, type OptionNames } from '../../internal/arguments.ts';
import type { OnProgress } from '../../internal/progress.ts';
import { VERSION } from '../../internal/version.ts';
import {
  type CategoricalColumn,
  type Column,
  type NumericColumn,
  readTable,
  type Table,
  type TableSource,
} from '../../table/index.ts';
import { type AttributeGroups, readAttribute } from './attribute-groups.ts';
import { type DetectorConfig, type ParsedDetectorConfig, parseDetectorConfig } from './detector-config.ts';
import type { AssociationCell, DetectorFindings, DetectorReportMeta, SkippedColumn } from './detector-report-fields.ts';
import { DetectorReport } from './detector-report.ts';
import type { Detector, Sentence } from './detector.ts';
import { DETECTOR_NAMES, type DetectorName, DETECTORS } from './detectors.ts';
import { type AnalysedAttribute, relate, type Relation } from './relation.ts';

/** A text column counts as an identifier if the number of its distinct values is above this share of its rows. */
const IDENTIFIER_SHARE = 0.9;

/**
 * The minimum number of rows for which a column of numbers is checked for a sequence. In fewer rows, distinct whole
 * numbers such as ages may be close together by chance.
 */
const MIN_ROWS_OF_A_SEQUENCE = 50;

/** Patterns of names of identifiers: id, customer_id, Customer ID, userId, uuid, index, row number. */
const IDENTIFIER_NAMES = [/(^|[^a-z])(id|uuid|guid|index|row[ _]?(nr|number))$/i, /[a-z]I[dD]$/];

/**
 * Returns the reason why a column is not tested; undefined if it is tested.
 *
 * A text column counts as an identifier if more than nine in ten of its values are distinct. A column of distinct whole
 * numbers counts as an identifier if its name looks like the name of an identifier. Such a column with 50 rows or more
 * also counts as an identifier if its numbers are as close together as the numbers of a sequence.
 */
function skipReason(name: string, column: Column): string | undefined {
  return column.kind === 'numeric' ? numericReason(name, column) : textReason(column);
}

function textReason({ codes, labels }: CategoricalColumn): string | undefined {
  const seen = new Uint8Array(labels.length);
  let present = 0;
  for (const code of codes) {
    if (code < 0) continue;
    seen[code] = 1;
    present += 1;
  }
  const distinct = seen.reduce((sum, mark) => sum + mark, 0);
  if (distinct === 0) return 'it has no values';
  if (distinct === 1) return 'all its values are the same';
  if (distinct <= IDENTIFIER_SHARE * present) return undefined;
  return `it looks like an identifier: ${String(distinct)} distinct values in ${String(present)} rows`;
}

function numericReason(name: string, { values }: NumericColumn): string | undefined {
  let [present, low, high, isInteger] = [0, Infinity, -Infinity, true];
  for (let row = 0; row < values.length; row++) {
    const value = values[row] as number;
    if (Number.isNaN(value)) continue;
    if (!Number.isFinite(value)) return `it holds an infinite value in row ${String(row + 1)}`;
    present += 1;
    low = Math.min(low, value);
    high = Math.max(high, value);
    isInteger &&= Number.isInteger(value);
  }
  if (present === 0) return 'it has no values';
  if (low === high) return 'all its values are the same';
  const isDense = present >= MIN_ROWS_OF_A_SEQUENCE && high - low < 2 * present;
  const hasRoom = high - low >= present - 1;
  if (!isInteger || !hasRoom || !(isDense || hasIdentifierName(name)) || !areDifferent(values)) return undefined;
  return `it looks like an identifier: ${String(present)} distinct whole numbers`;
}

function areDifferent(values: Float64Array): boolean {
  // Missing values are sorted last, and NaN is not equal to itself.
  const sorted = values.slice().sort();
  return sorted.every((value, index) => index === 0 || value !== sorted[index - 1]);
}

function hasIdentifierName(name: string): boolean {
  return IDENTIFIER_NAMES.some((pattern) => pattern.test(name));
}

/** Options of {@link runDetectors}. */
export interface RunDetectorsOptions {
  readonly onProgress?: OnProgress | undefined;
  /** Stops the work. The promise then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

const RUN_DETECTORS_OPTION_NAMES: OptionNames<RunDetectorsOptions> = { onProgress: true, signal: true };

/**
 * Analyses data by groups before training. For every attribute and every intersection, it examines:
 *
 * - representation: the share of each group, and whether the shares fit a
 *   benchmark (Pearson's chi-square test of fit), with p-values adjusted over
 *   all attributes by Benjamini and Hochberg;
 * - disparities: whether columns differ between groups (text by Pearson's
 *   chi-square without a continuity correction, numbers by one-way analysis of
 *   variance), with effect sizes and p-values adjusted over the attribute's
 *   columns by Benjamini and Hochberg;
 * - missingness: whether values are missing more often in some groups;
 * - proxies: columns whose association with the attribute (bias-corrected
 *   Cramér's V, or eta squared) is at least `proxyThreshold`.
 *
 * The target, the attribute itself, identifiers, constants and columns without values are not tested. `meta.skipped`
 * lists the reasons. Each test excludes the rows without a group or without a value.
 *
 * A test that flags nothing does not show that groups are alike. A test that flags a difference does not show its
 * cause.
 * @param data the data, with one row for each case. The data are not changed
 * @param config a pipeline's configuration, or the part that the detectors use. The caller must write the report to
 *   `reportOut`
 * @throws {DataValidationError} if a column does not exist, or there are no rows
 * @throws {ValueError} if a limit or a benchmark is out of its range
 * @see W. Bergsma, A bias-correction for Cramér's V and Tschuprow's T (2013)
 * @see Y. Benjamini, Y. Hochberg, Controlling the False Discovery Rate (1995)
 * @example
 * ```ts
 * import { runDetectors } from 'evenhand/pipeline';
 *
 * const women = Array.from({ length: 440 }, (_, row) => ({ sex: 'f', club: row % 9 === 0 ? 'chess' : 'choir' }));
 * const men = Array.from({ length: 560 }, (_, row) => ({ sex: 'm', club: row % 9 === 0 ? 'choir' : 'chess' }));
 * const report = await runDetectors([...women, ...men], {
 *   sensitive: ['sex'],
 *   benchmarks: { sex: { f: 0.5, m: 0.5 } },
 * });
 * const [fit] = report.body.representation;
 * console.log(fit?.statistic.toFixed(1), fit?.pValue.toFixed(6));
 * console.log(report.body.proxies.map(({ column, value }) => `${column} ${value.toFixed(2)}`));
 * // 14.4 0.000148
 * // [ 'club 0.77' ]
 * ```
 */
export async function runDetectors(
  data: TableSource,
  config: DetectorConfig,
  options: RunDetectorsOptions = {},
): Promise<DetectorReport> {
  assertKnownOptions('runDetectors', options, RUN_DETECTORS_OPTION_NAMES);
  const table = await readTable(data);
  const parsed = parseDetectorConfig(config, table);
  const reasons = readSkipReasons(table, parsed);
  const attributes = await analyse(table, parsed, reasons, options);
  const findings = detect(attributes, parsed);
  return new DetectorReport(metaOf(table, parsed, reasons, attributes), {
    summary: {
      representationFlagged: findings.representation.filter(({ flagged }) => flagged).length,
      disparitiesFlagged: findings.disparities.filter(({ flagged }) => flagged).length,
      missingnessFlagged: findings.missingness.filter(({ flagged }) => flagged).length,
      proxiesFound: findings.proxies.length,
      findings: sentencesOf(findings, parsed).map(({ text }) => text),
    },
    ...findings,
    associations: attributes.flatMap(associationsOf),
  });
}

/**
 * Returns the reasons why columns are not tested. The target column is not included, because the report names it in
 * `meta.target`.
 */
function readSkipReasons(table: Table, { target }: ParsedDetectorConfig): Map<string, string | undefined> {
  const columns = table.columnNames.filter((name) => name !== target);
  return new Map(columns.map((name) => [name, skipReason(name, table.column(name))]));
}

/**
 * Computes the relation between every column and every attribute. The function yields to the event loop after each
 * column, so that the work can be stopped.
 */
async function analyse(
  table: Table,
  config: ParsedDetectorConfig,
  reasons: ReadonlyMap<string, string | undefined>,
  { onProgress, signal }: RunDetectorsOptions,
): Promise<AnalysedAttribute[]> {
  const columns = [...reasons].flatMap(([name, reason]) => (reason === undefined ? [name] : []));
  const analysed: AnalysedAttribute[] = [];
  const total = config.attributes.length * columns.length;
  for (const names of config.attributes) {
    const attribute = readAttribute(table, names, config.benchmarks);
    const relations: Relation[] = [];
    for (const [index, name] of columns.entries()) {
      signal?.throwIfAborted();
      if (canBeTested(attribute) && !names.includes(name)) relations.push(relate(name, table.column(name), attribute));
      onProgress?.({ stage: 'detecting', done: analysed.length * columns.length + index + 1, total });
      await setImmediate();
    }
    analysed.push({ ...attribute, relations });
  }
  return analysed;
}

function canBeTested({ counts }: AttributeGroups): boolean {
  return counts.filter((n) => n > 0).length > 1;
}

function detect(attributes: readonly AnalysedAttribute[], settings: ParsedDetectorConfig): DetectorFindings {
  const findings = DETECTOR_NAMES.map((name: DetectorName) => {
    const detector = DETECTORS[name] as Detector;
    const found = attributes.flatMap((attribute) => detector.detect(attribute, settings));
    return [name, detector.adjust?.(found, settings) ?? found];
  });
  return Object.fromEntries(findings) as DetectorFindings;
}

/**
 * Returns the findings as sentences, sorted by severity. Findings of equal severity keep the order of the detectors.
 */
function sentencesOf(findings: DetectorFindings, settings: ParsedDetectorConfig): Sentence[] {
  const attributes = new Set(findings.representation.map(({ attribute }) => attribute));
  return DETECTOR_NAMES.flatMap((name) =>
    [...attributes].flatMap((attribute) =>
      (DETECTORS[name] as Detector).summarise(
        findings[name].filter((finding) => finding.attribute === attribute),
        settings,
      ),
    ),
  ).sort((a, b) => b.severity - a.severity);
}

function associationsOf({ name, relations }: AnalysedAttribute): AssociationCell[] {
  return relations.map(({ column, measure, association, n, reason }) => ({
    attribute: name,
    column,
    measure,
    value: association,
    n,
    reason,
  }));
}

function metaOf(
  table: Table,
  config: ParsedDetectorConfig,
  reasons: ReadonlyMap<string, string | undefined>,
  attributes: readonly AnalysedAttribute[],
): DetectorReportMeta {
  const names = attributes.map(({ name }) => name);
  const tested = new Set(attributes.flatMap(({ relations }) => relations.map(({ column }) => column)));
  const unused = [...config.benchmarks.keys()].filter((name) => !names.includes(name));
  const complete = [...reasons].flatMap(([column, reason]): SkippedColumn[] =>
    reason === undefined || config.attributes.some((own) => own.includes(column))
      ? []
      : [{ column, attribute: null, reason }],
  );
  const single = attributes
    .filter((attribute) => !canBeTested(attribute))
    .map(({ name, n }): SkippedColumn => ({
      column: null,
      attribute: name,
      reason: n === 0 ? 'no row has a group' : 'all rows are in one group',
    }));
  return {
    version: VERSION,
    rows: table.rowCount,
    attributes: names,
    target: config.target ?? null,
    alpha: config.alpha,
    proxyThreshold: config.proxyThreshold,
    columnsTested: table.columnNames.filter((name) => tested.has(name)),
    skipped: [...complete, ...single],
    warnings: unused.map((name) => `There is a benchmark for '${name}', which is not an attribute of this analysis.`),
  };
}
