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

/** Text from data or users without the characters that would steer the terminal. */
export function withoutControls(text: string): string {
  // eslint-disable-next-line no-control-regex -- these are the characters meant
  return text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '\ufffd');
}

/** Prints a line of the result. */
export function print(text: string): void {
  process.stdout.write(`${withoutControls(text)}\n`);
}

/** Prints a remark beside the result, unless the user wants quiet. */
export function remark(text: string, { quiet }: OutputOptions): void {
  if (quiet !== true) process.stderr.write(`${text}\n`);
}

/** A table for the terminal: columns of numbers to the right, others to the left. */
export function textTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  const isNumeric = header.map((_, column) => rows.every((row) => /^[-\d.,%[\] ]*$/.test(row[column] ?? '')));
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
  return [line(header), rule, ...rows.map(line)].join('\n');
}
