import { suggestNames } from '../../internal/arguments.ts';
import type { ServiceContext } from '../context/service-context.ts';
import { fieldProblem } from '../problem/service-problem.ts';

/** The hint for options in the query of a request that takes none there. */
const IN_BODY = 'With JSON, put options in the body; with a form, send them as parts.';

/**
 * Returns the parameters of the query. Unknown parameters are rejected: otherwise a misplaced gate would silently not
 * be applied.
 * @param known the parameters of the operation
 * @throws {ServiceProblem} 422 if a parameter is unknown or repeated
 */
export function readQuery<Name extends string>(
  { query }: ServiceContext,
  known: readonly Name[],
): Readonly<Partial<Record<Name, string>>> {
  const names = Object.keys(query);
  const wrong = names.find((name) => !(known as readonly string[]).includes(name) || Array.isArray(query[name]));
  if (wrong === undefined) return query as Readonly<Partial<Record<Name, string>>>;
  const isKnown = (known as readonly string[]).includes(wrong);
  const name = wrong.slice(0, 64);
  const detail = isKnown
    ? `The query contains '${name}' more than once.`
    : `The query parameter '${name}' is not supported here.`;
  const unknown = known.length === 0 ? IN_BODY : suggestNames(name, known, 'parameters');
  throw fieldProblem(422, name, detail, isKnown ? 'Send it once.' : unknown);
}
