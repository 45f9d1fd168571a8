import { Argument, type Command, type Option } from 'commander';

import { VERSION } from '../../internal/version.ts';
import { defineCommand, schemaLoaderOf } from '../define-command.ts';
import { printResult } from '../output.ts';

/** Returns the command `evenhand completion SHELL`. */
export function completionCommand(): Command {
  const command: Command = defineCommand({
    name: 'completion',
    help: `
Examples:
  $ evenhand completion bash

Where to put the script:
  bash  add this line to ~/.bashrc:  source <(evenhand completion bash)
        Each new shell then starts evenhand once. To avoid this, save the script and source the file:
        evenhand completion bash > ~/.evenhand-completion.bash
  zsh   save it as _evenhand in a folder of your fpath, before compinit runs in ~/.zshrc:
        mkdir -p ~/.zfunc && evenhand completion zsh > ~/.zfunc/_evenhand
        and in ~/.zshrc:  fpath=(~/.zfunc $fpath); autoload -Uz compinit; compinit
  fish  evenhand completion fish > ~/.config/fish/completions/evenhand.fish

The script completes the command evenhand, not npx evenhand. For a copy that is installed in a project, add
alias evenhand='npx evenhand' to the same file. The script is static: print it again after an update.`,
    async run(options, _request, [shell = '']) {
      const root = await describeCommand(command.parent ?? command);
      const script = SCRIPTS[shell as keyof typeof SCRIPTS](root);
      await printResult(options, { json: () => ({ shell, script }), text: () => script.trimEnd() });
    },
  }).addArgument(new Argument('<shell>', 'shell').choices(Object.keys(SCRIPTS)));
  return command;
}

/** The possible completions of a value: file paths, folder paths, or a list of words; undefined if there are none. */
type Values = 'files' | 'folders' | readonly string[] | undefined;

interface CompletedOption {
  /** The forms of the option, such as `--help` and `-h`. */
  readonly flags: readonly string[];
  readonly about: string;
  readonly takesValue: boolean;
  readonly values: Values;
}

interface CompletedCommand {
  readonly name: string;
  readonly about: string;
  readonly options: readonly CompletedOption[];
  /** The values that are suggested for the first argument. */
  readonly argument: Values;
  readonly commands: readonly CompletedCommand[];
}

async function describeCommand(command: Command): Promise<CompletedCommand> {
  const help = command.createHelp();
  const choices = await choicesOf(command);
  const [argument] = command.registeredArguments;
  return {
    name: command.name(),
    about: summaryOf(command.description()),
    options: help.visibleOptions(command).map((option) => describeOption(option, choices)),
    argument: argument && valuesOf(argument.name(), argument.argChoices),
    commands: await Promise.all(help.visibleCommands(command).map(describeCommand)),
  };
}

function describeOption(option: Option, choices: ReadonlyMap<string, readonly string[]>): CompletedOption {
  const { long, short, flags, description } = option;
  const [, placeholder] = /[<[]([^>\]]*)/.exec(flags) ?? [];
  return {
    flags: [long, short].filter((flag) => flag !== undefined),
    about: summaryOf(description),
    takesValue: placeholder !== undefined,
    values:
      placeholder === undefined
        ? undefined
        : valuesOf(placeholder, option.argChoices ?? choices.get(option.attributeName())),
  };
}

function valuesOf(placeholder: string, choices: readonly string[] | undefined): Values {
  // Words such as <= would need quotes, which each shell adds in its own way.
  if (choices !== undefined) return choices.filter((word) => /^[\w.-]+$/.test(word));
  if (/folder/i.test(placeholder)) return 'folders';
  return /path|file|data|report/i.test(placeholder) ? 'files' : undefined;
}

/** Returns the values that the schema of a command allows, by option. */
async function choicesOf(command: Command): Promise<ReadonlyMap<string, readonly string[]>> {
  const load = schemaLoaderOf(command);
  if (load === undefined) return new Map();
  const [{ z }, schema] = await Promise.all([import('zod'), load()]);
  const { properties = {} } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return new Map(
    Object.entries(properties).flatMap(([name, property]) => {
      const words = enumOf(property);
      return words === undefined ? [] : [[name, words] as const];
    }),
  );
}

function enumOf(property: unknown): readonly string[] | undefined {
  const { enum: words, anyOf } = property as {
    readonly enum?: readonly unknown[];
    readonly anyOf?: readonly unknown[];
  };
  return anyOf?.map(enumOf).find((each) => each !== undefined) ?? words?.filter((word) => typeof word === 'string');
}

