import type { OnProgress } from '../internal/progress.ts';
import { findFiles, sameContentNotes } from '../io/find-files.ts';
import { readFirstRows } from '../io/first-rows.ts';
import { loadData } from '../io/load-data.ts';
import type { ABTestFields, PerArm } from '../monitoring/ab-test/ab-test-fields.ts';
import { ABTestResult } from '../monitoring/ab-test/ab-test-result.ts';
import { FairnessABTestAnalyzer } from '../monitoring/ab-test/fairness-ab-test-analyzer.ts';
import { splitArms } from '../monitoring/ab-test/split-arms.ts';
import type { ABTestRequest } from '../schemas/ab-test.ts';
import type { DataPaths, FileSource } from '../schemas/data-source.ts';
import { INTERSECTION_SEPARATOR, type Table } from '../table/index.ts';
import type { TrainingSource } from '../training/data/training-data.ts';
import { type CalibrateTableOptions, calibrateTable } from '../training/postprocessing/calibrator/calibrate-table.ts';
import type { MeasuredCalibration, TableCalibration } from '../training/postprocessing/calibrator/table-calibration.ts';
import { clusterNotes, heldOutRowsNotes } from './column-notes.ts';
import { groupNotes } from './reading-notes.ts';

type Source = DataPaths | FileSource;

/** The file of scores, and the roles of its columns. */
export interface ScoreFile {
  readonly csv: Source;
  /** @defaultValue 'score' */
  readonly score?: string | undefined;
  /** @defaultValue 'y' */
  readonly target?: string | undefined;
  /** @defaultValue ['g'] */
  readonly group?: readonly string[] | undefined;
  readonly positiveLabel?: string | undefined;
  readonly naValues?: readonly string[] | undefined;
}

/**
 * Calibrates the scores in a file, of which only the needed columns are read.
 * @throws {DataValidationError} if the file cannot be read, or a column is missing or not valid
 */
export async function calibrateFile(
  { csv, ...columns }: ScoreFile,
  options: CalibrateTableOptions,
): Promise<TableCalibration> {
  const { score = 'score', target = 'y', group = ['g'] } = columns;
  const table = await loadData(csv, { columns: [...new Set([score, target, ...group])], labels: group });
  return calibrateTable({ table, ...columns }, options);
}

/**
 * Returns notes on groups of a calibration that are probably not meant, such as one for each age, and those of
 * {@link heldOutNotes}.
 * @param csv the calibrated rows, if they are held out and in files
 */
export async function calibrationNotes(
  { columns, after }: MeasuredCalibration,
  csv: Source | undefined,
): Promise<readonly string[]> {
  const rows = new Map(after.groups.map(({ group, n }) => [group, n]));
  return [
    ...groupNotes([columns.group.join(INTERSECTION_SEPARATOR)], [rows]),
    ...(csv === undefined ? [] : await heldOutNotes(csv, Object.values(columns).flat())),
  ];
}

/** The files of a training, and the roles of their columns. */
export interface TrainingFiles extends Omit<TrainingSource, 'table' | 'testTable'> {
  readonly csv: Source;
  readonly testCsv?: Source | undefined;
}

/**
 * Reads the rows of a training. Of the test rows, only the columns of the training rows are read, so that an error about
 * a missing column names the test file.
 * @throws {DataValidationError} if a file cannot be read, or lacks a column
 */
export async function loadTrainingSource({ csv, testCsv, ...columns }: TrainingFiles): Promise<TrainingSource> {
  const labels = [columns.sensitive ?? 's'].flat();
  const table = await loadData(csv, { labels });
  const testTable = testCsv === undefined ? undefined : await loadData(testCsv, { columns: table.columnNames, labels });
  return { table, testTable, ...columns };
}

/** Returns the notes of {@link heldOutRowsNotes} on files. */
export async function heldOutNotes(csv: Source, used: readonly string[]): Promise<readonly string[]> {
  const rows = await readFirstRows(await findFiles(csv));
  return rows === undefined ? [] : heldOutRowsNotes(rows, used);
}

/** An A/B test of the rows in files. */
interface FileABTest {
  readonly result: ABTestResult;
  /** The number of rows in either arm. */
  readonly n: number;
  /** The number of rows in neither arm. */
  readonly nLeftOut: number;
  /** The labels of the arms; undefined if each arm has its own files. */
  readonly arms: PerArm<string> | undefined;
}

