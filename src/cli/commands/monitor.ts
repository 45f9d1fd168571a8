import type { Command } from 'commander';

import type { GateCase, GateReport } from '../../document/gate-report.ts';
import {
  noteBlocks,
  type ReportBlock,
  type ReportDocument,
  type ReportVerdict,
} from '../../document/report-document.ts';
import type { MonitorHooks, MonitorOutcome } from '../../integration/monitor/monitor-outcome.ts';
import { capital, counted, formatCount, formatNumber } from '../../internal/format.ts';
import type { QuerySource } from '../../io/sql-source.ts';
import type { AlertEvent } from '../../monitoring/alarms/alert-event.ts';
import type { MonitoringView } from '../../monitoring/dashboard/monitoring-view.ts';
import type { FoundFiles } from '../../schemas/data-source.ts';
import { DEFAULT_MIN_GROUP_SIZE } from '../../schemas/min-group-size.ts';
import type { MonitorRequest } from '../../schemas/monitor.ts';
import { defineCommand, OPTION } from '../define-command.ts';
import { CHECK_FAILED, INTERRUPTED } from '../exit-codes.ts';
import { settingsOf, writeGateReports } from '../gate-reports.ts';
import { parseNames, repeatable } from '../option-parsers.ts';
import { assertOutputs } from '../output-places.ts';
import { asOneLine, type OutputOptions, print, printResult, remarkWritten, warn } from '../output.ts';
import { onInterrupt, progressBar } from '../progress-bar.ts';
import { assertNoPassword } from '../redis-url.ts';
import { assertOneSource, onDatabase, openSql, SQL_OPTIONS, type SqlOptions } from '../sql-rows.ts';

/** The maximum number of uncounted lines that are reported individually. */
const MAX_REPORTED_PROBLEMS = 5;

interface MonitorOptions extends OutputOptions, SqlOptions {
  readonly kafka?: readonly string[];
  readonly redisStream?: string;
  readonly csv?: FoundFiles;
  readonly junit?: string;
}

