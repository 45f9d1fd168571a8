import { Command, CommanderError, type Option } from 'commander';

import { quoteArgument } from '../document/provenance.ts';
import { FairnessToolkitError } from '../exceptions/index.ts';
import { parametersIn, renameParameters, toSnakeCase } from '../internal/arguments.ts';
import { VERSION } from '../internal/version.ts';
import { exitCodeOf } from './exit-codes.ts';
import { addClosingHelp, fitHelp } from './help-layout.ts';
import { typedFlagsOf } from './option-aliases.ts';
import { insteadOfRepeating, isRepeatable } from './option-parsers.ts';
import { clearTransientLine, fitLine, withoutControls } from './output.ts';

/** A command of the program. */
interface CommandEntry {
  readonly description: string;
  readonly load: () => Promise<Command>;
}

/**
 * The commands in the order of the help. A command is loaded only if it runs or shows its own help, because loading all
 * takes time.
 */
const COMMANDS: Readonly<Record<string, CommandEntry>> = {
  validate: {
    description:
      'Measure the group fairness of decisions in CSV or Parquet files, and optionally test it against a threshold.',
    load: async () => (await import('./commands/validate.ts')).validateCommand(),
  },
  subgroups: {
    description:
      'Search combinations of columns for subgroups whose rate differs most from all other rows, with control of the error of the whole search.',
    load: async () => (await import('./commands/subgroups.ts')).subgroupsCommand(),
  },
  sql: {
    description:
      'Print a SQL statement that counts rows in your database, for engines and vaults from which only counts may leave.',
    load: async () => (await import('./commands/sql.ts')).sqlCommand(),
  },
  'run-pipeline': {
    description:
      'Run the three-step workflow of a configuration: measure a baseline, mitigate and train, validate against a threshold.',
    load: async () => (await import('./commands/run-pipeline.ts')).runPipelineCommand(),
  },
  pipeline: {
    description: 'Check data for sources of unfairness, and transform the data as a configuration describes.',
    load: async () => (await import('./commands/pipeline.ts')).pipelineCommand(),
  },
  'train-regularized': {
    description:
      'Train one neural network per eta (weight of a fairness penalty), and show the trade-off between accuracy and the gap between groups.',
    load: async () => (await import('./commands/train-regularized.ts')).trainRegularizedCommand(),
  },
  'train-reductions': {
    description:
      'Train a randomised mixture of logistic regressions whose group rates differ from the overall rate by at most a bound (exponentiated gradient), and compare it with an unconstrained model.',
    load: async () => (await import('./commands/train-reductions.ts')).trainReductionsCommand(),
  },
  'train-lagrangian': {
    description:
      'Train a neural network that keeps the gap between groups within a tolerance (Lagrange multipliers), and compare it with an unconstrained one.',
    load: async () => (await import('./commands/train-lagrangian.ts')).trainLagrangianCommand(),
  },
  'llm-eval': {
    description:
      'Evaluate a language model: send prompts that differ only in a sensitive attribute, and test which differences between the answers exceed sampling noise.',
    load: async () => (await import('./commands/llm-eval.ts')).llmEvalCommand(),
  },
  monitor: {
    description:
      'Monitor the fairness of a stream of decisions: replay a file, or follow events on stdin. One bound on false alarms covers all checks.',
    load: async () => (await import('./commands/monitor.ts')).monitorCommand(),
  },
  'ab-test': {
    description:
      'Compare the two arms of an A/B test: the effect of the treatment on each group, and whether fairness got worse.',
    load: async () => (await import('./commands/ab-test.ts')).abTestCommand(),
  },
  'impact-ratio': {
    description:
      'Compute selection or scoring rates and impact ratios by sex, by race or ethnicity, and by both, as rules for hiring tools ask.',
    load: async () => (await import('./commands/impact-ratio.ts')).impactRatioCommand(),
  },
  'model-card': {
    description: 'Write a model card from a result of validate, with the parts that only a person can fill marked.',
    load: async () => (await import('./commands/model-card.ts')).modelCardCommand(),
  },
  view: {
    description:
      'Open the workbench in a browser: audit a file with pictures and a verdict, without a line of code. The file stays on this machine.',
    load: async () => (await import('./commands/view.ts')).viewCommand(),
  },
  serve: {
    description:
      'Start the HTTP service: measure, train, monitor and evaluate over HTTP. Its documentation is at /docs.',
    load: async () => (await import('./commands/serve.ts')).serveCommand(),
  },
  worker: {
    description:
      'Do the tasks of a queue on Redis, such as the networks of train-regularized --queue. Start it on any number of machines.',
    load: async () => (await import('./commands/worker.ts')).workerCommand(),
  },
  verify: {
    description:
      'Check a report of validate: compute all its numbers again, from the statistics in it and from the data, and check its signature.',
    load: async () => (await import('./commands/verify.ts')).verifyCommand(),
  },
  keygen: {
    description: 'Create a pair of keys, to sign reports with validate --sign and to check them with verify --key.',
    load: async () => (await import('./commands/keygen.ts')).keygenCommand(),
  },
  predict: {
    description: 'Add the score and the prediction of a saved model to every row of the given files.',
    load: async () => (await import('./commands/predict.ts')).predictCommand(),
  },
  calibrate: {
    description:
      'Calibrate scores per group, so that a score means the same probability in every group, and compare calibration before and after.',
    load: async () => (await import('./commands/calibrate.ts')).calibrateCommand(),
  },
  'sample-data': {
    description: 'Write a sample data set that is part of the package. Downloads nothing.',
    load: async () => (await import('./commands/sample-data.ts')).sampleDataCommand(),
  },
  init: {
    description:
      'Write a first configuration for a data file: ask which columns have the decisions, true labels and groups, or guess them, and print the commands that measure and train.',
    load: async () => (await import('./commands/init.ts')).initCommand(),
  },
  config: {
    description:
      'Check the configuration of a pipeline or a language-model evaluation, or a file of gates, or print its JSON Schema for editors.',
    load: async () => (await import('./commands/config.ts')).configCommand(),
  },
  doctor: {
    description:
      'Show which tensor backends work on this machine, which one is used by default, and what the others need.',
    load: async () => (await import('./commands/doctor.ts')).doctorCommand(),
  },
  backend: {
    description: "Install a tensor backend with TensorFlow's native library.",
    load: async () => (await import('./commands/backend.ts')).backendCommand(),
  },
  completion: {
    description: 'Print a script that completes commands, options and their values in bash, zsh or fish.',
    load: async () => (await import('./commands/completion.ts')).completionCommand(),
  },
  version: {
    description: 'Print the version.',
    load: async () => (await import('./commands/version.ts')).versionCommand(),
  },
};

