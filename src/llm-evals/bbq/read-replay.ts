import { ConfigValidationError } from '../../exceptions/index.ts';
import type { LLMEvalConfig } from '../../schemas/llm-eval/llm-eval-document.ts';
import { requestName } from '../client/replay-client.ts';
import type { AnswerRecord } from '../client/transcript.ts';
import type { LLMRequest } from '../plan/planned-prompt.ts';
import { readTranscripts } from '../transcript/read-transcripts.ts';
import { bbqReplayRecords, holdsBbqAnswers } from './bbq-replay-records.ts';

/** A function that finds the recorded answer to a prompt and its repeat. */
type Replay = (request: LLMRequest) => AnswerRecord | undefined;

/**
 * Reads recorded answers from a file: a transcript, or BBQ's items with a model's answers.
 * @param path the path of the file; by default the file of BBQ's items, which may also contain answers
 * @throws {ConfigValidationError} if no file is configured
 * @throws {DataValidationError} if the file cannot be read
 */
export async function readReplay(
  path: string | undefined,
  { bbqPath }: Pick<LLMEvalConfig, 'bbqPath'>,
): Promise<readonly AnswerRecord[]> {
  const file = path ?? bbqPath ?? undefined;
  if (file === undefined) {
    throw new ConfigValidationError('The provider replay has no file of answers.', {
      context: { parameter: 'replay_path' },
      suggestion: 'Set replay_path or --replay.',
    });
  }
  return holdsBbqAnswers(file) ? bbqReplayRecords(file) : readTranscripts(file);
}

/**
 * Returns a function that finds the answer to a request. The function looks for the key of the request first, and then
 * for the prompt and the repeat.
 */
export function findsIn(records: readonly AnswerRecord[]): Replay {
  const byKey = new Map(records.map((record) => [record.key, record]));
  const byPrompt = new Map(records.map((record) => [requestName(record), record]));
  return (request) => byKey.get(request.key) ?? byPrompt.get(requestName(request));
}
