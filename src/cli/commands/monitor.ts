import { Command } from 'commander';

import type { MonitorHooks, MonitorOutcome } from '../../integration/monitor/run-monitor.ts';
import { machineClock } from '../../internal/machine-clock.ts';
import type { MonitorRequest } from '../../schemas/monitor.ts';
import { CHECK_FAILED, INTERRUPTED } from '../exit-codes.ts';
import { count } from '../number-text.ts';
import { flagName, parseNames, parseNumber, requireOptions } from '../option-parsers.ts';
import {
  jsonText,
  type OutputOptions,
  prepareLogs,
  print,
  remark,
  textTable,
  warn,
  withOutputOptions,
} from '../output.ts';
import { assertApart, assertInputsKept } from '../output-places.ts';
import { progressBar } from '../progress-bar.ts';

/** Lines that could not be counted are told one by one up to so many. */
const MOST_FAULTS_TOLD = 5;

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
  $ tail -F decisions.ndjson | evenhand monitor --y-pred approved --sensitive sex --state monitor.json \\
      --records records.csv --alerts alerts.ndjson --output-dir monitoring

  True labels that come later: {"case": 7, "approved": 1, "sex": "f"}, some day {"case": 7, "repaid": 0}
  $ evenhand monitor --y-pred approved --y-true repaid --id case --sensitive sex --output-dir monitoring < events.ndjson

Watches are hints of an ordinary interval and change no exit code.
Exit codes: 0 no alarm, 1 an alarm was raised, 2 usage and data, 130 stopped by Ctrl-C (the dashboard and
the state are written first).`,
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
    .option(
      '--sensitive <columns>',
      'a sensitive column; a comma list is their crossing too (a comma in a name is \\,); repeat for more',
      (text: string, earlier: readonly string[][] | undefined) => [...(earlier ?? []), parseNames(text)],
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
    .option('--window-size <n>', 'events of the sliding window (default: 10000)', parseNumber)
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
    .option('--state <path>', 'go on from this file if it is there, and write it at the end and at each refresh');
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
  const input = await openInput(request);
  const outcome = await runMonitor(request, {
    ...input,
    clock: machineClock,
    ...hooksOf(options),
  });
  if (options.json === true) process.stdout.write(jsonText(monitorToJson(outcome)));
  else print(describe(outcome));
  tellRest(outcome, options);
  if (outcome.alerts.length > 0) process.exitCode = CHECK_FAILED;
  if (input.isStopped()) process.exitCode = INTERRUPTED;
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

/** What a file is replayed with. */
const NO_LINES: AsyncIterable<string> = {
  [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ done: true, value: undefined }) }),
};

interface Input {
  readonly lines: AsyncIterable<string>;
  readonly isStopped: () => boolean;
}

/** Lines on stdin until they end, or until Ctrl-C: then the run ends as if they had. */
async function openInput({ csv }: MonitorRequest): Promise<Input> {
  if (csv !== undefined) return { lines: NO_LINES, isStopped: () => false };
  const [{ createInterface }, { DataValidationError }] = await Promise.all([
    import('node:readline'),
    import('../../exceptions/index.ts'),
  ]);
  if (process.stdin.isTTY) {
    throw new DataValidationError('There is nothing to watch: no --csv is given, and nobody writes to stdin.', {
      suggestion: 'Name a file with --csv, or pipe events in, one JSON object a line.',
    });
  }
  const lines = createInterface({ input: process.stdin, crlfDelay: Infinity });
  let isStopped = false;
  // In place of the listener that ends the process at once: what was counted is written first.
  process.removeAllListeners('SIGINT');
  const stop = (): void => {
    if (isStopped) process.exit(INTERRUPTED);
    isStopped = true;
    lines.close();
    process.stdin.destroy();
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  return { lines, isStopped: () => isStopped };
}

function hooksOf(options: MonitorOptions): Omit<MonitorHooks, 'lines' | 'clock'> {
  let faults = 0;
  return {
    onProgress: progressBar(options),
    onUpdate: ({ alerts, watches }) => {
      if (options.json === true) return;
      for (const { severity, reason, id } of alerts) print(`ALARM (${severity}) ${id}: ${reason}`);
      if (options.quiet !== true) for (const { reason, id } of watches) print(`watch ${id}: ${reason}`);
    },
    onFault: (line, reason) => {
      faults++;
      if (faults <= MOST_FAULTS_TOLD) warn(`Line ${count(line)} was not counted: ${reason}`);
      if (faults === MOST_FAULTS_TOLD) warn('Further lines that cannot be counted are counted at the end.');
    },
  };
}

/** The state of every metric, and what was told. */
function describe({ view, alerts, watches }: MonitorOutcome): string {
  const rows = view.watched.map(({ attribute, metric, state, limit, now }) => {
    const gap = now.find(({ group }) => group === null);
    const interval =
      gap === undefined || gap.low === null || gap.high === null
        ? ''
        : `[${gap.low.toFixed(3)}, ${gap.high.toFixed(3)}]`;
    return [attribute, metric, state.toUpperCase(), gap?.value?.toFixed(3) ?? 'undefined', interval, String(limit)];
  });
  const raised = alerts.filter(({ id }, place) => alerts.findIndex((alert) => alert.id === id) === place);
  return [
    `${count(view.nEvents)} events${view.timestamp === null ? '' : `, the last at ${view.timestamp}`}.`,
    '',
    textTable(
      ['attribute', 'metric', 'state', `gap of the last ${count(view.windowSize)}`, '95% at this look', 'limit'],
      rows,
    ),
    '',
    raised.length === 0
      ? `No alarm: over all looks together a false one has a probability of at most ${String(view.alpha)}.`
      : `${count(raised.length)} ${raised.length === 1 ? 'alarm' : 'alarms'} (a false one has a probability of at most ${String(view.alpha)} over all looks together):`,
    ...raised.map(({ timestamp, severity, reason }) => `- ${timestamp} (${severity}) ${reason}`),
    ...(watches.length === 0
      ? []
      : [`${count(watches.length)} ${watches.length === 1 ? 'watch' : 'watches'}, which may be wrong, on the way.`]),
  ].join('\n');
}

/** What was not counted or not delivered, and where things are. */
function tellRest({ view, refusedLines, losses, written }: MonitorOutcome, options: OutputOptions): void {
  if (refusedLines > 0) warn(`${count(refusedLines)} lines were not counted.`);
  for (const [fault, times] of Object.entries(view.faults)) {
    warn(`Not as it should be: ${fault.replaceAll('_', ' ')}, ${count(times)} times.`);
  }
  for (const loss of losses) warn(loss);
  for (const path of written) remark(`Wrote ${path}`, options);
}
