import type { AxisRange, Chart } from '../../../src/charts/chart.ts';
import { DARK, LIGHT } from '../../../src/charts/palette.ts';
import { paretoChart } from '../../../src/charts/pareto-chart.ts';
import { recolour } from '../../../src/charts/recolour.ts';
import { renderSvg, renderSvgs } from '../../../src/charts/render-svg.ts';
import { drawSvg } from '../../../src/document/document-to-html.ts';
import { manifestOf, type Provenance } from '../../../src/document/provenance.ts';
import type { ReportSection } from '../../../src/document/report-document.ts';
import { ValueError } from '../../../src/exceptions/index.ts';
import { validationCharts } from '../../../src/integration/html/metric-charts.ts';
import { columnNotes } from '../../../src/integration/column-notes.ts';
import { type FileValidation, withCounted, withNotes } from '../../../src/integration/measure-attributes.ts';
import { validationChanges, type ValidationChanges } from '../../../src/integration/validation-changes.ts';
import {
  parseValidationJson,
  validationFromJson,
  type ValidationJson,
} from '../../../src/integration/validation-from-json.ts';
import { changeBlocks } from '../../../src/integration/validation-changes-document.ts';
import { createManifest } from '../../../src/integration/report-evidence.ts';
import { validationToHtml } from '../../../src/integration/validation-html.ts';
import { validationToJson, validationToMarkdown } from '../../../src/integration/validation-report.ts';
import { validateTable } from '../../../src/integration/validate-table.ts';
import { validationTable } from '../../../src/integration/validation-table.ts';
import { VERSION } from '../../../src/internal/version.ts';
import { decodeUtf8 } from '../../../src/internal/decode-utf8.ts';
import { guessColumns, guessFeatures, guessPositiveLabel } from '../../../src/table/guess-columns.ts';
import {
  type Column,
  columnLength,
  delimitedText,
  firstRowsOf,
  IDENTIFIER_BYTES,
  Table,
} from '../../../src/table/index.ts';
import { attributesOf, commandOf, gateFileOf, optionsOf, validateInput } from './commands.ts';
import type { DataSource, DataStart, OnProgress } from './data-source.ts';
import { sourceOf } from './open-source.ts';
import type {
  AuditResult,
  AuditSettings,
  ColumnSummary,
  CompareWith,
  DrawOptions,
  ExportKind,
  FeatureChoices,
  LabelChoices,
  OpenedFile,
  ParetoPicture,
  ThresholdView,
} from './protocol.ts';
import { sampleFile } from './samples.ts';
import type { SweepPoint } from './training-protocol.ts';
import { sha256 } from './sha256.ts';
import { auditView, metricView } from './views.ts';

/** The number of rows in a preview, and of labels that are listed. */
const PREVIEW_ROWS = 8;
const MAX_LABELS = 50;

/** The width from which two charts stand next to each other, and the space between them, in pixels. */
const MIN_PAIR = 700;
const CHART_GAP = 20;

/** A file that is open, and the columns of it that were read. */
interface Opened {
  readonly file: File;
  readonly source: DataSource;
  readonly start: DataStart;
  readonly decimal: ',' | undefined;
  readonly columns: Map<string, Column>;
  /** The checksum, which is computed when a report needs it. */
  checksum?: Promise<string>;
}

/** The parts of a chart that say where its points are. */
interface ChartFrame {
  readonly grid: Readonly<Record<'left' | 'right' | 'top' | 'bottom', number>>;
  readonly xAxis: AxisRange;
  readonly yAxis: AxisRange;
}

/** A finished audit. */
interface Audited {
  readonly opened: Opened;
  readonly settings: AuditSettings;
  readonly validation: FileValidation;
  readonly changes: ValidationChanges | undefined;
}

/** The state of the worker: one file, and its last audit. */
export class Session {
  #opened: Opened | undefined;
  #audited: Audited | undefined;

  /** Opens a file and describes its columns. */
  async open(file: File, decimal?: ','): Promise<OpenedFile> {
    const opened = await openFile(file, decimal);
    this.#opened = opened;
    this.#audited = undefined;
    return describe(opened);
  }

  /** Opens one of the samples. */
  openSample(name: string): Promise<OpenedFile> {
    return this.open(sampleFile(name));
  }