/** Returns the command `evenhand monitor`. */
export function monitorCommand(): Command {
  return defineCommand({
    name: 'monitor',
    isOpenEnded: true,
    options: `
--csv <data>  rows to replay: a CSV, TSV (also .gz) or Parquet file, a folder of them, a glob in quotes, or - for CSV on stdin; repeat for several files (default: read events from stdin, one JSON object per line, if none of --sql, --kafka and --redis-stream is given)
${OPTION.decimal}
${SQL_OPTIONS}
--y-pred <column>  column of decisions, 0 or 1, or of scores from 0 to 1
--y-true <column>  column of true labels; adds equalized odds
${OPTION.scoreThreshold}
--positive-label <label>  label that counts as 1 in --y-pred and --y-true, if the labels are not 0 and 1
${OPTION.yTruePositiveLabel}
${OPTION.naValues}
--sensitive <columns>  sensitive column; repeat for several; a comma-separated list also adds the intersection of its columns (write a comma in a name as \\,)
--timestamp <column>  column of event times: ISO 8601, or a number since 1970 (default: timestamp, if the file has it)
--id <column>  column of event ids on stdin, so that true labels can arrive later
--label-horizon <n>  number of later events with ids after which an event can no longer be labelled, and its id is forgotten, at most 100000000 (default: 100000)
--sample-weight <column>  column of event weights
--error-scale <number>  largest possible error, for mae_parity_difference
--metric <names>  differences to monitor, comma-separated or repeated (default: demographic parity, and with labels also equalized odds)
--limit <number>  largest accepted gap of each metric (default: 0.1)
--alpha <number>  maximum probability of any false alarm, over all checks together (default: 0.05)
--window-size <n>  number of events in the sliding window, at most 100000000 (default: 10000)
--min-group-size <n>  minimum events of a group; smaller groups are excluded from gaps (default: ${String(DEFAULT_MIN_GROUP_SIZE)})
--look-every <n>  number of events between two checks (default: 100)
--persistence <n>  consecutive checks until a watch is reported, or a breach ends (default: 3)
--cooldown-minutes <n>  minutes of stream time between two messages about an open alarm (default: 60)
--within-time <number>  also watch gaps within periods of this many seconds, so that rates and shares of groups that change together raise no alarm of their own
--within <column>  also watch gaps within the labels of this column
--detector <names>  comma-separated list of drift detectors, which estimate when a change began: adwin, page_hinkley, cusum, ewma, … (default: adwin)
--output-dir <folder>  folder for dashboard.html, report.md and active_alerts.json
--refresh-seconds <n>  seconds between two updates of the --output-dir files, on stdin (default: 60)
--records <path>  append the metrics of every check to this file: .csv or .ndjson
--alerts <path>  append alert events to this file: .ndjson
--webhook <url>  send alert events to this URL by POST, with retries
${OPTION.junit}
--state <path>  resume from this file if it exists, and write it at the end and at each refresh; needs the same columns, metrics, sizes, label horizon, alpha, limit, strata and detectors
--kafka <names>  read events from Kafka: its brokers as host:port, comma-separated; needs --topic and the package kafkajs
--topic <name>  topic of Kafka; each message is a JSON object
--kafka-tls  encrypt the connections to Kafka
--kafka-sasl <mechanism>  how EVENHAND_KAFKA_USERNAME and EVENHAND_KAFKA_PASSWORD (or EVENHAND_KAFKA_PASSWORD_FILE) are sent: plain, scram-sha-256 or scram-sha-512 (default: plain)
--redis-stream <key>  read events from this stream in Redis; each entry has a field event, a JSON object
--redis <url>  Redis that holds the counts of a stream, so that several processes can share it, such as redis://user@host:6379 (password: EVENHAND_REDIS_PASSWORD, or EVENHAND_REDIS_PASSWORD_FILE); needs the package ioredis
--redis-prefix <name>  first part of all keys in Redis (default: evenhand)
--consumer-group <name>  consumer group: processes with the same group share the work (default: evenhand)
--consumer <name>  name of this process in the group of a Redis stream (default: the first free one of consumer-1, consumer-2, …)
--from <place>  where a new group begins: beginning or end (default: beginning)
--until-end  stop when everything is counted that was in the stream at the start (default: go on until Ctrl-C)
--checkpoint-events <n>  maximum number of messages of a partition between two saves of its counts in Redis (default: 10000)
--checkpoint-seconds <number>  longest time between two saves of counts in Redis (default: 2)
--check-seconds <number>  seconds between two checks of the merged stream (default: 1)
--lease-seconds <number>  time after which another process takes over the partitions of a process that does not answer (default: 10)
--outage-seconds <number>  how long to wait for Kafka or Redis to answer again (default: 300)`,
    parsers: {
      sensitive: repeatable(parseNames),
      kafkaSasl: ['plain', 'scram-sha-256', 'scram-sha-512'],
      from: ['beginning', 'end'],
    },
    required: ['yPred', 'sensitive'],
    schema: async () => (await import('../../schemas/monitor.ts')).monitorSchema,
    help: `
Examples:
  Replay the decisions of last year, to see which alarms would have been raised, and write a dashboard:
  $ evenhand monitor --csv decisions.csv --y-pred approved --sensitive sex --sensitive sex,race \\
      --timestamp decided_at --output-dir monitoring

  The same in a database, which counts its rows by day, and sends only counts:
  $ EVENHAND_SQL_PASSWORD=… evenhand monitor --sql postgres://ana@db.example/shop \\
      --query "SELECT *, CAST(decided_at AS DATE) AS day FROM loans" --timestamp day --y-pred approved --sensitive sex

  A live stream, one JSON object per line. The first run reads the file from its start:
  $ tail -n +1 -F decisions.ndjson | evenhand monitor --y-pred approved --sensitive sex --state monitor.json \\
      --records records.csv --alerts alerts.ndjson --output-dir monitoring

  A later run with the same --state continues. It must read only new lines, tail -n 0 -F, or it counts the old
  ones again. Restarting tail can lose or repeat lines. With --id, an event
  that is repeated counts once (duplicate_id). With --state, checks happen only after every --look-every events,
  so that a resumed run finds the same as a run without a break. The end of the input is shown as a preview.

  True labels that arrive later: {"case": 7, "flagged": 1, "sex": "f"}, and some days later {"case": 7, "fraud": 0}
  $ evenhand monitor --y-pred flagged --y-true fraud --id case --sensitive sex --output-dir monitoring < events.ndjson

  A topic of Kafka, counted by this process alone; the state also keeps the offsets:
  $ evenhand monitor --kafka kafka.example:9092 --topic decisions --y-pred approved --sensitive sex --state monitor.json

  The same topic, shared by several processes: start the same command on several machines. Every message counts
  exactly once, also if processes are killed, and one of them raises the alarms for all:
  $ evenhand monitor --kafka kafka.example:9092 --topic decisions --redis redis://redis.example:6379 \\
      --y-pred approved --sensitive sex --alerts alerts.ndjson --output-dir monitoring

  A stream in Redis (XADD decisions * event '{"approved": 1, "sex": "f"}'), until its end:
  $ evenhand monitor --redis-stream decisions --redis redis://redis.example:6379 --y-pred approved --sensitive sex --until-end

A watch is an early hint from an ordinary interval. It may be wrong, and does not change the exit code.
Exit codes: 0 no alarm, 1 an alarm was raised or is open, 2 invalid options or data (also if no input could
be counted, or an output could not be written at the end), 3 Kafka or Redis was away for too long, or an internal error, 130 stopped
by Ctrl-C (the dashboard and the state are written first).`,
    run: runMonitorCommand,
  });
}

