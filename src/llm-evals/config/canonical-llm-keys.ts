import type { ConfigDialect } from '../../io/config-text/config-problem.ts';
import { isMapping } from '../../internal/values.ts';
import { type Rename, renameEach, renameKeys, type Renaming } from '../../io/config-text/rename-keys.ts';
import {
  BENCHMARK_NAMES,
  COUNTERFACTUAL_KEYS,
  EMBEDDING_KEYS,
  HTTP_KEYS,
  JUDGE_KEYS,
  LLM_EVAL_FIELDS,
  NUMBER_KEYS,
  OUTCOME_KEYS,
  PRICE_KEYS,
  RUBRIC_KEYS,
  TARGET_KEYS,
} from '../../schemas/llm-eval/llm-eval-document.ts';

/** The aliases and wording for configurations of language model evaluations. */
export const LLM_EVAL_DIALECT: ConfigDialect = {
  aliases: new Map(),
  textKeys: [],
  beginning: 'Start with the prompts, as in prompt_templates: { advice: How do I ask for a raise? }.',
  insteadOfMerging: 'Write all keys explicitly.',
  listing: "Every key is listed by 'evenhand config schema --kind llm-eval'.",
};

/** The keys whose name in a parsed configuration differs from the name in a file. */
export const PARSED_NAMES: ReadonlyMap<string, string> = new Map([['timeout_millis', 'timeout_ms']]);

/**
 * Converts the keys of the schema to snake_case. Does not change unknown keys, or keys that the user chooses, such as
 * the names of templates.
 */
export function canonicalLlmDocument(value: unknown, renaming: Renaming): unknown {
  const none = new Map<string, never>();
  const prices = renameEach((price, path) => renameKeys(price, path, PRICE_KEYS, none, renaming), renaming);
  const http: Rename = (section, path) => renameKeys(section, path, HTTP_KEYS, none, renaming);
  const inTarget = new Map([['http', http]]);
  const targets = renameEach((target, path) => renameKeys(target, path, TARGET_KEYS, inTarget, renaming), renaming);
  const inner = new Map<string, Rename>([
    [
      'counterfactual',
      (section: unknown, path: readonly (string | number)[]) =>
        renameKeys(section, path, COUNTERFACTUAL_KEYS, none, renaming),
    ],
    ['http', http],
    ['prices', prices],
    ['outcome', renameOutcomes(renaming)],
    ['judge', (section, path) => renameKeys(section, path, JUDGE_KEYS, none, renaming)],
    ['embedding', (section, path) => renameKeys(section, path, EMBEDDING_KEYS, none, renaming)],
    ['benchmarks', (section, path) => renameKeys(section, path, BENCHMARK_NAMES, none, renaming)],
    ['targets', targets],
  ]);
  return renameKeys(value, [], Object.keys(LLM_EVAL_FIELDS), inner, renaming);
}

function renameOutcomes(renaming: Renaming): Rename {
  const none = new Map<string, never>();
  const parts = new Map<string, Rename>([
    ['number', (value, path) => renameKeys(value, path, NUMBER_KEYS, none, renaming)],
    ['judge', (value, path) => renameKeys(value, path, RUBRIC_KEYS, none, renaming)],
  ]);
  const entry: Rename = (value, path) => renameKeys(value, path, OUTCOME_KEYS, parts, renaming);
  return renameEach(
    (value, path) => (Array.isArray(value) ? renameEach(entry, renaming)(value, path) : entry(value, path)),
    renaming,
  );
}

/** Removes the empty values that a parsed configuration contains: null and empty lists of templates. */
export function withoutNothing(value: unknown): unknown {
  if (!isMapping(value)) return value;
  const given = Object.entries(value).filter(([, field]) => field !== null);
  return Object.fromEntries(
    given.map(([key, field]) => {
      if (key === 'counterfactual') return [key, withTemplates(field)];
      if (key === 'http') return [key, withPaths(field)];
      if (key === 'targets' && Array.isArray(field)) return [key, field.map(withoutNothing)];
      return [key, key === 'judge' ? withoutNothing(field) : field];
    }),
  );
}

/** Removes the paths of the section `http` that are null. The body may be null. */
function withPaths(section: unknown): unknown {
  if (!isMapping(section)) return section;
  return Object.fromEntries(Object.entries(section).filter(([key, value]) => value !== null || key === 'body'));
}

function withTemplates(section: unknown): unknown {
  if (!isMapping(section)) return section;
  const hasNone = Array.isArray(section['template']) && section['template'].length === 0;
  // A parsed configuration contains the names of its published list.
  const hasSource = section['nameSource'] !== undefined && Object.isFrozen(section['namePools']);
  if (!hasNone && !hasSource) return section;
  return { ...section, ...(hasNone ? { template: undefined } : {}), ...(hasSource ? { namePools: undefined } : {}) };
}
