export { describePairs } from './describe-pairs.ts';
export type { WordGender } from './gender-words.ts';
export { lintPairs, type LintPairsOptions, type PairFinding, type PairLint } from './lint-pairs.ts';
export { type CounterfactualSource, planCounterfactual } from './plan-counterfactual.ts';
export { substituteGender } from './substitute-gender.ts';
