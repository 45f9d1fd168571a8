import type { Provenance } from '../document/provenance.ts';
import {
  noteBlocks,
  numberColumn,
  type ReportBlock,
  type ReportColumn,
  type ReportDocument,
  type ReportFact,
  type ReportSection,
  type ReportTable,
  type ReportVerdict,
} from '../document/report-document.ts';
import { beforeRelying, labelText, labelTextAmong, listed } from '../document/report-text.ts';
import {
  capital,
  counted,
  formatCount,
  formatLevel,
  NOTHING,
  pValueText,
  rangeText,
  tableCount,
  tableNumber,
  tableValue,
  uncapital,
} from '../internal/format.ts';
import { groupBy, own, sumOf } from '../internal/values.ts';
import { VERSION } from '../internal/version.ts';
import type { MeasureValues, MetricFrame } from '../metrics/frame/index.ts';
import { isUnevenlyMissing } from '../metrics/compare/missing-rows.ts';
import { findMetricDefinition, metricKind, metricNeedsTruth } from '../metrics/metric-definitions.ts';
import { inWords, unitOf } from '../metrics/metric-markdown.ts';
import type { MetricResult } from '../metrics/metric-result.ts';
import type { GateVerdict } from './gates.ts';
import type { FileValidation } from './measure-attributes.ts';
import type { ValidationChanges } from './validation-changes.ts';
import { changeBlocks } from './validation-changes-document.ts';
import { boundsOfGroup, gapGroups, intervalName, knownFacts, measuresOf, valueText } from './metric-facts.ts';

/** The validation to report. `frames`, `measures` and `labels` are present only if they were requested. */
export type ReportedValidation = Omit<FileValidation, OptionalPart> & Partial<Pick<FileValidation, OptionalPart>>;

type OptionalPart = 'frames' | 'measures' | 'labels';

/** Options of {@link validationDocument}. */
export interface ValidationDocumentOptions {
  /**
   * The name of the data.
   * @defaultValue none
   */
  readonly source?: string | undefined;
  /**
   * `summary` for a terminal: the verdict, a table of metrics, a table of groups, warnings and exclusions. `full` adds
   * intervals of groups, the details of each metric, the interpretation of labels, and explanations.
   * @defaultValue 'full'
   */
  readonly detail?: 'summary' | 'full' | undefined;
  /**
   * The date, the input files and the command that reproduces the report.
   * @defaultValue none
   */
  readonly provenance?: Provenance | undefined;
  /**
   * What changed since an earlier validation.
   * @defaultValue none
   */
  readonly changes?: ValidationChanges | undefined;
}

/** Describes a validation for every text format: the verdict first, then the metrics, the groups and the notes. */
export function validationDocument(
  validation: ReportedValidation,
  { source, detail = 'full', provenance, changes }: ValidationDocumentOptions = {},
): ReportDocument {
  const entries = resultsOf(validation);
  const isFull = detail === 'full';
  const notes = metricNotes(entries, validation, isFull);
  return {
    title: 'Fairness validation',
    subject: source === undefined ? '' : `Source: ${source}`,
    verdict: validationVerdict(validation),
    sections: [
      { title: 'What changed', blocks: changes === undefined ? [] : changeBlocks(changes) },
      { title: 'Metrics', blocks: [...metricTable(entries), ...undefinedNotes(entries), ...(isFull ? notes : [])] },
      ...(isFull ? attributeSections(validation, entries) : [groupSummary(validation, entries)]),
      ...(isFull
        ? [
            { title: 'Labels', blocks: labelBlocks(validation.labels) },
            { title: 'How to read this', blocks: [{ kind: 'list' as const, items: HOW_TO_READ }] },
          ]
        : [
            { title: 'Notes', blocks: notes },
            { title: 'How to read this', blocks: [{ kind: 'paragraph' as const, text: PARITY_SENTENCE }] },
          ]),
    ],
    made: isFull ? validationMade(entries.map(({ result }) => result)) : [],
    provenance,
  };
}

