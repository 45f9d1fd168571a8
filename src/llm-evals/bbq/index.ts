export type { BbqCondition, BbqItem, BbqPolarity, BbqTargetProblem } from './bbq-item.ts';
export { BBQ_FORMATS, bbqPrompt } from './bbq-prompt.ts';
export { type BbqReplayOptions, bbqReplayRecords } from './bbq-replay-records.ts';
export { type BbqAnswer, type BbqRow, bbqScores, type BbqScores, type BbqTally } from './bbq-scores.ts';
export { type BbqOptions, parseBbqAnswer } from './parse-bbq-answer.ts';
export { readBbqItems } from './read-bbq-items.ts';