async function runMonitorCommand(options: MonitorOptions, request: MonitorRequest): Promise<void> {
  const { csv, sql, junit } = options;
  assertOneSource(options, ['csv', 'sql', 'kafka', 'redisStream']);
  await assertPaths(request, csv, junit);
  if (request.redis !== undefined) await assertNoPassword('redis', request.redis);
  const [{ runMonitor, monitorToJson }, { MAX_GROUPS }] = await Promise.all([
    import('../../integration/monitor/run-monitor.ts'),
    import('../../monitoring/tracker/group-codes.ts'),
  ]);
  const rows = sql === undefined ? undefined : await openSql(sql, options);
  const input = await prepareInput(request, rows !== undefined);
  const run = (source?: QuerySource): Promise<MonitorOutcome> =>
    runMonitor(request, { ...input, ...hooksOf(options), rows: source });
  try {
    const outcome = await (rows === undefined ? run() : onDatabase(rows, run));
    const { view, refusedLines } = outcome;
    const counts = { n_events: view.nEvents, faults: view.faults, refused_lines: refusedLines, warnings: [...new Set([...view.notes, ...outcome.warnings])] }; // prettier-ignore
    await printResult(options, {
      json: () => ({ ...monitorToJson(outcome), ...counts }),
      text: () => describe(outcome),
    });
    for (const sentence of [...problemSentences(outcome, MAX_GROUPS), ...outcome.warnings]) warn(sentence);
    await writeGateReports(() => gateReportOf(outcome, settingsOf(options)), junit);
    remarkWritten([...outcome.written, junit], options);
    if (outcome.isAlarmed) process.exitCode = CHECK_FAILED;
    if (input.isStopped()) process.exitCode = INTERRUPTED;
    // The result is printed first. An output that could not be written then determines the exit code.
    if (outcome.problems.length > 0) throw outcome.problems[0];
  } finally {
    input.close();
  }
}

/** Checks the output paths before the work starts, so that a bad path does not lose the result. */
async function assertPaths(
  { outputDir, records, alerts, state }: MonitorRequest,
  csv: FoundFiles | undefined,
  junit: string | undefined,
): Promise<void> {
  const dashboard = outputDir === undefined ? undefined : `${outputDir}/dashboard.html`;
  await assertOutputs([records, alerts, state, dashboard, junit], [csv]);
}

