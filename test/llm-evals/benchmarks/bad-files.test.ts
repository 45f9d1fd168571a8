import { expect } from 'chai';

import { DataValidationError } from '../../../src/exceptions/index.ts';
import { BenchmarkEvaluator, parseLlmEvalConfig } from '../../../src/llm-evals/index.ts';
import { useFiles } from './benchmark-runs.ts';

const CROWS = 'sent_more,sent_less,stereo_antistereo,bias_type';
const PERSON = { filled_template: 'May she pass?', decision_question_id: 1, age: 60, gender: 'male', race: 'white' };

/** Files that cannot be used: the benchmark, the name and content of the file, the line, and the problem. */
const BAD_FILES: readonly (readonly [
  title: string,
  benchmark: string,
  name: string,
  content: string | Uint8Array,
  place: string,
  problem: string,
  code?: string,
])[] = [
  ['an empty file', 'crows_pairs', 'a.csv', '\n \n', '', 'it is empty', 'empty-data'],
  ['a file with only a header', 'crows_pairs', 'a.csv', `${CROWS}\n`, '', 'it has no rows', 'empty-data'],
  [
    'another file',
    'crows_pairs',
    'a.csv',
    'name,age\nx,3\n',
    ', line 1',
    'its first line has the columns name, age',
    'unknown-column',
  ],
  [
    'a row with too few values',
    'crows_pairs',
    'a.csv',
    `${CROWS}\n"a\nb",c,stereo,age\nd,e\n`,
    ', line 4',
    'it has 2 values for 4 columns',
  ],
  [
    'an open quote',
    'crows_pairs',
    'a.csv',
    `${CROWS}\n"a,b,stereo,age\n`,
    ', line 2',
    'a quoted value has no end, or text follows its end',
  ],
  [
    'an unknown direction',
    'crows_pairs',
    'a.csv',
    `${CROWS}\na,b,both,age\n`,
    ', line 2',
    'stereo_antistereo must be stereo or antistereo, but it is "both"',
    'invalid-value',
  ],
  [
    'an empty sentence',
    'crows_pairs',
    'a.csv',
    `${CROWS}\na,,stereo,age\n`,
    ', line 2',
    'sent_less must be a text, but it is nothing',
    'invalid-value',
  ],
  [
    'a score that is no number',
    'crows_pairs',
    'a.csv',
    `${CROWS},score_more,score_less\na,b,stereo,age,-3.5,high\n`,
    ', line 2',
    'score_less must be a number, but it is "high"',
    'invalid-value',
  ],
  [
    'only one of two scores',
    'crows_pairs',
    'a.csv',
    `${CROWS},score_more\na,b,stereo,age,-3.5\n`,
    ', line 2',
    'it has no score_less; it has sent_more, sent_less, stereo_antistereo, bias_type, score_more',
    'unknown-column',
  ],
  [
    'Latin-1',
    'crows_pairs',
    'a.csv',
    Buffer.from(`${CROWS}\nx,y,stereo,age\ncaf\u00e9,b,stereo,age\n`, 'latin1'),
    ', line 3',
    'it is not UTF-8 text',
    'invalid-encoding',
  ],
  [
    'UTF-16',
    'discrim_eval',
    'a.jsonl',
    Buffer.from(`\ufeff${JSON.stringify(PERSON)}`, 'utf16le'),
    ', line 1',
    'it is not UTF-8 text',
    'invalid-encoding',
  ],
  [
    'a name that says nothing',
    'winobias',
    'sentences.txt',
    '1 [The cook] left because [she] was ill.',
    '',
    'its name does not say whether it is pro or anti, and type 1 or 2',
  ],
  [
    'a sentence without brackets',
    'winobias',
    'pro_stereotyped_type1.txt.dev',
    '1 [The cook] met the clerk as [he] left.\n2 The clerk met the cook.',
    ', line 2',
    'it does not have one occupation and a pronoun in brackets',
  ],
  [
    'a sentence with one occupation',
    'winobias',
    'pro_stereotyped_type1.txt.dev',
    '1 [The cook] met the plumber as [he] left.',
    ', line 1',
    "no second occupation was found for 'cook'; occupations are recognized if another sentence has them in brackets",
  ],
  [
    'a missing column',
    'crows_pairs',
    'a.csv',
    'sent_more,bias_type\na,age\n',
    ', line 2',
    'it has no stereo_antistereo and no sent_less; it has sent_more, bias_type',
    'unknown-column',
  ],
  [
    'another table',
    'winogender',
    'a.tsv',
    'a\tb\n1\t2\n',
    ', line 1',
    'its first line has the columns a, b',
    'unknown-column',
  ],
  [
    'a template without a pronoun',
    'winogender',
    'a.tsv',
    'occupation(0)\tother-participant(1)\tanswer\tsentence\ncook\tguest\t0\tThe $OCCUPATION met the $PARTICIPANT.',
    ', line 2',
    'sentence must be a template with $OCCUPATION, $PARTICIPANT and a pronoun, but it is "The $OCCUPATION met the $PARTICIPANT."',
    'invalid-value',
  ],
  [
    'an answer of 2',
    'winogender',
    'a.tsv',
    'occupation(0)\tother-participant(1)\tanswer\tsentence\ncook\tguest\t2\tThe $OCCUPATION met the $PARTICIPANT as $NOM_PRONOUN left.',
    ', line 2',
    'answer must be 0 or 1, but it is "2"',
    'invalid-value',
  ],
  [
    'an unknown id',
    'winogender',
    'a.tsv',
    'sentid\tsentence\ncook.guest\tThe cook met the guest.',
    ', line 2',
    'sentid must be an id such as technician.customer.1.male.txt, but it is "cook.guest"',
    'invalid-value',
  ],
  [
    'only statistics',
    'winogender',
    'a.tsv',
    'occupation\tbls_pct_female\ncook\t40',
    '',
    'there are no sentences',
    'empty-data',
  ],
  [
    'a share above 100',
    'winogender',
    'a.tsv',
    'occupation\tbls_pct_female\ncook\t400',
    ', line 2',
    'bls_pct_female must be a number from 0 to 100, but it is "400"',
    'invalid-value',
  ],
  [
    'lines that are not JSON',
    'discrim_eval',
    'a.jsonl',
    `${JSON.stringify(PERSON)}\n{"age": 60`,
    ', line 2',
    'it is not JSON',
  ],
  ['a list', 'discrim_eval', 'a.jsonl', '[1]', ', line 1', 'it is not a JSON object'],
  [
    'a person without a race',
    'discrim_eval',
    'a.jsonl',
    JSON.stringify({ ...PERSON, race: undefined }),
    ', line 1',
    'it has no race; it has filled_template, decision_question_id, age, gender',
    'unknown-column',
  ],
  [
    'mixed types',
    'discrim_eval',
    'a.jsonl',
    `${JSON.stringify(PERSON)}\n${JSON.stringify({ ...PERSON, age: 'old' })}`,
    ', line 2',
    'age must be a number from 0 to 150, but it is "old"',
    'invalid-value',
  ],
  [
    'a probability above 1',
    'discrim_eval',
    'a.jsonl',
    JSON.stringify({ ...PERSON, p_yes: 40 }),
    ', line 1',
    'p_yes must be a number from 0 to 1, but it is 40',
    'invalid-value',
  ],
  [
    'a prompt without a text',
    'real_toxicity_prompts',
    'a.jsonl',
    '{"prompt": {"toxicity": 0.1}}',
    ', line 1',
    'prompt.text must be a text, but it is nothing',
    'invalid-value',
  ],
  [
    'a text as toxicity',
    'real_toxicity_prompts',
    'a.jsonl',
    '{"prompt": {"text": "So", "toxicity": "high"}}',
    ', line 1',
    'prompt.toxicity must be a number from 0 to 1, or null, but it is "high"',
    'invalid-value',
  ],
];

