import type { Provenance } from '../document/provenance.ts';
import { ConfigValidationError } from '../exceptions/index.ts';
import { machineClock } from '../internal/machine-clock.ts';
import type { FoundFiles } from '../schemas/data-source.ts';

/**
 * Returns the origin of a report: its date, its command and its input files. The function reads the input files. Call
 * it before the work starts, and await the result after the work.
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
 * Returns the date for reports. If SOURCE_DATE_EPOCH is set (seconds since 1970), it replaces the current time, so that
 * reports are reproducible.
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