  /** Returns the labels of a column, counted in all rows. */
  async labels(name: string, onProgress: OnProgress): Promise<LabelChoices> {
    const opened = this.#current();
    const table = await readColumns(opened, [{ name, isLabel: false }], onProgress);
    const { isNeeded, label, counts } = guessPositiveLabel(table.column(name));
    return { isNeeded, guess: label, counts: counts.slice(0, MAX_LABELS), distinct: counts.length };
  }

  /** Measures the groups, and applies the gates. */
  async audit(
    settings: AuditSettings,
    compareWith: CompareWith | undefined,
    onProgress: OnProgress,
  ): Promise<AuditResult> {
    const opened = this.#current();
    const begun = performance.now();
    const validation = await measure(opened, settings, onProgress);
    const changes = compareWith && (await this.#compare({ opened, settings, validation }, compareWith, onProgress));
    this.#audited = { opened, settings, validation, changes };
    return {
      ...auditView(validation, opened.file.name, changes),
      settings,
      source: opened.file.name,
      command: commandOf(settings, opened.file.name),
      gateFile: gateFileOf(settings),
      seconds: (performance.now() - begun) / 1000,
    };
  }

  async #compare(
    { opened, settings, validation }: Omit<Audited, 'changes'>,
    compareWith: CompareWith,
    onProgress: OnProgress,
  ): Promise<ValidationChanges> {
    const manifest = manifestOf(await provenanceOf(opened, settings, validation));
    if (compareWith.kind === 'result') {
      const { file } = compareWith;
      const text = decodeUtf8(new Uint8Array(await file.arrayBuffer()), `'${file.name}'`);
      return validationChanges(validation, parseValidationJson(text, file.name), manifest);
    }
    const isColumn = compareWith.kind === 'column';
    const other = isColumn ? opened : await openFile(compareWith.file, opened.decimal);
    const otherSettings = isColumn
      ? { ...settings, yPred: compareWith.column, score: undefined, scoreThreshold: undefined }
      : settings;
    const earlier = await measure(other, otherSettings, onProgress);
    const json = validationToJson(earlier, { manifest: manifestOf(await provenanceOf(other, otherSettings, earlier)) });
    return validationChanges(validation, JSON.parse(JSON.stringify(json)) as ValidationJson, manifest);
  }

  /** Draws the charts of the last audit, for each attribute. */
  async draw({ width, isDark }: DrawOptions): Promise<string[][]> {
    const { validation } = this.#last();
    const drawn: string[][] = [];
    for (const [name, metrics] of Object.entries(validation.attributes)) {
      // The first chart has all the width. Two of the others stand next to each other if there is space.
      const charts = [width, width >= MIN_PAIR ? Math.floor((width - CHART_GAP) / 2) : width].map((size) =>
        validationCharts({ attributes: { [name]: metrics } }, { width: size, hasTitle: false }),
      );
      const own: string[] = [];
      for (const [index, wide] of (charts[0] ?? []).entries()) {
        const chart = index === 0 ? wide : (charts[1]?.[index] ?? wide);
        own.push(await renderSvg(recolour(chart, isDark ? DARK : LIGHT)));
      }
      drawn.push(own);
    }
    return drawn;
  }

  /** Measures the groups of one attribute at another threshold of the scores. */
  async threshold(attribute: string, threshold: number, onProgress: OnProgress): Promise<ThresholdView> {
    const { opened, settings } = this.#last();
    const own = attributesOf(settings).find((names) => names.join('||') === attribute);
    if (own === undefined) throw new ValueError(`There is no attribute '${attribute}'.`);
    const { control: _, sampleWeight, ...others } = settings;
    const chosen = { ...others, sampleWeight, scoreThreshold: threshold, gates: [] };
    const table = await readColumns(opened, wantedColumns(chosen), onProgress);
    const { attributes } = await validateTable(table, {
      ...validateInput(chosen),
      attributes: [own],
      metric: settings.yTrue === undefined ? undefined : ['accuracy_parity_difference'],
      withCi: false,
    });
    return { threshold, metrics: Object.values(attributes[attribute] ?? {}).map(metricView) };
  }

