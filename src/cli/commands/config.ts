import { Command } from 'commander';

import { briefReport, type ReportDocument } from '../../document/report-document.ts';
import { ConfigValidationError } from '../../exceptions/index.ts';
import type { ConfigProblem } from '../../io/config-text/config-problem.ts';
import { defineCommand, OPTION } from '../define-command.ts';
import { addClosingHelp } from '../help-layout.ts';
import { type OutputOptions, print, printResult, remarkWritten } from '../output.ts';

interface CheckOptions extends OutputOptions {
  readonly kind?: ConfigKind;
  readonly config?: string;
  readonly profile?: string;
}

interface SchemaOptions extends OutputOptions {
  readonly kind?: ConfigKind;
  readonly out?: string;
}

const KINDS = ['pipeline', 'llm-eval', 'gates'] as const;

/** The kind of a configuration; gates is the file of `validate --gate`. */
type ConfigKind = (typeof KINDS)[number];

/** The exit code for a configuration with errors. */
const INVALID = 2;

/** Returns the command `evenhand config`, with its subcommands `check` and `schema`. */
export function configCommand(): Command {
  const command = new Command('config').addCommand(checkCommand()).addCommand(schemaCommand());
  return addClosingHelp(
    command,
    `
Both commands have --json, --quiet and --verbose, like every command. See config check --help.

Examples:
  $ evenhand config check --config config/adult.yml
  $ evenhand config schema --out pipeline.schema.json`,
  );
}

function checkCommand(): Command {
  return defineCommand<CheckOptions>({
    name: 'check',
    description:
      'Check a configuration file: print a summary of it, or each error with its line and column. Needs no data.',
    options: `
${OPTION.config}
--kind <kind>  kind of configuration; gates is the file of validate --gate (default: detected from the content)
--profile <name>  profile of the file (default: EVENHAND_PROFILE, else the only profile; if there are several, all are checked)`,
    parsers: { kind: KINDS },
    help: `
Examples:
  $ evenhand config check --config config/adult.yml
  $ evenhand config check --config config/compas.yml --json
  $ evenhand config check --config config/llm-eval.yml
  $ evenhand config check --config gates.yml
  $ evenhand config check --profile release

Errors are printed on stdout as file:line:column: message. Exit codes: 0 valid, 2 errors.`,
    async run(options) {
      const { problems, body, summary } = await checkFile(options);
      const { problemLines } = await import('../../io/config-text/config-problem.ts');
      const count = problems.length === 1 ? '1 error.' : `${String(problems.length)} errors.`;
      await printResult(options, {
        json: () => body,
        // Editors read the position at the start of a line, so errors are not wrapped.
        text: () =>
          problems.length === 0 ? describe(summary) : [...problemLines(problems, Infinity), count].join('\n'),
      });
      if (problems.length > 0) process.exitCode = INVALID;
    },
  });
}

/** Returns the summary of a valid configuration: its first line says that it is valid. */
function describe([title = '', ...lines]: readonly string[]): ReportDocument {
  const verdict = { kind: 'pass' as const, title, sentences: [] };
  return briefReport({ subject: '', verdict, blocks: [{ kind: 'list', items: lines }] });
}

/** Checks a file by its kind. Without a file, reports that there is none. */
async function checkFile(options: CheckOptions): Promise<CheckedConfig> {
  const { findConfigFile } = await import('../../pipeline/config/config-text.ts');
  const file = options.config ?? findConfigFile();
  const kind = options.kind ?? (file === undefined ? 'pipeline' : await kindOf(file));
  if (file === undefined || kind === 'pipeline') return checkPipeline(options);
  return kind === 'gates' ? checkGates(file) : checkEvaluation(file);
}

/** Determines the kind of a file from its content. */
async function kindOf(file: string): Promise<ConfigKind> {
  const [{ isGatesFile }, { isLlmEvalConfigFile }] = await Promise.all([
    import('../../integration/read-gates.ts'),
    import('../../llm-evals/config/check-llm-eval-config-file.ts'),
  ]);
  if (await isGatesFile(file)) return 'gates';
  return (await isLlmEvalConfigFile(file)) ? 'llm-eval' : 'pipeline';
}

/** The result of a check. */
interface CheckedConfig {
  /** The errors, in the order of the text; empty if the file is valid. */
  readonly problems: readonly ConfigProblem[];
  /** The JSON output. */
  readonly body: Record<string, unknown>;
  /** Lines that describe a valid configuration. */
  readonly summary: readonly string[];
}

