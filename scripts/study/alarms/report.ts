import { type AlarmResult, alarmsOf, alarmVerdicts, medianDelay } from './verdicts.ts';

/** The command, version and seed of a study. */
export interface StudyFacts {
  readonly command: string;
  readonly version: string;
  readonly seed: number;
}

/** Returns the study as Markdown. */
export function alarmMarkdown(results: readonly AlarmResult[], { command, version, seed }: StudyFacts): string {
  const fair = results.filter(({ cell }) => cell.kind === 'fair');
  const delays = results.filter(({ cell }) => cell.kind !== 'fair');
  return `# False alarms and detection delays

This study simulates streams and checks them after **every event**, with the defaults of \`FairnessDriftAndAlertEngine\`
(alpha 0.05, one attribute, \`demographic_parity_difference\`). \`${command}\` generated this page with version
${version} and seed ${seed}. The figures are in [alarms.csv](alarms.csv). The engine guarantees that the probability of one or
more false alarms is at most 5% over all checks of a stream together, while the rate of each group is constant. If rates
and shares of groups drift together, watch [within strata](monitoring.md#populations-that-drift).

## False alarms

The table shows how many of ${fair[0]?.runs.length ?? 0} simulated streams raised an alarm although the true gap was not above the limit. Each
stream has 20,000 events. For comparison, two common rules were also checked after every event. The z test compares the
largest with the smallest rate at the 5% level. The plain rule raises an alarm if the observed gap is above the limit
(above 0.1 if the limit is 0). The z test and the plain rule start when every group has 30 events.

| stream | engine | z test | plain rule |
| --- | --- | --- | --- |
${fair.map((result) => `| ${result.cell.text} | ${share(result, 'alarm')} | ${share(result, 'zTest')} | ${share(result, 'plainRule')} |`).join('\n')}

## Delays

The delay is the number of events from the start of the gap to the alarm. The table shows the median delay over the
runs and the 90th percentile of the delay (9 of 10 within). The last column shows the median delay of the engine with
\`windows: 'cumulative'\`. With this setting, the engine does not restart its statistics regularly: it uses one window
over the complete stream. The value > 60,000 means that most runs ended without an alarm.

| stream | runs | median delay | 9 of 10 within | median, cumulative |
| --- | --- | --- | --- | --- |
${delays.map(delayRow).join('\n')}

## Acceptance criteria

Of 1,000 fair streams that each raise an alarm with a probability of 5%, at most 61 raise one in 95% of such studies. More
than 61 would show that the probability is larger.

${alarmVerdicts(results)
  .map(({ text, isMet }) => `- ${isMet ? 'met' : '**missed**'}: ${text}`)
  .join('\n')}

Terms are explained in the [glossary](glossary.md).
`;
}

/** Returns the study as CSV, with one row for each cell. */
export function alarmCsv(results: readonly AlarmResult[]): string {
  const rows = results.map((result) => {
    const { cell, runs } = result;
    return [
      cell.id,
      runs.length,
      alarmsOf(result),
      cell.kind === 'fair' ? alarmsOf(result, 'zTest') : '',
      cell.kind === 'fair' ? alarmsOf(result, 'plainRule') : '',
      runs.filter(({ alarm }) => alarm === 0).length,
      cell.kind === 'fair' ? '' : medianDelay(result),
      cell.kind === 'late' ? finite(medianDelay(result, 'cumulative')) : '',
    ].join(',');
  });
  return `cell,runs,alarms,z_test_alarms,plain_rule_alarms,alarms_before_change,median_delay,median_delay_cumulative\n${rows.join('\n')}\n`;
}

function share(result: AlarmResult, rule: 'alarm' | 'zTest' | 'plainRule'): string {
  return `${((100 * alarmsOf(result, rule)) / result.runs.length).toFixed(1)}%`;
}

function delayRow(result: AlarmResult): string {
  const { cell, runs } = result;
  const delays = runs.flatMap(({ alarm }) => (alarm === 0 ? [] : [alarm ?? Infinity])).sort((a, b) => a - b);
  const late = delays[Math.floor(0.9 * delays.length)] ?? NaN;
  const cumulative = cell.kind === 'late' ? count(medianDelay(result, 'cumulative')) : '';
  return `| ${cell.text} | ${runs.length} | ${count(medianDelay(result))} | ${count(late)} | ${cumulative} |`;
}

function count(events: number): string {
  return Number.isFinite(events) ? events.toLocaleString('en-US') : '> 60,000';
}

function finite(events: number): number | string {
  return Number.isFinite(events) ? events : '';
}