interface Input {
  readonly openLines: () => AsyncIterable<string>;
  readonly isStopped: () => boolean;
  /** Ends a stream at a broker. */
  readonly signal: AbortSignal;
  /** Closes stdin, so that the process can end even if the writer keeps the pipe open. */
  readonly close: () => void;
}

/** Returns the lines of stdin. Ctrl-C has the same effect as the end of the input. */
async function prepareInput({ csv, kafka, redisStream }: MonitorRequest, isInDatabase: boolean): Promise<Input> {
  const isAtBroker = kafka !== undefined || redisStream !== undefined;
  const [{ utf8Lines }, { DataValidationError }] = await Promise.all([
    import('../../internal/decode-utf8.ts'),
    import('../../exceptions/index.ts'),
  ]);
  if (csv === undefined && !isInDatabase && !isAtBroker && process.stdin.isTTY) {
    throw new DataValidationError('There is no input: --csv is not given, and stdin is a terminal.', {
      code: 'empty-data',
      suggestion: 'Give a file with --csv, or pipe events to stdin, one JSON object per line.',
    });
  }
  const ending = new AbortController();
  let isOpen = false;
  let isStopped = false;
  const close = (): void => {
    if (isOpen) process.stdin.destroy();
  };
  const stop = (): void => {
    if (isStopped) process.exit(INTERRUPTED);
    isStopped = true;
    ending.abort();
    close();
  };
  // The counts are saved before the process ends.
  if (isAtBroker) onInterrupt(stop);
  const openLines = (): AsyncIterable<string> => {
    isOpen = true;
    // The state and outputs are written before the process ends.
    onInterrupt(stop);
    return untilStopped(utf8Lines(process.stdin, 'The input'), () => isStopped);
  };
  return { openLines, isStopped: () => isStopped, signal: ending.signal, close };
}

/**
 * Yields the lines of the input. If the user stopped the input, ends without the error that a closed input throws.
 * @yields each line
 */
async function* untilStopped(lines: AsyncIterable<string>, isStopped: () => boolean): AsyncGenerator<string> {
  try {
    yield* lines;
  } catch (error) {
    if (!isStopped()) throw error;
  }
}

function hooksOf(options: OutputOptions): Omit<MonitorHooks, 'openLines' | 'isStopped' | 'signal'> {
  let problems = 0;
  const refuse = (what: string, sentence: string): void => {
    problems++;
    if (problems <= MAX_REPORTED_PROBLEMS) warn(sentence);
    if (problems === MAX_REPORTED_PROBLEMS)
      warn(`Further ${what} that could not be counted are not listed. Their number is reported at the end.`);
  };
  return {
    onProgress: progressBar(options),
    onAlarm: (alert, isRepeat) => {
      if (options.json !== true) print(alarmLine(alert, isRepeat));
    },
    onWatch: (alert) => {
      if (options.json !== true && options.quiet !== true) print(watchLine(alert));
    },
    onProblem: (problem) => {
      warn(`${problem} Monitoring continues. evenhand tries to write again at each refresh.`);
    },
    onInvalidLine: (line, reason) => {
      refuse('lines', `Line ${formatCount(line)} was not counted: ${reason}`);
    },
    onInvalidMessage: (partition, position, reason) => {
      refuse('messages', `Message ${position} of partition ${partition} was not counted: ${reason}`);
    },
    onWarning: warn,
  };
}

/** Returns the line for an alarm. The line is shorter if the alarm was reported before. */
function alarmLine({ timestamp, severity, id, reason, value, low }: AlertEvent, isRepeat: boolean): string {
  return asOneLine(
    isRepeat
      ? `ALARM still open ${minute(timestamp)} (${severity}) ${id}: a gap of ${formatNumber(value, 3)}, at least ${formatNumber(low, 3)}`
      : `ALARM raised ${minute(timestamp)} (${severity}) ${id}: ${reason}`,
  );
}

