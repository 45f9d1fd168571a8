import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { DataValidationError } from '../../../src/exceptions/index.ts';
import { holdsBbqAnswers } from '../../../src/llm-evals/bbq/bbq-replay-records.ts';
import { bbqPrompt, bbqReplayRecords, readBbqItems } from '../../../src/llm-evals/bbq/index.ts';
import { describeWithReference, referencePath } from '../../helpers/reference.ts';
import { LINE, useLineFiles } from './bbq-fixtures.ts';

describe('bbqReplayRecords', () => {
  const writeLines = useLineFiles();

  it('stores each answer under the prompt of its item and format', () => {
    const file = writeLines([{ ...LINE, 'm-1_pred_race': 'the old man', 'm-1_pred_arc': 'not known' }]);
    const [item] = readBbqItems(file);
    if (item === undefined) throw new Error('no item');
    expect(bbqReplayRecords(file).map(({ prompt, repeat, text }) => ({ prompt, repeat, text }))).to.deep.equal([
      { prompt: bbqPrompt(item, 'race'), repeat: 0, text: 'the old man' },
      { prompt: bbqPrompt(item, 'arc'), repeat: 0, text: 'not known' },
    ]);
  });

  it('creates one record for one prompt, and rejects two answers to it', () => {
    const reported = { ...LINE, context_condition: 'disambig', label: 0, context: 'The old man forgot.' };
    const both = (first: string, second: string) => [
      { ...LINE, m_pred_qonly: first },
      { ...reported, m_pred_qonly: second },
    ];
    expect(bbqReplayRecords(writeLines(both('Not known', 'Not known')))).to.have.length(1);
    expect(() => bbqReplayRecords(writeLines(both('Not known', 'The old man')))).to.throw(
      DataValidationError,
      /line 2: m_pred_qonly differs/,
    );
  });

  it('requires a model if a file has several, and uses the given one', () => {
    const file = writeLines([{ ...LINE, one_pred_race: 'x', two_pred_race: 'y' }]);
    expect(() => bbqReplayRecords(file)).to.throw(DataValidationError, /answers from one, two/);
    expect(() => bbqReplayRecords(file, { model: 'three' })).to.throw(DataValidationError, /not from three/);
    expect(bbqReplayRecords(file, { model: 'two' }).map(({ text }) => text)).to.deep.equal(['y']);
  });

  it('rejects a file without answers, and an answer that is not a string', () => {
    expect(() => bbqReplayRecords(writeLines([LINE]))).to.throw(DataValidationError, /no columns with answers/);
    const holes = [
      { ...LINE, m_pred_race: 'x' },
      { ...LINE, context: 'Other.' },
    ];
    expect(() => bbqReplayRecords(writeLines(holes))).to.throw(
      DataValidationError,
      /line 2: m_pred_race must be a text/,
    );
  });

  it('distinguishes a file of answers from items alone, a transcript, and unreadable files', () => {
    expect(holdsBbqAnswers(writeLines(['', { ...LINE, m_pred_arc: 'x' }]))).to.be.true;
    for (const lines of [[LINE], [{ key: '', prompt: 'x', text: 'y' }], ['no JSON'], ['']]) {
      expect(holdsBbqAnswers(writeLines(lines))).to.be.false;
    }
    expect(holdsBbqAnswers('/nowhere/answers.jsonl')).to.be.false;
    expect(holdsBbqAnswers('.')).to.be.false;
  });

  describeWithReference('on the published answers', () => {
    it('has a record for each prompt: 864 for each order with the context, and half of that without', () => {
      const path = referencePath('data', 'bbq_unifiedqa_sexual_orientation.jsonl');
      expect(bbqReplayRecords(path)).to.have.length(864 + 864 + 432);
      expect(readFileSync(path, 'utf8').trim().split('\n')).to.have.length(864);
    });
  });
});
