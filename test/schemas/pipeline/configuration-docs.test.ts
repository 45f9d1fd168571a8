import { readFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';
import type { z } from 'zod';

import { PIPELINE_FIELDS, STEP_KEYS, TRAINING_KEYS } from '../../../src/schemas/pipeline/pipeline-document.ts';
import { TRAINING_PARAMS } from '../../../src/schemas/pipeline/training-params.ts';
import { TRANSFORMER_PARAMS } from '../../../src/schemas/pipeline/transformer-params.ts';
import { projectRoot } from '../../helpers/project-files.ts';

const page = readFileSync(path.join(projectRoot, 'docs/configuration.md'), 'utf8');

interface Row {
  readonly keys: readonly string[];
  readonly standard: string;
}

/** Returns the rows of the first table below a line of the page. */
function tableBelow(line: string): Row[] {
  const at = page.indexOf(`\n${line}\n`);
  expect(at, line).to.be.greaterThan(0);
  const [, table = ''] = /\n(\| Key .*?)\n\n/s.exec(page.slice(at)) ?? [];
  return table
    .split('\n')
    .slice(2)
    .map((row) => {
      const [, key = '', , standard = ''] = row.split('|').map((cell) => cell.trim());
      return { keys: [...key.matchAll(/`(\w+)`/g)].map(([, name = '']) => name), standard };
    });
}

const keysOf = (rows: readonly Row[]): string[] => rows.flatMap(({ keys }) => keys);

/** Returns the default in a description: "…. Default: 10." has 10; others have none. */
function standardOf(description: string | undefined): string {
  return /Default: (.+)\.$/.exec(description ?? '')?.[1] ?? 'none';
}

describe('docs/configuration.md', () => {
  it('has every key of the top level, of steps and of training, and no others', () => {
    expect(keysOf(tableBelow('## Keys'))).to.have.members([...Object.keys(PIPELINE_FIELDS), 'steps', 'profiles']);
    expect(keysOf(tableBelow('The steps of `pipeline` have these keys:'))).to.have.members([...STEP_KEYS, 'kind']);
    expect(keysOf(tableBelow('And `training` has these:'))).to.have.members([...TRAINING_KEYS]);
  });

  it('has the defaults of the top level', () => {
    for (const { keys, standard } of tableBelow('## Keys')) {
      const schema = PIPELINE_FIELDS[keys[0] as keyof typeof PIPELINE_FIELDS] as
        (typeof PIPELINE_FIELDS)['alpha'] | undefined;
      const parsed = schema?.safeParse(undefined);
      if (typeof parsed?.data === 'number') expect(standard).to.equal(String(parsed.data));
      expect(standard === 'required', keys[0]).to.equal(parsed?.success === false);
    }
  });

  for (const [name, { shape }] of Object.entries({ ...TRANSFORMER_PARAMS, ...TRAINING_PARAMS })) {
    it(`has every parameter of ${name} with its default, in the order of the schema`, () => {
      const rows = tableBelow(`### \`${name}\``);
      const declared = Object.entries(shape as Readonly<Record<string, z.ZodType>>).map(([key, { description }]) => [
        key,
        standardOf(description),
      ]);
      expect(rows.map(({ keys, standard }) => [keys[0], standard])).to.deep.equal(declared);
    });
  }
});