/**
 * Returns the command-line program with the command that the arguments name. Without such a command, all commands have
 * only a name and a description, for the help and for suggestions.
 */
export async function createProgram(args: readonly string[]): Promise<Command> {
  const program = new Command('evenhand')
    .description(
      'Measure the group fairness of model decisions with confidence intervals, train under fairness constraints, and test results against a gate.',
    )
    .version(VERSION)
    .showSuggestionAfterError(true);
  addClosingHelp(
    program,
    `
Start here:
  $ evenhand sample-data cps-wages --out wages.csv
  $ evenhand train-regularized --csv wages.csv --target wage_above_median --sensitive gender \\
      --features education,experience,union --etas 0,1,4 --folds 5 --out-plot pareto.svg
  $ evenhand validate --csv decisions.csv --y-pred decision --sensitive sex
  $ evenhand run-pipeline --config config/cps-wages.yml --csv wages.csv --output-dir out

Exit codes: 0 success, 1 a check failed, 2 invalid options or data, 3 a step or the training failed, or an
internal error, 130 interrupted.
Environment variables: EVENHAND_PROGRESS_SECONDS, EVENHAND_LOG_LEVEL, EVENHAND_LOG_FILE,
EVENHAND_JSON_LOGS, EVENHAND_TF_BACKEND, EVENHAND_CONFIG_PATH, EVENHAND_PROFILE, EVENHAND_API_KEYS,
MLFLOW_TRACKING_URI, NO_COLOR, FORCE_COLOR.

Run 'evenhand COMMAND --help' for the options and examples of a command.`,
  );
  const commands = await Promise.all(
    namedEntries(args).map(async ([name, { description, load }]) =>
      (load === undefined ? new Command(name) : await load()).description(description),
    ),
  );
  for (const command of commands) program.addCommand(command);
  for (const command of [program, ...commands, ...commands.flatMap(({ commands: inner }) => inner)]) {
    refuseRepeats(command);
    fitHelp(command);
    command.exitOverride().configureOutput({
      // Commander prints an error and its suggestion on two lines; this program prints each error on one line, which only
      // a terminal wraps.
      outputError: (text, write) => {
        const line = `${asSentence(withCompletions(text, command))}${hintFor(text, command, args)} Run '${callOf(command)} --help' for the options.`;
        write(`${fitLine(line)}\n`);
      },
    });
  }
  return program;
}

