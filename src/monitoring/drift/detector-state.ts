import { z } from 'zod';

import { DataValidationError } from '../../exceptions/index.ts';
import { shownKind } from '../require-kind.ts';

/** The direction in which a mean must move to be a change. */
export type ChangeDirection = 'up' | 'down' | 'both';

/** All directions, for checks and messages. */
export const CHANGE_DIRECTIONS: readonly ChangeDirection[] = ['up', 'down', 'both'];

/**
 * The largest value that a detector accepts. This limit ensures that sums of squares stay finite for any realistic
 * number of values.
 */
const LARGEST_VALUE = 1e100;

/** The values that a detector accepts: any number, or numbers from 0 to 1 (decisions and shares). */
export type DetectorDomain = 'number' | 'share';

/** Returns whether a value is a number in the domain. NaN, infinities, texts and booleans are never in a domain. */
export function isInDomain(value: number, domain: DetectorDomain): boolean {
  if (typeof value !== 'number') return false;
  return domain === 'share' ? value >= 0 && value <= 1 : Math.abs(value) <= LARGEST_VALUE;
}

/** Returns the error for a value that a detector does not accept. */
export function invalidValue(detector: string, value: unknown, domain: DetectorDomain): DataValidationError {
  const required = domain === 'share' ? 'a number from 0 to 1' : 'a number from -1e100 to 1e100';
  return new DataValidationError(`The value for ${detector} must be ${required}. Got ${shownKind(value)} instead.`, {
    code: 'invalid-value',
    context: { argument: 'value', detector, value },
    suggestion: 'Exclude events without a value and count them separately. The detector has not changed.',
  });
}

/** A number of values, or the position of a value in the stream. */
export const count = z.int().min(0);

/** A number from 0 to 1. */
export const share = z.number().min(0).max(1);

/** The position of a value in the stream; null if there is no such value. */
const positionOrNull = count.nullable();

/**
 * Reads a state of a detector with the same name and parameters.
 * @throws {DataValidationError} if a field is invalid; the error names the first invalid field
 */
export function readState<Memory>(
  { name, parameters }: { readonly name: string; readonly parameters: object },
  memory: z.ZodType<Memory>,
  state: unknown,
): { readonly isDetected: boolean; readonly changeAge: number | null; readonly memory: Memory } {
  const schema = z.strictObject({
    detector: z.literal(name),
    parameters: z.record(z.string(), z.unknown()),
    // After a detection, the detector restarts at the next value.
    isDetected: z.boolean(),
    changeAge: positionOrNull,
    memory,
  });
  const parsed = schema.safeParse(state);
  if (!parsed.success) throw unreadable(name, parsed.error);
  requireSameParameters(name, parameters as Readonly<Record<string, unknown>>, parsed.data.parameters);
  // The generic schema hides from the compiler that all parts are present.
  return parsed.data;
}

function unreadable(name: string, error: z.ZodError): DataValidationError {
  const [issue] = error.issues;
  const field = issue?.path.map(String).join('.') ?? '';
  const where = field === '' ? '' : `'${field}': `;
  return new DataValidationError(`This is not a state of ${name}: ${where}${issue?.message ?? 'it cannot be read'}.`, {
    code: 'invalid-state',
    context: { argument: 'state', detector: name, field },
    suggestion: `Pass the unchanged return value of state() of a detector '${name}'.`,
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
      code: 'invalid-state',
      context: { argument: 'state', detector: name, field: `parameters.${different}` },
      suggestion: 'Create the detector with the parameters of the saved state.',
    },
  );
}

function shown(value: unknown): string {
  return value === undefined ? 'missing' : JSON.stringify(value);
}

/**
 * The fields that store the warnings of a detector. `isWarning` is true if the latest value was a warning but not a
 * change. `warnedAt` is the position of the first value of the current run of warnings; null if there is no such run.
 */
export const WARNING_FIELDS = { isWarning: z.boolean(), warnedAt: positionOrNull };

/** The warning state of a detector. */
export type WarningZone = z.output<z.ZodObject<typeof WARNING_FIELDS>>;

/**
 * Records whether the value at position n causes a warning or a change. A change counts as a warning and ends the run
 * of warnings.
 * @returns whether it is a change
 */
export function noteWarning(zone: WarningZone, n: number, isInZone: boolean, isChange: boolean): boolean {
  zone.warnedAt = isInZone || isChange ? (zone.warnedAt ?? n) : null;
  zone.isWarning = isInZone && !isChange;
  return isChange;
}

/** Returns how many values ago the current run of warnings began; 0 if no warning preceded the change. */
export function warningAge(zone: WarningZone, n: number): number {
  return n - (zone.warnedAt ?? n);
}
