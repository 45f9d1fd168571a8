/** The genders of the published lists of names. */
export type SourceGender = 'woman' | 'man';

/** The origins of the published lists of names, as the studies call them. */
export type SourceOrigin = 'white' | 'Black' | 'Asian' | 'Hispanic';

/** The names of a published list, by gender and origin. */
export type SourceNames = Readonly<Record<SourceGender, Readonly<Partial<Record<SourceOrigin, readonly string[]>>>>>;

/** Splits a list of names at its commas. A line break within a name counts as a space. */
export function splitNames(text: string): string[] {
  return text
    .trim()
    .split(',')
    .map((name) => name.trim().replaceAll(/\s+/g, ' '));
}
