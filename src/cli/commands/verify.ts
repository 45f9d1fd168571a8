import { stat } from 'node:fs/promises';
import { join } from 'node:path';

import { Argument, type Command } from 'commander';

import {
  briefReport,
  type ReportBlock,
  type ReportDocument,
  type ReportVerdict,
} from '../../document/report-document.ts';
import type { ReportVerification, VerificationCheck } from '../../integration/verify-report.ts';
import type { FoundFiles } from '../../schemas/data-source.ts';
import type { VerifyRequest } from '../../schemas/verify.ts';
import { defineCommand, OPTION } from '../define-command.ts';
import { CHECK_FAILED } from '../exit-codes.ts';
import { type OutputOptions, printResult } from '../output.ts';

interface VerifyOptions extends OutputOptions {
  readonly csv?: FoundFiles;
  readonly key?: string;
  readonly signature?: string;
}

/** Returns the command `evenhand verify REPORT`. */
export function verifyCommand(): Command {
  return defineCommand<VerifyOptions, VerifyRequest>({
    name: 'verify',
    options: `
${OPTION.csv}
--counts-only  check the report from its own statistics, without data (the default without --csv)
--key <path>  public key of the author: also check the signature
--signature <path>  signature of the report, with --key (default: the report with .dsse.json appended)`,
    schema: async () => (await import('../../schemas/verify.ts')).verifySchema,
    help: `
Examples:
  $ evenhand validate --csv decisions.csv --y-pred approved --sensitive sex --out report.html
  $ evenhand verify report.html --csv decisions.csv

  Without the data: do the results follow from the counts of the groups in the report?
  $ evenhand verify report.json --counts-only

  The folder of a workflow, which runs again on the data:
  $ evenhand run-pipeline --config config/cps-wages.yml --csv wages.csv --output-dir out
  $ evenhand verify out --csv wages.csv

  A signed report:
  $ evenhand keygen --out audit
  $ evenhand validate --csv decisions.csv --y-pred approved --sensitive sex --out report.json --sign audit.pem
  $ evenhand verify report.json --key audit.pub.pem

All numbers are computed again. The order of rows and the format of the files do not matter. Checksums show changes
by accident; only the data show whether the counts are true, and only a signature shows who wrote the report.
The verdict is VERIFIED if the data or a signature were checked too. With a signature alone, it shows who signed the
numbers, and not that the rows give them. It is CONSISTENT if the report was only compared with its own statistics.
Exit codes: 0 nothing differs, 1 something differs, 2 invalid options, or no report that can be verified,
3 an internal error.`,
    run,
  }).addArgument(new Argument('<report>', 'report of validate (.json or .html), or folder of run-pipeline'));
}

async function run(options: VerifyOptions, { key }: VerifyRequest, [path = '']: readonly string[]): Promise<void> {
  const isFolder = (await stat(path).catch(() => undefined))?.isDirectory() === true;
  const [{ outcomeOf, verifyReport }, { readResultText }] = await Promise.all([
    import('../../integration/verify-report.ts'),
    import('../../io/read-text-file.ts'),
  ]);
  // The manifest of a folder names all its files, so that its signature is that of the folder.
  const file = isFolder ? join(path, 'manifest.json') : path;
  const report = await readResultText(file, 'verify');
  const source = options.csv?.paths;
  const { checks } = isFolder
    ? await (await import('../../integration/verify-workflow.ts')).verifyWorkflow(path, { source })
    : await verifyReport(report, { source });
  const signature = options.signature ?? `${file}.dsse.json`;
  const signed =
    key === undefined ? await findUncheckedSignature(signature) : [await checkSignature(report, key, signature)];
  const isSigned = signed.some(({ passed }) => passed === true);
  const verification = outcomeOf([
    ...checks,
    ...(source === undefined ? [DATA_UNCHECKED] : []),
    ...(isSigned ? [] : [provenanceUnchecked(isFolder, report.trimStart().startsWith('<'))]),
    ...signed,
  ]);
  await printResult(options, {
    json: () => verificationToJson(verification),
    text: () => documentOf(verification, path),
  });
  if (!verification.passed) process.exitCode = CHECK_FAILED;
}

