export { type AssociationScore, cooccurrenceBiasScore, stereotypicalAssociations } from './association-scores.ts';
export {
  type AssociationOptions,
  CHARACTER_WORDS,
  type CooccurrenceOptions,
  GENDER_WORDS,
  OCCUPATION_WORDS,
  STOP_WORDS,
} from './association-words.ts';