  /** Returns the last audit as a file. */
  async export(kind: ExportKind): Promise<Blob> {
    const { opened, settings, validation, changes } = this.#last();
    const title = opened.file.name;
    const provenance = await provenanceOf(opened, settings, validation);
    const results = validationToJson(validation, { changes });
    const body = { ...results, manifest: createManifest(validation, results, provenance) };
    const text = async (): Promise<readonly [string, string]> => {
      switch (kind) {
        case 'json':
          return [`${JSON.stringify(body, undefined, 2)}\n`, 'application/json'];
        case 'md':
          return [validationToMarkdown(validation, title, { changes, provenance }), 'text/markdown'];
        case 'html':
          return [
            await validationToHtml(validation, title, { changes, provenance, draw: drawSvg, report: body }),
            'text/html',
          ];
        case 'csv':
          return [delimitedText(validationTable(validation), ','), 'text/csv'];
        case 'svg': {
          const charts: readonly Chart[] = validationCharts(validation);
          if (charts.length === 0) throw new ValueError('There is no chart: no measure has a value for two groups.');
          return [await renderSvgs(charts), 'image/svg+xml'];
        }
      }
    };
    const [content, type] = await text();
    return new Blob([content], { type: `${type};charset=utf-8` });
  }

  /** Returns the open file, also of a sample. */
  file(): File {
    return this.#current().file;
  }

  /** Guesses what a model may learn from, from the first rows. */
  features(target: string, positiveLabel: string | undefined, used: readonly string[]): FeatureChoices {
    const { start } = this.#current();
    return guessFeatures(Table.ofColumns([...start.columns]), { target, positiveLabel, used });
  }

  /** Describes what changed between two results of a service. */
  compareResults(before: string, after: string): ReportSection {
    const [earlier, later] = [before, after].map((text) => parseValidationJson(text, 'result'));
    if (earlier === undefined || later === undefined) throw new ValueError('Two results are needed.');
    const now = validationFromJson(later, '');
    const manifest = later.manifest ?? { evenhand: VERSION, command: '', options: {}, inputs: [], rows: null };
    return { title: 'What changed', blocks: changeBlocks(validationChanges(now, earlier, manifest)) };
  }

  /** Draws the points of a sweep, and returns where they are. */
  async pareto(points: readonly SweepPoint[], isDark: boolean): Promise<ParetoPicture> {
    const chart = paretoChart(
      points.map((point) => ({
        ...{ eta: point.eta, accuracy: point.accuracy, dpDiff: point.dp_diff, eoDiff: point.eo_diff },
        ...{ dominated: point.dominated, accuracyCi: point.accuracy_ci, dpDiffCi: point.dp_diff_ci },
      })),
      { title: 'Accuracy against the gap between groups' },
    );
    const { width, height, option, description } = chart;
    const { grid, xAxis, yAxis } = option as unknown as ChartFrame;
    const share = (value: number, { min, max }: AxisRange): number => (value - min) / (max - min);
    return {
      svg: await renderSvg(recolour(chart, isDark ? DARK : LIGHT)),
      description,
      places: points.map((point) => ({
        left: (100 * (grid.left + share(point.dp_diff, xAxis) * (width - grid.left - grid.right))) / width,
        top: (100 * (height - grid.bottom - share(point.accuracy, yAxis) * (height - grid.top - grid.bottom))) / height,
      })),
    };
  }

  #current(): Opened {
    if (this.#opened === undefined) throw new ValueError('There is no file.', { suggestion: 'Open a file first.' });
    return this.#opened;
  }

  #last(): Audited {
    if (this.#audited === undefined)
      throw new ValueError('There is no result.', { suggestion: 'Run the audit first.' });
    return this.#audited;
  }
}

async function openFile(file: File, decimal: ',' | undefined): Promise<Opened> {
  const source = await sourceOf(file, decimal);
  const start = await source.start();
  return { file, source, start, decimal, columns: new Map() };
}

/** Returns the columns that an audit reads, and whether they name groups. */
function wantedColumns(settings: AuditSettings): { name: string; isLabel: boolean }[] {
  const { yPred, score, yTrue, sampleWeight, cluster, sensitive, control } = settings;
  const outcomes = [score === undefined ? yPred : undefined, score, yTrue, sampleWeight];
  return [
    ...[...new Set([...sensitive, control, cluster])].flatMap((name) =>
      name === undefined ? [] : [{ name, isLabel: true }],
    ),
    ...outcomes.flatMap((name) =>
      name === undefined || sensitive.includes(name) || name === control || name === cluster
        ? []
        : [{ name, isLabel: false }],
    ),
  ];
}

