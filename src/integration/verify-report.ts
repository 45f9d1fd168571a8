import { quoteArgument } from '../document/provenance.ts';
import { DataValidationError, FairnessToolkitError } from '../exceptions/index.ts';
import { assertKnownOptions, type OptionNames } from '../internal/arguments.ts';
import { counted, nameSome } from '../internal/format.ts';
import { isMapping, type Mapping, parseObject, valueAt } from '../internal/values.ts';
import { VERSION } from '../internal/version.ts';
import { hashInputFile } from '../io/checksum.ts';
import { findFiles } from '../io/find-files.ts';
import type { DataPaths } from '../schemas/data-source.ts';
import type { ValidateRequest } from '../schemas/validate-values.ts';
import { type FileValidation, measureAttributes } from './measure-attributes.ts';
import {
  contentHash,
  type EvidenceChecksums,
  type EvidenceManifest,
  manifestChecksum,
  resultsChecksum,
  type StatisticsJson,
  statisticsFromJson,
  statisticsToJson,
} from './report-evidence.ts';
import {
  differencesOf,
  firstDifference,
  groupsOnlyIn,
  type ReportDifference,
  statisticsDifferences,
} from './report-differences.ts';
import { atOnce } from './validate-bounds.ts';
import { validateCounts, type ValidateCountsInput, validateFile } from './validate-file.ts';
import { measureRequestOf } from './validate-table.ts';
import { type EmbeddedReport, embeddedReport, validationToHtml } from './validation-html.ts';
import { type ChangesJson, changesFromJson, validationToJson } from './validation-report.ts';

/** Options of {@link verifyReport}. */
export interface VerifyReportOptions {
  /**
   * The files from which the report was made, or the same rows in other files.
   * @defaultValue none: only the report itself is checked
   */
  readonly source?: DataPaths | undefined;
  /**
   * The largest relative difference of two numbers that count as equal. Sums of fractions depend on the order of rows in
   * their last digits.
   * @defaultValue 1e-9
   */
  readonly tolerance?: number | undefined;
}

export const VERIFY_REPORT_NAMES: OptionNames<VerifyReportOptions> = { source: true, tolerance: true };

/** One thing that was checked. */
export interface VerificationCheck {
  /**
   * `files`: the folder of a workflow has the files that were written. `checksums`: the parts of the report are those
   * that were written. `results`: the statistics in the report give its results. `data`: the files give the statistics.
   * `model`: the folder of a workflow has the model that the data give. `page`: the page shows the results.
   * `provenance`: the date, the command and the version are true, which the command `verify` lists as not checked.
   * `signature`: the key signed the report.
   */
  readonly name: 'files' | 'checksums' | 'results' | 'data' | 'model' | 'page' | 'provenance' | 'signature';
  /** Whether the check passed; null if it could not be made. */
  readonly passed: boolean | null;
  readonly message: string;
  /** What differs: where, what the report says, and what was computed. */
  readonly differences: readonly ReportDifference[];
}

/** The outcome of a verification. */
export interface ReportVerification {
  /** Whether at least one check was made, and none failed. */
  readonly passed: boolean;
  readonly checks: readonly VerificationCheck[];
}

/** The largest number of differences that a check lists. */
const MAX_DIFFERENCES = 20;

/**
 * Checks a report of `validate`: a JSON result, or an HTML page. All results are computed again from the statistics in the
 * report, and the statistics from the data if they are given, so that nobody has to trust the author of the report or
 * this package's earlier output.
 *
 * Checksums show that a report was changed after it was written, unless the author of the change also replaced them. The
 * results show whether they follow from the statistics, also if the checksums were replaced. Only the data show whether the statistics
 * are true, and only a signature shows who wrote them.
 * @param report the text of the report
 * @throws {DataValidationError} if the text is not a report with a manifest
 * @throws {ValueError} if an option is unknown
 * @example
 * ```ts
 * import { createManifest, validateCounts, validationToJson, verifyReport } from 'evenhand/integration';
 *
 * const counts = { sex: ['f', 'f', 'm', 'm'], decision: [0, 1, 0, 1], n: [600, 400, 500, 500] };
 * const validation = await validateCounts(counts, { attributes: [['sex']] });
 * const body = validationToJson(validation);
 * const made = { command: 'an example', options: {}, inputs: [], date: new Date(0) };
 * const report = { ...body, manifest: createManifest(validation, body, made) };
 * console.log((await verifyReport(JSON.stringify(report))).passed);
 * // true
 * console.log((await verifyReport(JSON.stringify(report).replace('600', '599'))).passed);
 * // false
 * ```
 */
