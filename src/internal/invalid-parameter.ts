import { ValueError } from '../exceptions/index.ts';

/** The error of an argument: which, what was required, what came. */
export function invalidParameter(parameter: string, required: string, given: unknown): ValueError {
  return new ValueError(`The ${parameter} parameter must ${required}. Got ${String(given)} instead.`, {
    context: { parameter, value: given },
  });
}
