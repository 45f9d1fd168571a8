import { Command } from 'commander';

import { ConfigValidationError } from '../../exceptions/index.ts';
import type { CalibrateTableOptions } from '../../training/postprocessing/calibrator/calibrate-table.ts';
import type { TableCalibration } from '../../training/postprocessing/calibrator/table-calibration.ts';
import { flagName, NA_VALUES_HELP, parseCrossing, parseNumber, parseTexts, requireOptions } from '../option-parsers.ts';
import { type OutputOptions, prepareLogs, print, remark, textTable, withOutputOptions } from '../output.ts';
import { assertApart, assertInputsKept, outputTableFormat } from '../output-places.ts';
import { progressBar } from '../progress-bar.ts';

interface CalibrateOptions extends OutputOptions {
  readonly csv: string;
  readonly score?: string;
  readonly target?: string;
  readonly group?: readonly string[];
  readonly positiveLabel?: string;
  readonly naValues?: readonly string[];
  readonly outCsv?: string;
  readonly rawCsv?: boolean;
  readonly outPlot?: string;
  readonly outJson?: string;
  readonly saveModel?: string;
}

/** `evenhand calibrate` */
export function calibrateCommand(): Command {
  return withOutputOptions(
    new Command('calibrate')
      .description(
        'Turn scores into probabilities that mean the same in every group, and show how well they did before and after.',
      )
      .option('--csv <path>', 'the rows: CSV, TSV (also .gz) or Parquet')
      .option('--score <column>', 'scores from 0 to 1 (default: score)')
      .option('--target <column>', 'what came true, 0 or 1 (default: y)')
      .option('--group <columns>', 'the sensitive column, or a comma list to cross (default: g)', parseCrossing)
      .option('--positive-label <label>', 'the label of --target that counts as 1, where it is not 0/1')
      .option('--na-values <texts>', NA_VALUES_HELP, parseTexts)
      .option('--method <name>', 'platt, isotonic or temperature (default: platt)')
      .option('--input <name>', 'for platt, what its line is drawn through: logit or score (default: logit)')
      .option(
        '--min-samples <n>',
        'smaller groups are served by the pooled calibrator and named (default: 20)',
        parseNumber,
      ) // prettier-ignore
      .option(
        '--folds <n>',
        'calibrate each row by a calibrator of the other folds; 1 measures the rows fitted (default: 5)',
        parseNumber,
      ) // prettier-ignore
      .option(
        '--train-size <share>',
        'instead of folds: fit on this share of rows, calibrate and measure the others',
        parseNumber,
      ) // prettier-ignore
      .option('--seed <n>', 'deals rows into folds (default: 42)', parseNumber)
      .option('--out-csv <path>', 'write the rows measured: score_raw, score_cal, y, g')
      .option('--raw-csv', 'write texts as they are, also those that a spreadsheet would compute')
      .option('--out-plot <path>', 'draw reliability before and after: .svg, .png or .html')
      .option('--out-json <path>', 'write the table as JSON')
      .option(
        '--save-model <path>',
        'write the calibrator as JSON, fitted on all rows (with --train-size on its share)',
      ) // prettier-ignore
      .addHelpText(
        'after',
        `
Examples:
  $ evenhand calibrate --csv scored.csv --score p --target repaid --group sex --out-csv calibrated.csv

  $ evenhand calibrate --csv scored.csv --score p --target outcome --positive-label default \\
      --group sex,race --method isotonic --out-plot reliability.svg --save-model calibrator.json

Scores are calibrated and measured on rows that the calibrator has not seen, unless --folds is 1.
Groups with different base rates that are each calibrated have different error rates under any one
threshold: measure those with 'evenhand validate' on the decisions.`,
      ),
  ).action(async (options: CalibrateOptions) => {
    requireOptions(options, ['csv']);
    await prepareLogs(options);
    const calibration = await run(options);
    const { tableCalibrationToJson } = await import('../../training/postprocessing/calibrator/table-calibration.ts');
    const body = `${JSON.stringify(tableCalibrationToJson(calibration), undefined, 2)}\n`;
    await writeOutputs(calibration, body, options);
    if (options.json === true) process.stdout.write(body);
    else print(describe(calibration));
    for (const path of outputsOf(options)) remark(`Wrote ${path}`, options);
  });
}

async function run(options: CalibrateOptions): Promise<TableCalibration> {
  const [{ calibrateTable }, { loadData }, { parseBy }, { calibrateSchema }] = await Promise.all([
    import('../../training/postprocessing/calibrator/calibrate-table.ts'),
    import('../../io/index.ts'),
    import('../../schemas/parse.ts'),
    import('../../schemas/calibrate.ts'),
  ]);
  const calibrateOptions = parseBy(calibrateSchema, options, 'calibrate', flagName);
  assertTogether(calibrateOptions);
  await assertOutputs(options);
  const { score, target, group, positiveLabel, naValues } = options;
  const labels = group ?? ['g'];
  const columns = [score ?? 'score', target ?? 'y', ...labels];
  const table = await loadData(options.csv, { columns: [...new Set(columns)], labels });
  return calibrateTable(
    { table, score, target, group, positiveLabel, naValues },
    { ...calibrateOptions, onProgress: progressBar(options) },
  );
}

/** Checked here too, since the library would call options by its own names for them. */
function assertTogether({ folds, trainSize, method, input }: CalibrateTableOptions): void {
  if (folds !== undefined && trainSize !== undefined) {
    throw leftOut('folds', '--train-size is given', folds);
  }
  if (input !== undefined && method !== undefined && method !== 'platt') {
    throw leftOut('input', `--method is ${method}`, input);
  }
}