/** A metric of one attribute. */
interface Entry {
  readonly attribute: string;
  readonly result: MetricResult;
}

function resultsOf({ attributes }: ReportedValidation): Entry[] {
  return Object.entries(attributes).flatMap(([attribute, metrics]) =>
    Object.values(metrics).map((result) => ({ attribute, result })),
  );
}

/**
 * Returns the verdict of all gates. The title is PASS, FAIL, or UNDEFINED if no gate fails but a metric is undefined.
 * The gates that did not pass are listed first. A pass with warnings ends with a sentence that points to them.
 */
export function validationVerdict(validation: ReportedValidation): ReportVerdict {
  const { passed, gates } = validation;
  if (passed === null) {
    const sentences = ['This report measures and does not judge.'];
    return { kind: 'none', title: 'No threshold, no verdict', sentences };
  }
  const isUndefined = !passed && gates.length > 0 && gates.every(({ status }) => status !== 'fail');
  return {
    kind: passed ? 'pass' : isUndefined ? 'undefined' : 'fail',
    title: passed ? 'PASS' : isUndefined ? 'UNDEFINED' : 'FAIL',
    sentences: [
      ...failuresFirst(gates).map(({ attribute, message }) => `${labelText(attribute)}: ${message}`),
      ...passWarning(validation),
    ],
  };
}

/** Returns a sentence that points to the warnings of a pass; none without warnings. */
export function passWarning(validation: ReportedValidation): string[] {
  return validation.passed === true ? beforeRelying(validationWarnings(validation).length) : [];
}

/** Returns the gates in a new order: the gates that did not pass come first. */
export function failuresFirst(gates: readonly GateVerdict[]): GateVerdict[] {
  const failed = gates.filter(({ passed }) => passed !== true);
  return [...failed, ...gates.filter(({ passed }) => passed === true)];
}

/** Returns the names and values that are needed to reproduce the numbers. */
export function validationMade(results: readonly MetricResult[]): [name: string, value: string][] {
  const known = <T>(pick: (result: MetricResult) => T | null, shown: (value: T) => string = String): string =>
    [...new Set(results.map(pick).filter((value) => value !== null))].map(shown).join(', ') || 'none';
  return [
    ['evenhand', VERSION],
    ['Metrics', known(({ metric }) => metric)],
    ['Interval level', known(({ ciLevel }) => ciLevel, formatLevel)],
    ['Interval method', known(({ ciMethod }) => ciMethod)],
    ['p-value method', known(({ pValueMethod }) => pValueMethod)],
    ['Seed', known(({ seed }) => seed)],
  ];
}

/** Returns the name of the interval of several metrics: "95% interval" if all have the same level. */
export function commonIntervalName(results: readonly Pick<MetricResult, 'ciLevel'>[]): string {
  const levels = new Set(results.flatMap(({ ciLevel }) => ciLevel ?? []));
  return capital(intervalName(levels.size === 1 ? ([...levels][0] ?? null) : null));
}

function metricTable(entries: readonly Entry[]): ReportTable[] {
  if (entries.length === 0) return [];
  const isAlone = new Set(entries.map(({ attribute }) => attribute)).size < 2;
  const hasPValues = entries.some(({ result }) => result.pValue !== null);
  const columns: ReportColumn[] = [
    { name: 'Metric', wraps: true },
    numberColumn('Value'),
    numberColumn(commonIntervalName(entries.map(({ result }) => result))),
    ...(hasPValues ? [numberColumn('p-value')] : []),
    { name: 'Between', wraps: true },
  ];
  const rows = entries.map(({ attribute, result }) => [
    ...(isAlone ? [] : [labelText(attribute)]),
    inWords(result.metric),
    valueText(result),
    result.ci === null ? 'none' : rangeText(result.ci),
    ...(hasPValues ? [pValueText(result.pValue)] : []),
    gapGroups(result) ?? NOTHING,
  ]);
  return [
    {
      kind: 'table',
      caption: 'Comparison of groups',
      columns: isAlone ? columns : [{ name: 'Attribute', wraps: true }, ...columns],
      rows,
    },
  ];
}

