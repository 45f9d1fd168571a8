import type { Command } from 'commander';

import { ConfigValidationError } from '../../exceptions/index.ts';
import { briefReport, noteBlocks, numberColumn, type ReportDocument } from '../../document/report-document.ts';
import { capital, counted, formatCount, formatNumber } from '../../internal/format.ts';
import type { FoundFiles } from '../../schemas/data-source.ts';
import type { Table } from '../../table/index.ts';
import type { CalibrateTableOptions } from '../../training/postprocessing/calibrator/calibrate-table.ts';
import type { MeasuredCalibration } from '../../training/postprocessing/calibrator/table-calibration.ts';
import { defineCommand, OPTION } from '../define-command.ts';
import { flagName, parseCrossing } from '../option-parsers.ts';
import { type OutputOptions, printResult, remarkWritten } from '../output.ts';
import { assertExtension, assertOutputs, outputTableFormat, reportForms, writeForms } from '../output-places.ts';
import { progressBar } from '../progress-bar.ts';
import { startProvenance } from '../provenance.ts';
import { assertOneSource, onDatabase, openSql, SQL_OPTIONS, type SqlOptions } from '../sql-rows.ts';
import { beforeAfter, quoted } from '../training-job.ts';

interface CalibrateOptions extends OutputOptions, SqlOptions {
  readonly csv?: FoundFiles;
  readonly score?: string;
  readonly target?: string;
  readonly group?: readonly string[];
  readonly positiveLabel?: string;
  readonly naValues?: readonly string[];
  readonly outCsv?: string;
  readonly rawCsv?: boolean;
  readonly outPlot?: string;
  readonly outJson?: string;
  readonly reportMd?: string;
  readonly reportHtml?: string;
  readonly saveModel?: string;
}

/** Returns the command `evenhand calibrate`. */
export function calibrateCommand(): Command {
  return defineCommand({
    name: 'calibrate',
    options: `
${OPTION.csv}
${SQL_OPTIONS}
--score <column>  column of scores from 0 to 1 (default: score)
--target <column>  column of true outcomes, 0 or 1 (default: y)
--group <columns>  sensitive column, or a comma-separated list to intersect (default: g)
--positive-label <label>  label of --target that counts as 1, if the labels are not 0 and 1
${OPTION.naValues}
--method <name>  calibration method: platt, isotonic or temperature (default: platt)
--input <name>  input of the logistic model of platt: logit or score (default: logit)
--min-samples <n>  minimum rows of a group; smaller groups use the pooled calibrator and are listed (default: 20)
--folds <n>  number of folds; each row is calibrated by a calibrator fitted on the other folds; 1 fits and measures on the same rows (default: 5)
--train-size <share>  fit on this share of the rows, and calibrate and measure the other rows, instead of --folds
--seed <n>  seed of the random assignment of rows to folds (default: 42)
--out-csv <path>  write the measured rows with the columns score_raw, score_cal, y and g
${OPTION.rawCsv}
--out-plot <path>  draw a reliability diagram, before and after: .svg, .png or .html
--out-json <path>  write the results as JSON
--report-md <path>  write the report as Markdown
--report-html <path>  write the report as an HTML page with charts
--save-model <path>  write the calibrator as JSON; it is fitted on all rows, or on the share of --train-size`,
    parsers: { group: parseCrossing },
    required: ['csv|sql'],
    schema: async () => (await import('../../schemas/calibrate.ts')).calibrateSchema,
    help: `
Examples:
  $ evenhand calibrate --csv scored.csv --score p --target repaid --group sex --out-csv calibrated.csv

  $ evenhand calibrate --csv scored.csv --score p --target outcome --positive-label default \\
      --group sex,race --method isotonic --out-plot reliability.svg --save-model calibrator.json

  Scores in a database, which counts them by group, label and score:
  $ EVENHAND_SQL_PASSWORD=… evenhand calibrate --sql postgres://ana@db.example/shop --table scored \\
      --score p --target repaid --group sex --save-model calibrator.json

Scores are calibrated and measured on rows that the calibrator has not seen, unless --folds is 1.
If groups have different base rates, calibrated scores give them different error rates at a common
threshold. Measure the error rates of the decisions with 'evenhand validate'.`,
    async run(options: CalibrateOptions, request, _, call) {
      const { csv, outCsv, outPlot, outJson, reportMd, reportHtml, saveModel } = options;
      assertOneSource(options, ['csv', 'sql']);
      assertTogether(request);
      await assertPaths(options);
      const isShown = options.json === true || [outJson, reportMd, reportHtml].some((path) => path !== undefined);
      const findProvenance = startProvenance(isShown, { call, options, inputs: [csv] });
      const { calibration: calibrated, table } = await calibrate(options, request);
      const { calibrationNotes } = await import('../../integration/file-jobs.ts');
      const notes = await calibrationNotes(calibrated, request.folds === 1 ? undefined : csv);
      const calibration = { ...calibrated, warnings: [...calibrated.warnings, ...notes] };
      const [{ tableCalibrationToJson }, { calibrationDocument }, { withManifest }] = await Promise.all([
        import('../../training/postprocessing/calibrator/table-calibration.ts'),
        import('../../integration/training-report/calibration-document.ts'),
        import('../../document/provenance.ts'),
      ]);
      const provenance = await findProvenance(calibration.n + calibration.nDropped);
      const body = withManifest(tableCalibrationToJson(calibration), provenance);
      await writeOutputs(calibration, table, options);
      const forms = reportForms(calibrationDocument(calibration), body, provenance);
      await writeForms(forms, { json: outJson, md: reportMd, html: reportHtml });
      await printResult(options, { json: () => body, text: () => describe(calibration) });
      remarkWritten([outCsv, outPlot, outJson, reportMd, reportHtml, saveModel], options);
    },
  });
}