/** Returns the first clause of a description, without characters that have a meaning in a script. */
function summaryOf(description: string): string {
  const [clause = ''] = description.split(/[:;(]|\. /);
  return clause
    .replaceAll(/[\\'"`$[\]]/g, '')
    .replace(/\.$/, '')
    .trim();
}

/** A command with the names that lead to it: `['config', 'check']`. */
interface PlacedCommand extends CompletedCommand {
  readonly path: readonly string[];
}

function everyCommand(command: CompletedCommand, path: readonly string[] = []): PlacedCommand[] {
  return [{ ...command, path }, ...command.commands.flatMap((inner) => everyCommand(inner, [...path, inner.name]))];
}

/** Writes the completion script of each shell. */
const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };

function openingLine(shell: keyof typeof SCRIPTS): string {
  return `# Completes evenhand ${VERSION} in ${shell}. Written by: evenhand completion ${shell}`;
}

// Bash 3.2, which macOS has, knows neither mapfile nor compopt.
function bashScript(root: CompletedCommand): string {
  const all = everyCommand(root);
  const steps = all.slice(1).map(({ path }) => `'${path.slice(0, -1).join(' ')}:${path.at(-1) ?? ''}'`);
  return `${openingLine('bash')}
_evenhand() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]}
  local command='' words='' paths='' word='' index
  # Bash splits --option=value into three words.
  if [[ $current == = ]]; then
    current=''
  elif [[ $previous == = ]]; then
    previous=\${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((index = 1; index < COMP_CWORD; index++)); do
    word=\${COMP_WORDS[index]}
    case "$command:$word" in
      ${steps.join(' | ')}) command="\${command:+$command }$word" ;;
    esac
  done
  case $command in
${all.map(bashCase).join('\n')}
  esac
  if [[ -n $paths ]]; then compopt -o filenames 2>/dev/null || true; fi
  COMPREPLY=()
  while IFS= read -r word; do COMPREPLY+=("$word"); done < <(
    if [[ -n $paths ]]; then compgen "$paths" -- "$current"; else compgen -W "$words" -- "$current"; fi
  )
}
complete -F _evenhand evenhand
`;
}

function bashCase({ path, options, argument, commands }: PlacedCommand): string {
  const flagsBy = new Map<string, string[]>();
  for (const { flags, takesValue, values } of options) {
    const assignment = bashValues(values);
    if (takesValue) flagsBy.set(assignment, [...(flagsBy.get(assignment) ?? []), ...flags]);
  }
  const flags = bashValues(options.flatMap((option) => option.flags));
  const first = bashValues(commands.length > 0 ? commands.map(({ name }) => name) : argument);
  return [
    `    '${path.join(' ')}')`,
    '      case $previous in',
    ...Array.from(flagsBy, ([assignment, own]) => `        ${own.join(' | ')}) ${assignment} ;;`),
    `        *) ${first === '' ? flags : `if [[ $current == -* ]]; then ${flags}; else ${first}; fi`} ;;`,
    '      esac',
    '      ;;',
  ].join('\n');
}

function bashValues(values: Values): string {
  if (values === 'files') return 'paths=-f';
  if (values === 'folders') return 'paths=-d';
  return values === undefined ? '' : `words='${values.join(' ')}'`;
}

function zshScript(root: CompletedCommand): string {
  return `#compdef evenhand
${openingLine('zsh')}
${everyCommand(root).map(zshFunction).join('\n')}
# Loaded from fpath, the file is the body of the function; sourced, it defines and registers the function.
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _evenhand "$@"; else compdef _evenhand evenhand; fi
`;
}

function zshFunction({ path, options, argument, commands }: PlacedCommand): string {
  const name = ['_evenhand', ...path].join('_');
  const specs = options.flatMap(({ flags, about, takesValue, values }) =>
    flags.map((flag) => `    '*${flag}${takesValue ? '=' : ''}[${about}]${takesValue ? zshValues(values) : ''}'`),
  );
  if (commands.length === 0) {
    const first = argument === undefined ? [] : [`    '1${zshValues(argument)}'`];
    return [`${name}() {`, '  _arguments \\', [...first, ...specs].join(' \\\n'), '}'].join('\n');
  }
  return `${name}() {
  local state line curcontext=$curcontext
  local -a commands=(
${commands.map((inner) => `    '${inner.name}:${inner.about}'`).join('\n')}
  )
  _arguments -C '1: :->command' '*:: :->rest' \\
${specs.join(' \\\n')}
  case $state in
    command) _describe command commands ;;
    rest) if (( $+functions[${name}_$words[1]] )); then ${name}_$words[1]; fi ;;
  esac
}`;
}

function zshValues(values: Values): string {
  if (values === 'files') return ':file:_files';
  if (values === 'folders') return ':folder:_files -/';
  return values === undefined ? ':value: ' : `:value:(${values.join(' ')})`;
}

function fishScript(root: CompletedCommand): string {
  const lines = everyCommand(root).flatMap(fishLines);
  return `${openingLine('fish')}
# Whether the words before the cursor that are no options begin with these commands, and nothing more if the first
# argument is --last.
function __evenhand_in
  argparse last -- $argv
  set -l words (string match -v -- '-*' (commandline -opc))[2..]
  set -l count (count $argv)
  if set -q _flag_last; and test (count $words) -ne $count
    return 1
  end
  test $count -eq 0; or test "$words[1..$count]" = "$argv"
end
complete -c evenhand -f
${lines.join('\n')}
`;
}

function fishLines({ path, options, argument, commands }: PlacedCommand): string[] {
  const here = `complete -c evenhand -n '__evenhand_in ${path.join(' ')}'`;
  const first = `complete -c evenhand -n '__evenhand_in --last ${path.join(' ')}'`;
  return [
    ...commands.map(({ name, about }) => `${first} -a ${name} -d '${about}'`),
    ...(argument === undefined ? [] : [`${first}${fishValues(argument)}`]),
    ...options.map(({ flags, about, takesValue, values }) => {
      const named = flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
      return `${here} ${named.join(' ')}${takesValue ? fishValues(values) : ''} -d '${about}'`;
    }),
  ];
}

function fishValues(values: Values): string {
  if (values === 'files') return ' -r -F';
  if (values === 'folders') return " -x -a '(__fish_complete_directories)'";
  return values === undefined ? ' -x' : ` -x -a '${values.join(' ')}'`;
}
