import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { DataValidationError } from '../../../src/exceptions/index.ts';
import { parsePromptRows, type PromptRows, type RowChoices } from '../../../src/llm-evals/rows/prompt-rows.ts';
import { readRowTable, recordTable } from '../../../src/llm-evals/rows/row-table.ts';
import { planRows, unitNotes } from '../../../src/llm-evals/rows/plan-rows.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';

describe('rows of answers', () => {
  const folder = useTemporaryFolder();
  let files = 0;

  /** Writes a file and reads its answers. */
  async function read(text: string | Buffer, ending = 'csv', choices: RowChoices = {}): Promise<PromptRows> {
    const file = path.join(folder(), `answers-${String(files++)}.${ending}`);
    writeFileSync(file, text);
    return parsePromptRows(await readRowTable(file), 'answers', choices);
  }

  /** Returns the message and the suggestion of the error for a file. */
  async function problem(text: string | Buffer, ending = 'csv', choices: RowChoices = {}): Promise<string> {
    const error = await read(text, ending, choices).catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(DataValidationError);
    const { message, suggestion } = error as DataValidationError;
    return `${message} ${suggestion ?? ''}`;
  }

  it('are the same in CSV, TSV and JSON lines, with line breaks, quotes, leading zeros and a byte order mark', async () => {
    const rows = [
      { prompt: 'Say "hi",\nplease', answer: 'Hi,\n\n"you"', item: '01', gender: 'woman' },
      { prompt: 'Say bye', answer: 'Bye', item: '01', gender: 'man' },
      { prompt: 'Say no', answer: null, item: '02', gender: 'man' },
    ];
    const quoted = (text: string | null): string => (text === null ? '' : `"${text.replaceAll('"', '""')}"`);
    const table = (separator: string): string =>
      [
        Object.keys(rows[0] ?? {}).join(separator),
        ...rows.map((row) => Object.values(row).map(quoted).join(separator)),
      ].join('\r\n');
    const csv = await read(`\ufeff${table(',')}`);
    expect(csv.rows.map(({ prompt, answer, item, values }) => ({ prompt, answer, item, gender: values[0] }))).to.deep.equal(rows); // prettier-ignore
    const strip = ({ rows: own, dimensions, notes }: PromptRows): object => ({ own, dimensions, notes });
    expect(strip(await read(table('\t'), 'tsv'))).to.deep.equal(strip(csv));
    const lines = rows.map((row) => JSON.stringify(row)).join('\n');
    for (const ending of ['jsonl', 'ndjson']) {
      expect(strip(await read(`\ufeff${lines}\n\n`, ending))).to.deep.equal(strip(csv));
    }
    expect(strip(parsePromptRows(recordTable('answers', rows), 'answers'))).to.deep.equal(strip(csv));
  });

  it('are compared by all columns without another meaning, except constants, identifiers and measurements', () => {
    const rows = Array.from({ length: 120 }, (_, index) => ({
      answer: 'a',
      item: Math.floor(index / 2),
      gender: index % 2 === 0 ? 'woman' : 'man',
      level: Math.floor(index / 2) % 4,
      country: 'US',
      note: null,
      id: `id-${String(index)}`,
      seconds: index % 40,
    }));
    const { dimensions, notes } = parsePromptRows(recordTable('answers', rows), 'answers');
    expect(dimensions).to.deep.equal(['gender']);
    expect(notes).to.have.length(5);
    for (const text of ["'country' ('US')", "'note' is empty", "'id' has 120 different values", "'seconds' has 40 different numbers", "The rows of each item have the same 'level'"]) expect(notes.join('\n')).to.include(text); // prettier-ignore
    const chosen = parsePromptRows(recordTable('answers', rows), 'answers', { dimensions: ['seconds'] });
    expect(chosen.dimensions).to.deep.equal(['seconds']);
    const groups = (count: number): string[] =>
      [...parsePromptRows(recordTable('a', Array.from({ length: 60 }, (_, index) => ({ answer: 'a', item: 1, g: `g${String(index % count)}` }))), 'answers').dimensions]; // prettier-ignore
    expect([groups(20), groups(21)]).to.deep.equal([['g'], []]);
  });

  it('give a note if two columns always change together, so that neither is compared alone', async () => {
    const { dimensions, notes } = await read('answer,item,gender,pronoun\na,1,woman,she\nb,1,man,he\n');
    expect(dimensions).to.deep.equal(['gender', 'pronoun']);
    expect(notes).to.have.length(2);
    expect(notes[0]).to.include("No two rows of an item differ only in 'gender'").and.include("the same 'pronoun'");
  });

  it('are not compared by a column that leaves no pair, so that a rating of the answer does not part the pairs', async () => {
    const text = `answer,item,origin,stars\n${Array.from({ length: 9 }, (_, item) => `a,${String(item)},local,4\nb,${String(item)},foreign,${String(1 + (item % 4))}`).join('\n')}\n`; // prettier-ignore
    const { dimensions, notes } = await read(text);
    expect(dimensions).to.deep.equal(['origin']);
    expect(notes).to.have.length(1);
    expect(notes[0]).to.include("'stars' is not used").and.include('choose the columns with dimensions');
    const chosen = await read(text, 'csv', { dimensions: ['origin', 'stars'] });
    // The answers to items 3 and 7 have the same stars.
    expect(chosen.notes.join(' ')).to.include("4 of 18 rows can be compared by 'origin'");
  });

  it('are rejected if no column was chosen, and the columns that were found leave less than half of the pairs', async () => {
    // Every item has 2 answers for each origin. A third of the items has equal stars for one pair.
    const line = (item: number, origin: string, stars: number): string =>
      `a,${String(item)},${origin},${String(stars)}`;
    const rows = Array.from({ length: 12 }, (_, item) =>
      [
        line(item, 'local', 5),
        line(item, 'local', 4),
        line(item, 'foreign', item % 3 === 0 ? 5 : 2),
        line(item, 'foreign', 1),
      ].join('\n'),
    );
    const text = `answer,item,origin,stars\n${rows.join('\n')}\n`;
    expect(await problem(text)).to.match(
      /'origin', 'stars'.* 8 of 48 rows .*'origin'.*Choose the columns that are groups .*--dimensions origin.*evenhand validate.*--metric mean_prediction_difference/,
    );
    const chosen = await read(text, 'csv', { dimensions: ['origin', 'stars'] });
    expect(chosen.notes.join(' ')).to.include("8 of 48 rows can be compared by 'origin'");
    expect((await read(text, 'csv', { dimensions: ['origin'] })).dimensions).to.deep.equal(['origin']);
  });

  it('that are crossed but for a few rows are compared, with a note of the rows without a counterpart', async () => {
    const rows = ['x', 'y'].flatMap((g) => ['old', 'young'].flatMap((age) => ['p', 'q'].map((item) => `a,${item},${g},${age}`))); // prettier-ignore
    expect((await read(`answer,item,g,age\n${rows.join('\n')}\n`)).notes).to.deep.equal([]);
    const { dimensions, notes } = await read(`answer,item,g,age\n${rows.slice(1).join('\n')}\n`);
    expect(dimensions).to.deep.equal(['g', 'age']);
    // The row y, old, p lost x, old, p; the row x, young, p lost it too.
    expect(notes.map((note) => note.slice(0, 40))).to.deep.equal([
      "6 of 7 rows can be compared by 'g': the ",
      "6 of 7 rows can be compared by 'age': th",
    ]);
  });

  it('need no items if there is nothing to compare', async () => {
    const { dimensions, notes, rows } = await read('answer,group\nYes,a\nNo,a\n');
    expect([dimensions, rows.map(({ item }) => item)]).to.deep.equal([[], ['row 1', 'row 2']]);
    expect(notes.join(' ')).to.include('only metrics of all answers');
    expect((await read('answer\nYes\n')).rows).to.have.length(1);
  });

  it('without a group are counted, for each dimension', async () => {
    const one = await read('answer,item,g\na,1,x\nb,1,y\nc,1,\nd,,\n');
    expect(one.notes).to.deep.equal([
      "2 of 4 rows have no 'g' and are not compared by it. They count only in metrics of all answers.",
    ]);
    const crossed = ['x,old', 'y,old', 'x,young', 'y,young', 'x,', ','].map((groups) => `a,1,${groups}`);
    expect((await read(`answer,item,g,age\n${crossed.join('\n')}\n`)).notes).to.include.members([
      "1 of 6 rows has no 'g' and is not compared by it.",
      "2 of 6 rows have no 'age' and are not compared by it.",
    ]);
  });

  it('give a note if groups differ only by their spelling', async () => {
    const labels = ['Woman', 'man', 'woman', 'Man', 'woman', 'man'];
    const lines = labels.map((label, index) => `yes,${String(index >> 1)},${label},${index % 2 === 0 ? 'NA' : 'b'}`);
    const { notes } = await read(`answer,item,gender,site\n${lines.join('\n')}\n`, 'csv', {
      dimensions: ['gender', 'site'],
    });
    const spelled = notes.filter((note) => note.includes('differ only by case'));
    expect(spelled).to.deep.equal([
      "Groups of 'gender' differ only by case, spaces or Unicode form: 'Man' (1 row), 'man' (2 rows); 'Woman' (1 row), 'woman' (2 rows); each is measured as a separate group.",
    ]);
    expect(notes.some((note) => note.includes('--na-values'))).to.equal(false);
  });

  it('name the columns by which nothing can be compared', async () => {
    const rows = (genders: readonly string[], isUnique: boolean): string =>
      genders.map((gender, row) => `yes,${String(isUnique ? row : row >> 1)},${gender},gpt`).join('\n');
    const head = 'answer,item,gender,model\n';
    const paired = await read(`${head}${rows(['a', 'b', 'a', 'b'], false)}`);
    expect([paired.dimensions, paired.uncompared]).to.deep.equal([['gender'], []]);
    const unique = await read(`${head}${rows(['a', 'b', 'a', 'b'], true)}`);
    expect([unique.dimensions, unique.uncompared]).to.deep.equal([[], ['gender', 'model']]);
    const blank = await read(`${head}${rows(['a', '', 'b', ''], false)}`);
    expect([blank.dimensions, blank.uncompared]).to.deep.equal([[], ['gender', 'model']]);
    const chosen = await read(`${head}${rows(['a', 'b', 'a', 'b'], true)}`, 'csv', { dimensions: ['gender'] });
    expect([chosen.dimensions, chosen.uncompared]).to.deep.equal([['gender'], ['gender']]);
  });

  it('number the answers to one question in their order, and report copies', async () => {
    const { rows, notes } = await read('answer,item,g\nA,1,x\nB,1,x\nA,1,x\nC,1,y\n');
    expect(rows.map(({ repeat }) => repeat)).to.deep.equal([0, 1, 2, 0]);
    expect(notes).to.deep.equal([
      '1 row is a copy of an earlier row. It counts as a further answer to the same prompt.',
    ]);
  });

  it('with one row for each of several dimensions are compared within the values of the others', async () => {
    const rows = await read('answer,item,g,age\n1,q,x,old\n2,q,y,old\n3,q,x,young\n4,q,y,young\n5,p,x,\n');
    const planned = planRows(rows, 'any').map(({ row, prompt }) => [row.answer, prompt.dimension, prompt.item, prompt.group, prompt.unit]); // prettier-ignore
    expect(planned).to.deep.equal([
      ['1', 'g', 'q|age=old', 'x', 'q'],
      ['2', 'g', 'q|age=old', 'y', 'q'],
      ['3', 'g', 'q|age=young', 'x', 'q'],
      ['4', 'g', 'q|age=young', 'y', 'q'],
      ['5', 'g', 'p', 'x', 'p'],
      ['1', 'age', 'q|g=x', 'old', 'q'],
      ['2', 'age', 'q|g=y', 'old', 'q'],
      ['3', 'age', 'q|g=x', 'young', 'q'],
      ['4', 'age', 'q|g=y', 'young', 'q'],
    ]);
  });

  it('have the cluster, the name, the template or the item as the unit, in this order', async () => {
    const text = 'answer,item,g,name,template,who\na,1,x,Ada,t,p\nb,1,y,Ben,t,p\na,2,x,Ada,t,r\nb,2,y,Ben,t,r\n';
    const units = (rows: PromptRows): unknown[] => planRows(rows, 'any').map(({ prompt }) => prompt.unit);
    const dimensions = ['g'];
    expect(units(await read(text, 'csv', { dimensions, cluster: 'who' }))).to.deep.equal(['p', 'p', 'r', 'r']);
    expect(new Set(units(await read(text, 'csv', { dimensions }))).size, 'the pair Ada and Ben').to.equal(1);
    const without = (column: number): string =>
      text.split('\n').map((line) => line.split(',').filter((_, index) => index !== column).join(',')).join('\n'); // prettier-ignore
    expect(units(await read(without(3), 'csv', { dimensions }))).to.deep.equal(['t', 't', 't', 't']);
    const bare = 'answer,item,g\na,1,x\nb,1,y\na,2,x\nb,2,y\n';
    expect(units(await read(bare))).to.deep.equal(['1', '1', '2', '2']);
  });

  it('give a note if items link names, so that few independent units remain', async () => {
    const rows = (partner: (index: number) => number): string =>
      Array.from({ length: 12 }, (_, item) => `a,${String(item)},x,Ada${String(item % 6)}\nb,${String(item)},y,Ben${String(partner(item))}`).join('\n'); // prettier-ignore
    const header = 'answer,item,g,name\n';
    expect(unitNotes(await read(header + rows((item) => item % 6)))).to.deep.equal([]);
    const linked = unitNotes(await read(header + rows((item) => (item < 6 ? item : (item + 1) % 6))));
    expect(linked.join()).to.include("Items link the 12 names to 1 independent unit for 'g'");
    expect(unitNotes(await read(header + rows((item) => item % 6), 'csv', { dimensions: ['g'], cluster: 'item' }))).to.deep.equal([]); // prettier-ignore
  });

  const BROKEN: readonly (readonly [name: string, text: string | Buffer, ending: string, expected: string])[] = [
    ['an empty file', '', 'csv', 'the file is empty'],
    ['an empty file of JSON lines', '', 'jsonl', 'it has no lines'],
    ['a header without rows', 'answer,item\n', 'csv', 'it has a header and no rows'],
    [
      'a row with too few fields',
      'answer,item,g\na,1,x\nb,1\n',
      'csv',
      'line 3: it has 2 fields where the header has 3',
    ],
    ['a reserved column twice', 'answer,answer,item\na,b,1\n', 'csv', "more than one column 'answer'"],
    ['a key twice', '{"answer":"a","answer":"b"}\n', 'jsonl', 'line 1: /answer occurs twice'],
    ['UTF-16', Buffer.from('\ufeffanswer,item\na,1\n', 'utf16le'), 'csv', 'Save it as UTF-8'],
    ['Latin-1', Buffer.from('answer,item\ncaf\xe9,1\n', 'latin1'), 'csv', 'is not UTF-8'],
    ['Latin-1 in JSON lines', Buffer.from('{"answer":"caf\xe9"}\n', 'latin1'), 'jsonl', 'is not UTF-8'],
    ['JSON lines with nested values', '{"answer":"a"}\n{"answer":{"text":"b"}}\n', 'jsonl', "line 2: 'answer' must be text, a number, true, false or null. Found an object."], // prettier-ignore
    ['JSON lines with lists', '{"answer":["a"]}\n', 'jsonl', 'Found a list'],
    ['a line that is not JSON', '{"answer":"a"}\nanswer: b\n', 'jsonl', 'line 2: it is not JSON'],
    ['a long number', '{"answer":"a","item":12345678901234567890}\n', 'jsonl', 'more digits than a JSON number keeps'],
    ['no answers', 'answer,item\n,1\n" ",2\n', 'csv', "'answer' is empty in all 2 rows"],
    ['no column of answers', 'Answer,item\na,1\n', 'csv', "Rename 'Answer' to 'answer'"],
    ['answers under another name', 'prompt,Response,item\nq,a,1\n', 'csv', "Found: prompt, Response, item. Rename 'Response' to 'answer'."], // prettier-ignore
    ['no column with a known name', 'prompt,reply\nq,a\n', 'csv', "to 'answer'. No option changes this name."],
    ['groups without items', 'answer,gender\na,x\nb,y\n', 'csv', "Add a column 'item' with the same value in all rows that ask the same question about different values of 'gender'"], // prettier-ignore
    ['a row without an item', 'answer,item,g\na,1,x\nb,,y\n', 'csv', "row 2: 'item' has no value"],
    ['a wrong repeat', 'answer,item,g,repeat\na,1,x,0\nb,1,y,first\n', 'csv', "'repeat' must be a whole number of at least 0. Found 'first'"], // prettier-ignore
    ['a repeat twice', 'answer,item,g,repeat\na,1,x,0\nb,1,x,0\nc,1,y,0\n', 'csv', "row 2: an earlier row has the same item '1'"], // prettier-ignore
    ['an item of two templates', 'answer,item,g,template\na,1,x,s\nb,1,y,t\n', 'csv', "the item '1' belongs to two templates, 's' and 't'"], // prettier-ignore
  ];
  for (const [name, text, ending, expected] of BROKEN) {
    it(`are rejected with a reason: ${name}`, async () => {
      expect(await problem(text, ending)).to.include(expected);
    });
  }

  it('are rejected if a chosen column cannot be compared or counted', async () => {
    const text = `answer,item,g,one,many\n${Array.from({ length: 60 }, (_, index) => `a,${String(index)},${String(index % 2)},1,m${String(index)}`).join('\n')}\n`;
    const choose = (choices: RowChoices): Promise<string> => problem(text, 'csv', choices);
    expect(await choose({ dimensions: ['gg'] })).to.include("has no column 'gg'");
    expect(await choose({ dimensions: ['one'] })).to.include('it has 1 value, and a comparison needs at least 2');
    expect(await choose({ dimensions: ['many'] })).to.include('it has 60 different values, and at most 50');
    expect(await choose({ dimensions: ['item'] })).to.include('this name has a fixed meaning');
    expect(await choose({ dimensions: ['g'], cluster: 'g' })).to.include('it is a dimension too');
    expect(await choose({ cluster: 'answer' })).to.include('it has another meaning');
    expect(await choose({ cluster: 'nobody' })).to.include("has no column 'nobody'");
    expect(await problem('answer,who\na,1\nb,\n', 'csv', { cluster: 'who' })).to.include("row 2: 'who' has no value");
  });

  it('with 5,000 groups are not compared, within seconds', async () => {
    const lines = Array.from({ length: 5000 }, (_, index) => `An answer,${String(index % 100)},group ${String(index)}`);
    const { dimensions, notes } = await read(`answer,item,group\n${lines.join('\n')}\n`);
    expect(dimensions).to.deep.equal([]);
    expect(notes.join(' ')).to.include("'group' has 5,000 different values");
  });
});
