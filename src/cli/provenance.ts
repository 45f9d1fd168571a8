import { join, sep } from 'node:path';

import type { Provenance } from '../document/provenance.ts';
import { ConfigValidationError } from '../exceptions/index.ts';
import { snakeFields } from '../internal/arguments.ts';
import { machineClock } from '../internal/machine-clock.ts';
import { builtFile } from '../internal/packages.ts';
import type { FoundFiles } from '../schemas/data-source.ts';

/** The names of options that do not determine a result, and of URLs, which may contain secrets. */
const OTHER_OPTIONS = new Set([
  ...['json', 'quiet', 'verbose', 'compare', 'rawCsv', 'webhook', 'mlflowExperiment', 'mlflowRunName'],
  ...[
    'out',
    'outCsv',
    'outJson',
    'outPlot',
    'outputDir',
    'reportMd',
    'reportHtml',
    'reportJson',
    'junit',
    'saveModel',
    'sign',
  ],
]);

/** Returns the options that determine the result, without those that only name outputs. */
export function resultOptions(options: object): [name: string, value: unknown][] {
  return Object.entries(options).filter(([name]) => !OTHER_OPTIONS.has(name));
}

/** Returns whether the value of an option is input files. */
export function isInput(value: unknown): value is FoundFiles {
  return typeof value === 'object' && value !== null && 'paths' in value;
}

/** A call of a command. */
interface CommandCall {
  /** The arguments of the program. */
  readonly call: readonly string[];
  /** The options of the command. */
  readonly options: object;
  readonly inputs: readonly (string | FoundFiles | undefined)[];
  /** The environment variables that the command reads. */
  readonly variables?: readonly string[];
  /** What differs if the call is repeated, besides the date. */
  readonly varies?: string;
}

/** Returns where a report comes from; undefined if no result shows it. */
export type FindProvenance = (rows?: number) => Promise<Provenance | undefined>;

/**
 * Starts to find where a report comes from. Checksums of large files take time, so they are computed during the work.
 * @param isShown whether a result shows it; otherwise no file is read
 */
export function startProvenance(isShown: boolean, call: CommandCall): FindProvenance {
  const pending = isShown ? provenanceOf(call, reportDate()) : undefined;
  // If a file cannot be read, the command has the better message.
  pending?.catch(() => undefined);
  return async (rows) => {
    const found = await pending;
    return found && { ...found, rows };
  };
}

async function provenanceOf(
  { call, options, inputs, variables = [], varies }: CommandCall,
  date: Date,
): Promise<Provenance> {
  const [{ hashInputFile }, { shellCommand }] = await Promise.all([
    import('../io/checksum.ts'),
    import('../document/provenance.ts'),
  ]);
  const files = inputs.flatMap((input) =>
    typeof input === 'string' ? { path: input, name: portableName(input) } : (input?.files ?? []),
  );
  const hashed = files.map(async ({ path, name }) => ({ ...(await hashInputFile(path)), path: name }));
  const settings = resultOptions(options).flatMap(([name, value]) => {
    if (isInput(value)) return [];
    return [[name, typeof value === 'string' ? portableName(value) : value] as const];
  });
  const environment = variables.flatMap((name) => {
    const value = process.env[name] ?? '';
    return value === '' ? [] : [[name, value] as const];
  });
  return {
    date,
    command: shellCommand(call, Object.fromEntries(environment)),
    options: snakeFields(Object.fromEntries(settings)),
    inputs: await Promise.all(hashed),
    varies,
  };
}

/** Returns the name of a file of the package that does not depend on where the package is, and any other text unchanged. */
function portableName(path: string): string {
  const root = join(builtFile('..'), sep);
  return path.startsWith(root) ? join('evenhand', path.slice(root.length)) : path;
}

/**
 * Returns the date for reports. If SOURCE_DATE_EPOCH is set (seconds since 1970), it replaces the current time, so that
 * reports are reproducible.
 * @throws {ConfigValidationError} if the variable is not a number of seconds
 */
function reportDate(): Date {
  const { SOURCE_DATE_EPOCH: given = '' } = process.env;
  if (given === '') return new Date(machineClock());
  const date = new Date(/^\d+$/.test(given) ? 1000 * Number(given) : NaN);
  if (!Number.isNaN(date.getTime())) return date;
  throw new ConfigValidationError(
    `SOURCE_DATE_EPOCH must be a whole number of seconds since 1970. Got '${given}' instead.`,
    {
      context: { parameter: 'SOURCE_DATE_EPOCH', value: given },
      suggestion: 'Correct or unset the environment variable.',
    },
  );
}
