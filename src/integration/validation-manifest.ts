import type { Provenance } from '../document/provenance.ts';
import { VERSION } from '../internal/version.ts';
import type { InputFile } from '../io/checksum.ts';

/**
 * A description of how a validation was made: its input, options and version. The manifest has no date, so the same
 * data and options give the same JSON.
 */
export interface ValidationManifest {
  /** The version of evenhand. */
  readonly evenhand: string;
  readonly command: string;
  /** The options that were given, by name. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly inputs: readonly InputFile[];
  /** The number of rows that were read; null if it is not known. */
  readonly rows: number | null;
}

/** Creates the manifest of a validation. */
export function validationManifest(
  { command, inputs, rows = null }: Omit<Provenance, 'date' | 'rows'> & { readonly rows?: number | null | undefined },
  options: ValidationManifest['options'],
): ValidationManifest {
  return { evenhand: VERSION, command, options, inputs, rows };
}
