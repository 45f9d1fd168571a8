/** The names that every object has without being given them. */
const INHERITED: ReadonlySet<string> = new Set(Object.getOwnPropertyNames(Object.prototype));

/**
 * The same option, with a space after every text that is the name of an
 * inherited property; at the end of a text a space is not seen.
 *
 * The renderer keeps the widths of texts in a plain object by the text itself
 * (zrender 6.1, core/LRU). A label `__proto__` there finds Object.prototype,
 * takes it for an entry and writes to it, for the whole process; `constructor`
 * gets no width.
 */
export function withoutInheritedNames<T>(value: T): T {
  if (typeof value === 'string') return (INHERITED.has(value) ? `${value} ` : value) as T;
  if (Array.isArray(value)) return value.map(withoutInheritedNames) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, withoutInheritedNames(part as unknown)]),
  ) as T;
}