export async function verifyReport(report: string, options: VerifyReportOptions = {}): Promise<ReportVerification> {
  assertKnownOptions('verifyReport', options, VERIFY_REPORT_NAMES);
  const { source, tolerance = 1e-9 } = options;
  const page = report.trimStart().startsWith('<') ? embeddedReport(report) : undefined;
  const body = page === undefined ? parseObject(report) : page.report;
  const { results, manifest } = partsOf(body);
  // The text of a page has no checksum: it is made again.
  const written = page === undefined ? 'The report is as it was written.' : 'The results in the page are as they were written.'; // prettier-ignore
  const checks = [checkSums(results, manifest, written)];
  const computed = recomputed(manifest);
  checks.push(checkResults(results, manifest, computed, tolerance));
  if (source !== undefined) checks.push(await checkData(manifest, results, source, tolerance));
  if (page !== undefined) checks.push(await checkPage(report, page, manifest));
  return outcomeOf(checks);
}

/**
 * Returns the outcome of checks. A page whose text was not compared can show anything, so that it only passes with a
 * signature. The pages in a folder (whose files are checked) are not what is verified.
 */
export function outcomeOf(checks: readonly VerificationCheck[]): ReportVerification {
  const made = checks.filter(({ passed }) => passed !== null);
  const has = (own: VerificationCheck['name'], result: boolean | null): boolean =>
    checks.some(({ name, passed }) => name === own && passed === result);
  const isUnseen = has('page', null) && !has('files', true) && !has('signature', true);
  return Object.freeze({
    passed: made.length > 0 && made.every(({ passed }) => passed === true) && !isUnseen,
    checks,
  });
}

/**
 * Notes that a report was changed after it was written. Returns nothing for a report without checksums, which earlier
 * versions wrote. Only checksums are compared: the results of another version may follow from other rules.
 * @param body the JSON of the report
 * @param path the path of the report, for the note
 */
export function changedReportNotes(body: unknown, path: string): readonly string[] {
  if (!isEvidence(body)) return [];
  const { results, manifest } = partsOf(body);
  const { passed, message } = checkSums(results, manifest, '');
  if (passed === true) return [];
  return [
    `'${path}' is not as it was written, so that its numbers may be wrong. ${message} 'evenhand verify ${quoteArgument(path)}' shows what differs.`,
  ];
}

interface ReportParts {
  readonly results: Readonly<Record<string, unknown>>;
  readonly manifest: EvidenceManifest;
}

function partsOf(body: unknown): ReportParts {
  if (!isEvidence(body)) {
    throw new DataValidationError(
      'The file is not a report that can be verified: it has no manifest with statistics.',
      {
        code: 'unreadable-file',
        suggestion:
          "Reports of 'evenhand validate' that end in .json or .html have one, since version 0.9. Check that the file is complete.",
      },
    );
  }
  const { manifest, ...results } = body;
  return { results, manifest };
}

function isEvidence(body: unknown): body is Mapping & { readonly manifest: EvidenceManifest } {
  const manifest = valueAt(body, ['manifest']);
  return (
    isMapping(manifest) && isMapping(manifest['request']) && isMapping(manifest['sha256']) && 'statistics' in manifest
  );
}

/** Returns a check with its first differences. */
export function check(
  name: VerificationCheck['name'],
  passed: boolean | null,
  message: string,
  differences: readonly ReportDifference[] = [],
): VerificationCheck {
  return { name, passed, message, differences: differences.slice(0, MAX_DIFFERENCES) };
}

