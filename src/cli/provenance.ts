import type { Provenance } from '../document/provenance.ts';
import { ConfigValidationError } from '../exceptions/index.ts';
import { machineClock } from '../internal/machine-clock.ts';
import type { FoundFiles } from '../schemas/data-source.ts';

/**
 * Returns where a report comes from. The function reads the input files, so start it before the work and await it
 * afterwards.
 * @param call the arguments of the program
 * @param inputs the input files
 */
export async function provenanceOf(
  call: readonly string[],
  inputs: readonly (string | FoundFiles | undefined)[],
): Promise<Provenance> {
  const date = reportDate();
  const [{ hashInputFile }, { shellCommand }] = await Promise.all([
    import('../io/checksum.ts'),
    import('../document/provenance.ts'),
  ]);
  const files = inputs.flatMap((input) =>
    typeof input === 'string' ? { path: input, name: input } : (input?.files ?? []),
  );
  const hashed = files.map(async ({ path, name }) => ({ ...(await hashInputFile(path)), path: name }));
  return { date, command: shellCommand(call), inputs: await Promise.all(hashed) };
}

/**
 * Returns the date of reports: now, or the seconds since 1970 in SOURCE_DATE_EPOCH, which makes a report reproducible.
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
