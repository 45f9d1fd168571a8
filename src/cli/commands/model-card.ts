import { Argument, type Command } from 'commander';

import type { Mapping } from '../../internal/values.ts';
import { defineCommand, OPTION } from '../define-command.ts';
import { repeatable } from '../option-parsers.ts';
import { assertOutputs, reportForms, reportWriter } from '../output-places.ts';
import { type OutputOptions, printResult, remarkWritten } from '../output.ts';
import { startProvenance } from '../provenance.ts';

interface ModelCardCommandOptions extends OutputOptions {
  readonly name?: string;
  readonly out?: readonly string[];
}

/** Returns the command `evenhand model-card RESULT`. */
export function modelCardCommand(): Command {
  return defineCommand<ModelCardCommandOptions>({
    name: 'model-card',
    options: `
--name <name>  name of the model
${OPTION.report}`,
    parsers: { name: (text) => text, out: repeatable((path) => path) },
    help: `
Examples:
  Measure, and write a card from the result:
  $ evenhand validate --csv test.csv --y-pred predicted --y-true repaid --sensitive sex --sensitive sex,race \\
      --out result.json
  $ evenhand model-card result.json --name "Loan model" --out card.md --out card.html

The sections follow Mitchell et al. (2019). The metrics, groups, exclusions and limitations come from the result. What
only a person can answer is marked with "To be filled in by". A result of run-pipeline --json works too.
Exit codes: 0 done, 2 invalid options, or the file is not a result of validate, 3 an internal error.`,
    run,
  }).addArgument(new Argument('<result>', 'result of validate as JSON (validate … --out result.json)'));
}

async function run(
  options: ModelCardCommandOptions,
  _: undefined,
  [path = '']: readonly string[],
  call: readonly string[],
): Promise<void> {
  const [{ createModelCard }, { changedReportNotes }, { parseResult }, { readResultText }] = await Promise.all([
    import('../../integration/model-card.ts'),
    import('../../integration/verify-report.ts'),
    import('../../integration/validation-from-json.ts'),
    import('../../io/read-text-file.ts'),
  ]);
  const { name, out } = options;
  const writeReports = await reportWriter(out);
  await assertOutputs(out ?? [], [path]);
  const findProvenance = startProvenance(out !== undefined, { call, options, inputs: [path] });
  const result = parseResult(await readResultText(path, 'model-card'), path);
  const notes = changedReportNotes(result, path);
  const card = createModelCard(withNotes(result, notes), { name, provenance: await findProvenance() });
  await writeReports?.(reportForms(card.document, card.toJSON(), card.document.provenance));
  await printResult(options, { json: () => card.toJSON(), text: () => card.document });
  remarkWritten(out ?? [], options);
}

/** Adds notes to the JSON of a result. */
function withNotes(result: Mapping, notes: readonly string[]): Mapping {
  if (notes.length === 0) return result;
  const own = Array.isArray(result['notes']) ? (result['notes'] as readonly unknown[]) : [];
  return { ...result, notes: [...own, ...notes] };
}