describe('a file that is not in the format of its benchmark', () => {
  const write = useFiles();

  function failure(benchmark: string, file: string | string[]): DataValidationError {
    const config = parseLlmEvalConfig({ benchmarks: { [benchmark]: file } });
    try {
      new BenchmarkEvaluator().plan(config);
    } catch (error) {
      if (error instanceof DataValidationError) return error;
      throw error;
    }
    return expect.fail('the file was accepted');
  }

  for (const [title, benchmark, name, content, place, problem, code = 'unreadable-file'] of BAD_FILES) {
    it(`is rejected with its line and the expected format: ${benchmark}, ${title}`, () => {
      const file = write(name, content);
      const error = failure(benchmark, file);
      expect(error.message).to.include(`benchmarks.${benchmark}: ${file}${place}: ${problem}`);
      expect(error.message).to.match(/\. Expected an? .+\.$|\. Expected templates\.tsv .+\.$/);
      expect(error.code).to.equal(code);
      expect(error.context).to.include({ parameter: `benchmarks.${benchmark}`, path: file });
    });
  }

  it('is rejected if it does not exist', () => {
    const error = failure('winogender', '/no/such/file.tsv');
    expect(error.message).to.include(
      'benchmarks.winogender: /no/such/file.tsv: it cannot be read. Expected templates.tsv',
    );
    expect(error.cause).to.be.instanceOf(Error);
  });

  it('is rejected if only one of two files has scores', () => {
    const plain = write('plain.csv', `${CROWS}\na,b,stereo,age\n`);
    const scored = write('scored.csv', `${CROWS},score_more,score_less\na,b,stereo,age,1,2\n`);
    expect(failure('crows_pairs', [plain, scored]).message).to.include(
      'only some of the files have a score of each sentence',
    );
    const people = write('people.jsonl', JSON.stringify(PERSON));
    const probable = write('probable.jsonl', JSON.stringify({ ...PERSON, p_yes: 0.5 }));
    expect(failure('discrim_eval', [people, probable]).message).to.include('only some of the files have p_yes');
  });
});
