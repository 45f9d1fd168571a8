export { type AdjustedPValues, benjaminiHochberg, bonferroni, holm } from './adjust-p-values.ts';
