import { styleText } from 'node:util';

import { type Command, Help } from 'commander';

/** The maximum width of help, since longer lines are hard to read. */
const MAX_WIDTH = 100;

/**
 * The minimum width of the column of option descriptions. If there is less space, each description is below its option.
 */
const MIN_DESCRIPTION = 40;

/** The indentation of a description below its option. */
const INDENT = '      ';

/** Fits the help of a command to the terminal. */
export function fitHelp(command: Command): void {
  command.configureHelp({
    helpWidth: helpWidth(),
    // Below this width, Commander would not wrap at all.
    minWidthToWrap: 20,
    styleTitle: bold,
    formatItem(term, termWidth, description, helper) {
      const width = helper.helpWidth ?? MAX_WIDTH;
      if (width - termWidth - 4 >= MIN_DESCRIPTION) {
        return Help.prototype.formatItem.call(helper, term, termWidth, description, helper);
      }
      const text = helper.boxWrap(description, width - INDENT.length).replaceAll(/^/gm, INDENT);
      return `  ${term}\n${text}`;
    },
  });
}

/** Adds examples and exit codes to the end of the help of a command. Prose is wrapped, but commands are not. */
export function addClosingHelp(command: Command, text: string): Command {
  return command.addHelpText('after', ({ command: shown }) => wrapped(text, shown.createHelp(), helpWidth()));
}

function helpWidth(): number {
  return Math.min(MAX_WIDTH, process.stdout.columns || MAX_WIDTH);
}

/** Commander removes styles if the stream shows no colours. */
function bold(text: string): string {
  return styleText('bold', text, { validateStream: false });
}

/** Lines that are shown unchanged: commands and their continuations. */
const COMMAND = /^ *\$|^ {3}/;

/** Matches lines that always start a new paragraph, even without a blank line before them. */
const TITLE = /^(?:Start here|Examples|Exit codes|Environment variables):/;

/** Wraps the paragraphs of a text. */
function wrapped(text: string, help: Help, width: number): string {
  return paragraphsOf(text)
    .map((line) => {
      if (COMMAND.test(line)) return line;
      const [indent = ''] = /^ */.exec(line) ?? [];
      const lines = help.boxWrap(line.trimStart(), width - indent.length).replaceAll(/^(?=.)/gm, indent);
      return TITLE.test(line) && line.endsWith(':') ? bold(lines) : lines;
    })
    .join('\n');
}

/** Returns each paragraph on one line. A paragraph ends at a blank line, a command, or a different indentation. */
function paragraphsOf(text: string): string[] {
  const lines: string[] = [];
  for (const line of text.split('\n')) {
    const last = lines.at(-1) ?? '';
    const isContinued =
      [last, line].every((each) => each !== '' && !COMMAND.test(each)) &&
      last.startsWith(' ') === line.startsWith(' ') &&
      !TITLE.test(line) &&
      !last.endsWith(':');
    if (isContinued) lines[lines.length - 1] = `${last} ${line.trimStart()}`;
    else lines.push(...(TITLE.test(line) && last !== '' ? ['', line] : [line]));
  }
  return lines;
}
