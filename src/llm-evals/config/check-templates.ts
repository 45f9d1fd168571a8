import { escapeControls, hasControls } from '../../io/config-text/config-problem.ts';
import { problemAt, formatPath, type KeyPath, type PathProblem } from '../../io/config-text/path-problem.ts';
import type {
  CounterfactualConfig,
  LLMEvalDocument,
  PromptTemplate,
  TemplateMessage,
} from '../../schemas/llm-eval/llm-eval-document.ts';
import { renderConversation } from '../plan/conversation.ts';
import { checkTemplate } from '../plan/counterfactual/parse-template.ts';
import { MAX_PROMPTS } from '../plan/counterfactual/plan-counterfactual.ts';
import {
  intersectionKey,
  layoutsOf,
  messagesIn,
  promptCount,
  templateName,
  type TemplateSource,
} from '../plan/counterfactual/template-layout.ts';
import { buildCounterfactual, isConversation, templatesIn } from './build-llm-eval-config.ts';

type Fields = Partial<LLMEvalDocument>;

/** Checks that templates can be filled, and that names and texts are unique. */
export function checkTemplates(fields: Fields): PathProblem[] {
  const mixed = checkMixed(fields);
  if (mixed.length > 0) return mixed;
  const known = sourceOf(fields).counterfactual ?? { dimensions: {}, namePools: {} };
  const problems = [...textsOf(fields)].flatMap(([path, text]) =>
    checkTemplate(text, known).map(({ message, suggestion }) => problemAt(path, message, suggestion)),
  );
  return [...checkNames(fields), ...checkConversations(fields), ...problems, ...checkTwice(fields)];
}

function sourceOf({ counterfactual, prompt_templates: promptTemplates = {} }: Fields): TemplateSource {
  return { counterfactual: counterfactual === undefined ? null : buildCounterfactual(counterfactual), promptTemplates };
}

function* textsOf(fields: Fields): Generator<readonly [KeyPath, string]> {
  for (const [path, template] of templatesOf(fields)) {
    if (typeof template === 'string') yield [path, template];
    else {
      for (const [index, { content }] of template.entries()) {
        if (content !== undefined) yield [[...path, index, 'content'], content];
      }
    }
  }
}

/** Lists the templates, with their paths. */
function templatesOf({ counterfactual, prompt_templates: named = {} }: Fields): (readonly [KeyPath, PromptTemplate])[] {
  const path = ['counterfactual', 'template'];
  const template = counterfactual?.template ?? [];
  const isOne = typeof template === 'string' || isConversation(template);
  return [
    ...templatesIn(template).map((each, index) => [isOne ? path : [...path, index], each] as const),
    ...Object.entries(named).map(([name, each]) => [['prompt_templates', name], each] as const),
  ];
}

/** Checks that a list contains either templates or the messages of one conversation. */
function checkMixed({ counterfactual }: Fields): PathProblem[] {
  const template = counterfactual?.template ?? [];
  if (typeof template === 'string' || isConversation(template)) return [];
  const index = template.findIndex((each) => typeof each === 'object' && !Array.isArray(each));
  if (index < 0) return [];
  const path = ['counterfactual', 'template', index];
  const suggestion = 'Write each conversation as a list of its own: - - { role: user, content: … }.';
  return [problemAt(path, 'a list has either templates or the messages of one conversation', suggestion)];
}

/** Checks the order of the messages of conversations. All providers support this order. */
function checkConversations(fields: Fields): PathProblem[] {
  return templatesOf(fields).flatMap(([path, template]) =>
    typeof template === 'string' ? [] : checkOrder(path, template),
  );
}

function checkOrder(path: KeyPath, messages: readonly TemplateMessage[]): PathProblem[] {
  const first = messages[0]?.role === 'system' ? 1 : 0;
  const problems = messages.flatMap(({ role, content }, index): PathProblem[] => {
    const here = [...path, index];
    if (role === 'system' && index > 0) {
      return [problemAt(here, 'a message of the system must come first', 'Move it to the start, or write it as system_prompt.')]; // prettier-ignore
    }
    if (content === undefined && role !== 'assistant') {
      const message = `the message of the ${role} has no content`;
      return [problemAt(here, message, 'Add content. Only a message of the assistant may have none, for the turn of the model.')]; // prettier-ignore
    }
    const expected = (index - first) % 2 === 0 ? 'user' : 'assistant';
    if (role === 'system' || role === expected) return [];
    const message = `expected a message of the ${expected}, found a message of the ${role}`;
    return [problemAt(here, message, 'Alternate the roles: user, assistant, user, and so on.')];
  });
  // After a wrong order, a message about the end would repeat the problem.
  if (problems.length > 0) return problems;
  if (messages.at(-1)?.role === 'user') return [];
  const message = 'the conversation must end with a message of the user, which asks for the answer that is scored';
  return [problemAt(path, message, 'Add a message of the user, or remove the last message.')];
}

