import type { Command } from 'commander';
import { z } from 'zod';

import { briefReport } from '../../document/report-document.ts';
import { ConfigValidationError } from '../../exceptions/index.ts';
import { defineCommand } from '../define-command.ts';
import { type OutputOptions, printResult } from '../output.ts';

interface KeygenOptions extends OutputOptions {
  readonly out?: string;
}

/** Returns the command `evenhand keygen`. */
export function keygenCommand(): Command {
  return defineCommand<KeygenOptions, unknown>({
    name: 'keygen',
    options: '--out <path>  path of the keys without an extension (default: evenhand-key)',
    parsers: { out: (text: string) => text },
    schema: () => Promise.resolve(z.object({})),
    help: `
Examples:
  $ evenhand keygen --out audit
  $ evenhand validate --csv decisions.csv --y-pred approved --sensitive sex --out report.json --sign audit.pem
  $ evenhand verify report.json --key audit.pub.pem

Writes audit.pem, which must stay secret, and audit.pub.pem, for those who verify reports. The keys are Ed25519. If
EVENHAND_KEY_PASSWORD is set, it encrypts the secret key, and is needed to sign. Files are never replaced.`,
    run,
  });
}

async function run(options: KeygenOptions): Promise<void> {
  const [{ writeFile }, { generateReportKeys }] = await Promise.all([
    import('node:fs/promises'),
    import('../../integration/sign-report.ts'),
  ]);
  const { out = 'evenhand-key' } = options;
  const { EVENHAND_KEY_PASSWORD: password = '' } = process.env;
  const { privateKey, publicKey, keyId } = generateReportKeys(password === '' ? undefined : password);
  const paths = { privateKey: `${out}.pem`, publicKey: `${out}.pub.pem` };
  // Only the owner may read the secret key; `wx` fails if a file exists.
  const write = async (path: string, content: string, mode: number): Promise<void> => {
    await writeFile(path, content, { mode, flag: 'wx' }).catch((cause: unknown) => {
      const exists = (cause as NodeJS.ErrnoException).code === 'EEXIST';
      throw new ConfigValidationError(
        `Cannot write '${path}': ${exists ? 'the file exists, and keys are never replaced' : (cause as Error).message}.`,
        {
          // prettier-ignore
          context: { parameter: 'out', value: path },
          suggestion: exists ? 'Choose another path with --out.' : 'Choose a folder that exists and can be written.',
          cause,
        },
      );
    });
  };
  await write(paths.privateKey, privateKey, 0o600);
  await write(paths.publicKey, publicKey, 0o644);
  await printResult(options, {
    json: () => ({ private_key: paths.privateKey, public_key: paths.publicKey, key_id: keyId }),
    text: () =>
      briefReport({
        subject: '',
        verdict: { kind: 'none', title: 'A new pair of keys', sentences: [`Key ${keyId}`] },
        blocks: [
          {
            kind: 'list',
            items: [
              `${paths.privateKey}: the secret key, to sign with. Keep it secret${password === '' ? '; it is not encrypted' : ''}.`,
              `${paths.publicKey}: the public key, to verify with. Hand it out.`,
            ],
          },
        ],
      }),
  });
}
