import { assertKnownOptions, type OptionNames } from '../../../internal/known-options.ts';
import type { LLMEvalConfig } from '../../../schemas/llm-eval/llm-eval-config.ts';
import type { Environment } from '../secrets.ts';
import { isApiProvider, keyOf, keyVariableOf } from './api-access.ts';

/** Options of {@link liveAccess}. */
export interface LiveAccessOptions {
  /**
   * Whether live calls are allowed by the caller, as by `--live`.
   * @defaultValue false
   */
  readonly live?: boolean | undefined;
  /** @defaultValue process.env */
  readonly env?: Environment | undefined;
}

const LIVE_ACCESS_OPTION_NAMES: OptionNames<LiveAccessOptions> = { live: true, env: true };

/** Whether new answers may be asked for, and why: a clause, without a full stop; and what to do where they may not. */
export type LiveAccess =
  | { readonly isAllowed: true; readonly reason: string; readonly suggestion: null }
  | { readonly isAllowed: false; readonly reason: string; readonly suggestion: string };

/**
 * Whether a configuration's provider may be asked, which may cost money. It
 * needs two things: the provider's key, and a permission, which is
 * `EVENHAND_LLM_ALLOW_LIVE=1` or `live`. A compatible server may need no key,
 * so there the permission is enough; `local` and `replay` send nothing and need
 * neither. With `replay_only` nothing is asked for, whatever else is set.
 * @throws {ConfigValidationError} where a key has characters that no key has
 * @example
 * ```ts
 * import { liveAccess } from 'evenhand/llm-evals';
 *
 * const access = liveAccess({ provider: 'openai', replayOnly: false }, { env: { OPENAI_API_KEY: 'a-key-of-mine' } });
 * console.log(access.isAllowed, access.suggestion);
 * // false Set EVENHAND_LLM_ALLOW_LIVE=1, or use --live, if the calls may be paid for.
 * ```
 */
export function liveAccess(
  config: Pick<LLMEvalConfig, 'provider' | 'replayOnly'>,
  options: LiveAccessOptions = {},
): LiveAccess {
  assertKnownOptions('liveAccess', options, LIVE_ACCESS_OPTION_NAMES);
  const { live = false, env = process.env } = options;
  const { provider } = config;
  if (!isApiProvider(provider)) return allowed(`the provider ${provider} sends nothing`);
  if (config.replayOnly) {
    return refused('replay_only is set', 'Set replay_only to false, if the calls may be paid for.');
  }
  const key = keyOf(provider, env);
  if (key === null && provider !== 'compatible') {
    const variable = keyVariableOf(provider);
    return refused(`${variable} is not set`, `Set ${variable} in the environment, or use the provider local.`);
  }
  if (live) return allowed('live calls are allowed for this run');
  if (env['EVENHAND_LLM_ALLOW_LIVE']?.trim() === '1') {
    return allowed('live calls are allowed by EVENHAND_LLM_ALLOW_LIVE');
  }
  return refused(
    'live calls are not allowed, since EVENHAND_LLM_ALLOW_LIVE is not 1',
    'Set EVENHAND_LLM_ALLOW_LIVE=1, or use --live, if the calls may be paid for.',
  );
}

function allowed(reason: string): LiveAccess {
  return Object.freeze({ isAllowed: true, reason, suggestion: null });
}

function refused(reason: string, suggestion: string): LiveAccess {
  return Object.freeze({ isAllowed: false, reason, suggestion });
}