/**
 * Finds duplicate texts, which would count as independent templates. Texts that differ only in white space are
 * duplicates.
 */
function checkTwice(fields: Fields): PathProblem[] {
  const indices = new Map<string, KeyPath>();
  return templatesOf(fields).flatMap(([path, template]) => {
    const text = renderConversation(messagesIn(template).map(({ role, content = null }) => ({ role, content })));
    const known = text.trim().replaceAll(/\s+/gu, ' ');
    const first = indices.get(known);
    if (first === undefined) indices.set(known, path);
    return first === undefined ? [] : [textAgain(path, first)];
  });
}

function textAgain(path: KeyPath, first: KeyPath): PathProblem {
  const message = `repeats the text of ${formatPath(first)}, and would count as a separate template`;
  return problemAt(path, message, 'Remove it. To send a prompt more often, increase repeats.');
}

function checkNames({ counterfactual, prompt_templates: named = {} }: Fields): PathProblem[] {
  const template = counterfactual?.template ?? [];
  const numbered = templatesIn(template).map((_, index) => templateName(index));
  return Object.keys(named).flatMap((name) => {
    const path = ['prompt_templates', name];
    if (name.trim() === '' || hasControls(name)) {
      const message = `'${escapeControls(name)}' must be a name of one line, without control characters`;
      return [problemAt(path, message, 'Give it another name.', 'key')];
    }
    return numbered.includes(name)
      ? [problemAt(path, `'${name}' is the name of a template of counterfactual`, 'Give it another name.', 'key')]
      : [];
  });
}

/**
 * Checks that every dimension is used in a template, and that there are not too many prompts. The templates must be
 * valid: an invalid template may contain a misspelled dimension.
 */
export function checkUse(fields: Fields): PathProblem[] {
  const source = sourceOf(fields);
  const layouts = layoutsOf(source);
  const used = new Set(layouts.map(({ dimension }) => dimension));
  const { counterfactual } = source;
  const unused = Object.keys(counterfactual?.dimensions ?? {}).filter((name) => !used.has(name));
  const apart = unused.length > 0 || counterfactual === null ? [] : uncrossed(counterfactual, used);
  const count = layouts.reduce((sum, layout) => sum + promptCount(layout) * (fields.repeats ?? 1), 0);
  return [...unused.map(unusedDimension), ...apart, ...(count > MAX_PROMPTS ? [tooMany(count)] : [])];
}

/** Finds intersections that no template can compare. */
function uncrossed(
  { dimensions, intersections = [] }: CounterfactualConfig,
  used: ReadonlySet<string | null>,
): PathProblem[] {
  // prettier-ignore
  const order = Object.keys(dimensions);
  return intersections.flatMap((names, index) => {
    if (used.has(intersectionKey(order.filter((name) => names.includes(name))))) return [];
    const path = ['counterfactual', 'intersections', index];
    return [problemAt(path, 'no template uses all of its dimensions', `Write ${names.map((name) => `{${name}}`).join(' and ')} in one template.`)]; // prettier-ignore
  });
}

function unusedDimension(name: string): PathProblem {
  const path = ['counterfactual', 'dimensions', name];
  const suggestion = `Write {${name}} in a template, or remove the dimension.`;
  return problemAt(path, 'no template uses it', suggestion, 'key');
}

function tooMany(count: number): PathProblem {
  const [asked, most] = [count, MAX_PROMPTS].map((number) => number.toLocaleString('en-US'));
  const message = `results in ${String(asked)} prompts; the maximum is ${String(most)}`;
  const suggestion = 'Set defaults for some dimensions, so that fewer dimensions are crossed.';
  return problemAt(['counterfactual', 'dimensions'], message, suggestion, 'key');
}
