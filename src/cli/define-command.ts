import { Command, Option } from 'commander';
import type { z } from 'zod';

import { DEFAULT_MIN_GROUP_SIZE } from '../schemas/min-group-size.ts';
import type { DecimalSeparator } from '../schemas/data-source.ts';
import { addClosingHelp } from './help-layout.ts';
import { addAliases, assignOutput } from './option-aliases.ts';
import {
  flagName,
  parseDecimal,
  parseNames,
  parseNamesAgain,
  parseNumber,
  parseNumbers,
  parseTexts,
  repeatable,
  requireOptions,
} from './option-parsers.ts';
import { type OutputOptions, prepareLogs } from './output.ts';
import { runningLine } from './progress-bar.ts';

const DECIMAL = '--decimal <mark>  decimal separator of numbers in text files: . or , (default: .)';

/** The lines that define options of several commands. Each line contains the flags, two spaces and the description. */
export const OPTION = {
  csv: `--csv <data>  rows: a CSV, TSV (also .gz) or Parquet file, a folder of them, a glob in quotes, their s3:// address, or - for CSV on stdin; repeat to read several files with the same columns as one data set
${DECIMAL}`,
  decimal: DECIMAL,
  naValues:
    '--na-values <texts>  comma-separated list of texts that mean a missing value, in all columns (default: NA, NaN, None, null and others, as in pandas; in group columns only empty fields)',
  yTruePositiveLabel:
    '--y-true-positive-label <label>  label that counts as 1 in --y-true, if it differs from --positive-label',
  sensitive:
    '--sensitive <columns>  sensitive column; repeat to analyse several columns separately; a comma-separated list is one intersection (write a comma in a name as \\,)',
  scoreThreshold:
    '--score-threshold <number>  decision threshold: a score of at least this value is a positive decision (default: 0.5)',
  config:
    '--config <path>  configuration file, or the name of one that comes with evenhand: adult, berkeley, compas, cps-wages or german (default: EVENHAND_CONFIG_PATH, else .evenhand/config.yml in this folder or a parent)',
  profile: '--profile <name>  profile of the configuration (default: EVENHAND_PROFILE)',
  trainSize: '--train-size <share>  share of rows to train on (default: 0.8)',
  minGroupSize: `--min-group-size <n>  minimum held-out rows of a group; smaller groups are excluded from gaps (default: ${String(DEFAULT_MIN_GROUP_SIZE)})`,
  batchSize: '--batch-size <n>  rows per step, or auto to fit the data and the backend (default: 128)',
  hidden: '--hidden <units>  units of each hidden layer, comma-separated (default: 32)',
  backend: '--backend <name>  tensor backend: auto, node-gpu, webgpu, node, wasm or cpu (default: auto)',
  rawCsv: '--raw-csv  do not mark texts that a spreadsheet would run as formulas',
  junit: '--junit <path>  write the verdict of each gate as a JUnit XML file, for continuous integration',
  report: '--out <report>  write a report: .html (with charts), .md or .json. Repeat for several formats',
  mlflow: `--mlflow-experiment <name>  log the run to this MLflow experiment, on the server at MLFLOW_TRACKING_URI
--mlflow-run-name <name>  name of the logged MLflow run`,
};

const OUTPUT_OPTIONS = `
--json  print the result as JSON on stdout; logs go to stderr
--quiet  print only results, warnings and errors; no progress and no information
--verbose  print debug messages on stderr`;

/** Converts the text of an option to its value. `earlier` is the value so far, if the option occurs several times. */
type OptionParser = (text: string, earlier: never) => unknown;

/** Parsers or allowed values, by name. */
type OptionParsers = Readonly<Record<string, OptionParser | readonly string[]>>;

/** Parsers, by the placeholder of the option's value. Values with other placeholders stay strings. */
const PARSERS: OptionParsers = {
  ...Object.fromEntries(['n', 'number', 'share', 'rate', 'level', 'usd'].map((name) => [name, parseNumber])),
  columns: parseNames,
  data: repeatable((path) => path),
  mark: parseDecimal,
  names: parseNamesAgain,
  texts: parseTexts,
  units: parseNumbers,
};

/** The options that every command may have. */
interface CommonOptions extends OutputOptions {
  readonly sensitive?: unknown;
  readonly metric?: string | readonly string[];
  readonly decimal?: DecimalSeparator;
  readonly out?: unknown;
  readonly config?: string;
}

/** The parts of a command. */
export interface CommandParts<Options extends OutputOptions, Request> {
  readonly name: string;
  /** The description of a subcommand. Those of the other commands are in the list of commands, for the help of the program. */
  readonly description?: string;
  /** A line for each option: its flags, two spaces, its description. */
  readonly options?: string;
  /**
   * Parsers or lists of allowed values, by long option name. They are needed for options whose placeholder has no
   * parser.
   */
  readonly parsers?: OptionParsers;
  /** The fields of required options; `csv|counts` means one of the two. */
  readonly required?: readonly string[];
  /** Loads the schema that validates the options. In the schema, the field for `--sensitive` is named `attributes`. */
  readonly schema?: () => Promise<z.ZodType<Request>>;
  /** Examples and exit codes, shown at the end of the help. */
  readonly help?: string;
  /** Whether the command runs until it is stopped. Such a command does not report how long it has been running. */
  readonly isOpenEnded?: boolean;
  /** Sets the log level, for commands that do not use the default log level. */
  readonly prepare?: (options: Options) => Promise<void>;
  /**
   * Runs the command.
   * @param request the options after validation with `schema`
   * @param args the arguments that are not options
   * @param call all arguments of the program, as the user gave them
   */
  readonly run: (options: Options, request: Request, args: readonly string[], call: readonly string[]) => Promise<void>;
}