/** Returns the reasons of undefined metrics. */
function undefinedNotes(entries: readonly Entry[]): ReportBlock[] {
  const reasons = entries.map(({ attribute, result: { metric, undefinedReason } }) => ({
    attribute,
    texts: undefinedReason === null ? [] : [`${inWords(metric)}: ${undefinedReason}.`],
  }));
  return noteBlocks('Undefined', joinedNotes(reasons));
}

/** The title of warnings. */
export const BEFORE_QUOTING = 'Before you quote these values';

/** Returns all warnings of a validation. One that applies to several metrics appears only once. */
export function validationWarnings(validation: ReportedValidation): readonly string[] {
  const { frames, measures, notes = [] } = validation;
  const ofMetrics = joinedNotes(
    resultsOf(validation).map(({ attribute, result }) => ({ attribute, texts: result.warnings.map(capital) })),
  );
  const ofFrames = [frames, measures].flatMap((all) => Object.values(all ?? {}).flatMap(({ warnings }) => warnings));
  return [...new Set([...ofMetrics, ...ofFrames.map(capital), ...notes.map(capital)])];
}

/** Returns warnings, excluded groups and the number of excluded rows. */
function metricNotes(entries: readonly Entry[], validation: ReportedValidation, isFull: boolean): ReportBlock[] {
  return [
    ...noteBlocks(BEFORE_QUOTING, validationWarnings(validation)),
    ...noteBlocks('Not compared', [...exclusionNotes(entries), ...droppedNotes(entries, validation, isFull)]),
  ];
}

/** Notes on an attribute. */
interface AttributeNotes {
  readonly attribute: string;
  readonly texts: readonly string[];
}

/** Returns each note once. A note that applies to only some attributes starts with the names of these attributes. */
function joinedNotes(all: readonly AttributeNotes[]): string[] {
  const count = new Set(all.map(({ attribute }) => attribute)).size;
  const having = new Map<string, Set<string>>();
  for (const { attribute, texts } of all) {
    for (const text of texts) having.set(text, (having.get(text) ?? new Set()).add(attribute));
  }
  return Array.from(having, ([text, own]) => (own.size === count ? text : `${listed([...own])}: ${text}`));
}

/** Returns each excluded group once, with its largest number of rows and all reasons for the exclusion. */
function exclusionNotes(entries: readonly Entry[]): string[] {
  const found = new Map<string, { n: number; readonly reasons: Set<string> }>();
  const isAlone = new Set(entries.map(({ attribute }) => attribute)).size < 2;
  for (const { attribute, result } of entries) {
    for (const [label, { n, reason }] of Object.entries(result.excluded)) {
      const name = `${isAlone ? '' : `${labelText(attribute)}: `}${labelText(label)}`;
      const entry = found.get(name) ?? { n: 0, reasons: new Set() };
      entry.n = Math.max(entry.n, n);
      found.set(name, entry);
      entry.reasons.add(reason);
    }
  }
  return Array.from(found, ([name, { n, reasons }]) => `${name} (${counted(n, 'row')}): ${[...reasons].join('; ')}`);
}

/** For each attribute, returns how many rows were excluded, what they lack, and how much they could change the metrics. */
function droppedNotes(entries: readonly Entry[], validation: ReportedValidation, isFull: boolean): string[] {
  const notes = Object.keys(validation.attributes).map((attribute): AttributeNotes => {
    const results = ownResults(entries, attribute);
    const most = Math.max(0, ...results.map(({ nDropped }) => nDropped));
    if (most === 0) return { attribute, texts: [] };
    const lacks = lackedValues(results, attribute, validation);
    const [only, other] = lacks;
    const reason =
      only === undefined
        ? 'because of missing values'
        : other === undefined
          ? `because ${most === 1 ? 'it lacks' : 'they lack'} ${only.what}`
          : `because of missing values: ${lacks.map(({ rows, what }) => `${formatCount(rows)} without ${what}`).join(', ')}`;
    const text = `${counted(most, 'row was', 'rows were')} excluded ${reason}.`;
    // A full report states the bounds with each metric.
    return { attribute, texts: [isFull ? text : `${text}${boundsSentence(results)}`] };
  });
  return joinedNotes(notes);
}