/** A checked A/B test, whose files are not read yet. */
export interface PlannedABTest {
  /**
   * Reads the files and compares the arms.
   * @throws {DataValidationError} if a file cannot be read, or a column is missing or not valid
   */
  readonly run: (options?: { readonly onProgress?: OnProgress | undefined }) => Promise<FileABTest>;
}

/**
 * Checks the options of an A/B test.
 * @throws {ValueError} if a name is unknown or a number is out of range
 */
export function planABTest(request: ABTestRequest): PlannedABTest {
  const analyzer = analyzerOf(request);
  return {
    run: async (options = {}) => {
      const { control, treatment, nLeftOut, labels: arms } = await readArms(request, analyzer);
      const analysed: ABTestFields = analyzer.analyze(control, treatment, options);
      const warnings = [...analysed.warnings, ...(await copiedNotes(request)), ...(await unitNotes(request, analyzer))];
      const result = new ABTestResult({ ...analysed, warnings: Object.freeze(warnings) });
      return { result, n: control.rowCount + treatment.rowCount, nLeftOut, arms };
    },
  };
}

function analyzerOf(request: ABTestRequest): FairnessABTestAnalyzer {
  const { attributes, metric, sequential, tau, ...rest } = request;
  const { csv: _csv, controlCsv: _controlCsv, treatmentCsv: _treatmentCsv, arm: _arm, ...named } = rest;
  const { control: _control, treatment: _treatment, ...others } = named;
  return new FairnessABTestAnalyzer({
    ...others,
    protected: attributes.flatMap((columns) => (columns.length === 1 ? columns : [])),
    intersections: attributes.filter((columns) => columns.length > 1),
    // The analyzer checks the names, and its error lists the known names.
    fairness: metric as never,
    sequential: sequential ? { tau } : false,
  });
}

/**
 * Notes columns that look like people or things with several rows within an arm, if no column is named as the cluster.
 * The arms of two files may number their rows separately.
 */
async function unitNotes(request: ABTestRequest, { settings }: FairnessABTestAnalyzer): Promise<string[]> {
  if (settings.cluster !== null) return [];
  const used = new Set([...neededColumns(settings), ...(request.arm === undefined ? [] : [request.arm])]);
  const sources = [request.csv, request.controlCsv, request.treatmentCsv].filter((source) => source !== undefined);
  for (const source of sources) {
    const rows = await readFirstRows(await findFiles(source));
    const notes = rows === undefined ? [] : clusterNotes(rows, used);
    if (notes.length > 0) return notes;
  }
  return [];
}

/** Notes files of one arm with the same content as a file of the other one. */
async function copiedNotes({ controlCsv, treatmentCsv }: ABTestRequest): Promise<readonly string[]> {
  if (controlCsv === undefined || treatmentCsv === undefined) return [];
  const found = [await findFiles(controlCsv), await findFiles(treatmentCsv)];
  return sameContentNotes({ files: found.flatMap(({ files }) => files) });
}

interface Arms {
  readonly control: Table;
  readonly treatment: Table;
  readonly labels?: PerArm<string>;
  readonly nLeftOut: number;
}

/** Returns the columns that the analysis uses. */
function neededColumns(settings: FairnessABTestAnalyzer['settings']): string[] {
  const { attributes, outcome, yTrue, business, sampleWeight, cluster, id } = settings;
  const needed = [
    outcome,
    ...attributes.flatMap(({ columns }) => columns),
    yTrue,
    ...business,
    sampleWeight,
    cluster,
    id,
  ];
  return [...new Set(needed.filter((name) => name !== null))];
}

/** Reads the columns that the analysis uses. */
async function readArms(request: ABTestRequest, { settings }: FairnessABTestAnalyzer): Promise<Arms> {
  const { attributes, cluster, id } = settings;
  const columns = neededColumns(settings);
  const labels = [
    ...attributes.flatMap((attribute) => attribute.columns),
    ...[id, cluster].filter((name) => name !== null),
  ];
  const { csv, arm, controlCsv = '', treatmentCsv = '' } = request;
  if (csv === undefined || arm === undefined) {
    return {
      control: await loadData(controlCsv, { columns, labels }),
      treatment: await loadData(treatmentCsv, { columns, labels }),
      nLeftOut: 0,
    };
  }
  const table = await loadData(csv, { columns: [...new Set([arm, ...columns])], labels: [arm, ...labels] });
  return splitArms(table, arm, { control: request.control, treatment: request.treatment });
}
