import { extname } from 'node:path';

import { type Command, Option } from 'commander';

/**
 * Groups of option names with the same meaning. If a command has an option with a name in a group, it also accepts the
 * other names in this group.
 */
const SAME_OPTIONS: readonly (readonly string[])[] = [
  ['y-true', 'target'],
  ['sensitive', 'group'],
  ['seed', 'random-state'],
];

/** The names of the output options by format, with the extensions of their files. */
const OUTPUTS: readonly { readonly names: readonly string[]; readonly extensions: readonly string[] }[] = [
  { names: ['out-json', 'report-json', 'detector-json'], extensions: ['.json'] },
  { names: ['out-csv'], extensions: ['.csv', '.tsv', '.parquet'] },
  { names: ['report-md'], extensions: ['.md'] },
  { names: ['report-html'], extensions: ['.html'] },
  { names: ['out-plot'], extensions: ['.svg', '.png', '.html'] },
];

/** The formats that `--out` can write, by the placeholder of `--out`. Each format is named by its own option. */
const REPORTS: Readonly<Record<string, readonly string[]>> = {
  '--out <report>': ['out-json', 'report-md', 'report-html'],
  '--out <reports>': ['out-json', 'report-md', 'report-html', 'out-csv'],
};

/** For each command, the options that the user typed under another name: the standard flag, and the typed flag. */
const typedFlags = new WeakMap<Command, Map<string, string>>();

/** Returns the options of a command that the user typed under another name, each with the typed flag. */
export function typedFlagsOf(command: Command | undefined): ReadonlyMap<string, string> {
  return (command && typedFlags.get(command)) ?? new Map<string, string>();
}

/**
 * Adds aliases of options to a command. The help does not list the aliases as options, but mentions all of them in one
 * line.
 */
export function addAliases(command: Command): void {
  const own = new Map(command.options.map((option) => [option.name(), option]));
  const lines: string[] = [];
  const accept = (option: Option, names: readonly string[]): void => {
    const added = names.filter((name) => !own.has(name));
    for (const name of added) addAlias(command, option, name);
    if (added.length > 0) lines.push(`${added.map(flagOf).join(', ')} for ${flagOf(option.name())}`);
  };
  for (const names of [...SAME_OPTIONS, ...OUTPUTS.map((output) => output.names)]) {
    const option = names.map((name) => own.get(name)).find((found) => found !== undefined);
    if (option !== undefined) accept(option, names);
  }
  const out = own.get('out');
  const reports = REPORTS[out?.flags ?? ''];
  if (out !== undefined && reports !== undefined) {
    accept(
      out,
      OUTPUTS.flatMap(({ names }) => (names.some((name) => reports.includes(name)) ? names : [])),
    );
  }
  const targets = outputsOf(command);
  if (out === undefined && targets.length > 0) {
    command.addOption(new Option('--out <path>').hideHelp());
    lines.push(`--out for ${targets.map(({ option }) => flagOf(option.name())).join(' or ')}, by its extension`);
  }
  if (lines.length === 0) return;
  const text = `Also accepted: ${lines.join('; ')}.`;
  command.addHelpText(
    'after',
    () => `\n${command.createHelp().boxWrap(text, command.configureHelp().helpWidth ?? 100)}`,
  );
}

function addAlias(command: Command, option: Option, name: string): void {
  const alias = new Option(option.flags.replace(/--[\w-]+/, flagOf(name)), option.description).hideHelp();
  alias.attributeName = () => option.attributeName();
  if (option.parseArg !== undefined) alias.parseArg = option.parseArg;
  if (option.argChoices !== undefined) alias.argChoices = option.argChoices;
  command.addOption(alias);
  command.on(`option:${name}`, () => {
    noteTyped(command, option, flagOf(name));
  });
}

function noteTyped(command: Command, option: Option, flag: string): void {
  const typed = typedFlags.get(command) ?? new Map<string, string>();
  typedFlags.set(command, typed.set(flagOf(option.name()), flag));
}

function flagOf(name: string): string {
  return `--${name}`;
}

/** An output option of a command, and the extensions of its files. */
interface OutputOption {
  readonly option: Option;
  readonly extensions: readonly string[];
}

/** Returns the output options of a command by their formats. */
function outputsOf({ options }: Command): OutputOption[] {
  return OUTPUTS.flatMap(({ names, extensions }) => {
    const option = options.find((each) => !each.hidden && names.includes(each.name()));
    return option === undefined ? [] : [{ option, extensions }];
  });
}

/**
 * Passes the value of `--out` to the option for its file format, unless the command defines `--out` itself. Also checks
 * that each file of a format option has the extension of that format.
 */
export function assignOutput(command: Command, values: { readonly out?: unknown }): void {
  const out = [values.out].flat().at(-1) as string | undefined;
  const own = command.options.find((option) => option.name() === 'out');
  if (out === undefined || own === undefined) return;
  const extension = extname(out).toLowerCase();
  const typed = typedFlagsOf(command).get('--out');
  if (!own.hidden) {
    const extensions = OUTPUTS.find(({ names }) => names.map(flagOf).includes(typed ?? ''))?.extensions ?? [extension];
    if (!extensions.includes(extension)) refuse(command, typed ?? '', out, extensions);
    return;
  }
  const targets = outputsOf(command);
  const target = targets.find(({ extensions }) => extensions.includes(extension));
  if (target === undefined) {
    refuse(command, '--out', out, [...new Set(targets.flatMap(({ extensions }) => extensions))]);
    return;
  }
  const { option } = target;
  if (command.getOptionValue(option.attributeName()) !== undefined) {
    const earlier = typedFlagsOf(command).get(flagOf(option.name())) ?? flagOf(option.name());
    command.error(`error: options '--out' and '${earlier}' both name the ${extension} file. Give one of them.`, {
      code: 'evenhand.repeatedOption',
    });
  }
  Object.assign(values, { [option.attributeName()]: out, out: undefined });
  noteTyped(command, option, '--out');
}

function refuse(command: Command, flag: string, path: string, extensions: readonly string[]): void {
  command.error(`error: option '${flag}' argument '${path}' is invalid. The name must end in ${listOf(extensions)}.`);
}

function listOf(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} or ${names.at(-1) ?? ''}`;
}
