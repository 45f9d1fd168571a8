export type { AdjustedPValues } from './adjust-p-values.ts';
export { benjaminiHochberg } from './benjamini-hochberg.ts';
export { bonferroni } from './bonferroni.ts';
export { holm } from './holm.ts';
