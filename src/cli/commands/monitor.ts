import { Command } from 'commander';

import type { MonitorHooks, MonitorOutcome } from '../../integration/monitor/run-monitor.ts';
import type { MonitorRequest } from '../../schemas/monitor.ts';
import { CHECK_FAILED, INTERRUPTED } from '../exit-codes.ts';
import { alarmLine, describeOutcome, faultSentences, watchLine } from '../monitor-text.ts';
import {
  flagName,
  NA_VALUES_HELP,
  parseNames,
  parseNumber,
  parseTexts,
  repeatable,
  requireOptions,
} from '../option-parsers.ts';
import { assertApart, assertInputsKept } from '../output-places.ts';
import { count, jsonText, type OutputOptions, prepareLogs, print, remark, warn, withOutputOptions } from '../output.ts';
import { progressBar } from '../progress-bar.ts';

/** Lines that could not be counted are told one by one up to so many. */
const MAX_REPORTED_FAULTS = 5;

interface MonitorOptions extends OutputOptions {
  readonly sensitive: readonly (readonly string[])[];
}

/** `evenhand monitor` */
export function monitorCommand(): Command {
  return withOutputOptions(withPolicyOptions(withDataOptions(new Command('monitor'))))
    .description(
      'Watch the fairness of a stream of decisions: replay a file, or follow events on stdin. Raises alarms whose error rate holds however often it looks.',
    )
    .addHelpText(
      'after',
      `
Examples:
  What would have been sent in the last year, with a dashboard:
  $ evenhand monitor --csv decisions.csv --y-pred approved --sensitive sex --sensitive sex,race \\
      --timestamp decided_at --output-dir monitoring

  A live stream, one JSON object a line, that goes on where it stopped:
  $ tail -n +1 -F decisions.ndjson | evenhand monitor --y-pred approved --sensitive sex --state monitor.json \\
      --records records.csv --alerts alerts.ndjson --output-dir monitoring

  A later run takes what is new: tail -n 0 -F. Stopping and starting tail can lose lines or repeat them; with
  --id an event that is repeated is counted once (duplicate_id). With --state only every --look-every events are
  checked, so that a run that is resumed finds what a run without a break finds; the end is previewed.

  True labels that come later: {"case": 7, "approved": 1, "sex": "f"}, some day {"case": 7, "repaid": 0}
  $ evenhand monitor --y-pred approved --y-true repaid --id case --sensitive sex --output-dir monitoring < events.ndjson

Watches are hints of an ordinary interval and change no exit code.
Exit codes: 0 no alarm, 1 an alarm was raised or is open, 2 usage and data (also where nothing of the input
can be counted, or an output cannot be written at the end), 130 stopped by Ctrl-C (the dashboard and the
state are written first).`,
    )
    .action(async (options: MonitorOptions) => {
      await runMonitorCommand(options);
    });
}

function withDataOptions(command: Command): Command {
  return command
    .option('--csv <path>', 'replay a file: CSV, TSV (also .gz) or Parquet; without it events are read from stdin')
    .option('--y-pred <column>', 'decisions 0 or 1, or scores from 0 to 1')
    .option('--y-true <column>', 'true labels; adds equalized odds')
    .option('--score-threshold <number>', 'a score of at least this is a positive decision (default: 0.5)', parseNumber)
    .option('--positive-label <label>', 'the label that counts as 1, where decisions and labels are not 0 and 1')
    .option('--na-values <texts>', NA_VALUES_HELP, parseTexts)
    .option(
      '--sensitive <columns>',
      'a sensitive column; a comma list is their crossing too (a comma in a name is \\,); repeat for more',
      repeatable(parseNames),
    )
    .option(
      '--timestamp <column>',
      'when it happened: ISO 8601, or a number since 1970 (default: timestamp, if a file has it)',
    )
    .option('--id <column>', 'names an event on stdin, so that its label can come later')
    .option('--sample-weight <column>', 'weights of events')
    .option('--error-scale <number>', 'for mae_parity_difference: the largest error there can be', parseNumber);
}

function withPolicyOptions(command: Command): Command {
  return command
    .option(
      '--metric <names>',
      'a comma list of differences to watch (default: demographic parity; with labels also equalized odds)',
      parseNames,
    )
    .option('--limit <number>', 'the largest gap that is accepted, of each metric (default: 0.1)', parseNumber)
    .option('--alpha <number>', 'the probability that it ever raises a false alarm (default: 0.05)', parseNumber)
    .option('--window-size <n>', 'events of the sliding window, at most 100000000 (default: 10000)', parseNumber)
    .option('--min-group-size <n>', 'groups with fewer events take no part in a gap (default: 30)', parseNumber)
    .option('--look-every <n>', 'events between two looks (default: 100)', parseNumber)
    .option('--persistence <n>', 'looks in a row until a watch is told, or a breach is over (default: 3)', parseNumber)
    .option(
      '--cooldown-minutes <n>',
      'time of the stream between two messages of an open alarm (default: 60)',
      parseNumber,
    )
    .option(
      '--detector <names>',
      'a comma list of what dates changes: adwin, page_hinkley, cusum, ewma, … (default: adwin)',
      parseNames,
    )
    .option('--output-dir <folder>', 'write dashboard.html, report.md and active_alerts.json there')
    .option('--refresh-seconds <n>', 'on stdin: how often they are written anew (default: 60)', parseNumber)
    .option('--records <path>', 'append the metrics as they come: .csv or .ndjson')
    .option('--alerts <path>', 'append what happens to alerts: .ndjson')
    .option('--webhook <url>', 'post it there, with retries')
    .option(
      '--state <path>',
      'go on from this file if it is there (the same columns, metrics, sizes, alpha, limit and detectors), and write it at the end and at each refresh',
    );
}

