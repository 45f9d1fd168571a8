/** What a request's Prefer header (RFC 7240) asks for. */
export interface Preference {
  readonly isAsync: boolean;
  /** Seconds to wait before the answer is 202 after all; null where it says nothing. */
  readonly waitSeconds: number | null;
}

/** Reads `Prefer: respond-async, wait=10`; what is not known is ignored, as the standard asks. */
export function readPreference(header: string): Preference {
  const parts = header.split(',').map((part) => part.trim().toLowerCase());
  const wait = parts
    .map((part) => /^wait\s*=\s*"?(\d{1,5})"?/.exec(part)?.[1])
    .find((seconds) => seconds !== undefined);
  return {
    isAsync: parts.some((part) => /^respond-async(?:\s*;|$)/.test(part)),
    waitSeconds: wait === undefined ? null : Number(wait),
  };
}