/** Says what the rows that a metric excludes lack: a group, a decision, or a true label. */
function lackedValues(
  results: readonly MetricResult[],
  attribute: string,
  { counted: from }: ReportedValidation,
): { readonly rows: number; readonly what: string }[] {
  const ofDecisions = results.flatMap((result) => {
    const definition = findMetricDefinition(result.metric);
    if (definition === undefined || metricKind(definition) !== 'classification' || result.missing === null) return [];
    return [{ needsTruth: metricNeedsTruth(definition), missing: result.missing.n, nDropped: result.nDropped }];
  });
  const plain = ofDecisions.find(({ needsTruth }) => !needsTruth);
  if (plain === undefined) return [];
  const labelled = ofDecisions.find(({ needsTruth }) => needsTruth) ?? plain;
  const { yPred, score, yTrue, sampleWeight } = from?.request ?? {};
  const inColumn = (name: string | undefined): string => (name === undefined ? '' : ` ('${labelText(name)}')`);
  const decided = `a decision${inColumn(yPred ?? score)}${sampleWeight === undefined ? '' : ` or a weight${inColumn(sampleWeight)}`}`;
  return (
    [
      [plain.nDropped - plain.missing, `a group ('${labelText(attribute)}')`],
      [plain.missing, decided],
      [labelled.missing - plain.missing, `a true label${inColumn(yTrue)}`],
    ] as const
  ).flatMap(([rows, what]) => (rows > 0 ? [{ rows, what }] : []));
}

/** Returns the bounds of metrics over the excluded rows of their groups; an empty text if a warning states them. */
function boundsSentence(results: readonly MetricResult[]): string {
  const bounds = results.flatMap(({ metric, missing }) =>
    missing === null || missing.n === 0 || missing.worstCase === null || isUnevenlyMissing(missing)
      ? []
      : [`${uncapital(inWords(metric))} ${rangeText(missing.worstCase)}`],
  );
  if (bounds.length === 0) return '';
  const rows = results.every(hasGroups) ? 'excluded rows' : 'excluded rows that have a group';
  return ` With the ${rows}, the value could be: ${bounds.join('; ')}.`;
}

/** Returns whether every excluded row has a group, so that the bounds of the metric are about all of them. */
function hasGroups({ nDropped, missing }: MetricResult): boolean {
  return missing === null || missing.n === nDropped;
}

/**
 * Says what a metric could be with its excluded rows; an empty text if there are none, or no bounds. Rows without a group
 * are in no bounds, since they could be in any group.
 */
export function boundsOfExcluded(result: MetricResult): string {
  const { missing } = result;
  if (missing === null || missing.n === 0 || missing.worstCase === null) return '';
  const rows = hasGroups(result) ? 'them' : `the ${formatCount(missing.n)} of them that have a group`;
  return `with ${rows}, the value could be ${rangeText(missing.worstCase)}`;
}

/** Returns a table of groups for each attribute, for a terminal. */
function groupSummary(validation: ReportedValidation, entries: readonly Entry[]): ReportSection {
  const blocks = Object.keys(validation.attributes).flatMap((attribute): ReportBlock[] => {
    const name = labelText(attribute);
    const frame = own(validation.measures, attribute);
    const control = own(validation.frames, attribute);
    const table =
      frame === undefined
        ? groupTable(`Groups by ${name}`, ownResults(entries, attribute), { isFull: false })
        : measureTable(`Groups by ${name}`, frame, { isFull: false });
    return [
      ...(table === undefined ? [] : [table]),
      ...(control === undefined
        ? []
        : levelGaps(control, {
            by: ` by ${name}`,
            hasIntervals: hasIntervals(ownResults(entries, attribute)),
            hasGates: validation.gates.length > 0,
            isFull: false,
          })),
    ];
  });
  return { title: 'Groups', blocks };
}

