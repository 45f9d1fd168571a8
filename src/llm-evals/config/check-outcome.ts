import { problemAt, type KeyPath, type PathProblem } from '../../io/config-text/path-problem.ts';
import { type LLMEvalDocument, OUTCOME_NAMES, type OutcomeName } from '../../schemas/llm-eval/llm-eval-document.ts';
import { suggestNames } from '../../internal/arguments.ts';
import { parseJsonPath } from '../../internal/json-path.ts';
import { compileRegex } from '../outcome/read-outcome.ts';
import { templateName } from '../plan/counterfactual/template-layout.ts';
import { defaultModel, hasRubric, templatesIn } from './build-llm-eval-config.ts';

type Fields = Partial<LLMEvalDocument>;
type Entry = Exclude<NonNullable<NonNullable<Fields['outcome']>[OutcomeName]>, readonly unknown[]>;

/** Checks the declared outcomes and the judge. */
export function checkOutcome(fields: Fields): PathProblem[] {
  const { outcome = {} } = fields;
  const templates = templatesOf(fields);
  const problems = OUTCOME_NAMES.flatMap((name) => {
    const given = outcome[name];
    if (given === undefined) return [];
    const path = ['outcome', name];
    const entries = [given].flat();
    const paths = entries.map((_, index) => (Array.isArray(given) ? [...path, index] : path));
    return entries.flatMap((entry, index) => [
      ...checkEntry(name, entry, paths[index] ?? path),
      ...checkEntryTemplates(entry, templates, paths[index] ?? path),
      ...checkOrder(entries, index, paths[index] ?? path),
    ]);
  });
  return [...problems, ...checkJudge(fields)];
}

function checkEntry(name: OutcomeName, entry: Entry, path: KeyPath): PathProblem[] {
  const { json_path: jsonPath, regex, number, judge, choices } = entry;
  const sources = [jsonPath, regex, number, judge].filter((source) => source !== undefined);
  const problems = [
    ...(number === undefined ? [] : checkNumber(number, [...path, 'number'])),
    ...checkSource(entry, path),
    ...checkLabels(choices, [...path, 'choices']),
    ...(judge === undefined ? [] : checkRubric(name, judge, [...path, 'judge'])),
  ];
  if (sources.length > 1) {
    const advice = 'Keep one of json_path, regex, number and judge.';
    return [problemAt(path, 'names several sources of the value', advice), ...problems];
  }
  return [...FITS[name](entry, path), ...problems];
}

const FITS: Readonly<Record<OutcomeName, (entry: Entry, path: KeyPath) => PathProblem[]>> = {
  decision: ({ number, choices }, path) => [
    ...(number === undefined
      ? []
      : [
          problemAt([...path, 'number'], 'is not a decision', 'Declare it as score, or use json_path or regex.', 'key'),
        ]),
    ...(choices === undefined || choices.length === 2
      ? []
      : [problemAt([...path, 'choices'], 'must have two labels, the first of which is yes', 'Declare it as choice.')]),
  ],
  score: ({ number, judge }, path) =>
    number !== undefined || judge !== undefined
      ? []
      : [problemAt(path, 'needs number or judge', 'For example: number: { json_path: $.score, min: 1, max: 10 }.')],
  choice: ({ number, json_path: jsonPath, regex, choices, judge }, path) => {
    if (number !== undefined) {
      return [problemAt([...path, 'number'], 'is not a label', 'Declare it as score.', 'key')];
    }
    const isReadable = [jsonPath, regex, choices, judge].some((source) => source !== undefined);
    return isReadable ? [] : [problemAt(path, 'needs choices, json_path, regex or judge', 'List the possible labels.')];
  },
};

function checkNumber({ min, max, ...source }: NonNullable<Entry['number']>, path: KeyPath): PathProblem[] {
  const isOne = (source.json_path === undefined) !== (source.regex === undefined);
  return [
    ...(isOne ? [] : [problemAt(path, 'must have either json_path or regex', 'For example: json_path: $.score.')]),
    ...(min === undefined || max === undefined || min < max
      ? []
      : [problemAt([...path, 'max'], `must be above min (${String(min)})`, 'Exchange the two numbers.')]),
    ...checkSource(source, path),
  ];
}

function checkSource({ json_path: jsonPath, regex }: Pick<Entry, 'json_path' | 'regex'>, path: KeyPath): PathProblem[] {
  return [
    ...(jsonPath === undefined ? [] : problemsIn(() => parseJsonPath(jsonPath), [...path, 'json_path'])),
    ...(regex === undefined ? [] : problemsIn(() => compileRegex(regex), [...path, 'regex'])),
  ];
}

function problemsIn(parse: () => unknown, path: KeyPath): PathProblem[] {
  try {
    parse();
    return [];
  } catch (error) {
    const { message, suggestion } = error as Error & { readonly suggestion?: string };
    return [problemAt(path, message.replace(/\.$/u, ''), suggestion ?? 'Write a valid JavaScript regular expression.')];
  }
}

