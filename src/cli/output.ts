import { WriteStream } from 'node:tty';

import type { TextLayout } from '../document/document-to-text.ts';
import type { ReportDocument } from '../document/report-document.ts';
import { displayWidth, wrapText } from '../document/text-width.ts';
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

/** The function that clears the current line on stderr; undefined if there is no such line. */
let clearLine: (() => void) | undefined;

/** Registers a line on stderr, such as a progress bar, that the next output replaces. */
export function setTransientLine(clear: () => void): void {
  clearLine = clear;
}

/** Clears the registered line on stderr, if there is one. */
export function clearTransientLine(): void {
  clearLine?.();
  clearLine = undefined;
}

/** Prints a line of the result on stdout. */
export function print(text: string): void {
  clearTransientLine();
  process.stdout.write(`${withoutControls(text)}\n`);
}

/** Prints a remark on stderr, unless --quiet is given. */
export function remark(text: string, { quiet }: OutputOptions): void {
  if (quiet !== true) warn(text);
}

/** Prints an important line on stderr, also with --quiet. */
export function warn(text: string): void {
  clearTransientLine();
  process.stderr.write(`${fitLine(withoutControls(asOneLine(text)))}\n`);
}

/** Breaks a line at spaces to fit the terminal that stderr is. Otherwise, it stays on one line, so that it can be searched. */
export function fitLine(
  line: string,
  { isTTY, columns }: Pick<WriteStream, 'isTTY' | 'columns'> = process.stderr,
): string {
  return isTTY && columns > 0 && displayWidth(line) > columns ? wrapText(line, columns).join('\n') : line;
}

/** Returns whether logged warnings appear on stderr, so that a command need not repeat them. */
async function showsLoggedWarnings(): Promise<boolean> {
  const { getLogger } = await import('../internal/logger.ts');
  return (process.env['EVENHAND_LOG_FILE'] ?? '') === '' && getLogger().isLevelEnabled('warn');
}

/** The minimum and maximum terminal widths to which results are fitted. */
const [MIN_WIDTH, MAX_WIDTH] = [40, 160];

/** The width of a terminal that does not report its width. */
const UNKNOWN_WIDTH = 80;

/** Returns the layout of results on stdout. If stdout is not a terminal, tables are not cut. */
export function terminalLayout(
  stream: Pick<WriteStream, 'isTTY' | 'columns'> = process.stdout,
  env: NodeJS.ProcessEnv = process.env,
): TextLayout {
  const columns = Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, stream.columns || UNKNOWN_WIDTH));
  return { width: stream.isTTY ? columns : Infinity, colours: showsColours(stream, env) };
}

/**
 * The result depends on the variables FORCE_COLOR, NO_COLOR, NODE_DISABLE_COLORS and TERM, in this order, as in
 * Node.js.
 */
function showsColours({ isTTY }: Pick<WriteStream, 'isTTY'>, env: NodeJS.ProcessEnv): boolean {
  if (!isTTY && env['FORCE_COLOR'] === undefined) return false;
  return WriteStream.prototype.getColorDepth.call(process.stdout, env) > 1;
}

/** Prints a result on stdout: as JSON with --json, otherwise as text. Text without a layout is not wrapped. */
export async function printResult(
  { json }: OutputOptions,
  {
    json: toJson,
    text: toText,
  }: {
    readonly json: () => unknown;
    readonly text: () => ReportDocument | string | Promise<ReportDocument | string>;
  },
): Promise<void> {
  const text = json === true ? jsonText(await toJson()) : await layOut(await toText());
  clearTransientLine();
  process.stdout.write(text);
}

/** Renders a report in the layout of the terminal. Other text is not wrapped. */
async function layOut(result: ReportDocument | string): Promise<string> {
  if (typeof result === 'string') return `${withoutControls(result)}\n`;
  const { documentToText } = await import('../document/document-to-text.ts');
  return documentToText(result, terminalLayout());
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