/** Compares the checksums of the parts with those in the manifest. */
function checkSums(results: object, { sha256, ...manifest }: EvidenceManifest, written: string): VerificationCheck {
  const computed = {
    results: resultsChecksum(results),
    statistics: manifest.statistics === null ? sha256.statistics : contentHash(manifest.statistics),
    // Computed from the two other checksums as they are written, so that a changed checksum shows here.
    manifest: manifestChecksum(manifest, { results: sha256.results, statistics: sha256.statistics }),
  };
  return compareChecksums(computed, sha256, written);
}

/**
 * Compares computed checksums with those that were written.
 * @param written says what is as it was written, if all are the same
 */
export function compareChecksums(
  computed: EvidenceChecksums,
  sha256: EvidenceChecksums,
  written: string,
): VerificationCheck {
  const wrong = (['results', 'statistics', 'manifest'] as const).filter((name) => computed[name] !== sha256[name]);
  if (wrong.length === 0) return check('checksums', true, written);
  const differences = wrong.map((name) => ({
    where: `manifest.sha256.${name}`,
    reported: sha256[name],
    computed: computed[name],
  }));
  return check('checksums', false, `${changedParts(wrong)} after the report was written.`, differences);
}

function changedParts(wrong: readonly ('results' | 'statistics' | 'manifest')[]): string {
  const parts = wrong.filter((name) => name !== 'manifest');
  if (!wrong.includes('manifest')) return `The ${parts.join(' and the ')} were changed`;
  return parts.length === 0
    ? 'The manifest (version, command, options, request, input files, or its checksum) was changed'
    : `The checksum of the ${parts.join(' and of the ')} was changed, or both they and the manifest were changed`;
}

