import { type FoundFields, resolveFields } from './decision-fields.ts';
import { readPlain } from './decision-labels.ts';
import { lineFields } from './decision-lines.ts';
import { jsonFields, tagFields, withoutStyleTags } from './decision-markup.ts';
import { laterStatements, readProse, type Stated } from './decision-prose.ts';

/** Letters of an answer that are read, half of them from its end; what is between costs nothing. */
const MAX_LETTERS = 20_000;

/** Labels inside values of labels: "Answer: Hire: No". */
const MAX_DEPTH = 3;

/**
 * Reads the decision of an answer: 1 for yes (approve, hire, accept…), 0 for no (deny, reject, do not hire…), null where it
 * states neither, or both.
 *
 * Reasoning in `<think>` and the like is left out. Then, in this order: XML elements and attributes, JSON (also in a
 * fence, after a preamble, or cut short), labelled lines, tables and check boxes, and prose. Of a label and its value the
 * label names what is decided, and the value decides: "Hire: No" is 0. A yes under a negative label is a no ("Rejected:
 * yes" is 0, "Rejected: no" is 1); a deed is what it is under every label ("Loan approval: denied" is 0). "Final decision"
 * outranks other labels.
 *
 * What is not understood is null, never guessed: decisions that contradict each other, conditions ("if", "but not now"),
 * scores and probabilities, and languages other than English.
 */
export function readDecision(text: string): 0 | 1 | null {
  const stated = readText(text, MAX_DEPTH);
  return stated === null ? null : stated.isFor ? 1 : 0;
}

function readText(text: string, depth: number): Stated | null {
  if (depth === 0) return null;
  const read = (value: string): Stated | null => readText(value, depth - 1);
  const said = withoutMarkup(withoutReasoning(shortened(text)));
  const tags = tagFields(said, read);
  if (tags.length > 0) return resolveFields(tags);
  const json = jsonFields(said, read);
  if (json !== null && json.fields.length > 0) return agreeing({ ...json, after: '' });
  // JSON without a decision says nothing, and what stands around it may.
  const rest = json === null ? said : `${json.before}\n${json.after}`;
  const lines = lineFields(rest, read);
  return lines.fields.length > 0 ? agreeing(lines) : readPlain(lines.before);
}

/** What fields state, unless the text around them states the opposite. */
function agreeing({ fields, before, after }: FoundFields): Stated | null {
  const stated = resolveFields(fields);
  if (stated === null || fields.some(({ rank }) => rank === 3)) return stated;
  const around = [readProse(before), ...laterStatements(after)];
  return around.some((other) => other !== null && other.isFor !== stated.isFor) ? null : stated;
}

function shortened(text: string): string {
  const half = MAX_LETTERS / 2;
  return text.length <= MAX_LETTERS ? text : `${text.slice(0, half)}\n${text.slice(-half)}`;
}

const REASONING = '(?:think(?:ing)?|thoughts?|reason(?:ing)?|scratchpad|reflection|analysis|rationale)';
const CLOSED = new RegExp(`<(${REASONING})>[\\s\\S]*?</\\1>|\\[think\\][\\s\\S]*?\\[/think\\]`, 'giu');
/** Of a reasoning without its opening tag that tag was in the prompt; one without its closing tag was cut short. */
const UNOPENED = new RegExp(`^[\\s\\S]*</${REASONING}>|^[\\s\\S]*\\bfinal<\\|message\\|>`, 'iu');
const UNCLOSED = new RegExp(`<${REASONING}>[\\s\\S]*$`, 'iu');

function withoutReasoning(text: string): string {
  return text.replaceAll(CLOSED, ' ').replace(UNOPENED, ' ').replace(UNCLOSED, ' ');
}

const TEX = /\\(?:boxed|text|textbf|mathbf)\{([^{}]*)\}/gu;

/** Text without fences, TeX, tags of style and what is struck out; the content of fences stays. */
function withoutMarkup(text: string): string {
  return withoutStyleTags(text)
    .replaceAll(/<\|[^<>|]*\|>/gu, ' ')
    .replaceAll(/^[ \t]*(?:```|~~~)[ \t]*[\p{L}\d+-]*[ \t]*$/gmu, '')
    .replaceAll(/~~[^~\n]+~~/gu, ' ')
    .replaceAll(/`+/gu, '')
    .replaceAll(TEX, '$1')
    .replaceAll(TEX, '$1')
    .replaceAll('$', '')
    .trim();
}