/** Checks the outputs before the work starts. */
async function assertPaths({
  csv,
  outCsv,
  outPlot,
  outJson,
  reportMd,
  reportHtml,
  saveModel,
}: CalibrateOptions): Promise<void> {
  if (outPlot !== undefined) (await import('../../charts/render-chart.ts')).chartFormat(outPlot);
  assertExtension('--report-md', reportMd, 'Markdown');
  assertExtension('--out-json', outJson, 'JSON');
  await assertOutputs([outCsv, outPlot, outJson, reportMd, reportHtml, saveModel], [csv]);
  if (outCsv !== undefined) await outputTableFormat('--out-csv', outCsv);
}

async function calibrate(
  options: CalibrateOptions,
  calibrateOptions: CalibrateTableOptions,
): Promise<{ readonly calibration: MeasuredCalibration; readonly table: Table | undefined }> {
  const { sql, outCsv, score, target, group, positiveLabel, naValues } = options;
  const columns = { score, target, group, positiveLabel, naValues };
  const own = { ...calibrateOptions, onProgress: progressBar(options) };
  if (sql === undefined) {
    const { calibrateFile } = await import('../../integration/file-jobs.ts');
    const calibration = await calibrateFile({ csv: options.csv as FoundFiles, ...columns }, own);
    return { calibration, table: calibration.table };
  }
  if (outCsv !== undefined) {
    throw new ConfigValidationError('--out-csv writes rows, but with --sql the rows stay in the database.', {
      context: { parameter: 'outCsv' },
      suggestion:
        'Remove --out-csv. Save the calibrator with --save-model, and calibrate rows in code with GroupFairnessCalibrator.fromJSON.',
    });
  }
  const { calibrateSql } = await import('../../training/postprocessing/calibrator/calibrate-sql.ts');
  const calibration = await onDatabase(await openSql(sql, options), (source) => calibrateSql(source, columns, own));
  return { calibration, table: undefined };
}

/** Rejects mutually exclusive options. The library checks this too, but its messages use the library's names. */
function assertTogether({ folds, trainSize, method, input }: CalibrateTableOptions): void {
  if (folds !== undefined && trainSize !== undefined) {
    throw leftOut('folds', '--train-size is given', folds);
  }
  if (input !== undefined && method !== undefined && method !== 'platt') {
    throw leftOut('input', `--method is ${method}`, input);
  }
}

function leftOut(field: string, where: string, given: unknown): ConfigValidationError {
  return new ConfigValidationError(`${flagName(field)} must be left out if ${where}.`, {
    context: { option: flagName(field), value: given },
    suggestion: 'See the examples under --help.',
  });
}

