import { canonicalJson } from '../cache/request-key.ts';
import { formatPath, type KeyPath, type PathProblem, problemAt } from '../../io/config-text/path-problem.ts';
import type { LLMEvalDocument } from '../../schemas/llm-eval/llm-eval-document.ts';
import { mergeTarget, type TargetDocument } from './build-llm-eval-config.ts';

type Fields = Partial<LLMEvalDocument>;

/** The name of the target of earlier answers. */
export const BASELINE = 'baseline';

/** The name of the only target of a configuration without targets, if it is compared with earlier answers. */
export const CURRENT = 'current';

/** Matches the names of targets. Names are part of the names of metrics, which are lists separated by commas. */
const TARGET_NAME = /^[\p{L}\p{N}][\p{L}\p{N}_.:/-]*$/u;

/**
 * Checks the targets, and the configuration that each target results in.
 * @param check checks that the fields of a configuration are consistent with each other
 */
export function checkTargets(
  fields: Fields,
  targets: readonly TargetDocument[],
  check: (merged: Fields) => readonly PathProblem[],
): PathProblem[] {
  const own = [
    ...targets.flatMap(({ name }, index) => checkName(name, index, targets)),
    ...targets.flatMap((target, index) => checkSection(target, index, fields)),
    ...checkAlike(fields, targets),
  ];
  const found = new Map<string, { readonly problem: PathProblem; readonly names: string[] }>();
  targets.forEach((target, index) => {
    const merged = mergeTarget(fields, target);
    for (const problem of check(merged)) {
      const moved = inTarget(problem, target, merged, index);
      const id = JSON.stringify([moved.path, moved.message]);
      const known = found.get(id) ?? { problem: moved, names: [] };
      known.names.push(target.name);
      found.set(id, known);
    }
  });
  const inherited = [...found.values()].map(({ problem, names }) => {
    const isOfAll = names.length === targets.length || problem.path[0] === 'targets';
    return isOfAll ? problem : { ...problem, message: `${problem.message} (in the target ${names.join(', ')})` };
  });
  return [...own, ...inherited];
}

function checkName(name: string, index: number, targets: readonly TargetDocument[]): PathProblem[] {
  const path = ['targets', index, 'name'];
  if (!TARGET_NAME.test(name)) {
    const message = `'${name}' must start with a letter or digit, and have only letters, digits and _ . : / -`;
    return [problemAt(path, message, 'Rename the target. The names of metrics contain its name.')];
  }
  if (name === BASELINE) {
    return [problemAt(path, `'${BASELINE}' is the name of earlier answers (--baseline)`, 'Give it another name.')];
  }
  if (targets.findIndex((target) => target.name === name) < index) {
    return [problemAt(path, `names '${name}' twice`, 'Give each target its own name.')];
  }
  return checkPairNames(index, targets);
}

/** Checks that the names of two pairs of targets, such as a-b and c, are not the same. */
function checkPairNames(index: number, targets: readonly TargetDocument[]): PathProblem[] {
  const names = targets.slice(0, index + 1).map(({ name }) => name);
  const pairs = names.flatMap((first, at) => names.slice(at + 1).map((second) => `${first}-${second}`));
  const twice = pairs.find((pair, at) => pairs.indexOf(pair) < at);
  if (twice === undefined) return [];
  const message = `'${twice}' would be the name of two differences`;
  return [problemAt(['targets', index, 'name'], message, 'Use names without -, for example with _.')];
}

function checkSection({ template }: TargetDocument, index: number, { counterfactual }: Fields): PathProblem[] {
  if (template === undefined || counterfactual !== undefined) return [];
  const suggestion = 'Add counterfactual with its dimensions, or use prompt_templates.';
  return [problemAt(['targets', index, 'template'], "needs the section 'counterfactual'", suggestion, 'key')];
}

/** Finds targets with the same settings, which would have the same answers. */
function checkAlike(fields: Fields, targets: readonly TargetDocument[]): PathProblem[] {
  const settings = targets.map((target) => {
    try {
      return canonicalJson(mergeTarget(fields, target));
    } catch {
      // A setting that JSON does not support has its own problem.
      return null;
    }
  });
  return settings.flatMap((own, index) => {
    const first = settings.indexOf(own);
    if (own === null || first === index) return [];
    const message = `has the same settings as targets[${String(first)}]`;
    return [problemAt(['targets', index], message, 'Set a key in which it differs, for example model.')];
  });
}

/** Moves a problem of a merged configuration to the target that has the key. */
function inTarget(problem: PathProblem, target: TargetDocument, merged: Fields, index: number): PathProblem {
  const [first, second, ...rest] = problem.path;
  const isTemplate = first === 'counterfactual' && second === 'template' && target.template !== undefined;
  const isMissing =
    problem.path.length === 1 &&
    ['model', 'base_url', 'replay_path', 'http', 'command'].includes(String(first)) &&
    merged[first as keyof Fields] === undefined;
  const isOwn =
    first !== undefined && Object.hasOwn(target, first) && target[first as keyof TargetDocument] !== undefined;
  if (!isTemplate && !isOwn && !isMissing) return problem;
  const path: KeyPath = ['targets', index, ...(isTemplate ? ['template', ...rest] : problem.path)];
  const message = problem.message.replace(formatPath(problem.path), formatPath(path));
  return { ...problem, path, message };
}
