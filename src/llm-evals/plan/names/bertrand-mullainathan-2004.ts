import { type SourceNames, splitNames as names } from './source-groups.ts';

/**
 * The first names of M. Bertrand and S. Mullainathan, Are Emily and Greg More Employable than Lakisha and Jamal? A Field
 * Experiment on Labor Market Discrimination (American Economic Review 94(4), 2004, pages 991 to 1013), Table 8, in the
 * order of the table. The same 36 names are in the data of the study.
 *
 * The names are distinctive names of white and of African-American babies born in Massachusetts from 1974 to 1979, so
 * they suggest people of the same age. They are not matched in frequency, and the mothers of the groups differ in
 * education. S. M. Gaddis, How Black Are Lakisha and Jamal? (Sociological Science 4, 2017), found that the perceived
 * race of a name depends on the education of the mothers who give it. A difference may therefore be an effect of class.
 */
export const BERTRAND_MULLAINATHAN_2004: SourceNames = {
  woman: {
    white: names('Emily, Anne, Jill, Allison, Laurie, Sarah, Meredith, Carrie, Kristen'),
    Black: names('Aisha, Keisha, Tamika, Lakisha, Tanisha, Latoya, Kenya, Latonya, Ebony'),
  },
  man: {
    white: names('Todd, Neil, Geoffrey, Brett, Brendan, Greg, Matthew, Jay, Brad'),
    Black: names('Rasheed, Tremayne, Kareem, Darnell, Tyrone, Hakim, Jamal, Leroy, Jermaine'),
  },
};