function checkLabels(choices: readonly string[] | undefined, path: KeyPath): PathProblem[] {
  return (choices ?? []).flatMap((label, index) => {
    if (!/[\p{L}\p{N}]/u.test(label)) {
      return [problemAt([...path, index], 'must contain a letter or a digit', 'Name a label that answers contain.')];
    }
    const first = choices?.findIndex((other) => other.trim().toLowerCase() === label.trim().toLowerCase());
    return first === index ? [] : [problemAt([...path, index], `names '${label}' twice`, 'Name different labels.')];
  });
}

function checkRubric(name: OutcomeName, rubric: NonNullable<Entry['judge']>, path: KeyPath): PathProblem[] {
  const { min, max, choices } = rubric;
  const isRanged = min !== undefined || max !== undefined;
  return [
    ...(isRanged && name !== 'score' ? [problemAt(path, 'min and max are for score', 'Remove them.')] : []),
    ...((min ?? 1) < (max ?? 10)
      ? []
      : [problemAt([...path, 'max'], 'must be above min', 'Exchange the two numbers.')]),
    ...(choices !== undefined && name !== 'choice'
      ? [problemAt([...path, 'choices'], 'is for choice', 'Remove it.', 'key')]
      : []),
    ...(choices === undefined && name === 'choice'
      ? [problemAt([...path, 'choices'], 'is missing', 'List the labels of which the judge chooses one.', 'key')]
      : []),
    ...checkLabels(choices, [...path, 'choices']),
  ];
}

function templatesOf({ counterfactual, prompt_templates: named = {} }: Fields): string[] {
  const template = counterfactual?.template ?? [];
  const numbered = templatesIn(template).map((_, index) => templateName(index));
  return [...numbered, ...Object.keys(named)];
}

function checkEntryTemplates({ templates }: Entry, known: readonly string[], path: KeyPath): PathProblem[] {
  return (templates ?? []).flatMap((name, index) =>
    known.includes(name)
      ? []
      : [
          problemAt(
            [...path, 'templates', index],
            `there is no template '${name}'`,
            suggestNames(name, known, 'templates'),
          ),
        ],
  );
}

/** Checks that an entry can be reached: an entry without templates applies to all, so the entries after it are unused. */
function checkOrder(entries: readonly Entry[], index: number, path: KeyPath): PathProblem[] {
  const isUnused = entries.slice(0, index).some(({ templates }) => templates === undefined);
  return isUnused
    ? [problemAt(path, 'is never used, because an entry before it applies to all templates', 'Move it to the front.')]
    : [];
}

/**
 * Checks that the judge is a model. An endpoint or a program of the user answers prompts in its own way, and does not
 * follow the instructions for grades.
 */
export function checkJudgeProvider(fields: Fields): PathProblem[] {
  const { judge, provider } = fields;
  const own = judge?.provider ?? provider;
  if ((judge === undefined && !hasRubric(fields)) || (own !== 'http' && own !== 'command')) return [];
  const advice = 'Name a provider of models and a model, as in judge: { provider: openai, model: gpt-4.1-mini }.';
  return judge?.provider === undefined
    ? [problemAt(['judge', 'provider'], `is missing; the provider ${own} cannot be the judge`, advice, 'key')]
    : [problemAt(['judge', 'provider'], `cannot be ${own}`, advice)];
}

/** Checks that the judge of several targets is named. Without a name, it would be the model of the run. */
export function checkJudgeOfTargets({ judge, outcome = {} }: Fields): PathProblem[] {
  const isJudged = judge !== undefined || hasRubric({ outcome });
  if (!isJudged || judge?.model !== undefined || judge?.provider === 'local') return [];
  return [problemAt(['judge', 'model'], 'is missing; several targets need the same judge', 'Name the model.', 'key')];
}

function checkJudge({ judge, outcome = {}, provider = 'local' }: Fields): PathProblem[] {
  if (judge === undefined) return [];
  const isUsed = judge.pairwise !== undefined || hasRubric({ outcome });
  if (!isUsed) {
    const advice = 'Add pairwise here, or judge: { rubric: … } to an outcome.';
    return [problemAt(['judge'], 'has nothing to grade', advice, 'key')];
  }
  const own = judge.provider ?? provider;
  if (own === 'replay' && judge.provider !== undefined) {
    return [problemAt(['judge', 'provider'], 'cannot be replay', 'Replayed grades come from the file of the run.')];
  }
  const isOther = judge.provider !== undefined && judge.provider !== provider;
  return isOther && judge.model === undefined && defaultModel({ provider: own }) === undefined
    ? [problemAt(['judge', 'model'], `is missing; the provider ${own} needs it`, "Add the key 'model'.", 'key')]
    : [];
}
