import { suggestNames } from '../../internal/arguments.ts';
import type { ServiceContext } from '../context/service-context.ts';
import { ServiceProblem } from '../problem/service-problem.ts';

/** Where the options of a request stand that takes none in its query. */
const IN_BODY = 'With JSON, options stand in the body; with a form they are parts of it.';

/**
 * The query's parameters. One that nobody reads is refused: a gate that was set in the wrong place would not be applied,
 * and nobody would see it.
 * @param known the parameters that the operation takes
 * @throws {ServiceProblem} 422 for another one, or one that is repeated
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
    ? `The query names '${name}' more than once.`
    : `The query has '${name}', which is not read here.`;
  throw new ServiceProblem(422, {
    detail,
    errors: [{ pointer: name, detail }],
    suggestion: isKnown ? 'Name it once.' : known.length === 0 ? IN_BODY : suggestNames(name, known, 'parameters'),
  });
}
