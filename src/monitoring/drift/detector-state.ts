import { z } from 'zod';

import { DataValidationError } from '../../exceptions/index.ts';

/** A number of values, or a place among them. */
export const count = z.int().min(0);

/** A place among values, where there is one. */
export const placeOrNull = count.nullable();

/** A detector's state as JSON has it: what kind it is of, its parameters, and its memory. */
export interface SavedDetector<Memory> {
  readonly detector: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Whether the latest value was a detection, so that the next starts anew. */
  readonly isDetected: boolean;
  readonly changeAge: number | null;
  readonly memory: Memory;
}

/**
 * Reads a state, which must be of a detector of the same name and parameters.
 * @throws {DataValidationError} naming the first part that is not as it should be
 */
export function readState<Memory>(
  { name, parameters }: { readonly name: string; readonly parameters: object },
  memory: z.ZodType<Memory>,
  state: unknown,
): SavedDetector<Memory> {
  const schema = z.strictObject({
    detector: z.literal(name),
    parameters: z.record(z.string(), z.unknown()),
    isDetected: z.boolean(),
    changeAge: placeOrNull,
    memory,
  });
  const parsed = schema.safeParse(state);
  if (!parsed.success) throw unreadable(name, parsed.error);
  requireSameParameters(name, parameters as Readonly<Record<string, unknown>>, parsed.data.parameters);
  // The generic schema hides from the compiler that all parts are there.
  return parsed.data;
}

function unreadable(name: string, error: z.ZodError): DataValidationError {
  const [issue] = error.issues;
  const field = issue?.path.map(String).join('.') ?? '';
  const where = field === '' ? '' : `'${field}': `;
  return new DataValidationError(`This is no state of ${name}: ${where}${issue?.message ?? 'it cannot be read'}.`, {
    context: { argument: 'state', detector: name, field },
    suggestion: `Give the object that state() of a detector '${name}' returned, unchanged.`,
    cause: error,
  });
}

function requireSameParameters(
  name: string,
  own: Readonly<Record<string, unknown>>,
  saved: Readonly<Record<string, unknown>>,
): void {
  const different = Object.keys({ ...own, ...saved }).find((parameter) => own[parameter] !== saved[parameter]);
  if (different === undefined) return;
  const [theirs, ours] = [saved[different], own[different]].map(shown);
  throw new DataValidationError(
    `This is a state of ${name} with ${different} ${String(theirs)}; this detector has ${String(ours)}.`,
    {
      context: { argument: 'state', detector: name, field: `parameters.${different}` },
      suggestion: 'Make the detector with the parameters that the state was saved with.',
    },
  );
}

function shown(value: unknown): string {
  return value === undefined ? 'left out' : JSON.stringify(value);
}