async function checkGates(file: string): Promise<CheckedConfig> {
  const { describeGate, readGates } = await import('../../integration/read-gates.ts');
  const bodyOf = (problems: readonly ConfigProblem[], config: unknown): Record<string, unknown> => {
    return { file, kind: 'gates', valid: problems.length === 0, faults: problems, config };
  };
  try {
    const gates = await readGates(file);
    const data = "Whether the data have these attributes is only known to 'evenhand validate --gate'.";
    const hasAttributes = gates.some(({ attributes }) => attributes !== undefined);
    const summary = [`${file} is a valid file of gates.`, ...gates.map(describeGate), ...(hasAttributes ? [data] : [])];
    return { problems: [], body: bodyOf([], gates), summary };
  } catch (error) {
    if (!(error instanceof ConfigValidationError)) throw error;
    const problems = error.context['faults'] as readonly ConfigProblem[];
    return { problems, body: bodyOf(problems, null), summary: [] };
  }
}

async function checkEvaluation(path: string): Promise<CheckedConfig> {
  const [{ checkLlmEvalConfigFile }, { describeLlmEvalConfig, llmEvalConfigToJson }] = await Promise.all([
    import('../../llm-evals/config/check-llm-eval-config-file.ts'),
    import('../../llm-evals/config/llm-eval-config-json.ts'),
  ]);
  const { file, faults: problems, config } = await checkLlmEvalConfigFile(path);
  const meaning = config && llmEvalConfigToJson(config);
  const valid = `${file} is a valid configuration of a language-model evaluation.`;
  return {
    problems,
    body: { file, kind: 'llm-eval', valid: problems.length === 0, faults: problems, config: meaning },
    summary: config === null ? [] : [valid, ...describeLlmEvalConfig(config)],
  };
}

async function checkPipeline({ config: path, profile: wanted }: CheckOptions): Promise<CheckedConfig> {
  const [{ checkConfigFile }, { pipelineConfigToJson }, { describeConfig, describeGate }] = await Promise.all([
    import('../../pipeline/config/check-config-file.ts'),
    import('../../pipeline/config/pipeline-config-json.ts'),
    import('../../pipeline/config/describe-config.ts'),
  ]);
  const {
    file,
    faults: problems,
    profile,
    profiles,
    outlines,
    config,
  } = await checkConfigFile(path, { profile: wanted });
  const meaning = config && pipelineConfigToJson(config);
  const how = profile === null ? '' : ` with the profile ${profile}`;
  const checked = `All ${String(outlines.length)} profiles were checked. None is used unless --profile or EVENHAND_PROFILE selects it:`;
  return {
    problems,
    body: { file, valid: problems.length === 0, profile, profiles, faults: problems, config: meaning },
    summary: [
      `${String(file)} is a valid configuration${how}.`,
      ...(config === null ? ['The top level alone is incomplete. Choose a profile.'] : describeConfig(config)),
      ...(outlines.length > 0 ? [checked] : []),
      ...outlines.map(({ name, changes, config: own }) => {
        const gate = own === null ? '' : ` Gate: ${describeGate(own)}.`;
        return `Profile ${name}: changes ${changes.length === 0 ? 'nothing' : changes.join(', ')}.${gate}`;
      }),
    ],
  };
}

function schemaCommand(): Command {
  return defineCommand<SchemaOptions>({
    name: 'schema',
    description: 'Print the JSON Schema (draft 2020-12) of configuration files.',
    options: `
--kind <kind>  kind of configuration; gates is the file of validate --gate (default: pipeline)
--out <path>  write the schema to a file instead of stdout`,
    parsers: { kind: KINDS },
    help: `
Examples:
  $ evenhand config schema --out pipeline.schema.json
  $ evenhand config schema --kind llm-eval --out llm-eval.schema.json

Editors with a YAML language server complete and check files that start with this line:
  # yaml-language-server: $schema=./pipeline.schema.json`,
    async run(options) {
      const text = JSON.stringify(await schemaOf(options.kind ?? 'pipeline'), null, 2);
      if (options.out === undefined) {
        print(text);
        return;
      }
      const { writeFileAtomic } = await import('../../io/atomic-write.ts');
      await writeFileAtomic(options.out, `${text}\n`);
      remarkWritten([options.out], options);
    },
  });
}

async function schemaOf(kind: ConfigKind): Promise<Record<string, unknown>> {
  if (kind === 'gates') return (await import('../../schemas/gates.ts')).gatesJsonSchema();
  if (kind === 'llm-eval') return (await import('../../schemas/llm-eval/llm-eval-document.ts')).llmEvalJsonSchema();
  return (await import('../../schemas/pipeline/pipeline-json-schema.ts')).pipelineJsonSchema();
}
