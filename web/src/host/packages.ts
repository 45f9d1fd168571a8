import { DependencyError } from '../../../src/exceptions/index.ts';

/** Replaces `src/internal/packages.ts` in a browser, which has no packages: only what the build bundles. */

/** Returns the place where a package is available. */
export function installCommand(_name: string): string {
  return 'the command line of evenhand';
}

/**
 * Rejects: a browser has no optional packages.
 * @throws {DependencyError} always
 */
export function importOptional(name: string, neededFor: string): Promise<never> {
  return Promise.reject(
    new DependencyError(`The package '${name}' is required ${neededFor}, but a browser does not have it.`, {
      context: { package: name },
      suggestion: 'Use the command line of evenhand.',
    }),
  );
}

/**
 * Throws: a browser has no files of the package.
 * @throws {DependencyError} always
 */
export function builtFile(name: string): string {
  throw new DependencyError(`A browser has no file '${name}'.`);
}
