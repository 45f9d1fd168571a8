import { DataValidationError } from '../../../exceptions/index.ts';

/** What is wrong with a line, told without its place; never leaves the reading. */
export class LineFault extends Error {}

/** A fault with the place where it was found. */
export function faultAt(path: string, line: number, fault: string, cause?: unknown): DataValidationError {
  return new DataValidationError(`Cannot read '${path}', line ${String(line)}: ${fault}.`, {
    context: { path, line },
    suggestion: 'Mend or remove that line.',
    cause,
  });
}
