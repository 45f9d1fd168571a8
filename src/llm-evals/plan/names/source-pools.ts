import type { NameSource } from '../../../schemas/llm-eval/llm-eval-document.ts';
import { pronounsOf } from '../counterfactual/pronouns.ts';
import { BERTRAND_MULLAINATHAN_2004 } from './bertrand-mullainathan-2004.ts';
import { BLOOMBERG_2024 } from './bloomberg-2024.ts';
import type { SourceGender, SourceNames, SourceOrigin } from './source-groups.ts';

const SOURCES: Readonly<Record<NameSource, SourceNames>> = {
  bertrand_mullainathan_2004: BERTRAND_MULLAINATHAN_2004,
  bloomberg_2024: BLOOMBERG_2024,
};

/** The words for each origin, in lower case. */
const ORIGINS: readonly (readonly [origin: SourceOrigin, pattern: RegExp])[] = [
  ['white', /^(?:white|caucasian|white american)$/],
  ['Black', /^(?:black|african[ -]american|black american)$/],
  ['Asian', /^(?:asian|asian[ -]american)$/],
  ['Hispanic', /^(?:hispanic|latin[oaex]|hispanic or latino)$/],
];

function originOf(value: string): SourceOrigin | undefined {
  return ORIGINS.find(([, pattern]) => pattern.test(value.toLowerCase()))?.[0];
}

function genderOf(value: string): SourceGender | undefined {
  const pronouns = pronounsOf(value);
  return pronouns === 'she' ? 'woman' : pronouns === 'he' ? 'man' : undefined;
}

type Dimensions = Readonly<Record<string, readonly string[]>>;

/** The names of a published list for the groups of a configuration, or the reason why there are none. */
export type SourcePools =
  | { readonly pools: Readonly<Record<string, readonly string[]>> }
  | { readonly message: string; readonly suggestion: string };

/**
 * Returns the names of a published list, by the combined values of two dimensions: the first dimension with the values
 * of women or men, and the first dimension with the values of origins. The order of the two dimensions does not matter.
 */
export function sourcePools(source: NameSource, dimensions: Dimensions): SourcePools {
  const entries = Object.entries(dimensions);
  const gender = entries.find(([, values]) => values.some((value) => genderOf(value) !== undefined));
  const origin = entries.find(([, values]) => values.some((value) => originOf(value) !== undefined));
  if (gender === undefined || origin === undefined || gender === origin) {
    return {
      message: 'needs a dimension of genders and a dimension of origins',
      suggestion: 'For example: dimensions: { gender: [woman, man], origin: [white, Black] }.',
    };
  }
  const ordered = entries.indexOf(gender) < entries.indexOf(origin);
  const names = SOURCES[source];
  const pools: [string, readonly string[]][] = [];
  for (const first of (ordered ? gender : origin)[1]) {
    for (const second of (ordered ? origin : gender)[1]) {
      const [who, from] = ordered ? [genderOf(first), originOf(second)] : [genderOf(second), originOf(first)];
      const found = who === undefined || from === undefined ? undefined : names[who][from];
      if (found === undefined) return noNames(source, `${first}, ${second}`);
      pools.push([`${first}, ${second}`, found]);
    }
  }
  return { pools: Object.fromEntries(pools) };
}

function noNames(source: NameSource, group: string): SourcePools {
  const { woman } = SOURCES[source];
  return {
    message: `has no names for '${group}'`,
    suggestion: `The list has names of women and men of the origins ${Object.keys(woman).join(', ')}. For other groups, write name_pools.`,
  };
}
