import { existsSync } from 'node:fs';

import type { Command } from 'commander';

import { ConfigValidationError } from '../../exceptions/index.ts';
import { counted } from '../../internal/format.ts';
import type { DecimalSeparator } from '../../schemas/data-source.ts';
import type { Table } from '../../table/index.ts';
import { defineCommand, OPTION } from '../define-command.ts';
import { INTERRUPTED } from '../exit-codes.ts';
import { briefReport, type ReportBlock } from '../../document/report-document.ts';
import type { GivenAnswers, InitChoices } from '../init-choices.ts';
import { formatNames, repeatable } from '../option-parsers.ts';
import { assertOutputs } from '../output-places.ts';
import { type OutputOptions, printResult, remarkWritten, warn } from '../output.ts';
import { describeInterrupt } from '../progress-bar.ts';
import type { Prompt } from '../prompt.ts';

interface InitOptions extends OutputOptions, Omit<GivenAnswers, 'sensitive'> {
  readonly sensitive?: readonly string[];
  readonly out?: string;
  readonly decimal?: DecimalSeparator;
  readonly yes?: boolean;
  readonly force?: boolean;
}

/** The maximum number of rows from which columns and labels are guessed. More rows would hardly change a guess. */
const MAX_ROWS = 100_000;

const asTyped = (text: string): string => text;

/** Returns the command `evenhand init`. */
export function initCommand(): Command {
  return defineCommand<InitOptions>({
    name: 'init',
    options: `
--y-pred <column>  column of decisions
--score <column>  column of scores, instead of decisions
--score-threshold <number>  decision threshold of the scores, if they are not from 0 to 1
--y-true <column>  column of true labels
--sensitive <columns>  sensitive column; repeat for several, or separate them by commas
--positive-label <label>  label that counts as 1 in --y-pred, or in --y-true without --y-pred
--y-true-positive-label <label>  label that counts as 1 in --y-true
--sample-weight <column>  column of row weights
--cluster <column>  column of people or things with several rows each; intervals count them instead of rows
--features <columns>  columns to learn from, comma-separated (default: all columns without another role)
${OPTION.decimal}
--threshold <number>  largest difference between selection rates that passes (default: no gate)
--out <path>  configuration to write: .yml or .yaml (default: evenhand.yml)
--yes  accept all guesses; ask nothing
--force  replace the configuration if it exists`,
    parsers: {
      sensitive: repeatable(asTyped),
      features: asTyped,
      'score-threshold': asTyped,
      threshold: asTyped,
    },
    help: `
Examples:
  Answer questions; Enter accepts the guess in brackets:
  $ evenhand init decisions.csv

  Accept all guesses, in a script:
  $ evenhand sample-data cps-wages --out wages.csv
  $ evenhand init wages.csv --yes --force --out wages.yml

Columns are guessed from their names (sex, gender, race, ethnicity, age; approved, hired, label, score, …)
and from their values, in the first ${MAX_ROWS.toLocaleString('en-US')} rows. Each guess is shown with its reason. A sensitive column is
only guessed from its name. Without a terminal, init asks nothing: give options, or --yes.
Exit codes: 0 written, 2 invalid options or data, or the configuration exists; 130 ended by Ctrl-C or Ctrl-D.`,
    async run(options, _request, [file]) {
      const { yes = false } = options;
      const isTerminal = process.stdin.isTTY && process.stderr.isTTY;
      let names: readonly string[] = [];
      const { openPrompt, PromptClosed } = await import('../prompt.ts');
      const prompt = isTerminal && !yes ? openPrompt(() => names) : undefined;
      try {
        await init(options, file, prompt, (found) => {
          names = found;
        });
      } catch (error) {
        if (!(error instanceof PromptClosed)) throw error;
        warn(describeInterrupt([]));
        process.exitCode = INTERRUPTED;
      } finally {
        prompt?.close();
      }
    },
  }).argument('[file]', 'data file: CSV, TSV or Parquet');
}

