import { stripVTControlCharacters } from 'node:util';

import type { Command, Option } from 'commander';

import { createProgram } from '../../src/cli/program.ts';
import { anchor, code, page, plain, table } from './markdown.ts';

/** Returns the reference of the command line: the help of every command. */
export async function cliReference(): Promise<string> {
  // Help is wrapped at the width of the terminal, and must not depend on it here.
  Object.defineProperty(process.stdout, 'columns', { value: 100, configurable: true });
  const program = await createProgram(['completion']);
  const commands = program.commands.flatMap((command) => [command, ...command.commands]);
  return page([
    '# Reference: command line',
    '',
    'Generated from the commands by `npm run docs:reference`. `evenhand COMMAND --help` prints the same in a terminal. See [the command line](../command-line.md) for an introduction.',
    '',
    ...commands.map((command) => `- [${nameOf(command)}](${anchor(nameOf(command))}): ${plain(command.description())}`),
    '',
    '## evenhand',
    '',
    plain(program.description()),
    '',
    ...closing(program),
    ...commands.flatMap(section),
  ]);
}

function section(command: Command): string[] {
  const name = nameOf(command);
  const help = command.createHelp();
  return [
    `## ${name}`,
    '',
    plain(command.description()),
    '',
    '```text',
    `${name} ${command.usage()}`,
    '```',
    '',
    ...table(
      ['Argument', 'Description'],
      command.registeredArguments.map((argument) => [code(argument.name()), plain(help.argumentDescription(argument))]),
    ),
    ...table(
      ['Option', 'Description'],
      command.options.filter(({ hidden }) => !hidden).map((option) => [code(option.flags), plain(describe(option))]),
    ),
    ...closing(command),
  ];
}

function nameOf(command: Command): string {
  return command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`;
}

function describe({ description, argChoices }: Option): string {
  return argChoices === undefined ? description : `${description} (one of: ${argChoices.join(', ')})`;
}

/** Returns the examples and notes after the options. */
function closing(command: Command): string[] {
  let text = '';
  command.configureOutput({ writeOut: (part) => (text += part), getOutHasColors: () => false });
  command.outputHelp();
  const after = stripVTControlCharacters(text).slice(stripVTControlCharacters(command.helpInformation()).length);
  return after.trim() === '' ? [] : ['```text', after.replaceAll(/^\n+|\s+$/g, ''), '```', ''];
}