/** Returns the line for a watch. */
function watchLine({ timestamp, id, reason }: AlertEvent): string {
  return asOneLine(`watch ${minute(timestamp)} ${id}: ${reason}`);
}

/**
 * Returns the monitored metrics for the reports of continuous integration. As for the exit code, a metric fails if it
 * has an alarm. An inconclusive metric has no verdict.
 */
function gateReportOf(outcome: MonitorOutcome, settings: Readonly<Record<string, string>>): GateReport {
  const { view, raised, stillOpen, preview, isAlarmed } = outcome;
  const unused = unusedWords(outcome);
  const alarms = [...raised, ...stillOpen.map(({ alert }) => alert), ...(preview?.alerts ?? [])];
  const cases = view.watched.map(({ attribute, metric, limit, state, sentence }): GateCase => {
    const alarm = alarms.find((one) => one.attribute === attribute && one.metric === metric);
    const status = alarm !== undefined ? 'fail' : state === 'unknown' ? null : 'pass';
    return { attribute, name: `no alarm: ${metric} <= ${String(limit)}`, status, message: alarm?.reason ?? sentence };
  });
  const isJudged = cases.some(({ status }) => status !== null);
  return {
    command: 'evenhand monitor',
    passed: isJudged ? !isAlarmed : null,
    cases,
    settings,
    warnings: unused === '' ? [] : [`${capital(unused)}.`],
  };
}

/** Returns the verdict, the alarms and watches, and the state of every metric. */
async function describe(outcome: MonitorOutcome): Promise<ReportDocument> {
  const { monitoringDocument } = await import('../../monitoring/dashboard/monitoring-document.ts');
  const { title, subject, verdict, sections } = monitoringDocument(outcome.view);
  // The table of all metrics; the section also repeats the sentence of each alarm.
  const metrics = sections.slice(0, 1).map(({ blocks, ...section }) => ({
    ...section,
    blocks: [...blocks.filter(({ kind }) => kind === 'table'), ...unknownBlocks(outcome.view)],
  }));
  return {
    title,
    subject,
    verdict: verdictOf(outcome, verdict),
    sections: [{ title: 'Alarms', blocks: alarmBlocks(outcome) }, ...metrics],
    made: [],
  };
}

/** Returns the reasons why metrics are inconclusive. */
function unknownBlocks({ watched, nEvents }: MonitoringView): ReportBlock[] {
  const unknown = nEvents === 0 ? [] : watched.filter(({ state }) => state === 'unknown');
  const items = unknown.map(({ attribute, metric, sentence }) => `${attribute}, ${metric}: ${sentence}`);
  return items.length === 0 ? [] : [{ kind: 'list', items }];
}

/** Returns whether there is an alarm, and the states of the metrics. */
function verdictOf(outcome: MonitorOutcome, states: ReportVerdict | undefined): ReportVerdict {
  const { view, raised, stillOpen, watches, isAlarmed } = outcome;
  const unused = unusedWords(outcome);
  const early = earlyAlarms(outcome);
  const alarms = [
    ...(raised.length === 0 ? [] : [`${counted(raised.length, 'alarm')} raised`]),
    ...(stillOpen.length === 0 ? [] : [`${formatCount(stillOpen.length)} open from earlier runs`]),
    ...(early.length === 0 ? [] : [`${counted(early.length, 'alarm')} at the end of the input`]),
  ];
  return {
    kind: isAlarmed ? 'fail' : states?.kind === 'pass' && unused === '' ? 'pass' : 'none',
    title: isAlarmed
      ? `ALARM: ${alarms.join(', ')}${unused === '' ? '' : `; ${unused}`}`
      : `No alarm${unused === '' ? '' : `, but ${unused}`}`,
    sentences: [
      `Over all checks together, the probability of a false alarm is at most ${String(view.alpha)}.`,
      ...(states === undefined ? [] : [`${states.title}.`, ...states.sentences]),
      ...(watches.length === 0
        ? []
        : [
            `${counted(watches.length, 'watch', 'watches')} during the run; a watch is an early hint and may be wrong.`,
          ]),
    ],
  };
}

