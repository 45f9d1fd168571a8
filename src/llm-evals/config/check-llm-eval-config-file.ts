import { ConfigValidationError } from '../../exceptions/index.ts';
import type { ConfigProblem } from '../../io/config-text/config-problem.ts';
import { isMapping } from '../../internal/values.ts';
import { readTextFile } from '../../io/read-text-file.ts';
import { readYaml } from '../../io/read-yaml.ts';
import { BENCHMARK_NAMES, LLM_EVAL_FIELDS, type LLMEvalConfig } from '../../schemas/llm-eval/llm-eval-document.ts';
import { lintPairs, planCounterfactual } from '../plan/counterfactual/index.ts';
import { pronounConfig } from '../plan/counterfactual/pronouns.ts';
import { loadLlmEvalConfig } from './load-llm-eval-config.ts';

/** The result of checking the configuration file of an evaluation. */
export interface LlmEvalConfigCheck {
  readonly file: string;
  /** The problems, in the order of their positions; empty if the file is valid. */
  readonly faults: readonly ConfigProblem[];
  /** The configuration; null if there are problems. */
  readonly config: LLMEvalConfig | null;
}

/** Checks the configuration file of an evaluation: its content, and the pairs of prompts that it produces. */
export async function checkLlmEvalConfigFile(file: string): Promise<LlmEvalConfigCheck> {
  try {
    const config = await loadLlmEvalConfig(file);
    lintPairs(planCounterfactual(config), pronounConfig(config));
    return { file, faults: [], config };
  } catch (error) {
    if (!(error instanceof ConfigValidationError)) throw error;
    return { file, faults: problemsOf(error, file), config: null };
  }
}

/** Lists the problems that an error contains. A rejected pair of prompts has no position in the file. */
function problemsOf(error: ConfigValidationError, file: string): readonly ConfigProblem[] {
  const problems = error.context['faults'];
  if (Array.isArray(problems)) return problems as ConfigProblem[];
  const message = error.message.replace(/\.$/, '');
  return [{ file, line: null, column: null, key: 'counterfactual', message, suggestion: error.suggestion ?? '' }];
}

/** The maximum number of bytes read to determine the kind of a file. */
const LARGEST_BYTES = 2 ** 20;

/**
 * Returns whether a file configures a language model evaluation: it has keys of such evaluations, and no key that a
 * pipeline requires.
 */
export async function isLlmEvalConfigFile(file: string): Promise<boolean> {
  const { text } = await readTextFile(file, LARGEST_BYTES);
  const value = text === null ? null : (await readYaml(text)).value;
  if (!isMapping(value) || 'sensitive' in value || 'profiles' in value) return false;
  // A pipeline has benchmarks too: the proportions of groups, by attribute.
  const { benchmarks, ...others } = value;
  const names: readonly string[] = isMapping(benchmarks) ? Object.keys(benchmarks) : [];
  return (
    Object.keys(others).some((key) => Object.hasOwn(LLM_EVAL_FIELDS, key)) ||
    BENCHMARK_NAMES.some((name) => names.includes(name))
  );
}
