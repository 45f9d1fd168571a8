import { FairnessToolkitError } from '../exceptions/index.ts';
import { flagName } from './option-parsers.ts';
import { withoutControls } from './output.ts';

/** An error as one line: what is wrong, then what to do. A stack shows only for faults of our own. */
export function describeError(error: unknown): string {
  if (FairnessToolkitError.isInstance(error)) {
    const suggestion = error.suggestion === undefined ? '' : ` ${error.suggestion}`;
    return `error: ${oneLine(asTyped(error))}${oneLine(suggestion)}`;
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `internal error: ${text}\nThis is a fault in evenhand. Please report it with the command that you ran.`;
}

/** The message of an error, which may begin with a parameter, with the option as the user typed it. */
function asTyped({ message, context }: FairnessToolkitError): string {
  const { parameter } = context;
  const isNamed = typeof parameter === 'string' && message.startsWith(`${parameter}: `);
  return isNamed ? `${flagName(parameter)}${message.slice(parameter.length)}` : message;
}

function oneLine(text: string): string {
  return withoutControls(text.replaceAll(/\s*\n\s*/g, ' '));
}
