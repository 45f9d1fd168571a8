import type { Command } from 'commander';

/** Options that every command has. */
export interface OutputOptions {
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
}

/** Gives a command the options that every command has. */
export function withOutputOptions(command: Command): Command {
  return command
    .option('--json', 'print the result as JSON on stdout; logs go to stderr')
    .option('--quiet', 'print no progress and no information, only results and errors')
    .option('--verbose', 'print debugging information on stderr');
}

/** Sets the log level: INFO shows only to a person who watches and did not ask for quiet. */
export async function prepareLogs({ quiet, verbose }: OutputOptions): Promise<void> {
  if (process.env['EVENHAND_LOG_LEVEL'] !== undefined && verbose !== true && quiet !== true) return;
  const { setLogLevel } = await import('../internal/logger.ts');
  if (verbose === true) setLogLevel('debug');
  else if (quiet === true || !process.stdout.isTTY) setLogLevel('warn');
}

/** Controls, and what turns the direction of the text after it. */
// eslint-disable-next-line no-control-regex -- these are the characters meant
const STEERING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Text from data or users without the characters that would steer the terminal. */
export function withoutControls(text: string): string {
  return text.replaceAll(STEERING, '\ufffd');
}

/** A result as lines of JSON in which those characters are written as escapes, so that the data stay what they are. */
export function jsonText(value: unknown): string {
  const escape = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return `${JSON.stringify(value, undefined, 2).replaceAll(STEERING, escape)}\n`;
}

/** A name or sentence from data on one line, so that it breaks no other. */
export function asOneLine(text: string): string {
  return text.replaceAll(/\r\n|[\n\v\f\r\u0085\u2028\u2029]/g, '⏎');
}

/** Prints a line of the result. */
export function print(text: string): void {
  process.stdout.write(`${withoutControls(text)}\n`);
}

/** Prints a remark beside the result, unless the user wants quiet. */
export function remark(text: string, { quiet }: OutputOptions): void {
  if (quiet !== true) warn(text);
}

/** Prints a line beside the result that must be seen. */
export function warn(text: string): void {
  process.stderr.write(`${withoutControls(asOneLine(text))}\n`);
}

/** Whether warnings of the log show on stderr, so that a command need not repeat them. */
export async function showsLoggedWarnings(): Promise<boolean> {
  const { getLogger } = await import('../internal/logger.ts');
  return (process.env['EVENHAND_LOG_FILE'] ?? '') === '' && getLogger().isLevelEnabled('warn');
}

/** A table for the terminal: columns of numbers to the right, others to the left. */
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

/** A whole number with separators: 32,561. */
export function count(value: number): string {
  return value.toLocaleString('en-US');
}

/** A number with so many decimals, or the word undefined. */
export function number(value: number, digits = 4): string {
  return Number.isNaN(value) ? 'undefined' : value.toFixed(digits);
}

/** An interval in brackets; nothing where there is none. */
export function range(interval: readonly [number, number] | null): string {
  return interval === null ? '' : `[${interval[0].toFixed(3)}, ${interval[1].toFixed(3)}]`;
}

/** A change with its sign; nothing where it is undefined. */
export function change(value: number): string {
  return Number.isNaN(value) ? '' : `${value > 0 ? '+' : ''}${value.toFixed(4)}`;
}