async function runMonitorCommand(options: MonitorOptions): Promise<void> {
  requireOptions(options, ['yPred', 'sensitive']);
  await prepareLogs(options);
  const [{ parseBy }, { monitorSchema }] = await Promise.all([
    import('../../schemas/parse.ts'),
    import('../../schemas/monitor.ts'),
  ]);
  const { sensitive, ...given } = options;
  const request = parseBy(monitorSchema, { ...given, attributes: sensitive }, 'monitor', flagName);
  await assertPlaces(request);
  const { runMonitor, monitorToJson } = await import('../../integration/monitor/run-monitor.ts');
  const input = await prepareInput(request);
  try {
    const outcome = await runMonitor(request, { ...input, ...hooksOf(options) });
    if (options.json === true) process.stdout.write(jsonText(monitorToJson(outcome)));
    else print(describeOutcome(outcome));
    tellRest(outcome, options);
    if (outcome.isAlarmed) process.exitCode = CHECK_FAILED;
    if (input.isStopped()) process.exitCode = INTERRUPTED;
    // The result is told before what could not be written decides the exit code.
    if (outcome.problems.length > 0) throw outcome.problems[0];
  } finally {
    input.close();
  }
}

/** Checked before the work, so that its result is not lost to a bad path. */
async function assertPlaces({ csv, outputDir, records, alerts, state }: MonitorRequest): Promise<void> {
  const { assertFileWritable } = await import('../../io/atomic-write.ts');
  const files = [records, alerts, state].filter((path) => path !== undefined);
  const dashboard = outputDir === undefined ? [] : [`${outputDir}/dashboard.html`];
  assertApart([...files, ...dashboard]);
  assertInputsKept([...files, ...dashboard], [csv]);
  for (const path of [...files, ...dashboard]) await assertFileWritable(path);
}

interface Input {
  readonly openLines: () => AsyncIterable<string>;
  readonly isStopped: () => boolean;
  /** Lets go of stdin, so that the process can end whatever its writer does. */
  readonly close: () => void;
}

/** Lines on stdin until they end, or until Ctrl-C: then the run ends as if they had. */
async function prepareInput({ csv }: MonitorRequest): Promise<Input> {
  const [{ utf8Lines }, { DataValidationError }] = await Promise.all([
    import('../../internal/decode-utf8.ts'),
    import('../../exceptions/index.ts'),
  ]);
  if (csv === undefined && process.stdin.isTTY) {
    throw new DataValidationError('There is nothing to watch: no --csv is given, and nobody writes to stdin.', {
      code: 'empty-data',
      suggestion: 'Name a file with --csv, or pipe events in, one JSON object a line.',
    });
  }
  let isOpen = false;
  let isStopped = false;
  const close = (): void => {
    if (isOpen) process.stdin.destroy();
  };
  const stop = (): void => {
    if (isStopped) process.exit(INTERRUPTED);
    isStopped = true;
    close();
  };
  const openLines = (): AsyncIterable<string> => {
    isOpen = true;
    // In place of the listener that ends the process at once: what was counted is written first.
    process.removeAllListeners('SIGINT');
    process.on('SIGINT', stop).on('SIGTERM', stop);
    return untilStopped(utf8Lines(process.stdin, 'The input'), () => isStopped);
  };
  return { openLines, isStopped: () => isStopped, close };
}

/**
 * Ends lines without an error once the input is stopped, since reading from a closed input is an error.
 * @yields each line
 */
async function* untilStopped(lines: AsyncIterable<string>, isStopped: () => boolean): AsyncGenerator<string> {
  try {
    yield* lines;
  } catch (error) {
    if (!isStopped()) throw error;
  }
}

function hooksOf(options: MonitorOptions): Omit<MonitorHooks, 'openLines' | 'isStopped'> {
  let faults = 0;
  return {
    onProgress: progressBar(options),
    onAlarm: (alert, isRepeat) => {
      if (options.json !== true) print(alarmLine(alert, isRepeat));
    },
    onWatch: (alert) => {
      if (options.json !== true && options.quiet !== true) print(watchLine(alert));
    },
    onProblem: (problem) => {
      warn(`${problem} The watch goes on, and tries again at each refresh.`);
    },
    onFault: (line, reason) => {
      faults++;
      if (faults <= MAX_REPORTED_FAULTS) warn(`Line ${count(line)} was not counted: ${reason}`);
      if (faults === MAX_REPORTED_FAULTS) warn('Further lines that cannot be counted are counted at the end.');
    },
  };
}

/** What was not counted or not delivered, and where things are. */
function tellRest(outcome: MonitorOutcome, options: OutputOptions): void {
  for (const sentence of faultSentences(outcome)) warn(sentence);
  for (const warning of outcome.warnings) warn(warning);
  for (const path of outcome.written) remark(`Wrote ${path}`, options);
}