async function writeOutputs(
  calibration: MeasuredCalibration,
  table: Table | undefined,
  options: CalibrateOptions,
): Promise<void> {
  const { outCsv, outPlot, saveModel } = options;
  const [{ writeFileAtomic }, { writeTableAs }] = await Promise.all([
    import('../../io/atomic-write.ts'),
    import('../../io/write-table.ts'),
  ]);
  // The plot is written first, because this step fails if the plotting packages are missing.
  if (outPlot !== undefined) {
    const { plotReliability } = await import('../../training/postprocessing/calibrator/reliability-curve.ts');
    await plotReliability(calibration.curves, { savePath: outPlot, subtitle: subtitleOf(calibration) });
  }
  if (outCsv !== undefined && table !== undefined) {
    const format = await outputTableFormat('--out-csv', outCsv);
    await writeTableAs(outCsv, table, format, { raw: options.rawCsv });
  }
  if (saveModel !== undefined) {
    await writeFileAtomic(saveModel, `${JSON.stringify(calibration.calibrator, undefined, 2)}\n`);
  }
}

function subtitleOf({ columns, positiveLabel, calibrator, ...how }: MeasuredCalibration): string {
  const outcome = positiveLabel === null ? columns.target : `${columns.target} = ${positiveLabel}`;
  return `${outcome} by ${columns.group.join(' x ')}; ${calibrator.method}, ${measuredRows(how)}`;
}

/** Returns a description of the rows on which the calibrated scores were measured. */
function measuredRows({ folds, trainSize, after }: Pick<MeasuredCalibration, 'folds' | 'trainSize' | 'after'>): string {
  const rows = counted(after.overall.n, 'row');
  if (folds === null) return `${rows} held out, fitted on ${String(trainSize)} of all`;
  return folds === 1 ? `${rows}, the same rows as fitted` : `${rows}, cross-fitted in ${String(folds)} folds`;
}

function describe(calibration: MeasuredCalibration): ReportDocument {
  const { before, after, columns, calibrator, nDropped, warnings } = calibration;
  const dropped =
    nDropped > 0 ? ` ${formatCount(nDropped)} rows without a score, a label or a group were excluded.` : '';
  const fallbacks = Object.entries(calibration.fallbacks).map(
    ([label, { n, reason }]) =>
      `Group '${label}' (${String(n)} rows) has no calibrator of its own: ${reason.replace('minSamples', flagName('minSamples'))}.`,
  );
  return briefReport({
    title: 'Calibration by group',
    subject: `Calibrating '${columns.score}' to ${outcomeOf(calibration)}, by ${quoted(columns.group, ' x ')}: ${calibrator.method}, ${measuredRows(calibration)}.${dropped}`,
    blocks: [
      {
        kind: 'table',
        caption: `Before → after calibration, ${SEEN[calibration.measuredOn]}`,
        columns: [
          { name: 'Group' },
          ...['n', 'Positive', 'Mean score', 'ECE', 'Brier score', 'Log loss'].map(numberColumn),
        ],
        rows: [
          ...after.groups.map((quality, index) => row(quality.group, before.groups[index] ?? quality, quality)),
          row('(all rows)', before.overall, after.overall),
        ],
      },
      {
        kind: 'paragraph',
        text: 'ECE: expected calibration error over ten bins with equal numbers of rows. With few rows, it is large by chance alone.',
      },
      ...noteBlocks('Notes', [...warnings.map((warning) => `${capital(warning)}.`), ...fallbacks]),
    ],
  });
}

const SEEN: Readonly<Record<MeasuredCalibration['measuredOn'], string>> = {
  cross_fitted_rows: 'measured on all rows, each calibrated by a calibrator that has not seen it',
  held_out_rows: 'measured on the rows that the calibrator has not seen',
  fitted_rows: 'measured on the same rows that the calibrator was fitted on',
};

function outcomeOf({ columns, positiveLabel }: MeasuredCalibration): string {
  return positiveLabel === null ? `'${columns.target}'` : `'${columns.target}' = '${positiveLabel}'`;
}

type Quality = MeasuredCalibration['after']['overall'];

function row(group: string, before: Quality, after: Quality): string[] {
  const pair = (name: 'meanScore' | 'ece' | 'brierScore' | 'logLoss', digits: number): string =>
    beforeAfter(before[name], after[name], digits);
  return [
    group,
    formatCount(after.n),
    formatNumber(after.positiveRate, 3),
    pair('meanScore', 3),
    pair('ece', 4),
    pair('brierScore', 4),
    pair('logLoss', 4),
  ];
}
