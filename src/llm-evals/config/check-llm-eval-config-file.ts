import { ConfigValidationError } from '../../exceptions/index.ts';
import type { ConfigFault } from '../../io/config-text/config-fault.ts';
import { isMapping } from '../../internal/values.ts';
import { readTextFile } from '../../io/read-text-file.ts';
import { readYaml } from '../../io/read-yaml.ts';
import { LLM_EVAL_FIELDS, type LLMEvalConfig } from '../../schemas/llm-eval/llm-eval-document.ts';
import { lintPairs, planCounterfactual } from '../plan/counterfactual/index.ts';
import { loadLlmEvalConfig } from './load-llm-eval-config.ts';

/** What a configuration file of an evaluation comes to. */
export interface LlmEvalConfigCheck {
  readonly file: string;
  /** What is wrong, in the order of the text; nothing where it can be used. */
  readonly faults: readonly ConfigFault[];
  /** null where there are faults. */
  readonly config: LLMEvalConfig | null;
}

/** Checks a configuration file of an evaluation: as it is read, and the pairs of prompts that it comes to. */
export async function checkLlmEvalConfigFile(file: string): Promise<LlmEvalConfigCheck> {
  try {
    const config = await loadLlmEvalConfig(file);
    lintPairs(planCounterfactual(config));
    return { file, faults: [], config };
  } catch (error) {
    if (!(error instanceof ConfigValidationError)) throw error;
    return { file, faults: faultsOf(error, file), config: null };
  }
}

/** Pairs that are refused have no one place in the file. */
function faultsOf(error: ConfigValidationError, file: string): readonly ConfigFault[] {
  const faults = error.context['faults'];
  if (Array.isArray(faults)) return faults as ConfigFault[];
  const message = error.message.replace(/\.$/, '');
  return [{ file, line: null, column: null, key: 'counterfactual', message, suggestion: error.suggestion ?? '' }];
}

/** A file's bytes at most, to tell what kind it is. */
const LARGEST_BYTES = 2 ** 20;

/** Whether a file has keys that only an evaluation of a language model has, and none that a pipeline must have. */
export async function isLlmEvalConfigFile(file: string): Promise<boolean> {
  const { text } = await readTextFile(file, LARGEST_BYTES);
  const value = text === null ? null : (await readYaml(text)).value;
  if (!isMapping(value) || 'sensitive' in value || 'profiles' in value) return false;
  return Object.keys(value).some((key) => Object.hasOwn(LLM_EVAL_FIELDS, key));
}
