/** Letters, digits, dots, dashes and underscores, so that an id is a file's name on every system and never a way out of its folder. */
const SAFE_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** Whether an id can be the name of a file or a folder. */
export function isSafeId(id: string): boolean {
  return SAFE_ID.test(id);
}