/** Returns a table of columns. Columns that were read before are not read again. */
async function readColumns(
  { source, columns }: Opened,
  wanted: readonly { readonly name: string; readonly isLabel: boolean }[],
  onProgress: OnProgress,
): Promise<Table> {
  const keyOf = ({ name, isLabel }: { readonly name: string; readonly isLabel: boolean }): string =>
    `${isLabel ? 'label' : 'value'} ${name}`;
  const missing = wanted.filter((one) => !columns.has(keyOf(one)));
  if (missing.length > 0) {
    const read = await source.read(missing, onProgress);
    for (const one of missing) columns.set(keyOf(one), read.get(one.name) as Column);
  }
  return Table.ofColumns(wanted.map((one) => [one.name, columns.get(keyOf(one)) as Column]));
}

async function measure(opened: Opened, settings: AuditSettings, onProgress: OnProgress): Promise<FileValidation> {
  const table = await readColumns(opened, wantedColumns(settings), onProgress);
  onProgress('Comparing the groups', 0, 1);
  const { decimal, file, source } = opened;
  const validation = await validateTable(table, { ...validateInput(settings), decimal });
  const { counted } = validation;
  if (counted === undefined) return validation;
  const start = await source.startBytes?.(IDENTIFIER_BYTES);
  if (start === undefined) return validation;
  const notes = columnNotes(counted.request, firstRowsOf(file.name, start, decimal));
  return withCounted(withNotes(validation, notes), counted);
}

async function provenanceOf(opened: Opened, settings: AuditSettings, validation: FileValidation): Promise<Provenance> {
  const { file } = opened;
  opened.checksum ??= sha256(file);
  return {
    date: new Date(),
    command: commandOf(settings, file.name),
    options: optionsOf(settings, file.name),
    inputs: [{ path: file.name, bytes: file.size, sha256: await opened.checksum }],
    rows: validation.rows,
  };
}

function describe({ file, source, start }: Opened): OpenedFile {
  const table = Table.ofColumns([...new Map(start.columns)]);
  const lower = start.names.map((name) => name.toLowerCase());
  const guesses = guessColumns(table);
  return {
    name: file.name,
    bytes: file.size,
    format: source.format,
    rowCount: start.isComplete || source.format === 'Parquet' ? start.rowCount : null,
    columns: start.names.map((name, index) =>
      summaryOf(
        name,
        start.columns.get(name) as Column,
        lower.indexOf(lower[index] ?? '') !== lower.lastIndexOf(lower[index] ?? ''),
      ),
    ),
    preview: Array.from({ length: Math.min(PREVIEW_ROWS, table.rowCount) }, (_, row) =>
      start.names.map((name) => cellText(start.columns.get(name) as Column, row)),
    ),
    guesses,
  };
}

function cellText(column: Column, row: number): string {
  if (column.kind === 'categorical') return column.labels[column.codes[row] ?? -1] ?? '';
  const value = column.values[row] ?? NaN;
  return Number.isNaN(value) ? '' : String(value);
}

function summaryOf(name: string, column: Column, isRepeated: boolean): ColumnSummary {
  const rows = columnLength(column);
  if (column.kind === 'numeric') {
    const known = column.values.filter((value) => !Number.isNaN(value)).sort();
    const distinct = known.reduce(
      (count, value, index) => count + Number(index === 0 || value !== known[index - 1]),
      0,
    );
    const [least, most] = [known[0], known.at(-1)];
    const examples =
      least === undefined
        ? 'no values'
        : distinct <= 4
          ? [...new Set(known)].join(', ')
          : `${String(least)} to ${String(most)}`;
    const range = least === undefined || most === undefined ? null : ([least, most] as const);
    return { name, kind: 'numbers', distinct, missing: rows - known.length, examples, range, isRepeated };
  }
  const counts = new Map<number, number>();
  for (const code of column.codes) counts.set(code, (counts.get(code) ?? 0) + 1);
  const missing = counts.get(-1) ?? 0;
  counts.delete(-1);
  const sorted = [...counts].sort((a, b) => b[1] - a[1]);
  const shown = sorted.slice(0, 3).map(([code]) => column.labels[code] ?? '');
  const examples = sorted.length === 0 ? 'no values' : shown.join(', ') + (sorted.length > 3 ? ', …' : '');
  return { name, kind: 'labels', distinct: sorted.length, missing, examples, range: null, isRepeated };
}
