import path from 'node:path';

import { ConfigValidationError, FairnessToolkitError } from '../../exceptions/index.ts';
import { tryDecodeUtf8 } from '../../internal/decode-utf8.ts';
import { withTimeLimit } from '../../internal/retry.ts';
import type { LLMEvalConfig } from '../../schemas/llm-eval/llm-eval-document.ts';
import { questionOf } from './api-client.ts';
import { cancelledError, clientError, refuseCancelled } from './client-error.ts';
import { withSystemMessage } from './dialects/api-dialect.ts';
import type { CompletionOptions, LLMClient } from './llm-client.ts';
import { excerptOf } from './post-json.ts';
import { type ProgramResult, runProgram } from './run-program.ts';
import { type Environment, redactorOf, redactSecrets } from './secrets.ts';

/** The parts of a configuration that define the client of a program. */
interface CommandClientConfig extends Pick<LLMEvalConfig, 'model' | 'timeoutMillis' | 'commandInput'> {
  readonly command: readonly string[];
}

const LIMITS = { maxBytes: 8 * 1024 * 1024, maxErrorBytes: 64 * 1024, killAfterMillis: 2000 };

/** The number of lines of the error output that an error shows. */
const SHOWN_LINES = 3;

/** The exit code of a temporary failure (EX_TEMPFAIL of sysexits.h), after which another attempt may succeed. */
const TEMPORARY_FAILURE = 75;

/**
 * Creates a client that runs a program for each prompt. The program reads the prompt from its standard input, and
 * writes the answer to its standard output, without a shell. One line break at the end of the output is not part of the
 * answer. The client makes one attempt for each prompt.
 *
 * An exit code other than 0 is a failure, with the last lines of the error output. The exit code 75 (temporary failure)
 * can be retried. At the time limit, the program receives SIGTERM, and SIGKILL two seconds later.
 * @param allowsCode whether the program may run. If false, every call fails, because a configuration file alone must
 * not run a program
 */
export function createCommandClient(config: CommandClientConfig, env: Environment, allowsCode: boolean): LLMClient {
  const { command, model, timeoutMillis } = config;
  const id = redactSecrets(`command:${path.basename(command[0] ?? '')}:${model}`, env);
  const redact = redactorOf(env);
  return Object.freeze<LLMClient>({
    id,
    async complete(prompt, options = {}) {
      refuseCancelled(id, options.signal);
      const input = inputOf(config, prompt, options);
      if (!allowsCode) throw notAllowed();
      const start = performance.now();
      const exceeded = (): Error => clientError('timeout', `${id} did not answer within ${String(timeoutMillis)} ms.`);
      const result = await withTimeLimit(timeoutMillis, exceeded, options.signal, (signal) =>
        runProgram(command, input, LIMITS, signal),
      ).catch((cause: unknown) => {
        if (options.signal?.aborted === true) throw cancelledError(id);
        throw FairnessToolkitError.isInstance(cause) ? cause : cannotStart(id, cause, env);
      });
      const text = redact(answerOf(id, result, env));
      const latencyMillis = Math.round(performance.now() - start);
      return Object.freeze({ text, finishReason: 'stop', usage: null, cached: false, latencyMillis });
    },
  });
}

function notAllowed(): ConfigValidationError {
  return new ConfigValidationError('The program of the configuration may not run without permission.', {
    context: { parameter: 'command' },
    suggestion: 'Read the key command of the configuration, and set allowCode if you trust it.',
  });
}

/** Returns what the program reads. */
function inputOf({ commandInput, model }: CommandClientConfig, prompt: string, options: CompletionOptions): string {
  if (commandInput === 'text') return prompt;
  const question = questionOf(prompt, options);
  const { maxTokens, rest } = question;
  const params = { ...rest, ...(maxTokens === null ? {} : { max_tokens: maxTokens }) };
  const { repeat = 0 } = options;
  return `${JSON.stringify({ prompt, messages: withSystemMessage(question), params, model, repeat })}\n`;
}

function answerOf(id: string, { code, signal, output, isTooLong, errors }: ProgramResult, env: Environment): string {
  if (isTooLong) {
    const message = `${id} wrote more than ${String(LIMITS.maxBytes / 1024 / 1024)} MiB.`;
    throw clientError('malformed', message, { suggestion: 'Write only the answer to the standard output.' });
  }
  if (code !== 0) throw failed(id, code, signal, lastLines(errors, env));
  const text = tryDecodeUtf8(output);
  if (text !== undefined) return text.replace(/\r?\n$/, '');
  throw clientError('malformed', `${id} wrote bytes that are not UTF-8.`, {
    suggestion: 'Write the answer as UTF-8 text.',
  });
}

function failed(id: string, code: number | null, signal: string | null, lines: string): Error {
  const how = code === null ? `was ended by ${signal ?? 'a signal'}` : `ended with exit code ${String(code)}`;
  const message = `${id} ${how}${lines === '' ? '' : `: ${lines}`}`;
  return clientError('function', /[.!?]$/.test(message) ? message : `${message}.`, {
    isRetryable: code === TEMPORARY_FAILURE,
    suggestion: 'Run the program with the same prompt to see its errors. It must exit with 0 after an answer.',
  });
}

/** Returns the last lines of the error output on one line, without secrets. */
function lastLines(errors: Buffer, env: Environment): string {
  // Only the kept end of a long output can start with an incomplete character.
  const text = tryDecodeUtf8(errors) ?? errors.toString('latin1');
  const redacted = redactSecrets(text, env);
  const lines = redacted.split('\n').filter((line) => line.trim() !== '');
  return excerptOf(lines.slice(-SHOWN_LINES).join(' | '), env);
}

function cannotStart(id: string, cause: unknown, env: Environment): Error {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const reasons: Readonly<Record<string, string>> = {
    ENOENT: 'there is no such program',
    EACCES: 'it is not executable',
  };
  const reason = reasons[code] ?? redactSecrets(cause instanceof Error ? cause.message : String(cause), env);
  return clientError('not_found', `The program of ${id} cannot be started: ${reason}.`, {
    suggestion: 'Check the first item of command: the name of a program in PATH, or a path such as ./ask.sh.',
  });
}
