import { type AlarmResult, alarmsOf, alarmVerdicts, medianDelay } from './verdicts.ts';

/** How a study was run. */
export interface StudyFacts {
  readonly command: string;
  readonly version: string;
  readonly seed: number;
}

/** The study for people. */
export function alarmMarkdown(results: readonly AlarmResult[], { command, version, seed }: StudyFacts): string {
  const fair = results.filter(({ cell }) => cell.kind === 'fair');
  const delays = results.filter(({ cell }) => cell.kind !== 'fair');
  return `# How often alarms are false, and how late they come

Simulated streams, looked at after **every event** with the defaults of \`FairnessDriftAndAlertEngine\` (alpha 0.05, one
attribute, \`demographic_parity_difference\`). Made by \`${command}\` with version ${version}, seed ${seed}; the figures are in
[alarms.csv](alarms.csv). What is promised: over all looks together an alarm is false with a probability of at most 5%.

## False alarms

Of ${fair[0]?.runs.length ?? 0} streams of 20,000 events each, so many raised an alarm though the gap was not above the limit. Beside
it two rules that people use, asked after every event too: a z test of the largest against the smallest rate at 5%, and
the gap itself above the limit (above 0.1 where the limit is 0), each once every group has 30 events.

| stream | engine | z test | plain rule |
| --- | --- | --- | --- |
${fair.map((result) => `| ${result.cell.text} | ${share(result, 'alarm')} | ${share(result, 'zTest')} | ${share(result, 'plainRule')} |`).join('\n')}

## Delays

Events from the beginning of the gap to the alarm, the median over runs. *Without fresh starts* is the same engine with
\`windows: 'cumulative'\`, which looks at the whole stream alone (> 60,000: most runs ended without an alarm).

| stream | runs | median delay | 9 of 10 within | without fresh starts |
| --- | --- | --- | --- | --- |
${delays.map(delayRow).join('\n')}

## The bars

${alarmVerdicts(results)
  .map(({ text, isMet }) => `- ${isMet ? 'met' : '**missed**'}: ${text}`)
  .join('\n')}
`;
}

/** The study for programs: one row for each run and rule that alarmed. */
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