/** The check of a report without its data, which only shows that the report agrees with itself. */
const DATA_UNCHECKED: VerificationCheck = {
  name: 'data',
  passed: null,
  message: 'The report was not compared with the rows. Give them with --csv.',
  differences: [],
};

/** Returns the check of what a report says about its origin, which only a signature can show. */
function provenanceUnchecked(isFolder: boolean, isPage: boolean): VerificationCheck {
  const fields = isFolder
    ? 'The date, the command, the version of evenhand and the names of the input files'
    : 'The command, its options, the version of evenhand, the names of the input files, the number of rows read, notes, and a comparison with another report';
  const message = [
    // Reports in JSON have no date.
    ...(isPage
      ? ['The date of the report: nothing in the data shows when it was made, and no checksum covers it.']
      : []),
    `${fields}: the data do not show them. Only checksums cover them, which can be replaced together with them.`,
    'A signature covers all of this. Check it with --key.',
  ].join(' ');
  return { name: 'provenance', passed: null, message, differences: [] };
}

/** Returns the check of a signature that was found, but not checked because no key was given. */
async function findUncheckedSignature(path: string): Promise<readonly VerificationCheck[]> {
  if (!(await isFile(path))) return [];
  const message = `The signature '${path}' was found. Give the public key of its author with --key.`;
  return [{ name: 'signature', passed: null, message, differences: [] }];
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() === true;
}

async function checkSignature(report: string, key: string, signature: string): Promise<VerificationCheck> {
  const [{ verifySignature }, { readResultText }] = await Promise.all([
    import('../../integration/sign-report.ts'),
    import('../../io/read-text-file.ts'),
  ]);
  return verifySignature(report, await readResultText(signature, '--signature'), await readResultText(key, '--key'));
}

function verificationToJson({ passed, checks }: ReportVerification): Record<string, unknown> {
  return { passed, checks };
}

function documentOf({ passed, checks }: ReportVerification, path: string): ReportDocument {
  const blocks = checks.map((one): ReportBlock => ({
    kind: 'note',
    title: `${one.passed === null ? 'Not checked' : one.passed ? 'Same' : 'Different'}: ${one.name}`,
    items: [
      one.message,
      ...one.differences.map(
        ({ where, reported, computed }) => `${where}: the report says ${shown(reported)}, and it is ${shown(computed)}`,
      ),
    ],
  }));
  return briefReport({
    title: 'Verification',
    subject: `Report: ${path}`,
    verdict: verdictOf(passed, checks),
    blocks,
  });
}

/** Returns the verdict. A report that was compared with nothing else is not called verified, because it can be invented. */
function verdictOf(passed: boolean, checks: readonly VerificationCheck[]): ReportVerdict {
  if (!passed) {
    const failed = checks.filter((one) => one.passed === false);
    const unseen = checks.filter(({ name, passed: isSame }) => name === 'page' && isSame === null);
    return {
      kind: 'fail',
      title: 'NOT VERIFIED',
      sentences: (failed.length > 0 ? failed : unseen).map(({ message }) => message),
    };
  }
  const results = checks.filter(({ name }) => name === 'results').map(({ message }) => message);
  if (checks.some(({ name, passed: isSame }) => isSame === true && (name === 'data' || name === 'signature'))) {
    return { kind: 'pass', title: 'VERIFIED', sentences: ['Everything that was checked is the same.', ...results] };
  }
  return {
    kind: 'pass',
    title: 'CONSISTENT',
    sentences: [
      ...results,
      'Neither the data nor a signature was checked, so this does not show that the statistics are true.',
    ],
  };
}

/** The longest text of a value. */
const MAX_SHOWN = 120;

function shown(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}…`;
}
