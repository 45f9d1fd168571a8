import type { FairnessToolkitError } from '../../exceptions/index.ts';
import type { ProblemDetails } from './service-problem.ts';

/** How the operator allows what was refused. */
const ALLOW_LIVE =
  "The operator of the service allows live calls with EVENHAND_LLM_ALLOW_LIVE=1 and the provider's key in its environment. A dry run (dry_run: true) and the provider local need neither.";

/**
 * That answers are not known and nobody may be asked for them. What the service's environment has, and what it lacks, is
 * no business of who sent the request.
 */
export function refusedCalls({ context, message }: FairnessToolkitError): ProblemDetails {
  const { missing, prompt } = context;
  const count =
    typeof missing === 'number' && missing > 1 ? `${missing.toLocaleString('en-US')} answers are` : 'An answer is';
  const first = typeof prompt === 'string' ? ` The first is to "${prompt}".` : '';
  if (message.includes('replay_only is set')) {
    return {
      detail: `${count} not known, and replay_only allows no calls.${first}`,
      suggestion: 'Leave replay_only out where the service may make live calls, or send what was asked before.',
    };
  }
  return {
    detail: `Live calls are not allowed here, and ${lowerFirst(count)} not known.${first}`,
    suggestion: ALLOW_LIVE,
  };
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