/** Returns how much of the input could not be used, for the verdict; an empty text if everything was used. */
function unusedWords({ unused: { most, total }, refusedLines, unseen }: MonitorOutcome): string {
  return [
    ...(unseen.length === 0 ? [] : ['a label occurs in no event']),
    ...(most === 0 ? [] : [`${formatCount(most)} of ${counted(total, 'event')} could not be used`]),
    ...(refusedLines === 0 ? [] : [`${counted(refusedLines, 'line')} could not be counted`]),
  ].join(' and ');
}

/** Returns the alarms that the preview contains and that were not open before. */
function earlyAlarms({ preview, stillOpen }: MonitorOutcome): readonly AlertEvent[] {
  return (preview?.alerts ?? []).filter(({ id }) => stillOpen.every(({ alert }) => alert.id !== id));
}

function alarmBlocks(outcome: MonitorOutcome): ReportBlock[] {
  const { raised, stillOpen } = outcome;
  const since = stillOpen
    .map(({ alert, changes }) => changes.find(({ change }) => change === 'raised')?.timestamp ?? alert.timestamp)
    .sort()[0];
  const listOf = (alerts: readonly AlertEvent[]): string[] =>
    alerts.map(({ timestamp, severity, reason }) => `${timestamp} (${severity}) ${reason}`);
  return [
    ...noteBlocks('Raised in this run:', listOf(raised)),
    ...noteBlocks(
      `From earlier runs, open since ${since === undefined ? '' : minute(since)}:`,
      stillOpen.map(({ alert: { severity, reason } }) => `(${severity}) ${reason}`),
    ),
    ...noteBlocks(
      'At the end of the input (a preview; the next check with this state raises it):',
      listOf(earlyAlarms(outcome)),
    ),
  ];
}

/** The descriptions of problems with events. Other problems are shown by name. */
const PROBLEM_WORDS: Readonly<Record<string, string>> = {
  missing_prediction: 'events without a prediction',
  missing_weight: 'events without a weight',
  missing_group: 'events without a group',
  missing_timestamp: 'events without a time',
  missing_id: 'events without an id',
  duplicate_id: 'events with an id that occurred before, not counted again',
  zero_weight: 'events of weight 0',
  unknown_label_id: 'labels with an unknown id',
  clock_backwards: 'events older than the one before',
};

/** Returns sentences about lines that were not counted and about problems with events. */
function problemSentences({ view, refusedLines }: MonitorOutcome, maxGroups: number): string[] {
  return [
    ...(refusedLines > 0
      ? [`${counted(refusedLines, 'line')} ${refusedLines === 1 ? 'was' : 'were'} not counted.`]
      : []),
    ...Object.entries(view.faults).map(([problem, times]) => {
      const often = times === 1 ? 'once' : `${formatCount(times)} times`;
      if (problem === 'too_many_groups') return `${tooManyGroups(view, maxGroups)}, ${often}. Is it an id?`;
      return `Problem: ${PROBLEM_WORDS[problem] ?? problem.replaceAll('_', ' ')}, ${often}.`;
    }),
  ];
}

function tooManyGroups({ coverage }: MonitoringView, maxGroups: number): string {
  const groups = new Map<string, number>();
  for (const { attribute } of coverage) groups.set(attribute, (groups.get(attribute) ?? 0) + 1);
  const full = [...groups].filter(([, known]) => known >= maxGroups).map(([name]) => `'${name}'`);
  return `Problem: more than ${formatCount(maxGroups)} groups in ${full.join(' and ')}`;
}

/** Formats a time, truncated to the minute: 2026-01-12T10:55Z. */
function minute(timestamp: string): string {
  return `${timestamp.slice(0, 16)}Z`;
}
