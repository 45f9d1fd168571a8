import { suggestNames } from '../../internal/nearest.ts';
import type { PathFault } from '../../io/config-text/path-fault.ts';
import type { LLMEvalDocument } from '../../schemas/llm-eval/llm-eval-document.ts';
import { NAME } from '../plan/counterfactual/parse-template.ts';
import { checkNamePools } from './check-name-pools.ts';
import { faultAt } from './fault-at.ts';

type Section = NonNullable<LLMEvalDocument['counterfactual']>;

/** What the parts of the section require of each other, templates apart. */
export function checkCounterfactual(section: Section | undefined): PathFault[] {
  if (section === undefined) return [];
  return [...checkDimensions(section), ...checkDefaults(section), ...checkNamePools(section), ...checkControl(section)];
}

function checkDimensions({ dimensions, name_pools: pools = {} }: Section): PathFault[] {
  const path = ['counterfactual', 'dimensions'];
  if (Object.keys(dimensions).length === 0) {
    return [faultAt(path, 'must have one dimension at least', 'For example: gender: [woman, man].')];
  }
  return Object.entries(dimensions).flatMap(([name, values]) => [
    ...checkDimensionName(name, pools, [...path, name]),
    ...values.flatMap((value, index) => checkValue(value, values.slice(0, index), [...path, name, index])),
  ]);
}

function checkDimensionName(
  name: string,
  pools: NonNullable<Section['name_pools']>,
  path: readonly string[],
): PathFault[] {
  if (name === NAME && Object.keys(pools).length > 0) {
    return [faultAt(path, "'name' is the placeholder of name_pools", 'Give the dimension another name.', 'key')];
  }
  return /^[\p{L}_][\p{L}\p{N}_-]*$/u.test(name)
    ? []
    : [faultAt(path, 'must be a name of letters, digits, _ and -, since placeholders have it', 'Rename it.', 'key')];
}

/** Values that differ in case alone are the same at the start of a sentence. */
function checkValue(value: string, before: readonly string[], path: readonly (string | number)[]): PathFault[] {
  if (value.trim() !== value) {
    return [faultAt(path, 'must not start or end with a space', 'Take the space out.')];
  }
  const same = before.find((each) => each.toLowerCase() === value.toLowerCase());
  if (same === undefined) return [];
  const message = same === value ? `names '${value}' twice` : `'${value}' is '${same}' but for its case`;
  return [faultAt(path, message, 'Name different values.')];
}

function checkDefaults({ dimensions, defaults = {} }: Section): PathFault[] {
  return Object.entries(defaults).flatMap(([name, value]) => {
    const path = ['counterfactual', 'defaults', name];
    const values = Object.hasOwn(dimensions, name) ? dimensions[name] : undefined;
    if (values === undefined) return [unknownDimension(path, name, dimensions, 'key')];
    if (values.includes(value)) return [];
    return [faultAt(path, `'${value}' is no value of ${name}`, suggestNames(value, values, 'values'))];
  });
}

function checkControl({ dimensions, control_dimension: name }: Section): PathFault[] {
  if (name === undefined || Object.hasOwn(dimensions, name)) return [];
  return [unknownDimension(['counterfactual', 'control_dimension'], name, dimensions, 'value')];
}

function unknownDimension(
  path: readonly string[],
  name: string,
  dimensions: Section['dimensions'],
  at: 'key' | 'value',
): PathFault {
  return faultAt(
    path,
    `there is no dimension '${name}'`,
    suggestNames(name, Object.keys(dimensions), 'dimensions'),
    at,
  );
}
