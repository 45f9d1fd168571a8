import { assertKnownOptions, type OptionNames } from '../../internal/arguments.ts';
import { nextTurn } from '../../internal/next-turn.ts';
import type { OnProgress } from '../../internal/progress.ts';
import { VERSION } from '../../internal/version.ts';
import type { QuerySource } from '../../io/sql-source.ts';
import { readTable, type TableSource } from '../../table/index.ts';
import { type DetectorConfig, type ParsedDetectorConfig, parseDetectorConfig } from './detector-config.ts';
import { attributeName, type AttributeGroups, type DetectorData, detectorDataOfTable } from './detector-data.ts';
import type { AssociationCell, DetectorFindings, DetectorReportMeta, SkippedColumn } from './detector-report-fields.ts';
import { DetectorReport } from './detector-report.ts';
import type { Detector, Sentence } from './detector.ts';
import { DETECTOR_NAMES, type DetectorName, DETECTORS } from './detectors.ts';
import { detectorDataOfEngine } from './engine-data.ts';
import { type AnalysedAttribute, relate, type Relation } from './relation.ts';

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
 * A database counts its rows itself: only counts by group, and sums of numbers by group, leave it. A column of texts
 * with more than 10,000 distinct values is then not tested.
 * @param data the data, with one row for each case, or a table or a query of a database. The data are not changed
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
  data: TableSource | QuerySource,
  config: DetectorConfig,
  options: RunDetectorsOptions = {},
): Promise<DetectorReport> {
  assertKnownOptions('runDetectors', options, RUN_DETECTORS_OPTION_NAMES);
  const source = isQuerySource(data)
    ? await detectorDataOfEngine(data, config, options)
    : detectorDataOfTable(await readTable(data));
  const parsed = parseDetectorConfig(config, source);
  const reasons = await readSkipReasons(source, parsed);
  const attributes = await analyse(source, parsed, reasons, options);
  const findings = detect(attributes, parsed);
  return new DetectorReport(metaOf(source, parsed, reasons, attributes), {
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
async function readSkipReasons(
  data: DetectorData,
  { target }: ParsedDetectorConfig,
): Promise<Map<string, string | undefined>> {
  const reasons = new Map<string, string | undefined>();
  for (const name of data.columnNames) if (name !== target) reasons.set(name, await data.skipReason(name));
  return reasons;
}

/**
 * Computes the relation between every column and every attribute. The function yields to the event loop after each
 * column, so that the work can be stopped.
 */
async function analyse(
  data: DetectorData,
  config: ParsedDetectorConfig,
  reasons: ReadonlyMap<string, string | undefined>,
  { onProgress, signal }: RunDetectorsOptions,
): Promise<AnalysedAttribute[]> {
  const columns = [...reasons].flatMap(([name, reason]) => (reason === undefined ? [name] : []));
  const analysed: AnalysedAttribute[] = [];
  const total = config.attributes.length * columns.length;
  for (const names of config.attributes) {
    const attribute = await data.groups(names);
    const relations: Relation[] = [];
    for (const [index, name] of columns.entries()) {
      signal?.throwIfAborted();
      if (canBeTested(attribute) && !names.includes(name))
        relations.push(relate(name, await data.spread(name, attribute), attribute));
      onProgress?.({ stage: 'detecting', done: analysed.length * columns.length + index + 1, total });
      await nextTurn();
    }
    analysed.push({ ...attribute, benchmark: config.benchmarks.get(attributeName(names)), relations });
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
  { columnNames, rowCount }: DetectorData,
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
    rows: rowCount,
    attributes: names,
    target: config.target ?? null,
    alpha: config.alpha,
    proxyThreshold: config.proxyThreshold,
    columnsTested: columnNames.filter((name) => tested.has(name)),
    skipped: [...complete, ...single],
    warnings: unused.map((name) => `There is a benchmark for '${name}', which is not an attribute of this analysis.`),
  };
}

function isQuerySource(data: TableSource | QuerySource): data is QuerySource {
  if (!('engine' in data)) return false;
  const engine: unknown = data.engine;
  return typeof engine === 'object' && engine !== null && 'dialect' in engine;
}