function ownResults(entries: readonly Entry[], attribute: string): MetricResult[] {
  return entries.filter((entry) => entry.attribute === attribute).map(({ result }) => result);
}

/** Options for the content of a table of groups. */
interface GroupTableOptions {
  /** Whether the table shows all groups with their intervals. If false, it shows at most {@link MAX_SHOWN} groups. */
  readonly isFull: boolean;
}

/** The maximum number of groups in a table of a summary. */
const MAX_SHOWN = 20;

/** Returns the measures that the metrics of one attribute compare, for each group; undefined if there is no group. */
function groupTable(
  caption: string,
  results: readonly MetricResult[],
  { isFull }: GroupTableOptions,
): ReportTable | undefined {
  const measures = [...new Set(results.flatMap(measuresOf))];
  const labels = [...new Set(results.flatMap(({ nPerGroup }) => Object.keys(nPerGroup)))];
  if (labels.length === 0) return undefined;
  const valueOf = (label: string, measure: string): number | null | undefined =>
    results.map(({ perGroup }) => own(own(perGroup, label), measure)).find((value) => value !== undefined);
  const intervalOf = (label: string, measure: string): readonly [number, number] | undefined =>
    results
      .map(({ perGroupCi }) => own(own(perGroupCi, label), measure))
      .find((ci) => ci !== undefined && ci !== null) ?? undefined;
  const cell = (label: string, measure: string): string => {
    const bounds = results.map((result) => boundsOfGroup(result, label, measure)).find((one) => one !== undefined);
    if (bounds !== undefined) return rangeText(bounds, (end) => measureText(measure, end));
    const value = measureText(measure, valueOf(label, measure));
    const ci = isFull ? intervalOf(label, measure) : undefined;
    return ci === undefined ? value : `${value} (${rangeText(ci, (end) => measureText(measure, end))})`;
  };
  const hasClusters = results.some(({ nClusters }) => nClusters !== undefined);
  const clustersOf = (label: string): number =>
    Math.max(...results.map(({ nClusters }) => own(nClusters ?? {}, label) ?? 0));
  const shown = shownGroups(labels, measures[0], valueOf, isFull);
  const textOf = labelTextAmong(labels);
  return {
    kind: 'table',
    caption: `${caption}${shown.remark}`,
    columns: [
      { name: 'Group' },
      numberColumn('n'),
      ...(hasClusters ? [numberColumn('Clusters')] : []),
      ...measures.map((measure) => numberColumn(inWords(measure))),
    ],
    rows: shown.labels.map((label) => [
      textOf(label),
      // Metrics that need true labels may include fewer rows; the notes on exclusions state the difference.
      tableCount(Math.max(...results.map(({ nPerGroup }) => own(nPerGroup, label) ?? 0))),
      ...(hasClusters ? [tableCount(clustersOf(label))] : []),
      ...measures.map((measure) => cell(label, measure)),
    ]),
  };
}

/**
 * Returns the groups to show: all groups, or only the groups with the most extreme values in a summary of many groups.
 */
function shownGroups(
  labels: readonly string[],
  measure: string | undefined,
  valueOf: (label: string, measure: string) => number | null | undefined,
  isFull: boolean,
): { readonly labels: readonly string[]; readonly remark: string } {
  if (isFull || labels.length <= MAX_SHOWN || measure === undefined) return { labels, remark: '' };
  const known = labels.filter((label) => Number.isFinite(valueOf(label, measure)));
  const sorted = known.sort((a, b) => (valueOf(a, measure) as number) - (valueOf(b, measure) as number));
  const each = MAX_SHOWN / 2;
  return {
    labels: sorted.length <= MAX_SHOWN ? sorted : [...sorted.slice(0, each), ...sorted.slice(-each)],
    remark: `: the ${String(each)} lowest and the ${String(each)} highest by ${uncapital(inWords(measure))}, of ${formatCount(labels.length)} groups`,
  };
}

/** Formats a value of a measure: a share in percent, a count without decimals. */
function measureText(measure: string, value: number | null | undefined): string {
  return measure === 'count' ? tableCount(value) : tableValue(value, unitOf(measure));
}