/** Computes the results from the statistics in a manifest; a text says why they cannot be computed. */
function recomputed({ request, statistics }: EvidenceManifest): Readonly<Record<string, unknown>> | string {
  if (statistics === null) return 'the report leaves out its statistics, which are too many; give the data';
  try {
    const validation = atOnce(measureAttributes(measureRequestOf(request), statisticsFromJson(statistics)));
    return plain(validationToJson(validation));
  } catch (error) {
    if (FairnessToolkitError.isInstance(error)) return `the statistics or the request cannot be read: ${error.message}`;
    // The shape of a changed request may be anything.
    return `the statistics or the request have another shape: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Compares the results with those that the statistics give. */
function checkResults(
  results: Readonly<Record<string, unknown>>,
  manifest: EvidenceManifest,
  computed: ReturnType<typeof recomputed>,
  tolerance: number,
): VerificationCheck {
  const own = typeof computed === 'string' ? computed : withoutRemarks(computed);
  return checkResultsWith(withoutRemarks(results), own, { isLeftOut: manifest.statistics === null, tolerance });
}

/**
 * Compares results with those that were computed again.
 * @param computed a text says why they could not be computed
 */
export function checkResultsWith(
  results: object,
  computed: object | string,
  { isLeftOut, tolerance }: { readonly isLeftOut: boolean; readonly tolerance: number },
): VerificationCheck {
  if (typeof computed === 'string') {
    return check('results', isLeftOut ? null : false, `The results cannot be computed: ${computed}.`);
  }
  const differences = differencesOf(results, computed, tolerance);
  return differences.length === 0
    ? check('results', true, `All results follow from the statistics in the report.${ownVerdict(results)}`)
    : check('results', false, `${counted(differences.length, 'result does', 'results do')} not follow from the statistics in the report.`, differences); // prettier-ignore
}

/** Says what the report decided, because a report of a failed gate is verified too. */
function ownVerdict(results: object): string {
  const passed = 'passed' in results ? results.passed : null;
  return typeof passed === 'boolean' ? ` The verdict of the report is ${passed ? 'PASS' : 'FAIL'}.` : '';
}

/** Leaves out what does not follow from statistics: notes on columns of the data, and a comparison with another report. */
function withoutRemarks({ notes: _, changes: __, ...results }: Readonly<Record<string, unknown>>): object {
  return results;
}

/** Counts the data again, and compares the statistics and, if the report has none, the results. */
async function checkData(
  manifest: EvidenceManifest,
  results: Readonly<Record<string, unknown>>,
  source: DataPaths,
  tolerance: number,
): Promise<VerificationCheck> {
  const { request, statistics } = manifest;
  const { counts, decimal, ...rows } = request;
  const validation = await (counts === undefined
    ? validateFile({ paths: source, decimal }, rows)
    : validateCounts(source, withoutColumns(rows)));
  const found = plain(statisticsToJson(validation.counted?.statistics ?? [])) as unknown as StatisticsJson;
  const differences =
    statistics === null
      ? differencesOf(withoutRemarks(results), withoutRemarks(plain(validationToJson(validation))), tolerance)
      : contentHash(found) === contentHash(statistics)
        ? []
        : statisticsDifferences(statistics, found, tolerance);
  const { files } = await findFiles(source);
  const hashes = await Promise.all(files.map(async ({ path }) => (await hashInputFile(path)).sha256));
  const known = new Set(manifest.inputs.map(({ sha256 }) => sha256));
  const isSameFile = hashes.every((hash) => hash !== null && known.has(hash));
  const file = isSameFile
    ? 'The files are those of the report (same SHA-256)'
    : 'The files are not those of the report (another SHA-256)';
  if (differences.length > 0) {
    const numbers = counted(differences.length, 'number of the data differs', 'numbers of the data differ');
    const groups = statistics === null ? [] : groupSentences(statistics, found);
    return check('data', false, [`${file}, and ${numbers} from the report.`, ...groups].join(' '), differences);
  }
  return check('data', true, isSameFile ? `${file}, and give the same numbers.` : `${file}, but they hold the same data: all numbers are the same.`); // prettier-ignore
}

/** Names the groups that only the report or only the data have. */
function groupSentences(reported: StatisticsJson, computed: StatisticsJson): string[] {
  const sentenceOf = (labels: readonly string[], where: string): string[] => {
    const [groups, are] = labels.length === 1 ? ['Group', 'is'] : ['Groups', 'are'];
    return labels.length === 0 ? [] : [`${groups} ${nameSome(labels)} ${are} ${where}.`];
  };
  return [
    ...sentenceOf(groupsOnlyIn(reported, computed), 'missing from the data'),
    ...sentenceOf(groupsOnlyIn(computed, reported), 'not in the report'),
  ];
}

/** Counts have fixed names for decisions, scores, true labels and weights. */
function withoutColumns(request: Omit<ValidateRequest, 'counts' | 'decimal'>): ValidateCountsInput {
  const { yPred: _, score: __, yTrue: ___, sampleWeight: ____, cluster: _____, strata: ______, backend: _______, ...others } = request; // prettier-ignore
  return others;
}

/** Renders the page again from its results, and compares the texts. */
async function checkPage(text: string, page: EmbeddedReport, manifest: EvidenceManifest): Promise<VerificationCheck> {
  if (manifest.evenhand !== VERSION) {
    return check('page', null, `The page was made by version ${manifest.evenhand}, and this is version ${VERSION}: it is not compared.`); // prettier-ignore
  }
  const { statistics, request, command, options, inputs, rows } = manifest;
  if (statistics === null) {
    return check('page', null, 'The page cannot be made again from the report, which leaves out statistics.');
  }
  try {
    const validation = atOnce(measureAttributes(measureRequestOf(request), statisticsFromJson(statistics)));
    const { notes, changes } = page.report as Pick<FileValidation, 'notes'> & { readonly changes?: ChangesJson };
    const again = await validationToHtml({ ...validation, ...(notes === undefined ? {} : { notes }) }, page.source, {
      provenance: { date: new Date(page.date), command, options, inputs, rows: rows ?? undefined },
      report: page.report,
      changes: changes && changesFromJson(changes),
    });
    const others = changes === undefined ? '' : ' What changed since another report was not computed again.';
    if (again === text) return check('page', true, `The page shows these results.${others}`);
    return check('page', false, 'The text of the page is not what the results give.', [firstDifference(text, again)]);
  } catch (error) {
    return check('page', false, `The page cannot be made again: ${error instanceof Error ? error.message : String(error)}`); // prettier-ignore
  }
}

/** Returns a value as it is after it was written as JSON. */
export function plain(value: object): Readonly<Record<string, unknown>> {
  return JSON.parse(JSON.stringify(value)) as Readonly<Record<string, unknown>>;
}
