import path from 'node:path';

import { ConfigValidationError } from '../exceptions/index.ts';

/**
 * Reads the private key of `--sign` before the work starts.
 * @param out the reports to sign; undefined if none is written
 * @param suggestion how to write a report
 * @returns a function that signs the written files; undefined without a key
 * @throws {ConfigValidationError} if the key cannot be used, or no report is written
 */
export async function reportSigner(
  key: string | undefined,
  out: readonly string[] | undefined,
  suggestion: string,
): Promise<(() => Promise<void>) | undefined> {
  if (key === undefined) return undefined;
  if (out === undefined) {
    throw new ConfigValidationError('--sign signs reports, but no report is written.', {
      context: { parameter: 'sign' },
      suggestion,
    });
  }
  const [{ signReport }, { readResultText }, { writeFileAtomic }, { readFile }] = await Promise.all([
    import('../integration/sign-report.ts'),
    import('../io/read-text-file.ts'),
    import('../io/atomic-write.ts'),
    import('node:fs/promises'),
  ]);
  const privateKey = await readResultText(key, '--sign');
  const { EVENHAND_KEY_PASSWORD: password } = process.env;
  const signed = (report: Uint8Array | string, file: string): string =>
    signReport(report, { privateKey, password, name: path.basename(file) });
  // A key that cannot be used is an error before the work.
  signed('', '');
  return async () => {
    for (const file of out) await writeFileAtomic(signatureOf(file), signed(await readFile(file), file));
  };
}

/** Returns the path of the signature of a report. */
export function signatureOf(report: string): string {
  return `${report}.dsse.json`;
}