/** Returns the commands that the arguments need, by name. A command without `load` is only listed. */
function namedEntries(args: readonly string[]): [string, Partial<CommandEntry> & { description: string }][] {
  const entries = Object.entries(COMMANDS);
  const [first, second] = args.filter((text) => !text.startsWith('-'));
  const name = first === 'help' ? second : first;
  // Completion describes all commands.
  if (name === 'completion' && first !== 'help') return entries;
  const named = entries.filter(([own]) => own === name);
  return named.length > 0 ? named : entries.map(([own, { description }]) => [own, { description }]);
}

/** Replaces the similar options that Commander suggests by the options that start with what the user typed, if any. */
function withCompletions(text: string, { options }: Command): string {
  const typed = /unknown option '(--[\w-]+)'/.exec(text)?.[1];
  const longer = options.flatMap(({ long, hidden }) =>
    typed !== undefined && !hidden && long?.startsWith(typed) === true ? [long] : [],
  );
  if (longer.length === 0) return text;
  const question = `(Did you mean ${longer.length === 1 ? '' : 'one of '}${longer.join(', ')}?)`;
  return `${text.replace(/\(Did you mean [^)]*\)/, '').trimEnd()} ${question}`;
}

/** Matches the names of data files. */
const DATA_FILE = /\.(?:csv|tsv|parquet|ndjson|jsonl)(?:\.gz)?$/i;

/**
 * Returns a hint about arguments that are too many: files without `--csv`, a glob that the shell has expanded, or a name
 * with spaces that has no quotes.
 * @param typed all arguments of the program
 */
function hintFor(text: string, command: Command, typed: readonly string[]): string {
  if (!text.includes('too many arguments')) return '';
  const { args, options } = command;
  const [first = ''] = args;
  if (DATA_FILE.test(first)) {
    if (!options.some(({ long }) => long === '--csv')) return '';
    const isExpanded = command.getOptionValue('csv') !== undefined;
    return isExpanded
      ? ' Put a glob in quotes, or repeat --csv for each file.'
      : ` Write ${args.map((file) => `--csv ${quoteArgument(file)}`).join(' ')}.`;
  }
  const index = typed.indexOf(first);
  const option = typed.slice(0, index).findLastIndex((word) => word.startsWith('--'));
  if (option < 0 || index - option < 2) return '';
  const rest = typed.slice(index).findIndex((word) => word.startsWith('-'));
  const words = typed.slice(option + 1, rest < 0 ? undefined : index + rest);
  const name = typed[option] ?? '';
  const known = options.find(({ long }) => long === name);
  const repeated = words.map((word) => `${name} ${quoteArgument(word)}`).join(' ');
  const repeat =
    known !== undefined && isRepeatable(known) ? ` For several values, repeat the option: ${repeated}.` : '';
  return `${repeat} Put a name with spaces in quotes: ${name} ${quoteArgument(words.join(' '))}.`;
}

/** Returns the full command as the user types it: `evenhand config check`. */
function callOf(command: Command): string {
  return command.parent === null ? command.name() : `${callOf(command.parent)} ${command.name()}`;
}

/** Returns Commander's message on one line, with a full stop. */
function asSentence(text: string): string {
  const line = text.trim().replaceAll('\n', ' ');
  return /[.?)]$/.test(line) ? line : `${line}.`;
}

/** Runs one command and sets `process.exitCode`. Errors are printed on stderr, not thrown. */
export async function runCommandLine(args: readonly string[]): Promise<void> {
  let running: Command | undefined;
  const hasJunit = args.some((text) => text.startsWith('--junit'));
  try {
    if (hasJunit) (await import('./gate-reports.ts')).removeEarlierJunit(args);
    const program = await createProgram(args);
    program.hook('preAction', (_, command) => {
      running = command;
    });
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? 0 : 2;
      if (hasJunit && error.exitCode !== 0) await reportError(args, 'ConfigValidationError', error.message);
      return;
    }
    clearTransientLine();
    const text = describeError(error, running);
    process.stderr.write(`${text}\n`);
    process.exitCode = exitCodeOf(error);
    if (hasJunit) await reportError(args, error instanceof Error ? error.name : 'Error', text);
  }
}

async function reportError(args: readonly string[], name: string, text: string): Promise<void> {
  const { writeErrorJunit } = await import('./gate-reports.ts');
  await writeErrorJunit(args, {
    name,
    message: text.replace(/^(?:internal )?error: /, '').replaceAll(/\s*\n\s*/g, ' '),
  });
}

