import type { Host, MissingPart } from './host.ts';
import { brokenLibrary } from './native-package.ts';
import { thisHost } from './this-host.ts';

/** Why a backend cannot start, with what is missing for it. */
export class UnavailableBackend extends Error {
  readonly missing: readonly MissingPart[];

  /**
   * @param missing what is missing, in the order of mending
   * @param reason the reason in one line; the first missing part when left out
   */
  constructor(missing: readonly MissingPart[], reason?: string) {
    super(reason ?? missing[0]?.what ?? 'it is not known why');
    this.missing = missing;
  }
}

/** Why a backend could not start, whatever was thrown. */
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