async function init(
  options: InitOptions,
  file: string | undefined,
  prompt: Prompt | undefined,
  onColumns: (names: readonly string[]) => void,
): Promise<void> {
  const { out = 'evenhand.yml', yes: acceptsGuesses = false, sensitive, decimal, ...others } = options;
  const given = sensitive === undefined ? others : { ...others, sensitive: sensitive.join(',') };
  const missing = prompt === undefined ? missingAnswers(file, given, acceptsGuesses) : [];
  if (missing.length > 0 && file === undefined) throw missingError(missing, acceptsGuesses, []);
  assertYaml(out);
  if (options.force !== true && existsSync(out)) await assertMayReplace(out, prompt);
  const csv = file ?? (await prompt?.ask('Data file (CSV, TSV or Parquet): ')) ?? '';
  await assertOutputs([out], [csv]);
  const [{ loadData }, { ColumnChooser, describeGuesses }, { guessColumns }] = await Promise.all([
    import('../../io/load-data.ts'),
    import('../init-choices.ts'),
    import('../../table/guess-columns.ts'),
  ]);
  const table = await loadData(csv, { maxRows: MAX_ROWS, decimal });
  if (missing.length > 0) throw missingError(missing, acceptsGuesses, [describeGuesses(guessColumns(table))]);
  onColumns(table.columnNames);
  prompt?.say(`${csv}: ${sizeOf(table)}. Enter accepts the value in brackets, - means none, Tab completes columns.`);
  const choices = await new ColumnChooser(table, given, { prompt, acceptsGuesses }).choose();
  const commands = proposedCommands(choices, csv, out, decimal);
  await writeConfig(choices, csv, out, decimal);
  await printResult(options, {
    json: () => toJson(choices, { csv, out, table, commands }),
    text: async () => {
      const { shellCommand } = await import('../../document/provenance.ts');
      return briefReport({
        subject: csv,
        blocks: [
          {
            kind: 'table',
            caption: 'Choices',
            columns: [{ name: 'Role' }, { name: 'Choice' }, { name: 'Reason', wraps: true, isEssential: true }],
            rows: choices.reasons,
          },
          ...commands.flatMap(({ purpose, args }): ReportBlock[] => [
            { kind: 'paragraph', text: `${purpose}:` },
            { kind: 'code', text: `npx ${shellCommand(args)}` },
          ]),
        ],
      });
    },
  });
  remarkWritten([out], options);
}

/** Returns all options that are missing if nobody can be asked. */
function missingAnswers(file: string | undefined, given: GivenAnswers, acceptsGuesses: boolean): string[] {
  const { sensitive, yPred, yTrue, score } = given;
  const isMeasurable = [yPred, yTrue, score].some((name) => name !== undefined);
  return [
    ...(file === undefined ? ['a data file'] : []),
    ...(sensitive !== undefined || acceptsGuesses ? [] : ['--sensitive']),
    ...(isMeasurable || acceptsGuesses ? [] : ['one of --y-pred, --y-true and --score']),
  ];
}

/** Returns one error that lists all missing options, and what was guessed from the file. */
function missingError(
  missing: readonly string[],
  acceptsGuesses: boolean,
  guesses: readonly string[],
): ConfigValidationError {
  const reason = acceptsGuesses ? '' : 'stdin is not a terminal, so init cannot ask. ';
  const advice = acceptsGuesses
    ? 'For example: evenhand init decisions.csv --yes'
    : 'Give these options, or accept the guesses with --yes.';
  return new ConfigValidationError(`${reason}Missing: ${missing.join(', ').replace(/, (?=one of)/, ', and ')}.`, {
    context: { missing },
    suggestion: [advice, ...guesses].join(' '),
  });
}

function assertYaml(out: string): void {
  if (/\.ya?ml$/i.test(out)) return;
  throw new ConfigValidationError(`--out must end in .yml or .yaml. Got '${out}' instead.`, { context: { path: out } });
}

async function assertMayReplace(out: string, prompt: Prompt | undefined): Promise<void> {
  const answer = await prompt?.ask(`'${out}' exists. Replace it? [no]: `);
  if (answer !== undefined && /^y(es)?$/i.test(answer)) return;
  throw new ConfigValidationError(`'${out}' exists, so nothing was written.`, {
    context: { path: out },
    suggestion: 'Replace it with --force, or name another file with --out.',
  });
}

