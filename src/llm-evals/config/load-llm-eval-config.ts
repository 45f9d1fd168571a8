import { ConfigValidationError } from '../../exceptions/index.ts';
import { type ConfigProblem, problemsError } from '../../io/config-text/config-problem.ts';
import { type ConfigText, openConfigText, readConfigFile } from '../../io/config-text/open-config-text.ts';
import type { LLMEvalConfig } from '../../schemas/llm-eval/llm-eval-document.ts';
import { redactSecrets } from '../client/secrets.ts';
import { LLM_EVAL_DIALECT, withoutNothing } from './canonical-llm-keys.ts';
import { readLlmEvalConfig } from './read-llm-eval-config.ts';

/**
 * Reads the configuration of an evaluation: a YAML or JSON file with the keys that `evenhand config schema --kind
 * llm-eval` lists. Fills in defaults and freezes the result. Paths in the configuration (cache_dir, replay_path,
 * bbq_path, benchmarks, answers_path, prompts_path) are relative to the current folder.
 *
 * If `evaluators` is not set, the function chooses all evaluators for which the configuration has prompts. The
 * evaluators counterfactual and benchmarks need the sections of the same name. The evaluators refusal and toxicity_sentiment need a
 * template. The evaluator stereotype needs a template or bbq_path. All evaluators score the same answers, so additional
 * evaluators need no additional requests.
 * @param path the file
 * @param replaced keys in snake_case that replace those of the file, such as `answers_path`
 * @throws {ConfigValidationError} if the file does not exist or is invalid, with one line for each problem;
 * `context.faults` lists the problems with line, column and key. Values that look like secrets are rejected and not
 * shown
 * @example
 * ```ts
 * import { writeFileSync } from 'node:fs';
 * import { loadLlmEvalConfig } from 'evenhand/llm-evals';
 *
 * writeFileSync('advice.yml', 'prompt_templates:\n  raise: How do I ask for a raise?\n');
 * const config = await loadLlmEvalConfig('advice.yml');
 * console.log(config.provider, config.model, config.evaluators.join(' '));
 * // local stub refusal toxicity_sentiment stereotype
 * ```
 */
export async function loadLlmEvalConfig(
  path: string,
  replaced: Readonly<Record<string, unknown>> = {},
): Promise<LLMEvalConfig> {
  return parseText(await readConfigFile(path, LLM_EVAL_DIALECT), path, replaced);
}

/**
 * Parses the configuration of an evaluation from the text of a file, or from plain data. The keys of plain data may be
 * in snake_case or camelCase, so the result of {@link loadLlmEvalConfig} is also accepted. If a text is given, the
 * function returns a promise.
 * @param file the name of the configuration in error messages
 * @throws {ConfigValidationError} if the configuration is invalid, with one line for each problem
 * @example
 * ```ts
 * import { parseLlmEvalConfig } from 'evenhand/llm-evals';
 *
 * const config = parseLlmEvalConfig({
 *   counterfactual: { template: 'Describe a {gender}.', dimensions: { gender: ['woman', 'man'] } },
 * });
 * console.log(config.evaluators[0], config.repeats, config.counterfactual?.template);
 * // counterfactual 1 [ 'Describe a {gender}.' ]
 * const problem = await parseLlmEvalConfig('repeat: 3', 'audit.yml').catch(String);
 * console.log(problem.split('\n')[0]);
 * // ConfigValidationError: audit.yml:1:1: unknown key 'repeat'. Did you mean 'repeats'?
 * ```
 */
export function parseLlmEvalConfig(text: string, file?: string): Promise<LLMEvalConfig>;
export function parseLlmEvalConfig(value: object, file?: string): LLMEvalConfig;
export function parseLlmEvalConfig(given: string | object, file?: string): LLMEvalConfig | Promise<LLMEvalConfig> {
  if (typeof given === 'string') return parseText(given, file ?? 'config');
  const noText = { indices: new WeakMap(), start: null };
  return readLlmEvalConfig({ value: withoutNothing(given), ...noText, file: file ?? null, allowsCamelCase: true });
}

async function parseText(
  text: string,
  file: string,
  replaced?: Readonly<Record<string, unknown>>,
): Promise<LLMEvalConfig> {
  return readLlmEvalConfig({ ...(await openText(text, file)), allowsCamelCase: false, replaced });
}

/** Parses YAML. The parser's message on invalid YAML may quote a secret, so the message is redacted. */
async function openText(text: string, file: string): Promise<ConfigText> {
  try {
    return await openConfigText(text, file, LLM_EVAL_DIALECT);
  } catch (error) {
    if (!(error instanceof ConfigValidationError)) throw error;
    const problems = error.context['faults'] as readonly ConfigProblem[];
    throw problemsError(problems.map(concealed), LLM_EVAL_DIALECT);
  }
}

function concealed(problem: ConfigProblem): ConfigProblem {
  return { ...problem, message: redactSecrets(problem.message) };
}
