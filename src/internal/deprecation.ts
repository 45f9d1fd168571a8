/** What has been warned of, so that each is told once. */
const told = new Set<string>();

/** Emits a DeprecationWarning, once per process for each code. */
export function deprecate(code: string, message: string): void {
  if (told.has(code)) return;
  told.add(code);
  process.emitWarning(message, 'DeprecationWarning', code);
}
