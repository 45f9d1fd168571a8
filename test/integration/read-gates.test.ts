import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';

import { GATES_SCHEMA_FILE, gatesSchemaText } from '../../scripts/config-schema.ts';
import { ConfigValidationError } from '../../src/exceptions/index.ts';
import { readGates } from '../../src/integration/read-gates.ts';
import { useTemporaryFolder } from '../helpers/run-cli.ts';

const REQUEST = {
  names: ['sex', 'race', 'sex||race'],
  hasTruth: false,
  hasPredictions: true,
  hasScores: false,
  strictMissing: false,
};

const GATES = `# Agreed with the review board.
- metric: demographic_parity_difference
  threshold: 0.1
- { metric: demographic_parity_ratio, comparator: '>=', threshold: 0.8, attributes: [sex, [sex, race]] }
`;

describe('a file of gates', () => {
  const folder = useTemporaryFolder();

  async function read(text: string): Promise<unknown> {
    const file = path.join(folder(), 'gates.yml');
    writeFileSync(file, text);
    return readGates(file, REQUEST);
  }

  const GIVEN = [
    { metric: 'demographic_parity_difference', threshold: 0.1 },
    { metric: 'demographic_parity_ratio', comparator: '>=', threshold: 0.8, attributes: ['sex', ['sex', 'race']] },
  ];

  it('is a YAML list of gates', async () => {
    expect(await read(GATES)).to.deep.equal(GIVEN);
  });

  it('may be JSON', async () => {
    expect(await read(JSON.stringify(GIVEN))).to.deep.equal(GIVEN);
  });

  const refused: readonly (readonly [title: string, text: string, ...lines: RegExp[]])[] = [
    ['an empty file', '', /gates\.yml:1:1: the file is empty\. .*- \{ metric/],
    ['a file with only comments', '# nothing yet\n', /gates\.yml:1:1: the file is empty/],
    ['an empty list', '[]\n', /gates\.yml:1:1: gates: must be a list of mappings, at least 1; got an empty list/],
    ['a mapping', 'metric: demographic_parity_difference\nthreshold: 0.1\n', /gates\.yml:1:1: gates: must be a list/],
    ['invalid YAML', '- metric: [\n', /gates\.yml:\d+:\d+: /],
    ['a gate that is a text', '- demographic_parity_difference<=0.1\n', /gates\.yml:1:3: gates\[0\]: must be a mapping/],
    ['an unknown key', '- metric: demographic_parity_difference\n  treshold: 0.1\n', /gates\.yml:2:3: gates\[0\]: unknown key 'treshold'\. Did you mean 'threshold'\?/],
    ['a missing threshold', GATES.replace('  threshold: 0.1\n', ''), /gates\.yml:2:3: gates\[0\]\.threshold: is missing/],
    ['a threshold in quotes', GATES.replace('0.1', "'0.1'"), /gates\.yml:3:14: gates\[0\]\.threshold: must be a number; got '0\.1'\. Write the number without quotes/],
    ['an infinite threshold', GATES.replace('0.1', '.inf'), /gates\.yml:3:14: gates\[0\]\.threshold: must be a number/],
    ['an unknown comparator', GATES.replace("'>='", "'=>'"), /gates\.yml:4:\d+: gates\[1\]\.comparator: must be one of <=, <, >=, >; got '=>'/],
    ['an empty list of attributes', GATES.replace('[sex, [sex, race]]', '[]'), /gates\.yml:4:\d+: gates\[1\]\.attributes: must be a list .*at least 1/],
    ['an unknown metric', GATES.replace('parity_difference', 'parity_diference'), /gates\.yml:2:11: gates\[0\]\.metric: .*'demographic_parity_diference'.* Did you mean 'demographic_parity_difference'/],
    ['a metric without its data', GATES.replace('demographic_parity_difference', 'equalized_odds_difference'), /gates\.yml:2:11: gates\[0\]\.metric: equalized_odds_difference needs true labels/],
    ['a threshold of 5 instead of 0.05', GATES.replace('0.1', '5'), /gates\.yml:3:14: gates\[0\]\.threshold: .* 5 always passes\. For 5 percent write 0\.05/],
    ['an unknown attribute', GATES.replace('[sex, [', '[sexx, ['), /gates\.yml:4:\d+: gates\[1\]\.attributes: .*'sexx'\. Did you mean 'sex'\?/],
    ['an intersection that is not analysed', GATES.replace('[sex, race]', '[race, sex]'), /gates\[1\]\.attributes: .*'race\|\|sex'\. The attributes are 'sex', 'race' and 'sex\|\|race'/],
    ['several problems', '- { metric: x, threshold: 0.1 }\n- { metric: demographic_parity_ratio, threshold: 80, attributes: [age] }\n', /:1:13: gates\[0\]\.metric/, /:2:\d+: gates\[1\]\.threshold/, /:2:\d+: gates\[1\]\.attributes/],
    ['a label with terminal escapes', "- { metric: 'a\\u001b[31m', threshold: 0.1 }\n".replace(/'/g, '"'), /\\u001b\[31m/],
  ]; // prettier-ignore
  for (const [title, text, ...lines] of refused) {
    it(`is rejected with ${title}, with line and column`, async () => {
      const error = await read(text).then(
        () => expect.fail('it was accepted'),
        (reason: unknown) => reason as ConfigValidationError,
      );
      expect(error).to.be.instanceOf(ConfigValidationError);
      for (const line of lines) expect(error.message).to.match(line);
      expect(error.message.split('\n')).to.have.length(lines.length);
    });
  }

  it('has a JSON Schema for editors, which is the committed one and accepts the same files', async () => {
    expect(readFileSync(GATES_SCHEMA_FILE, 'utf8')).to.equal(await gatesSchemaText());
    const validate = new Ajv2020().compile(JSON.parse(readFileSync(GATES_SCHEMA_FILE, 'utf8')) as object);
    expect(validate(GIVEN)).to.equal(true);
    for (const wrong of [[], {}, [{ metric: 'm' }], [{ metric: 'm', threshold: '1' }], [{ metric: 'm', threshold: 1, x: 1 }], [{ metric: 'm', threshold: 1, attributes: [] }]])
      expect(validate(wrong), JSON.stringify(wrong)).to.equal(false);
  }); // prettier-ignore

  it('is rejected if it does not exist', async () => {
    const error = await readGates(path.join(folder(), 'none.yml'), REQUEST).catch(String);
    expect(error).to.include('none.yml');
  });
});