/** Formats the difference of a measure between groups. */
function gapText(measure: string, gaps: MeasureValues): string {
  const gap = own(gaps, measure);
  return measure === 'count' ? tableCount(gap) : tableNumber(gap);
}

/**
 * Returns a frame as a table with a row for each group and a column for each measure. It includes the values of all
 * rows, the differences and the ratios.
 */
export function measureTable(
  caption: string,
  frame: MetricFrame,
  { isFull }: GroupTableOptions = { isFull: true },
): ReportTable {
  const line = (label: string, n: string, shown: (measure: string) => string): string[] => [
    label,
    n,
    ...frame.measures.map(shown),
  ];
  const inUnits = (values: MeasureValues | undefined) => (measure: string) =>
    measureText(measure, own(values, measure));
  const [difference, ratio] = [frame.difference(), frame.ratio()];
  const shown = shownGroups(
    Object.keys(frame.byGroup),
    frame.measures[0],
    (label, measure) => own(own(frame.byGroup, label), measure),
    isFull,
  );
  return {
    kind: 'table',
    caption: `${caption}${shown.remark}`,
    columns: [{ name: 'Group' }, numberColumn('n'), ...frame.measures.map((measure) => numberColumn(inWords(measure)))],
    rows: [
      ...shown.labels.map((label) =>
        line(labelText(label), tableCount(own(frame.nPerGroup, label)), inUnits(own(frame.byGroup, label))),
      ),
      line('All rows', tableCount(rowsIn(frame)), inUnits(frame.overall)),
      line('Difference', '', (measure) => gapText(measure, difference)),
      line('Ratio', '', (measure) => tableNumber(own(ratio, measure))),
    ],
  };
}

/** What the tables of levels contain. */
export interface LevelContents {
  /** Whether the tables have intervals. */
  readonly hasIntervals: boolean;
  /** Whether a gate judges the rows of all levels together. */
  readonly hasGates: boolean;
}

/** Options of {@link levelGaps}. */
interface LevelGapsOptions extends GroupTableOptions, LevelContents {
  /** The attribute, for the caption: ` by sex`, or an empty text. */
  readonly by: string;
}

/** A level, with the difference of a measure between its groups. */
interface LevelGap {
  readonly level: string;
  readonly n: number;
  readonly gap: MetricResult;
  readonly inside: MetricFrame;
}

/** Returns whether any of the results has an interval. Without them, the user or a limit has turned intervals off. */
export function hasIntervals(results: readonly MetricResult[]): boolean {
  return results.some(({ ci }) => ci !== null);
}

/**
 * For each measure, returns the differences within the levels of the control feature and over all rows. A summary shows
 * only the largest levels. Levels whose difference is undefined are listed by reason.
 */
export function levelGaps(frame: MetricFrame, options: LevelGapsOptions): ReportBlock[] {
  const all = frame.measures.map((measure) => ({ measure, levels: gapsWithin(frame, measure) }));
  return [...all.map(({ measure, levels }) => levelTable(frame, measure, levels, options)), ...undefinedLevels(all)];
}

type Measure = MetricFrame['measures'][number];

/** Returns the difference of a measure in each level, without an interval, which takes time. */
function gapsWithin(frame: MetricFrame, measure: Measure): LevelGap[] {
  return Object.entries(frame.byLevel).map(([level, inside]) => ({
    level,
    n: rowsIn(inside),
    gap: gapOf(inside, measure, false),
    inside,
  }));
}

function gapOf(inside: MetricFrame, measure: Measure, withCi: boolean): MetricResult {
  return inside.metric(measure, 'difference', { withCi, withEffectSize: false, withPValue: false });
}