/** The exit codes of a command whose help does not list its own. */
const EXIT_CODES = `
Exit codes: 0 done, 2 invalid options or data, or a missing package, 3 the work failed, 130 interrupted.`;

/** Loads the schema of a command. */
type SchemaLoader = () => Promise<z.ZodType>;

const schemaLoaders = new WeakMap<Command, SchemaLoader>();

/** Returns the function that loads the schema of a command; undefined if the command has none. */
export function schemaLoaderOf(command: Command): SchemaLoader | undefined {
  return schemaLoaders.get(command);
}

/** Returns a command with its own options and the options common to all commands. */
export function defineCommand<Options extends CommonOptions, Request = undefined>(
  parts: CommandParts<Options, Request>,
): Command {
  const { name, description = '', options = '', parsers = {}, required = [], schema, help = '', run } = parts;
  const command = new Command(name).description(description);
  if (schema !== undefined) schemaLoaders.set(command, schema);
  for (const line of `${options}${OUTPUT_OPTIONS}`.trim().split('\n')) addOption(command, line, parsers);
  addAliases(command);
  const inputs = command.options.filter(({ flags }) => flags.endsWith(' <data>')).map((each) => each.attributeName());
  const closing = help.includes('Exit codes:') ? help : `${help}${EXIT_CODES}`;
  return addClosingHelp(command, closing).action(async (...given: unknown[]) => {
    const [parsed, self] = given.slice(-2) as [Options, Command];
    assignOutput(command, parsed);
    requireOptions(parsed, required);
    const { config, metric = [] } = parsed;
    if (metric.length > 0) (await import('./output-places.ts')).assertGateReceived([metric].flat());
    const values = config === undefined ? parsed : { ...parsed, config: await findConfig(config, parsed) };
    await (parts.prepare ?? prepareLogs)(values);
    const request = (schema && (await parseOptions(name, await schema(), values))) as Request;
    const ticks = parts.isOpenEnded === true ? undefined : setInterval(runningLine(values), 1000).unref();
    try {
      await withInputs(inputs, values, async (found) => {
        await run({ ...values, ...found }, withFound(request, found), self.args, callOf(self));
      });
    } finally {
      clearInterval(ticks);
    }
  });
}

/** Returns a request in which the found files replace the paths. */
function withFound<Request>(request: Request, found: object): Request {
  if (typeof request !== 'object' || request === null) return request;
  return { ...request, ...Object.fromEntries(Object.entries(found).filter(([field]) => field in request)) };
}

/** Finds the files of all given input options, and runs the work with these files instead of the paths. */
async function withInputs(
  fields: readonly string[],
  values: CommonOptions,
  work: (found: object) => Promise<void>,
): Promise<void> {
  const given = fields.filter((field) => field in values);
  if (given.length === 0) return work({});
  const { withInputFiles } = await import('./input-files.ts');
  const paths = given.map((field) => [field, values[field as keyof CommonOptions] as readonly string[]] as const);
  return withInputFiles(Object.fromEntries(paths), values.decimal, work);
}

async function findConfig(config: string, options: CommonOptions): Promise<string> {
  return (await import('./bundled-config.ts')).findConfig(config, options);
}

/** Returns all arguments of the program. Commander stores these arguments, but its types do not declare them. */
function callOf(command: Command): readonly string[] {
  return command.parent === null
    ? (command as Command & { readonly rawArgs: readonly string[] }).rawArgs
    : callOf(command.parent);
}

async function parseOptions<Request>(
  name: string,
  schema: z.ZodType<Request>,
  { sensitive, ...options }: { readonly sensitive?: unknown },
): Promise<Request> {
  const { parseBy } = await import('../schemas/parse.ts');
  const flagOf = (field: string): string => flagName(field === 'attributes' ? 'sensitive' : field);
  return parseBy(schema, { ...options, attributes: sensitive }, name, flagOf);
}

function addOption(command: Command, line: string, parsers: OptionParsers): void {
  const [, flags = '', description = ''] = /^(.+?) {2}(.*)$/.exec(line) ?? [];
  const [, long = '', placeholder = ''] = /^--(\S+)(?: <(.*)>)?$/.exec(flags) ?? [];
  const parser = parsers[long] ?? PARSERS[placeholder];
  const option = new Option(flags, description);
  if (typeof parser === 'function') option.argParser(parser as (text: string) => unknown);
  else if (parser !== undefined) option.choices(parser);
  command.addOption(option);
}
