import type { TrackingOutcome } from '../integration/workflow-result.ts';

/** The options common to all commands. */
export interface OutputOptions {
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
}

/** Sets the log level. Messages of level info are logged only if stdout is a terminal and --quiet is not given. */
export async function prepareLogs({ quiet, verbose }: OutputOptions): Promise<void> {
  if (process.env['EVENHAND_LOG_LEVEL'] !== undefined && verbose !== true && quiet !== true) return;
  const { setLogLevel } = await import('../internal/logger.ts');
  if (verbose === true) setLogLevel('debug');
  else if (quiet === true || !process.stdout.isTTY) setLogLevel('warn');
}

/** Control characters, and characters that change the direction of text. */
// eslint-disable-next-line no-control-regex -- these characters are intended
const STEERING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Replaces terminal control characters in text from data or users. */
export function withoutControls(text: string): string {
  return text.replaceAll(STEERING, '\ufffd');
}

/** Returns a result as indented JSON. Terminal control characters are written as JSON escapes. */
export function jsonText(value: unknown): string {
  const escape = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return `${JSON.stringify(value, undefined, 2).replaceAll(STEERING, escape)}\n`;
}

/** Puts a text on one line: each line break is replaced by ⏎. */
export function asOneLine(text: string): string {
  return text.replaceAll(/\r\n|[\n\v\f\r\u0085\u2028\u2029]/g, '⏎');
}

/** Prints a line of the result on stdout. */
export function print(text: string): void {
  process.stdout.write(`${withoutControls(text)}\n`);
}

/** Prints a remark on stderr, unless --quiet is given. */
export function remark(text: string, { quiet }: OutputOptions): void {
  if (quiet !== true) warn(text);
}

/** Prints an important line on stderr, also with --quiet. */
export function warn(text: string): void {
  process.stderr.write(`${withoutControls(asOneLine(text))}\n`);
}

/** Returns whether logged warnings appear on stderr, so that a command need not repeat them. */
async function showsLoggedWarnings(): Promise<boolean> {
  const { getLogger } = await import('../internal/logger.ts');
  return (process.env['EVENHAND_LOG_FILE'] ?? '') === '' && getLogger().isLevelEnabled('warn');
}

/** Returns a table for the terminal: numeric columns are aligned right, others left. */
export function textTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [header, ...rows].map((row) => row.map(asOneLine));
  const widths = header.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  const [names = [], ...cells] = all;
  const isNumeric = header.map((_, column) => cells.every((row) => /^[-\d.,%[\] ]*$/.test(row[column] ?? '')));
  const line = (row: readonly string[]): string =>
    widths
      .map((width, column) => {
        const cell = row[column] ?? '';
        return isNumeric[column] === true ? cell.padStart(width) : cell.padEnd(width);
      })
      .join('  ')
      .trimEnd();
  const rule = widths
    .map((width) => '─'.repeat(width))
    .join('  ')
    .trimEnd();
  return [line(names), rule, ...cells.map(line)].join('\n');
}

/** Prints a result on stdout: as JSON with --json, otherwise as text. */
export async function printResult(
  { json }: OutputOptions,
  { json: toJson, text: toText }: { readonly json: () => unknown; readonly text: () => string | Promise<string> },
): Promise<void> {
  if (json === true) process.stdout.write(jsonText(await toJson()));
  else print(await toText());
}

/** Prints the path of each written output as a remark. */
export function remarkWritten(paths: readonly (string | undefined)[], options: OutputOptions): void {
  for (const path of paths) if (path !== undefined) remark(`Wrote ${path}`, options);
}

/** Prints where a run was logged, or why it was not logged. */
export async function remarkTracking(
  { logged, runId, url, reason }: TrackingOutcome,
  options: OutputOptions,
): Promise<void> {
  if (logged) remark(`Logged to MLflow as run ${runId ?? ''}${url === null ? '' : `, ${url}`}`, options);
  else if (!(await showsLoggedWarnings()))
    warn(`Tracking failed, the run is not logged: ${reason ?? 'unknown reason'}`);
}
