export type { AssociationScore } from './association-counts.ts';
export {
  type AssociationOptions,
  CHARACTER_WORDS,
  type CooccurrenceOptions,
  GENDER_WORDS,
  OCCUPATION_WORDS,
  STOP_WORDS,
} from './association-words.ts';
export { cooccurrenceBiasScore } from './cooccurrence-bias-score.ts';
export { stereotypicalAssociations } from './stereotypical-associations.ts';
