import type { Command } from 'commander';

import type { FoundFiles } from '../../schemas/data-source.ts';
import type { ImpactRatioRequest } from '../../schemas/impact-ratio.ts';
import { defineCommand, OPTION } from '../define-command.ts';
import { repeatable } from '../option-parsers.ts';
import { assertOutputs, reportForms, reportWriter } from '../output-places.ts';
import { type OutputOptions, printResult, remarkWritten } from '../output.ts';
import { startProvenance } from '../provenance.ts';

interface ImpactRatioCommandOptions extends OutputOptions {
  readonly csv: FoundFiles;
  readonly out?: readonly string[];
}

/** Returns the command `evenhand impact-ratio`. */
export function impactRatioCommand(): Command {
  return defineCommand({
    name: 'impact-ratio',
    options: `
${OPTION.csv}
--selected <column>  column of decisions: 1 if the person was selected or moved forward, 0 if not
--score <column>  column of scores, instead of --selected; counts scores above the median of all scores
--sex <column>  column of sex categories
--race-ethnicity <column>  column of race or ethnicity categories
--positive-label <label>  label that counts as 1 in --selected, if the labels are not 0 and 1
--na-values <texts>  comma-separated list of texts that mean a missing value, such as Unknown; people without a known sex or race are counted as unknown (default: in the outcome NA, NaN, None, null and others, else only empty fields)
--exclude-below <share>  leave categories with a smaller share of the rows out of impact ratios, at most 0.02; needs --justification
--justification <text>  why small categories are excluded; part of the report
${OPTION.report}`,
    parsers: { out: repeatable((path) => path) },
    required: ['csv', 'selected|score', 'sex', 'raceEthnicity'],
    schema: async () => (await import('../../schemas/impact-ratio.ts')).impactRatioSchema,
    help: `
Examples:
  Selection rates and impact ratios by sex, by race or ethnicity, and by both together:
  $ evenhand impact-ratio --csv applicants.csv --selected moved_forward --sex sex --race-ethnicity race

  A tool that scores people: the share with a score above the median; small categories have no impact ratio:
  $ evenhand impact-ratio --csv applicants.csv --score fit --sex sex --race-ethnicity race --na-values Unknown \\
      --exclude-below 0.02 --justification "Too few people for a stable rate" --out audit.html --out audit.json

The tables follow the rules of New York City's Local Law 144 (6 RCNY 5-300 to 5-304), with the four-fifths rule and
its test beside them. The numbers do not decide whether a law is met: see docs/compliance.md.`,
    run,
  });
}

async function run(
  options: ImpactRatioCommandOptions,
  { csv, ...request }: ImpactRatioRequest,
  _: readonly string[],
  call: readonly string[],
): Promise<void> {
  const [
    { impactRatios },
    { impactRatioDocument },
    { withManifest },
    { toSnakeCaseJson },
    { impactRatioNotes },
    { readFirstRows },
  ] = await Promise.all([
    import('../../metrics/impact-ratios.ts'),
    import('../../document/impact-ratio-document.ts'),
    import('../../document/provenance.ts'),
    import('../../internal/arguments.ts'),
    import('../../integration/column-notes.ts'),
    import('../../io/first-rows.ts'),
  ]);
  const { out } = options;
  const inputs = [options.csv];
  const writeReports = await reportWriter(out);
  await assertOutputs(out ?? [], inputs);
  const findProvenance = startProvenance(options.json === true || out !== undefined, { call, options, inputs });
  const result = await impactRatios(csv, request);
  const notes = impactRatioNotes(result, request, await readFirstRows(options.csv, [request.score]));
  const provenance = await findProvenance(result.n + result.nWithoutOutcome);
  const results = toSnakeCaseJson(result) as object;
  const body = withManifest(notes.length === 0 ? results : { ...results, notes }, provenance);
  const report = impactRatioDocument(result, notes);
  await writeReports?.(reportForms(report, body, provenance));
  await printResult(options, { json: () => body, text: () => report });
  remarkWritten(out ?? [], options);
}
