import type { Command, Option } from 'commander';

import { insteadOfRepeating, isRepeatable } from './option-parsers.ts';

/**
 * Makes a command refuse an option that is given twice and cannot repeat, and both forms of a switch (`--with-ci` and
 * `--no-with-ci`) together. Commander would keep the last one and drop the others without a word.
 */
export function refuseRepeats(command: Command): void {
  const given = new Map<string, { readonly option: Option; readonly value: string | null }>();
  for (const option of command.options) {
    if (isRepeatable(option)) continue;
    command.on(`option:${option.name()}`, (value: string | null) => {
      const key = option.attributeName();
      const earlier = given.get(key);
      if (earlier !== undefined)
        command.error(messageOf(earlier, { option, value }), { code: 'evenhand.repeatedOption' });
      given.set(key, { option, value });
    });
  }
}

type Given = { readonly option: Option; readonly value: string | null };

function messageOf(first: Given, second: Given): string {
  const name = nameOf(second.option);
  if (first.option !== second.option) {
    return `error: options '${nameOf(first.option)}' and '${name}' contradict each other. Give one of them.`;
  }
  const values = [first, second].flatMap(({ value }) => (typeof value === 'string' ? [`'${value}'`] : []));
  const both = values.length === 2 ? `: ${values.join(' and ')}` : '';
  const instead = insteadOfRepeating(second.option);
  return `error: option '${name}' was given twice${both}. Give it once${instead === undefined ? '' : `; ${instead}`}.`;
}

function nameOf({ long, short, flags }: Option): string {
  return long ?? short ?? flags;
}
