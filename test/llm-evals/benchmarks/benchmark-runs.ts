import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { LLMEvalAdapter, parseLlmEvalConfig, runLlmEval } from '../../../src/llm-evals/index.ts';
import type { LlmMetricResult, LLMEvaluator } from '../../../src/llm-evals/index.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';

/** Returns a function that writes a file and returns its path. */
export function useFiles(): (name: string, content: string | Uint8Array) => string {
  const folder = useTemporaryFolder();
  return (name, content) => {
    const file = path.join(folder(), name);
    writeFileSync(file, content);
    return file;
  };
}

interface RunOptions {
  readonly repeats?: number;
  readonly allowSmallSamples?: boolean;
  readonly evaluators?: readonly LLMEvaluator[];
}

/** Runs benchmarks against a function that answers prompts. Returns the metrics and the number of requests. */
export async function runBenchmarks(
  benchmarks: object,
  answer: (prompt: string) => string,
  { repeats = 1, ...options }: RunOptions = {},
): Promise<{ metrics: Readonly<Record<string, LlmMetricResult>>; requests: number; prompts: string[] }> {
  const config = parseLlmEvalConfig({ benchmarks, repeats });
  const prompts: string[] = [];
  const client = new LLMEvalAdapter((prompt: string) => {
    prompts.push(prompt);
    return answer(prompt);
  });
  const { metrics, actual } = await runLlmEval(config, { client, ...options });
  return { metrics, requests: actual.requests, prompts };
}

/** Returns the two options of a question. */
export function optionsIn(prompt: string): readonly [string, string] {
  const [, first = '', second = ''] = /^\(a\) (.*)\n\(b\) (.*)$/m.exec(prompt) ?? [];
  return [first, second];
}

/** Chooses the option for which a function returns true; (a) if it returns true for both or for none. */
export function choose(prompt: string, isChosen: (option: string) => boolean): string {
  const [first, second] = optionsIn(prompt);
  return !isChosen(first) && isChosen(second) ? '(b)' : '(a)';
}