/**
 * Formats an error on one line, unless stderr is a narrow terminal: first the problem, then the fix. Several errors of a
 * configuration have a line each. The stack is included only for internal errors.
 */
function describeError(error: unknown, command: Command | undefined): string {
  if (FairnessToolkitError.isInstance(error)) {
    const { faults: problems, file } = error.context;
    if (Array.isArray(problems) && problems.length > 1) {
      const title = `error: ${typeof file === 'string' ? `'${file}'` : 'the configuration'} has ${String(problems.length)} errors.`;
      // An editor reads the position at the start of a line, so the lines are not wrapped.
      const lines = [
        title,
        ...error.message.split('\n'),
        ...(error.suggestion === undefined ? [] : [error.suggestion]),
      ];
      return lines.map(withoutControls).join('\n');
    }
    const text = error.suggestion === undefined ? error.message : `${error.message} ${error.suggestion}`;
    const named = renameParameters(text, (name) => optionOf(name, command), parametersIn(error.context));
    const typed = typedFlagsOf(command);
    const asTyped = named.replaceAll(/(?<![\w-])--[a-z][\w-]*/g, (flag) => typed.get(flag) ?? flag);
    return fitLine(`error: ${oneLine(asTyped.replaceAll(/\bThe (--[a-z][\w-]*) parameter\b/g, '$1'))}`);
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `internal error: ${text}\nThis is a bug in evenhand. Please report it with the command that you ran.`;
}

/** Command-line options whose names differ from their library parameters. */
const OPTION_NAMES: Readonly<Record<string, string>> = {
  'columns.protected': 'sensitive',
  'columns.intersections': 'sensitive',
  'columns.weight': 'sampleWeight',
  detectors: 'detector',
  url: 'webhook',
};

/**
 * Returns the command-line option for a parameter of the library. For a command that reads a configuration, the result
 * may be a configuration key. Returns undefined if there is neither an option nor a key.
 */
function optionOf(parameter: string, command: Command | undefined): string | undefined {
  if (parameter === 'applyPipeline') return "'evenhand pipeline'";
  const name = OPTION_NAMES[parameter] ?? parameter.replace(/^columns\./, '');
  const option = command?.options.find((each) => each.attributeName() === name);
  if (option !== undefined) return option.long ?? undefined;
  const readsConfig = command?.options.some((each) => each.attributeName() === 'config') === true;
  return readsConfig && CONFIG_KEYS.has(name) ? toSnakeCase(name) : undefined;
}

/** Library parameters that can be set in a configuration. */
const CONFIG_KEYS = new Set(['positiveLabel', 'targetColumn', 'minGroupSize', 'saveModel']);

function oneLine(text: string): string {
  return withoutControls(text.replaceAll(/\s*\n\s*/g, ' '));
}

/**
 * Makes a command reject a repeated option that accepts one value. Both forms of a switch (`--with-ci` and
 * `--no-with-ci`) are also rejected if they are used together. Commander would silently keep only the last occurrence.
 */
export function refuseRepeats(command: Command): void {
  const given = new Map<string, { readonly option: Option; readonly value: string | null }>();
  for (const option of command.options) {
    if (isRepeatable(option)) continue;
    command.on(`option:${option.name()}`, (value: string | null) => {
      const key = option.attributeName();
      const earlier = given.get(key);
      if (earlier !== undefined)
        command.error(messageOf(earlier, { option, value }), { code: 'evenhand.repeatedOption' });
      given.set(key, { option, value });
    });
  }
}

type Given = { readonly option: Option; readonly value: string | null };

function messageOf(first: Given, second: Given): string {
  const name = nameOf(second.option);
  if (first.option !== second.option && first.option.negate === second.option.negate) {
    return `error: options '${nameOf(first.option)}' and '${name}' are the same option. Give one of them.`;
  }
  if (first.option !== second.option) {
    return `error: options '${nameOf(first.option)}' and '${name}' contradict each other. Give one of them.`;
  }
  const values = [first, second].flatMap(({ value }) => (typeof value === 'string' ? [`'${value}'`] : []));
  const both = values.length === 2 ? `: ${values.join(' and ')}` : '';
  const instead = insteadOfRepeating(second.option);
  const list = values.length === 2 ? `: ${name} ${quoteArgument(`${first.value ?? ''},${second.value ?? ''}`)}` : '';
  return `error: option '${name}' was given twice${both}. Give it once${instead === undefined ? '' : `; ${instead}${list}`}.`;
}

function nameOf({ long, short, flags }: Option): string {
  return long ?? short ?? flags;
}
