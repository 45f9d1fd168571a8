import type { LinearFit } from './fit-linear-model.ts';

/** Columns named in a warning; more are counted. */
const MOST_NAMED = 5;

/** What a reader of a fit should know of it, in sentences. */
export function fitWarnings({
  constants,
  isSingular,
  isDrifting,
  converged,
  iterations,
}: LinearFit): readonly string[] {
  const warnings: string[] = [];
  if (constants.length > 0) warnings.push(`${columnsNamed(constants)}: one value only, so the coefficient is 0`);
  if (isSingular) {
    const answers = converged ? 'answers that predict the same' : 'answers';
    warnings.push(
      `columns repeat each other to rounding: the coefficients are one of many ${answers}; l2 > 0 makes them one`,
    );
  }
  if (isDrifting) {
    warnings.push(
      'the features separate the classes: the coefficients would grow without end, and stop where that gains less than the tolerance; l2 > 0 bounds them',
    );
  }
  if (!converged) warnings.push(`not converged after ${String(iterations)} iterations`);
  return Object.freeze(warnings);
}

function columnsNamed(columns: readonly number[]): string {
  const named = columns.slice(0, MOST_NAMED).map(String).join(', ');
  const more = columns.length - MOST_NAMED;
  return `${columns.length === 1 ? 'column' : 'columns'} ${named}${more > 0 ? ` and ${String(more)} more` : ''}`;
}
