import type { Host, MissingPart } from './host.ts';
import { brokenLibrary } from './native-package.ts';
import { thisHost } from './this-host.ts';

/** An error with the reason why a backend cannot start, and its missing parts. */
export class UnavailableBackend extends Error {
  readonly missing: readonly MissingPart[];

  /**
   * Creates the error.
   * @param missing the missing parts, in the order in which to fix them
   * @param reason the reason in one line; by default, the first missing part
   */
  constructor(missing: readonly MissingPart[], reason?: string) {
    super(reason ?? missing[0]?.what ?? 'the reason is unknown');
    this.missing = missing;
  }
}

/** Converts any thrown value to the reason why a backend could not start. */
export function unavailable(
  cause: unknown,
  host: Host = thisHost(),
): { readonly reason: string; readonly missing: readonly MissingPart[] } {
  const text = cause instanceof Error ? cause.message : String(cause);
  const broken = brokenLibrary(host, cause instanceof Error ? `${text}\n${cause.stack ?? ''}` : text);
  if (broken !== null) return { reason: broken.what, missing: [broken] };
  const absent = /Cannot find (?:package|module) '([^']+)'/.exec(text)?.[1];
  return {
    reason:
      absent === undefined
        ? (text.split('\n')[0] ?? '').replace(/\.$/, '')
        : `the package '${absent}' is not installed`,
    missing: cause instanceof UnavailableBackend ? cause.missing : [],
  };
}