function levelTable(
  frame: MetricFrame,
  measure: Measure,
  all: readonly LevelGap[],
  { by, hasIntervals: withCi, hasGates, isFull }: LevelGapsOptions,
): ReportTable {
  const defined = all.filter(({ gap }) => gap.undefinedReason === null);
  const largest = new Set(defined.toSorted((a, b) => b.n - a.n).slice(0, isFull ? all.length : MAX_SHOWN));
  const shown = defined
    .filter((one) => largest.has(one))
    .map((one) => (withCi ? { ...one, gap: gapOf(one.inside, measure, true) } : one));
  const total = { level: 'All levels', n: rowsIn(frame), gap: gapOf(frame, measure, withCi) };
  const lines = [...shown, total];
  const isSigned = lines.some(({ gap }) => gap.compat !== null);
  const remark =
    shown.length < defined.length
      ? `: the ${String(shown.length)} levels with the most rows, of ${formatCount(defined.length)}`
      : '';
  return {
    kind: 'table',
    caption: `Differences in ${uncapital(inWords(measure))}${by} within each level of the control feature${remark}${hasGates ? " (gates judge the row 'All levels' only)" : ''}`,
    columns: [
      { name: 'Level' },
      numberColumn('n'),
      numberColumn('Difference'),
      ...(withCi ? [numberColumn(commonIntervalName(lines.map(({ gap }) => gap)))] : []),
      { name: isSigned ? 'Between' : 'Between (higher first)' },
    ],
    rows: lines.map(({ level, n, gap }) => [
      labelText(level),
      tableCount(n),
      measure === 'count' ? tableCount(gap.value) : tableNumber(gap.value),
      ...(withCi ? [gap.ci === null ? 'none' : rangeText(gap.ci)] : []),
      gapGroups(gap) ?? NOTHING,
    ]),
  };
}

/** The number of levels without a difference that a report names for each reason. */
const NAMED_LEVELS = 3;

/** Returns the levels without a difference, by reason. A reason that applies to all measures appears once. */
function undefinedLevels(
  all: readonly { readonly measure: Measure; readonly levels: readonly LevelGap[] }[],
): ReportBlock[] {
  const measuresOfNote = new Map<string, string[]>();
  for (const { measure, levels } of all) {
    const without = levels.filter(({ gap }) => gap.undefinedReason !== null);
    for (const [reason, own] of groupBy(without, ({ gap }) => gap.undefinedReason ?? '')) {
      const names = own.map(({ level }) => level);
      const note = `${listed(names, NAMED_LEVELS)}: ${reason}.`;
      measuresOfNote.set(note, [...(measuresOfNote.get(note) ?? []), inWords(measure)]);
    }
  }
  const counts = new Set(all.map(({ levels }) => levels.filter(({ gap }) => gap.undefinedReason !== null).length));
  const [count = 0] = counts;
  const levels = counted(all[0]?.levels.length ?? 0, 'level');
  return noteBlocks(
    counts.size === 1 ? `Undefined in ${formatCount(count)} of ${levels}` : `Undefined in some of ${levels}`,
    Array.from(measuresOfNote, ([note, measures]) =>
      measures.length === all.length ? note : `${listed(measures)}: ${note}`,
    ),
  );
}

function rowsIn({ nPerGroup }: MetricFrame): number {
  return sumOf(Object.values(nPerGroup));
}

/** Returns a section for each attribute: its groups, exclusions, the facts of each metric, and its strata. */
function attributeSections(validation: ReportedValidation, entries: readonly Entry[]): ReportSection[] {
  return Object.keys(validation.attributes).map((attribute) => {
    const results = ownResults(entries, attribute);
    const groups = groupTable('Groups compared', results, { isFull: true });
    const frame = own(validation.measures, attribute);
    return {
      title: `By ${labelText(attribute)}`,
      blocks: [
        ...(groups === undefined ? [] : [groups]),
        ...(frame === undefined ? [] : [measureTable('Measures of each group', frame)]),
        ...excludedTable(results),
        ...results.flatMap((result): ReportBlock[] => [
          { kind: 'heading', text: inWords(result.metric) },
          {
            kind: 'facts',
            facts: [...knownFacts(result), ...droppedFact(result)],
          },
        ]),
        ...controlBlocks(own(validation.frames, attribute), {
          hasIntervals: hasIntervals(results),
          hasGates: validation.gates.length > 0,
        }),
      ],
    };
  });
}