async function writeConfig(
  choices: InitChoices,
  csv: string,
  out: string,
  decimal: DecimalSeparator | undefined,
): Promise<void> {
  const [{ starterConfigText }, { parseConfigText }, { writeFileAtomic }] = await Promise.all([
    import('../../pipeline/config/starter-config.ts'),
    import('../../pipeline/config/load-config.ts'),
    import('../../io/atomic-write.ts'),
  ]);
  const { decision, truth, decisionLabel, truthLabel, features, ...others } = choices;
  const target = truth ?? decision;
  const training =
    target === undefined || features.features.length === 0
      ? undefined
      : { target, positiveLabel: truth === undefined ? decisionLabel : truthLabel, ...features };
  const text = await starterConfigText({ ...others, decimal, training }, `evenhand init ${csv}`);
  await parseConfigText(text, out);
  await writeFileAtomic(out, text);
}

interface ProposedCommand {
  readonly purpose: string;
  readonly args: readonly string[];
}

/** Returns the suggested next commands: one that measures the file, and one that uses the new configuration. */
function proposedCommands(
  choices: InitChoices,
  csv: string,
  out: string,
  decimal: DecimalSeparator | undefined,
): ProposedCommand[] {
  const { decision, score, scoreThreshold, truth, sensitive, weight, cluster, threshold, features } = choices;
  const isOnlyTruth = decision === undefined && score === undefined;
  const option = (name: string, value: string | number | undefined): string[] =>
    value === undefined ? [] : [`--${name}`, String(value)];
  const measured = isOnlyTruth ? truth : decision;
  const measure = [
    'validate',
    ...option('csv', csv),
    ...option('decimal', decimal),
    ...option('y-pred', measured),
    ...option('score', score),
    ...option('score-threshold', scoreThreshold),
    ...(isOnlyTruth ? [] : option('y-true', truth)),
    ...sensitive.flatMap((name) => option('sensitive', formatNames([name]))),
    ...option('sample-weight', weight),
    ...option('cluster', cluster),
    ...labelOptions(choices),
    ...option('metric', threshold === undefined ? undefined : `demographic_parity_difference<=${String(threshold)}`),
  ];
  const isTrained = features.features.length > 0;
  const use = isTrained
    ? ['run-pipeline', ...option('config', out), ...option('csv', csv), ...option('output-dir', 'out')]
    : ['pipeline', ...option('config', out), ...option('csv', csv)];
  return [
    { purpose: isOnlyTruth ? 'Next, measure the labels' : 'Next, measure the decisions', args: measure },
    { purpose: isTrained ? 'Then train a model under a constraint' : 'Then check the data', args: use },
  ];
}

/** Returns the options for `validate` that say which labels count as 1. */
function labelOptions({ decision, score, truth, decisionLabel, truthLabel }: InitChoices): string[] {
  if (decision === undefined && score === undefined)
    return truthLabel === undefined ? [] : ['--positive-label', truthLabel];
  const own = decisionLabel === undefined ? [] : ['--positive-label', decisionLabel];
  if (truth === undefined || truthLabel === decisionLabel) return own;
  return [...own, '--y-true-positive-label', truthLabel ?? '1'];
}

function sizeOf({ rowCount, columnNames }: Table): string {
  const rows = rowCount === MAX_ROWS ? `the first ${counted(rowCount, 'row')}` : counted(rowCount, 'row');
  return `${rows}, ${counted(columnNames.length, 'column')}`;
}

function toJson(
  choices: InitChoices,
  {
    csv,
    out,
    table,
    commands,
  }: {
    readonly csv: string;
    readonly out: string;
    readonly table: Table;
    readonly commands: readonly ProposedCommand[];
  },
): Record<string, unknown> {
  const {
    decision,
    score,
    truth,
    sensitive,
    weight,
    cluster,
    decisionLabel,
    truthLabel,
    features,
    threshold,
    reasons,
  } = choices;
  return {
    config: out,
    data: csv,
    rows: table.rowCount,
    columns: { decision, score, truth, sensitive, weight, cluster, features: features.features },
    positive_labels: { decision: decisionLabel, truth: truthLabel },
    threshold,
    reasons: reasons.map(([role, choice, reason]) => ({ role, choice, reason })),
    commands: commands.map(({ args }) => ['evenhand', ...args]),
  };
}