function leftOut(field: string, where: string, given: unknown): ConfigValidationError {
  return new ConfigValidationError(`${flagName(field)} must be left out where ${where}.`, {
    context: { option: flagName(field), value: given },
    suggestion: 'See the examples under --help.',
  });
}

function outputsOf({ outCsv, outPlot, outJson, saveModel }: CalibrateOptions): string[] {
  return [outCsv, outPlot, outJson, saveModel].filter((path) => path !== undefined);
}

/** Checked before the work, so that its result is not lost to a bad path. */
async function assertOutputs(options: CalibrateOptions): Promise<void> {
  const [{ assertFileWritable }, { chartFormat }] = await Promise.all([
    import('../../io/atomic-write.ts'),
    import('../../charts/render-chart.ts'),
  ]);
  if (options.outPlot !== undefined) chartFormat(options.outPlot);
  const paths = outputsOf(options);
  assertApart(paths);
  assertInputsKept(paths, [options.csv]);
  if (options.outCsv !== undefined) await outputTableFormat('--out-csv', options.outCsv);
  for (const path of paths) await assertFileWritable(path);
}

async function writeOutputs(calibration: TableCalibration, body: string, options: CalibrateOptions): Promise<void> {
  const { outCsv, outPlot, outJson, saveModel } = options;
  const [{ writeFileAtomic }, { writeTableAs }] = await Promise.all([
    import('../../io/atomic-write.ts'),
    import('../../io/write-table.ts'),
  ]);
  // The plot first: it alone may fail, where the packages that draw are missing.
  if (outPlot !== undefined) {
    const { plotReliability } = await import('../../training/postprocessing/calibrator/plot-reliability.ts');
    await plotReliability(calibration.curves, { savePath: outPlot, subtitle: subtitleOf(calibration) });
  }
  if (outCsv !== undefined) {
    const format = await outputTableFormat('--out-csv', outCsv);
    await writeTableAs(outCsv, calibration.table, format, { raw: options.rawCsv });
  }
  if (outJson !== undefined) await writeFileAtomic(outJson, body);
  if (saveModel !== undefined) {
    await writeFileAtomic(saveModel, `${JSON.stringify(calibration.calibrator, undefined, 2)}\n`);
  }
}

function subtitleOf({ columns, positiveLabel, calibrator, ...how }: TableCalibration): string {
  const outcome = positiveLabel === null ? columns.target : `${columns.target} = ${positiveLabel}`;
  return `${outcome} by ${columns.group.join(' x ')}; ${calibrator.method}, ${measuredRows(how)}`;
}

/** On which rows "after" was measured. */
function measuredRows({ folds, trainSize, after }: Pick<TableCalibration, 'folds' | 'trainSize' | 'after'>): string {
  const rows = `${after.overall.n.toLocaleString('en-US')} rows`;
  if (folds === null) return `${rows} held out, fitted on ${String(trainSize)} of all`;
  return folds === 1 ? `${rows}, the same as fitted` : `${rows}, cross-fitted in ${String(folds)} folds`;
}

function describe(calibration: TableCalibration): string {
  const { before, after, columns, calibrator, nDropped, warnings } = calibration;
  const own = Object.entries(calibration.fallbacks);
  return [
    `Calibrating '${columns.score}' to ${outcomeOf(calibration)}, by ${columns.group.map((name) => `'${name}'`).join(' x ')}: ${calibrator.method}, ${measuredRows(calibration)}.`,
    ...(nDropped > 0 ? [`${nDropped.toLocaleString('en-US')} rows without a score, a label or a group left out.`] : []),
    '',
    textTable(
      ['group', 'n', 'positive', 'score', '→', 'ECE', '→', 'Brier', '→', 'log loss', '→'],
      [
        ...after.groups.map((quality, place) => row(quality.group, before.groups[place] ?? quality, quality)),
        row('(all rows)', before.overall, after.overall),
      ],
    ),
    '',
    `Each arrow is the number before it after calibration, ${SEEN[calibration.measuredOn]}.`,
    'ECE: expected calibration error, ten bins of equal mass; in few rows chance alone makes it large.',
    ...own.map(
      ([label, { n, reason }]) =>
        `Note: group '${label}' (${String(n)} rows) has no calibrator of its own: ${reason.replace('minSamples', flagName('minSamples'))}.`,
    ),
    ...warnings.map((warning) => `Note: ${warning}.`),
  ].join('\n');
}

const SEEN: Readonly<Record<TableCalibration['measuredOn'], string>> = {
  cross_fitted_rows: 'measured on every row, each calibrated by a calibrator that has not seen it',
  held_out_rows: 'measured on the rows that the calibrator has not seen',
  fitted_rows: 'measured on the very rows that the calibrator was fitted on',
};

function outcomeOf({ columns, positiveLabel }: TableCalibration): string {
  return positiveLabel === null ? `'${columns.target}'` : `'${columns.target}' = '${positiveLabel}'`;
}

type Quality = TableCalibration['after']['overall'];

function row(group: string, before: Quality, after: Quality): string[] {
  const pair = (name: 'meanScore' | 'ece' | 'brierScore' | 'logLoss', digits: number): string[] =>
    [before, after].map((quality) => quality[name].toFixed(digits));
  return [
    group,
    after.n.toLocaleString('en-US'),
    after.positiveRate.toFixed(3),
    ...pair('meanScore', 3),
    ...pair('ece', 4),
    ...pair('brierScore', 4),
    ...pair('logLoss', 4),
  ];
}