/** Returns the number of rows with missing values, and how much these rows could change the metric. */
function droppedFact(result: MetricResult): ReportFact[] {
  const { nDropped } = result;
  if (nDropped === 0) return [];
  const bounds = boundsOfExcluded(result);
  const remark = bounds === '' ? 'missing values' : `missing values; ${bounds}`;
  return [{ name: 'Excluded rows', value: tableCount(nDropped), remark }];
}

/** Returns the groups, or single rates of groups, that metrics exclude, with numerators and denominators. */
function excludedTable(results: readonly MetricResult[]): ReportTable[] {
  const found = new Map<string, { readonly cells: readonly string[]; readonly metrics: string[] }>();
  for (const { metric, excluded } of results) {
    for (const [label, { n, numerator, denominator, reason }] of Object.entries(excluded)) {
      const cells = [labelText(label), tableCount(n), tableCount(numerator), tableCount(denominator), reason];
      const key = JSON.stringify([label, ...cells]);
      const entry = found.get(key) ?? { cells, metrics: [] };
      entry.metrics.push(inWords(metric));
      found.set(key, entry);
    }
  }
  if (found.size === 0) return [];
  const numbers = ['n', 'Numerator', 'Denominator'].map(numberColumn);
  const columns = [{ name: 'Group' }, ...numbers, { name: 'Reason' }, { name: 'Metrics' }];
  const rows = Array.from(found.values(), ({ cells, metrics }) => [
    ...cells,
    metrics.length === results.length ? 'all' : metrics.join(', '),
  ]);
  return [{ kind: 'table', caption: 'Excluded groups, or single rates of groups', columns, rows }];
}

function controlBlocks(frame: MetricFrame | undefined, options: LevelContents): ReportBlock[] {
  if (frame === undefined) return [];
  return [
    { kind: 'heading', text: 'Within each level of the control feature' },
    ...levelGaps(frame, { ...options, by: '', isFull: true }),
    measureTable('All levels', frame),
    ...Object.entries(frame.byLevel).map(([level, inside]) => measureTable(`Level: ${labelText(level)}`, inside)),
  ];
}

/** For each column, returns a table of its labels, with the interpretation and the row count of each label. */
export function labelBlocks(labels: FileValidation['labels'] = {}): ReportTable[] {
  const columns = [
    ['predictions', labels.y_pred],
    ['true labels', labels.y_true],
  ] as const;
  const rows = columns.flatMap(([column, read]) =>
    read === undefined
      ? []
      : (['positive', 'negative', 'missing'] as const).flatMap((value) =>
          Object.entries(read[value]).map(([label, count]) => [column, label, value, formatCount(count)]),
        ),
  );
  if (rows.length === 0) return [];
  const names = [{ name: 'Column' }, { name: 'Label' }, { name: 'Counts as' }, numberColumn('Rows')];
  return [{ kind: 'table', caption: 'Labels', columns: names, rows }];
}

const PARITY_SENTENCE =
  'A difference of 0, or a ratio of 1, means equal rates over the groups compared. It says nothing about excluded groups or about why rates differ.';

/** Explanations for readers without a background in statistics. */
export const HOW_TO_READ: readonly string[] = [
  `${PARITY_SENTENCE} A gap is a reason to investigate; it does not by itself prove unfair treatment, and the absence of a gap does not prove fair treatment.`,
  'An interval contains the values that are compatible with the data at its level. If it is wide, the data cannot distinguish a small gap from a large one. The interval of a metric is computed for the gap itself. The intervals of groups (Wilson for rates, normal for means) are for individual groups; even if two of them overlap, the groups can differ.',
  'Small groups have wide intervals, and their rates are more often extreme by chance alone. Among many groups some rates differ widely even if all groups are treated alike: the largest gap grows with the number of groups. The minimum detectable difference (80% power) is the smallest difference that data of this size detect with probability 0.8.',
  'Groups with too few rows are excluded and listed with their counts. An undefined metric does not pass.',
];
