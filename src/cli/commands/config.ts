import { Command } from 'commander';

import { defineCommand, OPTION } from '../define-command.ts';
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

const KINDS = ['pipeline', 'llm-eval'] as const;

/** The kind of a configuration. */
type ConfigKind = (typeof KINDS)[number];

/** The exit code for a configuration with errors. */
const INVALID = 2;

/** Returns the command `evenhand config`, with its subcommands `check` and `schema`. */
export function configCommand(): Command {
  return new Command('config')
    .description(
      'Check the configuration of a pipeline or a language-model evaluation, or print its JSON Schema for editors.',
    )
    .addCommand(checkCommand())
    .addCommand(schemaCommand())
    .addHelpText(
      'after',
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
--kind <kind>  kind of configuration (default: detected from its keys)
--profile <name>  profile of the file (default: EVENHAND_PROFILE, else the only profile; if there are several, all are checked)`,
    parsers: { kind: KINDS },
    help: `
Examples:
  $ evenhand config check --config config/adult.yml
  $ evenhand config check --config config/compas.yml --json
  $ evenhand config check --config config/llm-eval.yml
  $ evenhand config check --profile release

Errors are printed on stdout as file:line:column: message. Exit codes: 0 valid, 2 errors.`,
    async run(options) {
      const evaluation = await evaluationFile(options);
      if (evaluation !== undefined) {
        const { checkLlmEvalConfig } = await import('./config-llm-eval.ts');
        if (await checkLlmEvalConfig(evaluation, options)) process.exitCode = INVALID;
        return;
      }
      const { checkConfigFile } = await import('../../pipeline/config/check-config-file.ts');
      const check = await checkConfigFile(options.config, { profile: options.profile });
      if (check.faults.length > 0) process.exitCode = INVALID;
      await printResult(
        options,
        async () => toJson(check),
        async () => describe(check),
      );
    },
  });
}

/** Returns the path of the file if it is the configuration of an evaluation, otherwise undefined. */
async function evaluationFile({ config, kind }: CheckOptions): Promise<string | undefined> {
  if (kind === 'pipeline') return undefined;
  const { findConfigFile } = await import('../../pipeline/config/config-text.ts');
  const file = config ?? findConfigFile();
  if (file === undefined || kind === 'llm-eval') return file;
  const { isLlmEvalConfigFile } = await import('../../llm-evals/config/check-llm-eval-config-file.ts');
  return (await isLlmEvalConfigFile(file)) ? file : undefined;
}

type Check = Awaited<ReturnType<typeof import('../../pipeline/config/check-config-file.ts').checkConfigFile>>;

async function toJson({ file, faults: problems, profile, profiles, config }: Check): Promise<Record<string, unknown>> {
  const { pipelineConfigToJson } = await import('../../pipeline/config/pipeline-config-json.ts');
  const valid = problems.length === 0;
  const meaning = config === null ? null : pipelineConfigToJson(config);
  return { file, valid, profile, profiles, faults: problems, config: meaning };
}

async function describe({ file, faults: problems, profile, outlines, config }: Check): Promise<string> {
  if (problems.length > 0) {
    const { describeConfigProblem } = await import('../../io/config-text/config-problem.ts');
    return [
      ...problems.map(describeConfigProblem),
      problems.length === 1 ? '1 error.' : `${String(problems.length)} errors.`,
    ].join('\n');
  }
  const { describeConfig, describeGate } = await import('../../pipeline/config/describe-config.ts');
  const how = profile === null ? '' : ` with the profile ${profile}`;
  return [
    `${String(file)} is a valid configuration${how}.`,
    ...(config === null ? ['The top level alone is incomplete. Choose a profile.'] : describeConfig(config)),
    ...(outlines.length > 0
      ? [
          `All ${String(outlines.length)} profiles were checked. None is used unless --profile or EVENHAND_PROFILE selects it:`,
        ]
      : []),
    ...outlines.map((each) => {
      const changes = each.changes.length === 0 ? 'nothing' : each.changes.join(', ');
      return `Profile ${each.name}: changes ${changes}.${each.config === null ? '' : ` Gate: ${describeGate(each.config)}.`}`;
    }),
  ].join('\n');
}

function schemaCommand(): Command {
  return defineCommand<SchemaOptions>({
    name: 'schema',
    description: 'Print the JSON Schema (draft 2020-12) of configuration files.',
    options: `
--kind <kind>  kind of configuration (default: pipeline)
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
  if (kind === 'llm-eval') return (await import('../../schemas/llm-eval/llm-eval-document.ts')).llmEvalJsonSchema();
  return (await import('../../schemas/pipeline/pipeline-json-schema.ts')).pipelineJsonSchema();
}
