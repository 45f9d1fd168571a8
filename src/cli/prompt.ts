// eslint-disable-next-line no-restricted-syntax -- reads the keys of a terminal, not data
import { createInterface } from 'node:readline/promises';

import { clearTransientLine, warn } from './output.ts';
import { waitForAnswer } from './progress-bar.ts';

/** Asks questions on a terminal. */
export interface Prompt {
  /**
   * Prints a question and returns the line that the user types, without spaces around it.
   * @throws {PromptClosed} if the user presses Ctrl-C, or Ctrl-D on an empty line
   */
  readonly ask: (question: string) => Promise<string>;
  readonly say: (text: string) => void;
  readonly close: () => void;
}

/** The error that is thrown if the user ends the dialogue. */
export class PromptClosed extends Error {}

/**
 * Opens a prompt on stdin and stderr. Questions do not go to stdout, because it contains only the result.
 * @param completions the words that Tab completes at the end of a line
 */
export function openPrompt(completions: () => readonly string[]): Prompt {
  const closed = new AbortController();
  const lines = createInterface({
    input: process.stdin,
    output: process.stderr,
    terminal: true,
    completer: (line: string): [string[], string] => {
      const start = /[^,]*$/.exec(line)?.[0].trimStart() ?? '';
      return [completions().filter((word) => word.startsWith(start)), start];
    },
  });
  // Ctrl-C and Ctrl-D close the interface.
  lines.once('close', () => {
    closed.abort();
  });
  return {
    ask: async (question) => {
      try {
        clearTransientLine();
        return (await waitForAnswer(lines.question(question, { signal: closed.signal }))).trim();
      } catch (cause) {
        throw new PromptClosed('The questions were not answered.', { cause });
      }
    },
    say: warn,
    close: () => {
      lines.close();
    },
  };
}
